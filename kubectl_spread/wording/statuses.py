"""The texts of ``show`` about a row, worst first, and of ``why-pending`` and ``check`` about a Pod."""

from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch

from kubectl_spread.controllers.next_pod import NoneComes
from kubectl_spread.controllers.templates import HASH_LABEL
from kubectl_spread.diagnosis import statuses
from kubectl_spread.diagnosis.fixes.shell import kubectl
from kubectl_spread.diagnosis.skew import SkewItem
from kubectl_spread.diagnosis.statuses import BlockedBy, Headroom, Idle, NoMoreWanted, SpreadStatus, Status
from kubectl_spread.objects.kinds import DEPLOYMENT
from kubectl_spread.wording.causes import blocking_reason, reason_of
from kubectl_spread.wording.incomplete import NEVER_RUNS, consequence
from kubectl_spread.wording.pending import preempts
from kubectl_spread.wording.words import capital, count_of, enumerated, held_back, held_by_gates, listed

SHOWN_NAMES = 10

IDLE: Mapping[Idle, str] = {
    Idle.NO_NODE_HAS_KEY: "no node has {}",
    Idle.NO_NODE_COUNTS: "no node counts: its policies exclude them, or they lack the key of another constraint",
    Idle.NO_SELECTOR: "no labelSelector: it counts no Pod",
    Idle.EMPTY_SELECTOR: "empty labelSelector: it counts no Pod in this release",
    Idle.MATCHES_OTHERS: "its selector does not match its own Pods",
    Idle.EACH_ALONE: "the affinity of each Pod selects one node: skew is always 0",
    Idle.ONE_DOMAIN: "only one domain counts: skew is always 0",
}

NONE_COMES: Mapping[NoneComes, str] = {
    NoneComes.DELETED: "the workload is being deleted",
    NoneComes.UNMANAGED: "no controller creates another one",
    NoneComes.ON_EACH_NODE: "a DaemonSet has one on each node that it selects",
    NoneComes.PAUSED: "the Deployment is paused",
    NoneComes.SUSPENDED: "it is suspended",
    NoneComes.SCALED_TO_0: "it is scaled to 0",
    NoneComes.COMPLETE: "the Job is complete",
    NoneComes.FAILED: "the Job has failed",
    NoneComes.ALL_RUN: "the Job has as many Pods as it wants",
    NoneComes.OTHER_CONTROLLER: "another controller creates its Pods",
    NoneComes.REFUSED: "the API server refuses it",
}


def way_back(item: SkewItem, flags: Sequence[str]) -> Iterator[str]:
    """Yield how a constraint that does not hold is restored, and what keeps it even in the next rollout."""
    if item.status is not SpreadStatus.VIOLATED:
        return
    command = kubectl("spread rebalance", str(item.workload), flags=("-n", item.namespace, *flags))
    yield f"A rollout, a scale-down or a drain leaves it so, and no Pod moves by itself. To restore it: {command}"
    alone = item.pods == item.own_pods and HASH_LABEL not in str(item.state.constraint.selector)
    if alone and item.workload.kind == DEPLOYMENT.name:
        yield f"matchLabelKeys: [{HASH_LABEL}] in the constraint keeps it even in the next rollout."


@singledispatch
def status_text(status: Status) -> str:
    """Return the one thing to know about the status of a row; empty where there is none."""
    raise TypeError(f"{status.name} has no text")


@status_text.register
def _(status: statuses.NoDomains) -> str:
    meant = f": did you mean {status.similar}?" if status.similar else ""
    return f"no node has {status.topology_key}{meant}"


@status_text.register
def _(status: statuses.Blocked) -> str:
    return blocking_reason(status.blame.blocking[status.index])


@status_text.register
def _(status: statuses.FailedCreate) -> str:
    return status.message


@status_text.register
def _(status: statuses.Unschedulable) -> str:
    return reason_of(status.blame.cause)


@status_text.register
def _(status: statuses.Violated) -> str:
    return f"skew {status.skew}, maxSkew {status.max_skew}"


@status_text.register
def _(status: statuses.NoEffect) -> str:
    return IDLE[status.why].format(status.topology_key)


@status_text.register
def _(status: statuses.Incomplete) -> str:
    return consequence(status.gap)


@status_text.register
def _(status: statuses.Uneven) -> str:
    return f"skew {status.skew}, maxSkew {status.max_skew}, only preferred"


@status_text.register
def _(status: statuses.OK) -> str:
    if status.preemption:
        return preempts(status.preemption)
    if status.gates:
        return held_by_gates(status.gates)
    return f"{status.manager} creates its Pods" if status.manager else ""


def stop_text(stop: Status | BlockedBy | NoMoreWanted) -> str:
    """Return what stops one more replica from finding a node."""
    match stop:
        case NoMoreWanted():
            return "the workload wants no more"
        case BlockedBy():
            named = [enumerated(each, most=2) for each in stop.constraints]
            return f"{SpreadStatus.BLOCKED} by {enumerated(list(dict.fromkeys(named)), most=2)}"
        case statuses.OK():
            return status_text(stop)
        case _:
            return f"{stop.name}: {status_text(stop)}"


def pods_text(pods: int, own: int) -> str:
    """Return how many Pods are counted, and how many of them are the workload's where there are others."""
    return str(pods) if pods == own else f"{pods} ({own} own)"


def counted_text(pods: int, own: int, spread: str) -> str:
    """Return the same as a sentence, where there are others, with the ``spread`` of its own over the domains."""
    belong = "belongs" if own <= 1 else "belong"
    where = f" ({spread})" * bool(own)
    return f"Counted: {count_of(pods, 'Pod')}, of which {own or 'none'} {belong} to this workload{where}."


def skew_text(skew: int, max_skew: int) -> str:
    """Return the skew beside what the constraint allows."""
    return f"Skew {skew}, maxSkew {max_skew}"


def left_behind_text(workload: str, pods: Sequence[str], nodes: Sequence[str]) -> str:
    """Return which Pods of a workload are on nodes that do not exist."""
    are, node = ("is", "a node that does") if len(pods) == 1 else ("are", "nodes that do")
    on = f"{are} on {node} not exist, and not counted"
    return f"{count_of(len(pods), 'Pod')} of {workload} {on}: {listed(pods)} ({listed(nodes)})."


def ghosts_text(names: Sequence[str]) -> str:
    """Return the Pods that their own constraint does not count."""
    return f"Ghost Pods, which their own constraint does not count: {listed(names, SHOWN_NAMES)}."


def next_reason(item: SkewItem) -> str:
    """Return why no Pod comes next, or why it goes to no other node than the one that its template names."""
    revision = item.judged.revision
    if none_comes := revision.none_comes:
        return NONE_COMES[none_comes]
    if not revision.named_node:
        return ""
    absent = revision.handle.is_orphan(revision.pod)
    return f"its template sets spec.nodeName, {f'but {NEVER_RUNS}' if absent else 'so it is not scheduled'}"


def next_replica(nodes: Sequence[str], reason: str, *, some_read: bool) -> str:
    """Return the nodes that take the next replica, or why none comes; whether only some nodes' Pods were read."""
    if reason and not nodes:
        return f"No next Pod: {reason}."
    read = ", of the nodes whose Pods were read" if some_read and nodes else ""
    because = f" ({reason})" if reason else ""
    return f"Next replica: {listed(nodes, SHOWN_NAMES) or 'no node'}{because}{read}."


def pending_pod(name: str, nodes: Sequence[str], gates: Sequence[str], *, known: bool, preempting: bool = False) -> str:
    """Return which nodes take the Pod that waits, if that is known, ``preempting`` or not, and what holds it back."""
    none = "no node takes it" if known else "where it can go is not known"
    how = " by preemption" * preempting
    can = f"it can go to {listed(nodes, SHOWN_NAMES)}{how}" if nodes else f"{none} (why-pending explains why)"
    if gates:
        stuck = known and not nodes
        return f"{name} is {held_back(gates, capital(can) if stuck else can, stuck=stuck)}."
    return f"{name} is Pending: {can}."


def headroom_text(headroom: Headroom) -> str:
    """Return how many more replicas find a node, and what stops the next; empty where nothing did."""
    more = f"{headroom.more} more"
    return f"{more}, then {stop_text(headroom.then)}" if headroom.then else f"at least {more}"

"""The texts of ``show`` about a row, worst first, and of ``why-pending`` and ``check`` about a Pod."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kubectl_spread.diagnosis import statuses
from kubectl_spread.diagnosis.statuses import BlockedBy, Idle, NoMoreWanted, SpreadStatus, Status
from kubectl_spread.wording import entry
from kubectl_spread.wording.entry import Entry, EntryKind, Rules
from kubectl_spread.wording.words import capital, count_of, enumerated, held_back, held_by_gates, listed

if TYPE_CHECKING:
    from kubectl_spread.controllers.next_pod import NoneComes

SHOWN_NAMES = 10

_verdict = partial(Entry, kind=EntryKind.VERDICT, link=entry.DEFINITION)

STATUSES = Rules(EntryKind.STATUS)
"""The status of a row, worst first; the text is the one thing to know about it, and empty where there is none."""

_IDLE: Mapping[Idle, str] = {
    Idle.NO_NODE_HAS_KEY: "no node has {}",
    Idle.NO_NODE_COUNTS: "no node counts: its policies exclude them, or they lack the key of another constraint",
    Idle.NO_SELECTOR: "no labelSelector: it counts no Pod",
    Idle.EMPTY_SELECTOR: "empty labelSelector: it counts no Pod in this release",
    Idle.MATCHES_OTHERS: "its selector does not match its own Pods",
    Idle.EACH_ALONE: "the affinity of each Pod selects one node: skew is always 0",
    Idle.ONE_DOMAIN: "only one domain counts: skew is always 0",
}

_NONE_COMES: Mapping[str, str] = {
    "Deleted": "the workload is being deleted",
    "Unmanaged": "no controller creates another one",
    "OnEachNode": "a DaemonSet has one on each node that it selects",
    "Paused": "the Deployment is paused",
    "Suspended": "it is suspended",
    "ScaledTo0": "it is scaled to 0",
    "Complete": "the Job is complete",
    "Failed": "the Job has failed",
    "AllRun": "the Job has as many Pods as it wants",
    "OtherController": "another controller creates its Pods",
    "Refused": "the API server refuses it",
}
"""By the value of NoneComes, whose module ``explain`` does without."""


@STATUSES.rule(
    summary="no node has the topologyKey, and no Pod can be scheduled",
    meaning="A node without the topologyKey of a DoNotSchedule constraint cannot take Pods with that constraint,"
    " and no node has the key.",
    when="For DoNotSchedule, if no node has the key.",
    action="Correct the topologyKey, or label the nodes.",
    link=entry.NODE_LABELS,
)
def _(status: statuses.NoDomains) -> str:
    meant = f": did you mean {status.similar}?" if status.similar else ""
    return f"no node has {status.topology_key}{meant}"


@STATUSES.rule(
    summary="the next Pod cannot be scheduled, but could be if it had no constraints",
    meaning="The constraint belongs to the smallest set of requirements that together reject every node for the next"
    " Pod. The next rollout, restart or scale-up will be stuck.",
    when="For DoNotSchedule, evaluated for the next Pod. DaemonSets, complete Jobs and workloads that are paused,"
    " suspended or scaled to 0 have no next Pod.",
    action="`kubectl spread show TYPE/NAME` prints the domains. Once a Pod is Pending, why-pending prints fixes.",
    link=entry.CONFLICTING,
)
def _(status: statuses.Blocked) -> str:
    from kubectl_spread.wording.causes import blocking_reason  # ``explain`` reads no cluster.

    return blocking_reason(status.blame.blocking[status.index], status.blame.nodes)


@STATUSES.rule(
    summary="the API server would refuse the next Pod",
    meaning="The API server validates Pods more strictly than templates, and admission changes Pods. The controller"
    " retries, and no Pod is created. The message is the API server's.",
    when="If validation or admission refuses the next Pod.",
    action="Correct what the message names: in the template, or the LimitRange, RuntimeClass or PriorityClass.",
    link=entry.SPREAD,
)
def _(status: statuses.FailedCreate) -> str:
    return status.message


@STATUSES.rule(
    summary="the next Pod cannot be scheduled, and no constraint is the cause",
    meaning="Filters other than the constraints leave no node. The reason names the smallest set of filters that"
    " rejects every node.",
    when="If no node is feasible for a Pod of the newest revision, with or without its constraints.",
    action="Add capacity or uncordon nodes. Once a Pod is Pending, why-pending prints fixes.",
    link=entry.SPREAD,
)
def _(status: statuses.Unschedulable) -> str:
    from kubectl_spread.wording.causes import reason_of  # ``explain`` reads no cluster.

    return reason_of(status.blame.cause, status.blame.nodes)


@STATUSES.rule(
    summary="the skew exceeds maxSkew",
    meaning="A constraint is enforced only when Pods are scheduled. Deleted Pods, removed nodes or a constraint"
    " that was added later may increase the skew.",
    when="For DoNotSchedule with a skew above maxSkew.",
    action="rebalance plans the fewest evictions that restore the spread. A restart schedules all Pods again.",
    link=entry.LIMITATIONS,
)
def _(status: statuses.Violated) -> str:
    return f"skew {status.skew}, maxSkew {status.max_skew}"


@STATUSES.rule(
    summary="the constraint has no effect",
    meaning="It does not count the workload's own Pods: labelSelector is missing or does not match them, or it is {}"
    " and the release then counts no Pod. Or there is nothing to spread over: no node counts, only one domain counts,"
    " or each Pod of a DaemonSet counts only its own node.",
    when="If the selector does not match the workload's Pods; if no domain is eligible; if only one domain is eligible"
    " (for DoNotSchedule with minDomains at most 1); or if nodeAffinityPolicy is Honor in a DaemonSet.",
    action="Make the labelSelector match the labels of the Pod template. See `kubectl spread explain GhostPod`. For a"
    " DaemonSet, drop the constraint.",
    link=entry.CONVENTIONS,
)
def _(status: statuses.NoEffect) -> str:
    return _IDLE[status.why].format(status.topology_key)


@STATUSES.rule(
    summary="something relevant was not read or is not modelled",
    meaning="The result is correct for what was read. The field `incomplete` lists what is missing, and the"
    " consequence.",
    when="If the missing part could change the result for the next Pod. In simulate, also if it could change where a"
    " Pending Pod goes.",
    action="Grant the named permission, or add the missing file.",
    link=entry.SPREAD,
)
def _(status: statuses.Incomplete) -> str:
    from kubectl_spread.wording.incomplete import consequence  # ``explain`` reads no cluster.

    return consequence(status.gap)


@STATUSES.rule(
    summary="the skew exceeds what a soft constraint prefers",
    meaning="ScheduleAnyway only ranks nodes. The skew is allowed, and other scores may cause it.",
    when="For ScheduleAnyway with a skew above maxSkew. --exit-code does not count it.",
    action="Nothing, or use DoNotSchedule if the balance matters. See `kubectl spread explain"
    " SoftConstraintIsPreference`.",
)
def _(status: statuses.Uneven) -> str:
    return f"skew {status.skew}, maxSkew {status.max_skew}, only preferred"


@STATUSES.rule(
    summary="the skew is within maxSkew and the next Pod can be scheduled",
    meaning="The constraint and the spread of the Pods have no problem.",
    when="If no other status applies. --problems hides it.",
    action="Nothing.",
    link=entry.SPREAD,
)
def _(status: statuses.OK) -> str:
    if status.preemption:
        from kubectl_spread.wording.pending import preempts  # As above.

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
            return STATUSES.text(stop)
        case _:
            return f"{stop.name}: {STATUSES.text(stop)}"


VERDICTS: Mapping[str, Entry] = {
    "Schedulable": _verdict(
        summary="at least one node passes every filter",
        meaning="kube-scheduler would bind the Pod at its next attempt. If the Pod is still Pending, the scheduler"
        " has not retried it, is backing off, or a scheduling gate holds the Pod.",
        when="If a node is feasible and everything that could reject it was evaluated.",
        action="Nothing. See `kubectl spread explain StaleEvent`.",
        link=entry.SPREAD,
    ),
    "Unschedulable": _verdict(
        summary="filters reject every node",
        meaning="The nodes are listed by the filter that rejects them. The field `conflict` has the fewest requirements"
        " that together reject every node.",
        when="If no node is feasible. check and why-pending then end with exit code 1.",
        action="Apply one of the fixes: each was verified by simulation on the snapshot.",
        link=entry.CONFLICTING,
    ),
    "Incomplete": _verdict(
        summary="no evaluated filter rejects the Pod, but not everything was evaluated",
        meaning="The field `feasible` has the nodes that no evaluated filter rejects. A kind that could not be read,"
        " or a feature that is not modelled, could still reject them.",
        when="If the missing part is relevant for this Pod. The exit code is 3.",
        action="Grant the permission that the field `incomplete` names, or add what is missing.",
        link=entry.SPREAD,
    ),
    "Balanced": _verdict(
        summary="the skew is within maxSkew now",
        meaning="This constraint needs no eviction. It is also satisfied after evictions for other constraints.",
        when="By rebalance, if the skew is within maxSkew before and after the plan.",
        action="Nothing.",
    ),
    "Planned": _verdict(
        summary="the skew is within maxSkew after the evictions",
        meaning="Each replacement was placed as kube-scheduler would place it, on every node with the highest"
        " score, before the next eviction. No other constraint gets worse.",
        when="By rebalance, for a violated constraint. The exit code is 1.",
        action="Run the commands in order. Before each, wait until the previous replacement is Ready.",
        link=entry.LIMITATIONS,
    ),
    "Partial": _verdict(
        summary="the evictions lower the skew, but not to maxSkew",
        meaning="Every eviction of the plan helps, but further evictions do not help. The reason names the domain that"
        " takes no Pod, or the Pods that must stay.",
        when="By rebalance, if evictions lower the skew, but not to maxSkew.",
        action="Resolve the reason first, such as a taint or a budget, then plan again.",
        link=entry.LIMITATIONS,
    ),
    "Impossible": _verdict(
        summary="no eviction lowers the skew",
        meaning="For every Pod, the replacement returns to the same domain, breaks another constraint or cannot be"
        " scheduled, or the Pod must stay. No Pod is evicted.",
        when="By rebalance, for a violated constraint.",
        action="Resolve the reason first: make room in the emptiest domain, or resolve conflicting constraints.",
        link=entry.CONFLICTING,
    ),
    "FailedCreate": _verdict(
        summary="the API server accepts the workload and refuses its Pods",
        meaning="A ServiceAccount, PriorityClass or RuntimeClass does not exist, a quota or LimitRange is exceeded,"
        " or a Pod of the template is invalid. The field `failedCreate` has the reason and the number of Pods that"
        " are created."
        " The report places only these Pods. If none is created, it shows where all Pods would be scheduled.",
        when="By check, for workloads. The exit code is 1.",
        action="Create the missing object, or change the template or the quota.",
    ),
    "Invalid": _verdict(
        summary="the API server refuses the manifest",
        meaning="A field is unknown, immutable or invalid, or the namespace does not exist, or a bare Pod is not"
        " admitted. The field `validation` has the reasons. The rest of the report is for the manifest without"
        " these errors.",
        when="By check, if the field is not empty. The exit code is 1.",
        action="Correct the fields as the messages describe.",
    ),
}


def pods_text(pods: int, own: int) -> str:
    """Return how many Pods are counted, and how many of them are the workload's where there are others."""
    return str(pods) if pods == own else f"{pods} ({own} own)"


def counted_text(pods: int, own: int) -> str:
    """Return the same as a sentence, where there are others."""
    belong = "belongs" if own <= 1 else "belong"
    return f"Counted: {count_of(pods, 'Pod')}, of which {own or 'none'} {belong} to this workload."


def skew_text(skew: int, max_skew: int) -> str:
    """Return the skew beside what the constraint allows."""
    return f"Skew {skew}, maxSkew {max_skew}"


def ghosts_text(names: Sequence[str]) -> str:
    """Return the Pods that their own constraint does not count."""
    return f"Ghost Pods, which their own constraint does not count: {listed(names, SHOWN_NAMES)}."


def reason_of_next(none_comes: NoneComes | None, named_node: str, *, absent: bool) -> str:
    """Return why no Pod comes next, or why it goes to no other node than the one that its template names.

    ``absent``: whether no node has that name.
    """
    if none_comes:
        return _NONE_COMES[none_comes]
    if named_node and absent:
        from kubectl_spread.wording.incomplete import NEVER_RUNS  # ``explain`` reads no cluster.

        return f"its template sets spec.nodeName, but {NEVER_RUNS}"
    return "its template sets spec.nodeName, so it is not scheduled" if named_node else ""


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


def headroom_text(more: int, then: str) -> str:
    """Return how many more replicas find a node, and what stops the next; empty where nothing did."""
    return f"{more} more, then {then}" if then else f"at least {more} more"

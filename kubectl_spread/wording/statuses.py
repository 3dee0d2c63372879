"""What ``show`` says of a row, worst first, and what ``why-pending`` and ``check`` say of a Pod."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kubectl_spread.diagnosis import statuses
from kubectl_spread.diagnosis.statuses import BlockedBy, Idle, NoMoreWanted, SpreadStatus, Status
from kubectl_spread.wording import entry
from kubectl_spread.wording.entry import Entry, EntryKind, Rules
from kubectl_spread.wording.words import enumerated, listed

if TYPE_CHECKING:
    from kubectl_spread.controllers.next_pod import NoneComes

SHOWN_NAMES = 10

_verdict = partial(Entry, kind=EntryKind.VERDICT)

STATUSES = Rules(EntryKind.STATUS)
"""The status of a row, worst first; the text is the one thing to know about it, and empty where there is none."""

_IDLE: Mapping[Idle, str] = {
    Idle.NO_NODE_HAS_KEY: "no node carries {}",
    Idle.NO_NODE_COUNTS: "no node counts, by its policies or for lack of another constraint's key",
    Idle.NO_SELECTOR: "no labelSelector: it counts no Pod",
    Idle.EMPTY_SELECTOR: "empty labelSelector: it counts no Pod in this release",
    Idle.MATCHES_OTHERS: "its selector does not match its own Pods",
    Idle.EACH_ALONE: "the affinity of each Pod counts its own node alone: skew is always 0",
    Idle.ONE_DOMAIN: "only one domain counts: skew is always 0",
}

_NONE_COMES: Mapping[str, str] = {
    "Deleted": "the workload is being deleted",
    "Unmanaged": "no controller makes another one",
    "OnEachNode": "there is one for each node",
    "Paused": "the Deployment is paused",
    "Suspended": "it is suspended",
    "ScaledTo0": "it is scaled to 0",
    "Complete": "the Job is complete",
    "Failed": "the Job has failed",
    "AllRun": "the Job has as many Pods as it wants",
    "OtherController": "another controller makes its Pods",
    "Refused": "the API server refuses it",
}
"""By the value of NoneComes, whose module ``explain`` does without."""


@STATUSES.rule(
    summary="no node carries the topologyKey, and no Pod is scheduled",
    meaning="A node without the topologyKey of a DoNotSchedule constraint takes no Pod that has it, and here none"
    " carries it. ScheduleAnyway would only have no effect.",
    when="For DoNotSchedule, where no node carries the key.",
    action="Correct the topologyKey, or label the nodes.",
    link=entry.NODE_LABELS,
)
def _(status: statuses.NoDomains) -> str:
    meant = f": {status.similar} may be meant" if status.similar else ""
    return f"no node carries {status.topology_key}{meant}"


@STATUSES.rule(
    summary="the next Pod finds no node, and without its constraints would find one",
    meaning="The constraint is among the fewest requirements that together leave the next Pod no node. The next"
    " rollout, restart or scale-up will hang.",
    when="For DoNotSchedule, judged for the Pod that comes next; DaemonSets, Jobs that want no more Pods and"
    " workloads that are paused, suspended or scaled to 0 have none.",
    action="show TYPE/NAME prints the domains; why-pending tries fixes once a Pod is Pending.",
    link=entry.CONFLICTING,
)
def _(status: statuses.Blocked) -> str:
    from kubectl_spread.wording.causes import blocking_reason  # ``explain`` reads no cluster.

    return blocking_reason(status.blame.blocking[status.index], status.blame.nodes)


@STATUSES.rule(
    summary="the API server would refuse the next Pod",
    meaning="A template is taken with less scrutiny than a Pod, and admission adds to the Pod what the template"
    " does not show. The controller tries again and again, and no Pod comes. The message is the API server's.",
    when="Where validation or admission refuses what the workload would make next.",
    action="Correct what the message names: in the template, or the LimitRange, RuntimeClass or PriorityClass.",
    link=entry.SPREAD,
)
def _(status: statuses.FailedCreate) -> str:
    return status.message


@STATUSES.rule(
    summary="the next Pod finds no node, and no constraint is to blame",
    meaning="Filters other than the constraints leave no node. The reason names the fewest that do together.",
    when="Where no node is feasible for a Pod of the newest revision, with or without its constraints.",
    action="Make room or open nodes; why-pending tries fixes once a Pod is Pending.",
    link=entry.SPREAD,
)
def _(status: statuses.Unschedulable) -> str:
    from kubectl_spread.wording.causes import reason_of  # ``explain`` reads no cluster.

    return reason_of(status.blame.cause, status.blame.nodes)


@STATUSES.rule(
    summary="the skew exceeds maxSkew",
    meaning="A constraint is kept when Pods are placed, not afterwards: Pods that were deleted, nodes that left or"
    " a constraint that was added later leave a larger skew behind.",
    when="For DoNotSchedule with a skew above maxSkew.",
    action="rebalance plans the fewest evictions that restore the spread; a restart places all Pods again.",
    link=entry.LIMITATIONS,
)
def _(status: statuses.Violated) -> str:
    return f"skew {status.skew}, maxSkew {status.max_skew}"


@STATUSES.rule(
    summary="the constraint balances nothing",
    meaning="It does not count the Pods that it is meant to spread: there is no labelSelector, an empty one that"
    " this release counts nothing by, or one that does not match the workload's own Pods. Or there is nothing to"
    " spread over: no node counts, only one domain does, or each Pod of a DaemonSet counts its own node alone.",
    when="Where the selector does not match a Pod of the workload, no domain is eligible, only one is (for"
    " DoNotSchedule with minDomains at most 1), or nodeAffinityPolicy is Honor in a DaemonSet.",
    action="Make the labelSelector match the labels of the Pod template: explain GhostPod. Of a DaemonSet, drop"
    " the constraint.",
    link=entry.CONVENTIONS,
)
def _(status: statuses.NoEffect) -> str:
    return _IDLE[status.why].format(status.topology_key)


@STATUSES.rule(
    summary="something that may decide was not read or is not modelled",
    meaning="What is reported is true for what was read. What is missing is under incomplete, with what it means"
    " for the answer.",
    when="Where the missing part could change what becomes of the next Pod.",
    action="Grant the right that is named, give the missing file, or take it as it is.",
    link=entry.SPREAD,
)
def _(status: statuses.Incomplete) -> str:
    from kubectl_spread.wording.incomplete import consequence  # ``explain`` reads no cluster.

    return consequence(status.gap)


@STATUSES.rule(
    summary="the skew exceeds what a soft constraint prefers",
    meaning="ScheduleAnyway ranks nodes and limits nothing, so this is allowed and may be what other scores want.",
    when="For ScheduleAnyway with a skew above maxSkew. --exit-code does not count it.",
    action="Nothing, or DoNotSchedule where the balance matters: explain SoftConstraintIsPreference.",
)
def _(status: statuses.Uneven) -> str:
    return f"skew {status.skew}, maxSkew {status.max_skew}, only preferred"


@STATUSES.rule(
    summary="the skew is within maxSkew and the next Pod finds a node",
    meaning="Nothing is wrong with the constraint or with how the Pods are spread.",
    when="Where nothing worse holds. --problems leaves it out.",
    action="Nothing.",
    link=entry.SPREAD,
)
def _(status: statuses.OK) -> str:
    if status.preemption:
        from kubectl_spread.wording.pending import preempts  # As above.

        return preempts(status.preemption)
    return f"{status.manager} makes its Pods" if status.manager else ""


def stop_text(stop: Status | BlockedBy | NoMoreWanted) -> str:
    """Return what stops one more replica from finding a node."""
    match stop:
        case NoMoreWanted():
            return "no more are wanted"
        case BlockedBy():
            named = [enumerated(each, most=2) for each in stop.constraints]
            return f"{SpreadStatus.BLOCKED} by {enumerated(list(dict.fromkeys(named)), most=2)}"
        case statuses.OK():
            return STATUSES.text(stop)
        case _:
            return f"{stop.name}: {STATUSES.text(stop)}"


VERDICTS: Sequence[Entry] = (
    _verdict(
        name="Schedulable",
        summary="at least one node passes every filter",
        meaning="kube-scheduler would bind the Pod at its next turn. For a Pod that is Pending this means that it has"
        " not tried again, is backing off, or that a gate holds the Pod.",
        when="Where a node is feasible and everything that could say no was evaluated.",
        action="Nothing, or explain StaleEvent.",
        link=entry.SPREAD,
    ),
    _verdict(
        name="Unschedulable",
        summary="every node is rejected by some filter",
        meaning="The nodes are listed by the filter that rejects them. The conflict names the fewest requirements that"
        " leave no node together.",
        when="Where no node is feasible. check and why-pending then end with exit code 1.",
        action="Apply one of the fixes: each was verified by simulation on the snapshot.",
        link=entry.CONFLICTING,
    ),
    _verdict(
        name="Incomplete",
        summary="nothing evaluated rejects the Pod, but not everything was evaluated",
        meaning="feasible holds the nodes that nothing evaluated rejects. A list that may not be read, or a feature"
        " that is not modelled, could still close them.",
        when="Where the Pod or the cluster gives the missing part something to judge. The exit code is 3.",
        action="Grant the right that is named under incomplete, or give what is missing.",
        link=entry.SPREAD,
    ),
    _verdict(
        name="Balanced",
        summary="the skew is within maxSkew now",
        meaning="No eviction is wanted for this constraint. Where others move Pods that it counts it holds then, too.",
        when="By rebalance, where the skew is not above maxSkew, before the plan and after it.",
        action="Nothing.",
        link=entry.DEFINITION,
    ),
    _verdict(
        name="Planned",
        summary="the skew is within maxSkew after the evictions",
        meaning="Each Pod that comes in place of an evicted one was placed as kube-scheduler would place it, on every"
        " node of the highest score, before the next one goes. No other constraint is further from holding then.",
        when="By rebalance, for a constraint that does not hold as things are. The exit code is 1.",
        action="Run the commands in order, each once the Pod in place of the one before is Ready.",
        link=entry.LIMITATIONS,
    ),
    _verdict(
        name="Partial",
        summary="the evictions lower the skew, but not to maxSkew",
        meaning="No eviction of the plan is in vain, but something keeps the rest from being moved: the reason says"
        " which domain is shut and by what, or which Pods are to be left alone.",
        when="By rebalance, where some evictions help and no more do.",
        action="Do away with the reason first, such as a taint or a budget, and ask again.",
        link=entry.LIMITATIONS,
    ),
    _verdict(
        name="Impossible",
        summary="no eviction lowers the skew",
        meaning="Whichever Pod goes, the one in its place comes back to where it was, breaks another constraint or"
        " finds no node; or no Pod may go. So none is evicted.",
        when="By rebalance, for a constraint that does not hold as things are.",
        action="Do away with the reason first: open the domain that is shut, or look at constraints that conflict.",
        link=entry.CONFLICTING,
    ),
    _verdict(
        name="FailedCreate",
        summary="the API server takes the workload and refuses its Pods",
        meaning="A ServiceAccount, PriorityClass or RuntimeClass does not exist, a quota or LimitRange leaves no room,"
        " or a Pod of the template is not valid. failedCreate has the reason, and how many Pods come all the same. The"
        " placement is that of the Pods that come; where none does, it is what would be if all did.",
        when="By check, for workloads. The exit code is 1.",
        action="Make what is missing, or change the template or the quota.",
        link=entry.DEFINITION,
    ),
    _verdict(
        name="Invalid",
        summary="the API server refuses the manifest",
        meaning="A field is unknown, changed although it may not be, or breaks a rule of validation; or the namespace"
        " does not exist; or a bare Pod is not let in. The reasons are under validation. What else is reported is what"
        " would become of it without that.",
        when="Where validation is not empty; check only. The exit code is 1.",
        action="Correct the fields as the messages say.",
        link=entry.DEFINITION,
    ),
)


def pods_text(pods: int, own: int) -> str:
    """Return how many Pods are counted, and how many of them are the workload's where there are others."""
    return str(pods) if pods == own else f"{pods} ({own} own)"


def counted_text(pods: int, own: int) -> str:
    """Return the same as a sentence."""
    return f"Pods counted: {pods_text(pods, own)}."


def skew_text(skew: int, max_skew: int) -> str:
    """Return the skew beside what the constraint allows."""
    return f"Skew {skew}, maxSkew {max_skew}"


def ghosts_text(names: Sequence[str]) -> str:
    """Return the Pods that their own constraint does not count."""
    return f"Ghost Pods, which their own constraint does not count: {listed(names, SHOWN_NAMES)}."


def reason_of_next(none_comes: NoneComes | None, named_node: str) -> str:
    """Return why no Pod comes next, or why it goes to no other node than the one that its template names."""
    if none_comes:
        return _NONE_COMES[none_comes]
    return "its template names the node, and nobody schedules it" if named_node else ""


def next_replica(nodes: Sequence[str], reason: str, *, some_read: bool) -> str:
    """Return the nodes that take the next replica, or why none comes.

    Args:
        nodes: their names.
        reason: as ``reason_of_next`` gives it.
        some_read: whether only some nodes' Pods were read.
    """
    if reason and not nodes:
        return f"No Pod comes next: {reason}."
    read = ", of the nodes whose Pods were read" if some_read and nodes else ""
    because = f" ({reason})" if reason else ""
    return f"Next replica: {listed(nodes, SHOWN_NAMES) or 'no node'}{because}{read}."


def pending_pod(name: str, nodes: Sequence[str]) -> str:
    """Return which nodes take the Pod that waits."""
    return f"{name} is Pending: {f'it can go to {listed(nodes, SHOWN_NAMES)}' if nodes else 'no node takes it'}."


def headroom_text(more: int, then: str) -> str:
    """Return how many more replicas find a node, and what stops the next; empty where nothing did."""
    return f"{more} more, then {then}" if then else f"at least {more} more"

"""The texts about a step of a simulation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.apiserver.eviction import EvictionRefused
from kubectl_spread.controllers.job import FailureReason, JobFailure
from kubectl_spread.controllers.nodelifecycle import EvictionsStopped
from kubectl_spread.diagnosis import step_changes
from kubectl_spread.diagnosis.causes import PinnedDomain
from kubectl_spread.diagnosis.fixes.shell import kubectl
from kubectl_spread.diagnosis.step_changes import EvictedPod, PendingPods, SimulatedStep, WaitingReason
from kubectl_spread.objects.meta import grouped
from kubectl_spread.rebalance.plan import UpgradedPods
from kubectl_spread.simulation import steps
from kubectl_spread.simulation.control_loop import JobFailed, WaitsForReady
from kubectl_spread.simulation.steps import DISABLE_EVICTION, DrainFlag, Verb
from kubectl_spread.snapshot import PodKey
from kubectl_spread.wording.causes import IT, ONE, POD, PODS, Subject, clause_of
from kubectl_spread.wording.incomplete import ALL_NEVER_RUN, NEVER_RUNS
from kubectl_spread.wording.pending import held_changes, summary_of
from kubectl_spread.wording.rebalance import plan_note_text
from kubectl_spread.wording.words import count_of, enumerated, held_by_gates, listed, scaled_by, scores_some

LOSSES: Mapping[DrainFlag, str] = {
    DrainFlag.DELETE_EMPTYDIR_DATA: " (what is in emptyDir volumes is lost)",
    DrainFlag.FORCE: " (no controller recreates {})",
}
"""Flag of a drain → what is lost by it, with a place for its Pods."""
REFUSED = "Not applied: {}."
BLOCKED = "Blocked: {}: {}"
LOST = "Deleted for good, because no controller recreates {}: {}."
FEWER = "Deleted and not replaced: {}."
PREEMPTED = "Preempted by Pods of higher priority: {}{}."
RANGES = (
    "A range such as 0..1, or OK to Violated, shows the lowest and the highest result of {} simulations with different"
    " random choices."
    " The text above the table describes the first one."
)
BY_REVISION = "The rows of a revision count the Pods that its constraint selects: these may be of other revisions too."
SHOWN_NAMES = 4
"""Pods that are named of a kind of outcome (count)."""
SHOWN_EVICTED = 20
"""Evicted Pods that are named (count)."""


def removed(step: SimulatedStep) -> str:
    """Return what becomes of the Pods that a step removes."""
    return "deleted" if step.step.verb is Verb.DELETE or step.step.disable_eviction else "evicted"


def removed_pods(step: SimulatedStep) -> Sequence[EvictedPod]:
    """Return the Pods that the step removes; those that only go with their node are reported as blocked."""
    blocked = {each.pod.key for each in step.blocked}
    return [pod for pod in step.evicted if (pod.namespace, pod.pod) not in blocked]


def step_sentence(step: SimulatedStep, *, unread: bool) -> str:
    """Return the result of a step in a sentence; ``unread``: whether a list was not read."""
    gone = {
        removed(step): len(removed_pods(step)),
        "Terminating and not replaced": step.not_replaced,
        "blocked": len(step.blocked),
        "lost": len(step.lost),
        "deleted and not replaced": sum(each.count for each in step.deleted),
        "preempted": len(step.preempted),
    }
    refused = {(each.source, each.document) for each in step.refused or ()}
    said = [f"{count_of(len(refused), 'manifest')} refused"] if refused else []
    said += [f"{count_of(number, 'Pod')} {what}" for what, number in gone.items() if number]
    before = sum(min(each.before, each.range[1]) for each in step.pending)
    least, most = (sum(each.range[bound] for each in step.pending) for bound in (0, 1))
    if most > before > 0:
        new = (sum(max(each.range[bound] - each.before, 0) for each in step.pending) for bound in (0, 1))
        said.append(f"{_number(*new)} newly Pending; {before} {'was' if before == 1 else 'were'} Pending before")
    elif most:
        were = sum(each.before for each in step.pending)
        said.append(f"{_number(least, most)} Pending" + f" ({were} before)" * bool(were))
    elif step.newly_pending:
        said.append("new Pods are refused")
    elif said:
        said.append("none Pending")
    limit = "as far as was read, " if unread else ""
    becomes = ", ".join(said) or f"{limit}no Pod is {removed(step)}, none is Pending"
    return f"{'; '.join(filter(None, (becomes, may_add(step.pending))))}."


def may_add(pending: Sequence[PendingPods]) -> str:
    """Return that the cluster's autoscaler may add a node for all these Pods, and from where; empty if it may not."""
    answers = [each.autoscaler for each in pending if each.autoscaler is not UNSET]
    if not answers or len(answers) < len(pending):
        return ""
    from kubectl_spread.wording.autoscalers import may_add_for

    return may_add_for(answers, sum(each.range[1] for each in pending))


def decided_text(pending: PendingPods, *, in_headline: bool) -> str:
    """Return what the cluster's autoscaler decides about the first of the Pods; empty without one.

    ``in_headline``: whether the step's sentence says it, so that only what was not considered is left to say.
    """
    if pending.autoscaler is UNSET:
        return ""
    from kubectl_spread.wording.autoscalers import decision_text

    return decision_text(pending.autoscaler, decided=not in_headline)


def _number(least: int, most: int) -> str:
    return str(most) if least == most else f"{least} to {most}"


def why_pending(reasons: Sequence[WaitingReason], subject: Subject = POD) -> str:
    """Return why Pods of a workload wait, in a sentence or two for each reason."""
    if len(reasons) != 1:
        return " ".join(map(_of_some, reasons))
    return _held(reasons[0]) if reasons[0].gates else summary_of(reasons[0].conclusion, subject)


def _held(reason: WaitingReason) -> str:
    return f"{reason.pod} is {held_by_gates(reason.gates)}."


def _of_some(reason: WaitingReason) -> str:
    """Return why some of a workload's Pending Pods wait, where others have another reason."""
    revision = "" if reason.old is None else f"the {'old' if reason.old else 'new'} revision"
    who = f"{count_of(reason.number, 'Pod')} of {revision}" if revision else f"{reason.number} of them"
    subject = replace(IT if reason.number == 1 else PODS, revision=revision)
    conclusion = reason.conclusion
    if reason.gates:
        return f"{who}: {_held(reason)}"
    if conclusion.decider or conclusion.preemption or conclusion.cause is None:
        return f"{who}: {summary_of(conclusion, subject)}"
    if isinstance(conclusion.cause, PinnedDomain) and conclusion.cause.only_place:
        return clause_of(conclusion.cause, replace(subject, who=who)).text
    clause = clause_of(conclusion.cause, subject)
    return f"{who}: {clause.text}{clause.end}"


def pending_text(waiting: Sequence[PendingPods], *, news: bool) -> str:
    """Return how many Pods of each workload wait, and why; in some random orders alone where there is no reason.

    ``news``: whether more Pods wait than before, so that those that are no news are named.
    """
    by_chance = any(low < high for low, high in (each.range for each in waiting))
    pods = [
        f"{_number(*each.range)} {'Pod' if each.range[1] == 1 else 'Pods'} of {each.namespace}/{each.workload}"
        f"{as_before(each.before * news, each.range[1])}"
        for each in waiting
    ]
    one = [each.range[1] for each in waiting] == [1]
    reasons = waiting[0].reasons
    summary = why_pending(reasons, ONE if one else PODS) if reasons else ""
    why = f". {summary}" if summary else " in some random orders." if by_chance else "."
    return f"{enumerated(pods, len(pods))} {'is' if one else 'are'} Pending{why}"


def as_before(before: int, most: int) -> str:
    """Return in brackets how many (count) of the Pods that are Pending at most were so before; empty for none."""
    return " (as before)" if before >= most else f" ({before} as before)" if before else ""


def removed_text(step: SimulatedStep, most: int | None) -> str:
    """Return which Pods the step removes, and so many of their names (None for all)."""
    pods = removed_pods(step)
    of_workloads = grouped(pods[:most], lambda pod: f"{pod.namespace}/{pod.workload}")
    parts = [f"{', '.join(pod.pod for pod in those)} ({workload})" for workload, those in of_workloads.items()]
    if most is not None and len(pods) > most:
        parts.append(f"and {len(pods) - most} more (--all)")
    return f"{removed(step).capitalize()}: {'; '.join(parts)}."


def blocked_text(blocked: steps.Blocked) -> str:
    """Return why a Pod cannot be evicted."""
    why = _reason(blocked.reason)
    return f"{why.removesuffix('.')}, and it is deleted with its node" if blocked.goes_with_node else why


def _reason(reason: steps.BlockReason) -> str:
    match reason:
        case steps.Unmanaged():
            return "no controller manages it, so kubectl refuses the drain without --force"
        case steps.DaemonSetGone(name):
            return f"its DaemonSet {name} does not exist, so kubectl refuses the drain without --force"
        case steps.DrainRefused():
            return "the drain was refused"
        case steps.DrainWaits(node):
            return f"kubectl still waits for {node} to be drained"
        case EvictionRefused(message):
            return message
        case _:
            assert_never(reason)


def notes_of(step: SimulatedStep, connection_flags: Sequence[str] = ()) -> Iterator[str]:
    """Yield what else is to be said of a step, a clause each; commands carry these flags."""
    yield from (note_text(note, connection_flags) for note in step.done)
    yield from step.of_manifests
    yield from map(outcome_text, step.outcome)


def note_text(note: steps.StepNote, connection_flags: Sequence[str] = ()) -> str:
    """Return the text of a note on a step; commands carry these flags."""
    match note:
        case steps.Autoscaled() | steps.UnreadScalers():
            return _autoscaled(note)
        case steps.DrainFlags(nodes, pods, given):
            words, flags = ((), ("-l", nodes)) if "=" in nodes else ((nodes,), ())
            drain = kubectl("drain", *words, flags=(*flags, *pods, *given, *connection_flags))
            needs = [
                f"{flag} because of {listed(_names(of))}{LOSSES.get(flag, '').format('it' if len(of) == 1 else 'them')}"
                for flag, of in pods.items()
            ]
            does = "deletes" if DISABLE_EVICTION in given else "evicts"
            return f"this drain is `{drain}`. It needs {enumerated(needs)}: otherwise kubectl {does} no Pod of the node"
        case steps.BoundByName(namespace, ref, number, node, absent):
            one = number == 1
            sets = f"{count_of(number, 'new Pod')} of {namespace}/{ref} {'sets' if one else 'set'}"
            named = f"{sets} spec.nodeName {node}"
            if absent:
                return f"{named}, but {NEVER_RUNS if one else ALL_NEVER_RUN}"
            return f"{named}: {'it is' if one else 'they are'} bound to {node} again, without a scheduler"
        case steps.MirrorRemade(pod, node):
            return (
                f"the kubelet of {node} recreates the mirror Pod {'/'.join(pod)}, and its containers keep running."
                f" To stop them, remove its manifest on {node}"
            )
        case steps.NotReplaced() | steps.StaysTerminating() | steps.StuckPods():
            return _terminating(note)
        case EvictionsStopped(silent, nodes) if silent < nodes:
            return f"{silent} of {nodes} nodes of its zone do not answer, so nothing is evicted there"
        case EvictionsStopped():
            return "no node answers, so nothing is evicted"
        case JobFailed(namespace, name, failure):
            return f"the job/{name} of {namespace} fails, and its Pods are deleted: {_failure(failure)}"
        case WaitsForReady(namespace, ref, held):
            then = held_changes(held)
            does = f"{ref} of {namespace} {then}"
            if held.stuck:
                rest = f". Only then {does}" if then else ""
                return f"the StatefulSet waits for {held.first}, which stays Pending: delete it{rest}"
            return f"only when {held.first} is Ready, {does}"
        case _:
            assert_never(note)


def _autoscaled(note: steps.Autoscaled | steps.UnreadScalers) -> str:
    match note:
        case steps.UnreadScalers(ref, why):
            return f"HorizontalPodAutoscalers are {why}: one that scales {ref} may change its replicas again"
        case steps.Autoscaled(bounds, 0, _):
            return f"{scaled_by(bounds)}, but it does not scale it up from 0 replicas"
        case steps.Autoscaled(bounds, asked, restored) if asked != restored:
            return f"{scaled_by(bounds)}: it changes {asked} to {restored}, and the step goes on with {restored}"
        case steps.Autoscaled(bounds, asked, _):
            return f"{scaled_by(bounds)}: it may change {asked} again"
        case _:
            assert_never(note)


def _terminating(note: steps.NotReplaced | steps.StaysTerminating | steps.StuckPods) -> str:
    match note:
        case steps.NotReplaced(pods, ref, nodes):
            one = len(pods) == 1
            until = f"until {enumerated(nodes)} {'is' if len(nodes) == 1 else 'are'} back or deleted"
            pod = "Pod" if one else "Pods"
            they = f"the {pod} {listed(_names(pods))} {'stays' if one else 'stay'} Terminating {until}"
            return f"{they}; {ref} creates no other Pod of {'that name' if one else 'those names'} before"
        case steps.StaysTerminating(pod, node, finalizers):
            if finalizers:
                one = len(finalizers) == 1
                until = f"until its finalizer{'' if one else 's'} {listed(finalizers)} {'is' if one else 'are'} removed"
                return f"the Pod {'/'.join(pod)} stays Terminating {until}"
            forced = "--force simulates a forced deletion: first make sure that it no longer runs there"
            return f"the Pod {'/'.join(pod)} stays Terminating, because {node} does not answer; {forced}"
        case steps.StuckPods(pods, node_silent, go_with_node):
            why = "on a node that does not answer" if node_silent else "until finalizers are removed"
            they = "it is" if len(pods) == 1 else "they are"
            until = f", until {they} deleted with the node" if go_with_node and node_silent else ""
            return f"the drain waits for {listed(_names(pods))}, Terminating {why}{until}"


def _names(keys: Iterable[PodKey]) -> Sequence[str]:
    return ["/".join(key) for key in keys]


def _failure(failure: JobFailure) -> str:
    failed, limit = failure.failed, failure.limit
    have = "has" if failed == 1 else "have"
    match failure.reason:
        case FailureReason.POD_FAILURE_POLICY:
            return "its podFailurePolicy fails it when a Pod is disrupted"
        case FailureReason.BACKOFF_LIMIT_EXCEEDED:
            return f"{failed} of its Pods {have} failed and its backoffLimit is {limit}"
        case FailureReason.MAX_FAILED_INDEXES_EXCEEDED:
            return f"{failed} of its indexes {have} failed and its maxFailedIndexes is {limit}"
        case FailureReason.FAILED_INDEXES:
            return "every index has finished"
        case _:
            assert_never(failure.reason)


def outcome_text(note: step_changes.OutcomeNote) -> str:
    """Return the text of a note on the orders that were tried."""
    match note:
        case step_changes.CreateRefused(ref, message, before, by_chance):
            when = f"{', as before' if before else ''}{', in some random orders' if by_chance else ''}"
            return f"the API server refuses Pods of {ref}{when}: {message}"
        case step_changes.MixedRevisions(ref, topology_key, label):
            even = f"matchLabelKeys: [{label}] in the constraint on {topology_key} counts each revision separately"
            counts = f"the rollout of {ref} counts Pods of the old revision too"
            return f"{counts}, so the skew may exceed maxSkew in the end" + f". {even} and keeps it even" * bool(label)
        case step_changes.RolloutEnds(ref):
            return f"the rollout of {ref} ends"
        case step_changes.ReplacedByHand(ref):
            return f"the update strategy of {ref} is OnDelete: each Pod has the old template until it is deleted"
        case step_changes.NoRoomForMore(ref, status):
            return f"every Pod of {ref} has a node. The status {status} is about one more Pod"
        case UpgradedPods():
            return plan_note_text(note)
        case step_changes.WasChanging(ref, rolls, same):
            state = f"a {'rollout' if rolls else 'change of the Pods'} of {ref} is in progress"
            return f"{state}, and ends the same without this step" if same else f"{state} without this step too"
        case step_changes.BlockedByChance(first, pods):
            names = listed(_names(pods))
            are = "is" if len(pods) == 1 else "are"
            return f"in other random orders {names} {are} blocked: {blocked_text(first)}"
        case step_changes.PreemptedByChance(pods):
            names = listed(["/".join(key) for key in pods])
            return f"in other random orders {names} {'is' if len(pods) == 1 else 'are'} preempted instead"
        case step_changes.OneOrder():
            return "the result also depends on chance: in a cluster of this size only one order was simulated, by name"
        case step_changes.SomeScored(orders):
            return scores_some(orders)
        case step_changes.Unsettled():
            return "it does not converge: the controllers and the scheduler would repeat this without end"
        case _:
            assert_never(note)

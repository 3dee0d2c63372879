"""The texts about a step of a simulation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.apiserver.eviction import EvictionRefused
from kubectl_spread.controllers.job import FailureReason, JobFailure
from kubectl_spread.controllers.nodelifecycle import EvictionsStopped
from kubectl_spread.diagnosis import step_changes
from kubectl_spread.diagnosis.causes import PinnedDomain
from kubectl_spread.diagnosis.fixes.future import WorseConstraint
from kubectl_spread.diagnosis.fixes.shell import kubectl
from kubectl_spread.diagnosis.step_changes import EvictedPod, PendingPods, SimulatedStep, WaitingReason
from kubectl_spread.objects.meta import grouped
from kubectl_spread.rebalance.plan import UpgradedPods
from kubectl_spread.simulation import steps
from kubectl_spread.simulation.control_loop import JobFailed, WaitsForReady
from kubectl_spread.simulation.steps import DISABLE_EVICTION, DrainFlag, Verb
from kubectl_spread.snapshot import PodKey
from kubectl_spread.wording.causes import IT, POD, PODS, Subject, clause_of, shared_line
from kubectl_spread.wording.incomplete import ALL_NEVER_RUN, NEVER_RUNS
from kubectl_spread.wording.pending import held_changes, summary_of
from kubectl_spread.wording.rebalance import plan_note_text
from kubectl_spread.wording.words import (
    SHORT_KEYS,
    count_of,
    enumerated,
    held_by_gates,
    in_violation,
    listed,
    scaled_by,
    scores_some,
)

# Flag of a drain → what is lost by it, with a place for its Pods.
LOSSES: Mapping[DrainFlag, str] = {
    DrainFlag.DELETE_EMPTYDIR_DATA: " (what is in emptyDir volumes is lost)",
    DrainFlag.FORCE: " (no controller recreates {})",
}
RANGES = (
    "A range such as 0..1, or OK to Violated, shows the lowest and the highest result of {} simulations with different"
    " random choices. The rest describes the first one"
)
BY_REVISION = "The rows of a revision count the Pods that its constraint selects: these may be of other revisions too"
AS_ABOVE = "as above"
SHOWN_NAMES = 4  # Pods that are named of a kind of outcome (count)
SHOWN_EVICTED = 20  # Evicted Pods that are named (count)
EVERY = 10**9  # As many names as there are


def removed(step: SimulatedStep) -> str:
    """Return what becomes of the Pods that a step removes."""
    return "deleted" if step.step.verb is Verb.DELETE or step.step.disable_eviction else "evicted"


def removed_pods(step: SimulatedStep) -> Sequence[EvictedPod]:
    """Return the Pods that the step removes; those that only go with their node are reported as blocked."""
    blocked = {each.pod.key for each in step.blocked}
    return [pod for pod in step.evicted if (pod.namespace, pod.pod) not in blocked]


def step_sentence(step: SimulatedStep) -> str:
    """Return whether a step is safe, why it is not, and what it does, in a sentence or more."""
    safe, troubles = step.verdict.safe, "; ".join(_troubles(step))
    if safe is False:
        verdict = f"not safe: {troubles}"
    elif troubles:
        verdict = f"not known to be safe: as far as is known, {troubles}"
    else:
        lost = len(step.lost)
        costs = [f"{count_of(lost, 'Pod')} {_be(lost)} deleted for good"] * bool(lost)
        costs += [_emptied(step)] * bool(step.verdict.emptied)
        verdict = f"{'' if safe else 'as far as is known, '}safe{', but ' * bool(costs)}{', and '.join(costs)}"
    facts = verdict, may_add(step.pending), _placed(step, troubled=bool(troubles)), *_besides(step)
    return " ".join(f"{fact}." for fact in facts if fact)


def _emptied(step: SimulatedStep) -> str:
    """Return of which workloads no Pod runs for a while."""
    names = [f"{each.namespace}/{each.workload}" for each in step.verdict.emptied]
    every = f"both Pods of {names[0]} are" if [each.count for each in step.verdict.emptied] == [2] else ""
    return f"{every or f'all Pods of {listed(names, SHOWN_NAMES)} are'} {removed(step)} at once"


def _troubles(step: SimulatedStep) -> Iterator[str]:
    """Yield what makes a step unsafe, a clause each."""
    refused = {(each.source, each.document) for each in step.refused or ()}
    if refused:
        yield f"{count_of(len(refused), 'manifest')} {_be(len(refused))} refused"
    if step.not_replaced:
        stays = "stays Terminating and is" if step.not_replaced == 1 else "stay Terminating and are"
        yield f"{step.not_replaced} of {count_of(step.verdict.evicted, 'evicted Pod')} {stays} not replaced"
    for held in step.verdict.held_up:
        who = f"{count_of(held.count, 'Pod')} of {held.namespace}/{held.workload} {_be(held.count)}"
        yield f"{who} not created until its Terminating Pods are gone"
    if step.blocked:
        yield f"{count_of(len(step.blocked), 'Pod')} cannot be {removed(step)}"
    if step.verdict.without_node[1]:
        yield _without_node(step)
    notes = [each for each in step.outcome if isinstance(each, step_changes.CreateRefused) and not each.before]
    if notes:
        yield f"the API server refuses Pods of {listed(['{}/{}'.format(*each.key) for each in notes], 2)}"
    if step.never_run:
        names = "names a node that does" if step.never_run == 1 else "name nodes that do"
        yield f"{count_of(step.never_run, 'new Pod')} {names} not exist"
    # STATUS has a worse one than Violated where Pods are Pending too.
    for (key, limit), broken in grouped(step.verdict.violated, lambda it: (it.topology_key, it.max_skew)).items():
        whose = listed([f"{_name(step, it)} {it.skew}" for it in broken], SHOWN_NAMES)
        yield f"the skew on {SHORT_KEYS.get(key, key)} exceeds maxSkew {limit} ({whose})"


def _without_node(step: SimulatedStep) -> str:
    """Return how many of the Pods that a step removes or creates find no node, then whose they are and why."""
    every, what = _moved(step)
    least, most = step.verdict.without_node
    who = f"{_number(least, most)} of {every} {what} Pods" if every >= most else f"{_number(least, most)} more Pods"
    who = f"the {what} Pod" if every == most == 1 else who.removesuffix("s" * (who == "1 more Pods"))
    groups = []
    for why, waiting in grouped(_new(step.pending), lambda each: _in_short(each.reasons)).items():
        whose = listed([f"{_name(step, each)} {_number(*each.new)}" for each in waiting], SHOWN_NAMES)
        groups.append(f"{whose}{f': {why}' if why else ''}")
    chance = ", depending on chance" * (least < most)
    return f"{who} {'finds' if most == 1 else 'find'} no node{chance} ({'; '.join(groups)})"


def _new(pending: Iterable[PendingPods]) -> Sequence[PendingPods]:
    return [each for each in pending if each.new[1]]


def _name(step: SimulatedStep, each: PendingPods | WorseConstraint) -> str:
    """Return the name of a workload, with its namespace if the step is about several."""
    about = {it.namespace for it in (*step.evicted, *step.lost)}
    about |= {it.namespace for it in step.verdict.violated} | {it.namespace for it in _new(step.pending)}
    return f"{each.namespace}/{each.workload.name}" if len(about) > 1 else each.workload.name


def _moved(step: SimulatedStep) -> tuple[int, str]:
    """Return how many Pods a step evicts, or creates if it evicts none, and what they are called."""
    verdict = step.verdict
    return (verdict.evicted, removed(step)) if verdict.evicted else (verdict.created, "new")


def _in_short(reasons: Sequence[WaitingReason]) -> str:
    """Return why Pods wait, in a few words; empty if they do not in the reported order."""
    first, *_ = reasons or (None,)
    if first is None or first.gates:
        return held_by_gates(first.gates) if first else ""
    return shared_line(first.conclusion.cause) if first.conclusion.cause else ""


def _placed(step: SimulatedStep, *, troubled: bool) -> str:
    """Return that the Pods which a step removes or creates get nodes; empty if it is ``troubled`` by other Pods."""
    (every, what), created = _moved(step), step.verdict.created
    if step.verdict.without_node[1] or (troubled and not every):
        return ""
    if not every:
        moves = step.step.verb in {Verb.DRAIN, Verb.REMOVE, Verb.LOSE} and not step.lost
        return "No Pod is evicted" if moves else "No Pod is newly Pending"
    had_none = {(each.namespace, each.workload) for each in removed_pods(step) if not each.node}
    if any((each.namespace, each.workload) in had_none and each.count >= each.before for each in step.pending):
        return ""  # They were Pending, and the Pods in their place are.
    if what == "new" and step.verdict.created_pending > step.verdict.without_node[1]:
        return ""  # Pods that were Pending made way for new ones that are.
    node = "a node" if what == "new" or had_none else "another node"
    if created >= every:
        them = {1: f"The {what} Pod gets", 2: f"Both {what} Pods get"}
        return f"{them.get(every, f'All {every} {what} Pods get')} {node}"
    others = "" if created + step.not_replaced >= every else ", and the others are not created again"
    return f"{created or 'None'} of {count_of(every, f'{what} Pod')} {'gets' if created == 1 else 'get'} {node}{others}"


def _besides(step: SimulatedStep) -> Iterator[str]:
    """Yield what else becomes of Pods, a sentence each."""
    becomes = {
        "deleted for good": len(step.lost) * (step.verdict.safe is False),
        "deleted and not replaced": sum(each.count for each in step.deleted),
        "preempted": len(step.preempted),
    }
    yield from (f"{count_of(number, 'Pod')} {_be(number)} {what}" for what, number in becomes.items() if number)
    least, most = step.verdict.pending_before
    if most:
        names = listed([f"{each.namespace}/{each.workload}" for each in step.verdict.as_before], SHOWN_NAMES)
        yield f"{_number(least, most)} {'Pod stays' if most == 1 else 'Pods stay'} Pending, as before ({names})"


def _be(number: int) -> str:
    return "is" if number == 1 else "are"


def may_add(pending: Sequence[PendingPods]) -> str:
    """Return that the cluster's autoscaler may add a node for all newly Pending Pods, and from where; empty if not."""
    new = _new(pending)
    answers = [each.autoscaler for each in new if each.autoscaler is not UNSET]
    if not answers or len(answers) < len(new):
        return ""
    from kubectl_spread.wording.autoscalers import may_add_for

    return may_add_for(answers, sum(each.new[1] for each in new))


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


def why_pending(reasons: Sequence[WaitingReason], subject: Subject = POD, *, in_short: bool = False) -> str:
    """Return why Pods of a workload wait, in a sentence or two; ``in_short``: without domains that are full."""
    if len(reasons) != 1:
        return " ".join(map(_of_some, reasons))
    (reason,) = reasons
    conclusion = reason.conclusion
    if in_short and isinstance(conclusion.cause, PinnedDomain):
        conclusion = replace(conclusion, cause=replace(conclusion.cause, full=()))
    return _held(reason) if reason.gates else summary_of(conclusion, subject)


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


def pending_text(pending: PendingPods) -> str:
    """Return how many Pods of a workload are Pending, and how many of these were so before."""
    return f"{_number(*pending.range)}{as_before(pending.before, pending.range[1])}"


def as_before(before: int, most: int) -> str:
    """Return in brackets how many (count) of the Pods that are Pending at most were so before; empty for none."""
    return " (as before)" if before >= most else f" ({before} as before)" if before else ""


def removed_text(step: SimulatedStep, most: int) -> str:
    """Return the names of the Pods that the step removes by workload, so many of them; empty for none."""
    pods = sorted(removed_pods(step), key=lambda each: (each.namespace, str(each.workload), each.pod))
    several = len({each.namespace for each in pods}) > 1
    names = [f"{each.namespace}/{each.pod}" if several else each.pod for each in pods if most]
    return f"{removed(step).capitalize()}: {listed(names, most)}" if names else ""


def left_out(workloads: int, constraints: int) -> str:
    """Return how many workloads and changed constraints only ``-o wide`` shows (counts); empty for none."""
    numbers = {"more workload": workloads, "more constraint": constraints}
    left = [count_of(number, what) for what, number in numbers.items() if number]
    return f"{enumerated(left)}; -o wide shows all" if left else ""


def blocked_text(blocked: steps.Blocked) -> str:
    """Return why a Pod cannot be evicted."""
    match blocked.reason:
        case steps.Unmanaged():
            why = "no controller manages it, so kubectl refuses the drain without --force"
        case steps.DaemonSetGone(name):
            why = f"its DaemonSet {name} does not exist, so kubectl refuses the drain without --force"
        case steps.DrainRefused():
            why = "the drain was refused"
        case steps.DrainWaits(node):
            why = f"kubectl still waits for {node} to be drained"
        case EvictionRefused(message):
            why = message
        case _:
            assert_never(blocked.reason)
    return f"{why.removesuffix('.')}, and it is deleted with its node" if blocked.goes_with_node else why


def step_notes(step: SimulatedStep, flags: Sequence[str] = (), most: int = EVERY) -> Iterator[str]:
    """Yield what else the step reports, a clause each; ``most``: how many Pods are named that are not replaced."""
    apart = [note for note in step.done if isinstance(note, steps.NotReplaced)]
    yield from (note_text(note, flags) for note in step.done if note not in apart)
    if apart and most:
        yield _not_replaced(apart, most)


def trouble_notes(step: SimulatedStep) -> Iterator[str]:
    """Yield what is refused, which Pods are blocked or gone, and what else matters, a clause each."""
    yield from (f"not applied: {str(each).removesuffix('.')}" for each in step.refused or ())
    for why, blocked in grouped(step.blocked, blocked_text).items():
        yield f"blocked: {listed(_names(it.pod.key for it in blocked))}: {why.removesuffix('.')}"
    lost, preempted = (listed([f"{it.namespace}/{it.pod}" for it in pods]) for pods in (step.lost, step.preempted))
    if lost:
        yield f"deleted for good, because no controller recreates {'it' if len(step.lost) == 1 else 'them'}: {lost}"
    if step.deleted:
        fewer = [f"{count_of(each.count, 'Pod')} of {each.namespace}/{each.workload}" for each in step.deleted]
        yield f"deleted and not replaced: {listed(fewer)}"
    if preempted:
        protected = in_violation(step.pdb_violations or 0, len(step.preempted))
        yield f"preempted by Pods of higher priority: {preempted}{protected}"
    yield from outcome_notes(step)


def outcome_notes(step: SimulatedStep) -> Sequence[str]:
    """Return what else is to be said of its manifests and its outcome, a clause each."""
    return (*step.of_manifests, *map(outcome_text, step.outcome))


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
        case steps.NotReplaced():
            return _not_replaced([note])
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


def _not_replaced(notes: Sequence[steps.NotReplaced], most: int = EVERY) -> str:
    pods = [pod for note in notes for pod in note.pods]
    nodes = [*dict.fromkeys(node for note in notes for node in note.nodes)]
    one = len(pods) == 1
    they = f"the {'Pod' if one else 'Pods'} {listed(_names(pods), most)} {'stays' if one else 'stay'}"
    until = f"Terminating until {enumerated(nodes)} {_be(len(nodes))} back or deleted"
    return f"{they} {until}; no other {'Pod of that name is' if one else 'Pods of those names are'} created before"


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
        case step_changes.CreateRefused((namespace, ref), message, before, by_chance):
            when = f"{', as before' if before else ''}{', in some random orders' if by_chance else ''}"
            return f"the API server refuses Pods of {namespace}/{ref}{when}: {message}"
        case step_changes.MixedRevisions((namespace, ref), topology_key, label):
            even = f"matchLabelKeys: [{label}] in the constraint on {topology_key} counts each revision separately"
            counts = f"the rollout of {namespace}/{ref} counts Pods of the old revision too"
            return f"{counts}, so the skew may exceed maxSkew in the end" + f". {even} and keeps it even" * bool(label)
        case step_changes.RolloutEnds((namespace, ref)):
            return f"the rollout of {namespace}/{ref} ends"
        case step_changes.ReplacedByHand((namespace, ref)):
            of = f"{namespace}/{ref}"
            return f"the update strategy of {of} is OnDelete: each Pod has the old template until it is deleted"
        case UpgradedPods():
            return plan_note_text(note)
        case step_changes.WasChanging((namespace, ref), rolls, same):
            state = f"a {'rollout' if rolls else 'change of the Pods'} of {namespace}/{ref} is in progress"
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

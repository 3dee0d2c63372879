"""The texts of ``why-pending`` besides the cause.

The verdict on a Pod, how many replicas run, the scheduler's messages, and the evictions and volumes it waits for.
"""

from collections.abc import Mapping, Sequence

from kubectl_spread import gaps
from kubectl_spread.controllers.statefulset import HeldUp
from kubectl_spread.controllers.workloads import Replicas, WorkloadRef
from kubectl_spread.diagnosis.evaluation import Conclusion
from kubectl_spread.diagnosis.events import Difference
from kubectl_spread.diagnosis.preemption import AwaitedVolumes, Nomination, Preemption
from kubectl_spread.diagnosis.starting_pods import StartingPods
from kubectl_spread.wording.causes import NO_CONSTRAINT, POD, Subject, clause_of
from kubectl_spread.wording.incomplete import MOST_NAMES, lead
from kubectl_spread.wording.words import count_of, enumerated, in_violation, listed

# Difference → its text.
DIFFERENCES = {
    Difference.OTHER_SCHEDULER: "another scheduler reported it, and its rules are not known here",
    Difference.GAVE_UP_ON_VOLUMES: (
        "the scheduler had chosen a node and gave up waiting for volumes there; it retries"
    ),
    Difference.NODE_CHOSEN: "the report is out of date: the scheduler has chosen a node since",
    Difference.NOT_ORDERED: "the scheduler has chosen a node too, and the times do not show which came last",
    Difference.NOT_EVALUATED: "not everything was evaluated",
    Difference.SCHEDULABLE_NOW: "the report is out of date: the Pod can be scheduled now",
    Difference.CLUSTER_CHANGED: "the cluster has changed since, or while it was read",
}
CREATE = "Create {}: then its Pods can be created."
AS_FOR = "{summary} (as above, for {subject})"  # A step that an earlier answer has too, with its commands


def schedulable(feasible: Sequence[str], *, undecided: bool) -> str:
    """Return where the Pod can be scheduled; ``undecided`` where not everything was evaluated."""
    if not feasible:
        return "where it can go is not known." if undecided else "the scheduler has nothing to decide about it."
    if undecided:
        return f"no evaluated filter rejects it on {listed(feasible)}, but not everything was evaluated."
    return f"it can be scheduled now, on {listed(feasible)}."


def at_work(replicas: Replicas) -> str:
    """Return how many of the workload's Pods run; empty where it wants none."""
    wanted, running = replicas.wanted, replicas.running
    if not wanted:
        return ""
    if wanted == 1:
        return "its only replica" + " runs" * bool(running)
    if running >= wanted:
        return f"all {wanted} replicas run"
    return f"{running} of {wanted} replicas {'runs' if running == 1 else 'run'}"


def starting_text(starting: StartingPods) -> str:
    """Return which Pods are Pending though they have a node, and what their kubelet says."""
    pods, nodes = ([*dict.fromkeys(names)] for names in (starting.pods, starting.nodes))
    one = len(pods) == 1
    who = f"{starting.namespace}/{pods[0]}" if one else f"{len(pods)} Pods of {starting.namespace}/{starting.workload}"
    where = f"{'is' if one else 'are'} Pending, but {'has' if one else 'have'} {'a node' if one else 'nodes'}"
    why = f"reports {starting.reason}" if starting.reason else "has reported nothing yet"
    return f"{who} {where} ({listed(nodes)}): the kubelet {why}."


def held_changes(held: HeldUp) -> str:
    """Return what a StatefulSet does only later; empty for nothing."""
    changes = (("creates", held.missing), ("replaces", held.old))
    return " and ".join(f"{does} {enumerated(pods)}" for does, pods in changes if pods)


def holds_text(workload: WorkloadRef, held: HeldUp) -> str:
    """Return what an OrderedReady StatefulSet does only when a Pending Pod is Ready, or is deleted."""
    changes = held_changes(held)
    stays = f"{held.first} is of an older revision, and nothing replaces it until somebody deletes it."
    later = f"{workload if held.stuck else 'it'} {changes} only when {held.first} is Ready."
    return f"{workload} is OrderedReady: {' '.join([stays] * held.stuck + [later] * bool(changes))}"


def waiting_line(name: str, summary: str, running: str, *, rolls_out: bool) -> str:
    """Return the first line about a Pod that no node takes; ``running`` as ``at_work`` returns it."""
    rollout = "rollout not finished: " * rolls_out
    return f"{name} is Pending{f' ({rollout}{running})' if running else ''}. {summary}"


def never_created(missing: int, wanted: int, *, refused_now: bool) -> str:
    """Return how many of the wanted Pods were not created, and whether the API server refuses or refused them."""
    who = "the API server refuses the next one" if refused_now else "the last error of its controller was"
    return f"{missing} of {count_of(wanted, 'Pod')} {'was' if missing == 1 else 'were'} never created, and {who}"


def reported(time: str, *, last: bool = False) -> str:
    """Return what leads to the scheduler's message; ``time`` may be empty."""
    return f"The scheduler {'last ' * last}reported{f' ({time})' if time else ''}"


WOULD_REPORT = "The scheduler would report"
WOULD_REPORT_NOW = f"{WOULD_REPORT} now"
NOT_VERIFIED = "Not all Pods were read, so the message was not verified."
SEE_WIDE = "other reasons: see -o wide"  # What stands for the reasons of nodes that are only counted
NOT_KNOWN = "unknown: see below"
DIFFERS = "This differs from the result above, because {}."
ONE_OF_EACH_CAUSE = "One Pod of each cause follows. -o wide explains every Pod, with tables of nodes and domains."
NODE_CHOSEN = "wait for volumes on chosen nodes"
SCHEDULABLE = "can be scheduled now"
NOT_TRIED_YET = "The scheduler has not reported on it. If it stays Pending, check that the scheduler runs."
# Source: pkg/scheduler/backend/queue/scheduling_queue.go DefaultPodMaxInUnschedulablePodsDuration.
TRIED_AGAIN = "The scheduler tries it again within about 5 minutes. If it stays Pending, check the scheduler."
NOT_PLACED = "Other Pending Pods were not placed: they may take the room first."
SOME_SCHEDULABLE = "can be scheduled now, but not all of them"


def shared_by(cause: str, pods: Mapping[str, int], *, created: bool) -> str:
    """Return a cause with how many Pods have it, and whose they are.

    ``pods``: workload → its Pods (count); ``created``: whether there are such Pods, or the API server refuses them.
    """
    whose = next(iter(pods)) if len(pods) == 1 else count_of(len(pods), "workload")
    return f"{cause}; {'Pending' if created else 'not created'}: {count_of(sum(pods.values()), 'Pod')} of {whose}"


def need_their_own(whose: str, others: Sequence[str]) -> str:
    """Return which workloads with the cause of another one the first step of that one does not help."""
    need = "needs one of its own" if len(others) == 1 else "need one each"
    return f"These steps are for {whose} only: {enumerated(others, 3)} {need}, see -o wide."


def refused_in(message: str, namespace: str) -> str:
    """Return what the API server refuses Pods for, without what each asks for."""
    rest = message.partition("is forbidden: ")[2] or message
    return f"{rest.partition(', requested: ')[0].replace('exceeded quota:', 'quota')} in {namespace}"


def same_for(names: Sequence[str], most: int, *, alone: bool) -> str:
    """Return the Pods for which the explanation holds too.

    Args:
        names: their names.
        most: how many are named; 0 for none.
        alone: whether it holds for each of them, but not for all together.
    """
    which = listed(names, most) if most else count_of(len(names), "more Pod")
    return f"Alone, each of these can be scheduled too: {which}." if alone else f"The same applies to {which}."


def others_first(least: int, most: int, whose: str) -> str:
    """Return how many Pods (counts) find no node because others are placed first; ``whose``: empty for a bare Pod."""
    if not whose:
        stays = "stays" if least else "may stay"
        return f"Other Pending Pods need the same room: it {stays} Pending once they are placed."
    number = str(most) if least == most else f"{least} to {most}"
    stay = "Pod of {} stays" if most == 1 else "Pods of {} stay"
    return f"Other Pending Pods need the same room: {number} {stay.format(whose)} Pending once all are placed."


def some_placed(placed: int, pending: int, whose: str) -> str:
    """Return how many of the Pending Pods (counts) find a node; ``whose``: the workload, empty for Pods alike."""
    finds = "finds" if placed == 1 else "find"
    which = f"{pending} Pending Pods of {whose}" if whose else f"these {pending} Pods"
    return f"Placed one after another, only {placed} of {which} {finds} a node. After that, the next one stays Pending."


def preempts(preemption: Preemption | None) -> str:
    """Return ``preempts a/b on node``; empty where the scheduler would evict nobody."""
    if preemption is None:
        return ""
    return f"preempts {enumerated(list(map(str, preemption.victims)), most=2)} on {preemption.node}"


def waits_for_volumes(awaited: AwaitedVolumes) -> str:
    """Return which volumes the scheduler waits for, on which node, as a sentence."""
    makers, claims = listed(awaited.provisioners), listed(awaited.claims)
    one = len(awaited.claims) == 1
    what = f"the volume of claim {claims}" if one else f"the volumes of claims {claims}"
    return f"The scheduler has chosen {listed(awaited.nodes)} and waits until {makers} has created {what}."


def nominated(nomination: Nomination) -> str:
    """Return what the Pod waits for on the node that it is nominated to."""
    # Nobody need have been evicted: from 1.35 on a Pod is nominated while it is bound too, and autoscalers nominate.
    leaving = listed(list(map(str, nomination.leaving)))
    no_more = ", where no Pod has to leave" * nomination.has_room
    waits = f" and waits for {leaving} to leave" if leaving else no_more
    return f"It is nominated to {nomination.node}{waits}."


def may_preempt(preemption: Preemption) -> str:
    """Return which Pods the scheduler would evict, where, and where else it could."""
    if preemption.read is False:
        return "Whether evictions would help is not known: too few Pods were read; --read=all reads them."
    victims, violations = listed(list(map(str, preemption.victims))), preemption.pdb_violations
    sentence = f"Its priority allows preemption: {victims} would be evicted from {preemption.node}"
    if violations is None:
        sentence += " (whether PodDisruptionBudgets protect them could not be read)"
    else:
        sentence += in_violation(violations, len(preemption.victims))
    if preemption.ties:
        sentence += f"; the scheduler may also choose {listed(preemption.ties)}"
    if preemption.other_nodes:
        sentence += f"; worse choices: {listed(preemption.other_nodes)}"
    tried = " In a cluster of this size the scheduler tries only some nodes." if preemption.sampled else ""
    return f"{sentence}.{tried}"


def summary_of(conclusion: Conclusion, subject: Subject = POD) -> str:
    """Return who else decides, then what is to blame, in a sentence or two; empty if the Pod finds a node."""
    if conclusion.awaited:
        return waits_for_volumes(conclusion.awaited)
    if conclusion.decider:
        return _beside_decider(conclusion, conclusion.decider)
    if conclusion.cause is None:
        return ""
    if conclusion.preemption:
        return f"It {preempts(conclusion.preemption)}. Until then: {clause_of(conclusion.cause, subject).text}"
    clause = clause_of(conclusion.cause, subject)
    if subject is POD and clause.filters and conclusion.clears:
        return f"{NO_CONSTRAINT} {clause.sentence}"
    return f"{clause.sentence}{clause.end * conclusion.clears}"


def _beside_decider(conclusion: Conclusion, decider: gaps.Decider) -> str:
    if isinstance(decider, gaps.NodeNamed) and decider.absent:
        return f"{lead(decider)}."
    if isinstance(decider, gaps.UnreadCluster):
        return f"{lead(decider)}: where {conclusion.pod} can go is not known."
    if conclusion.cause:
        rejects = f"kube-scheduler's filters would reject {conclusion.pod}: {clause_of(conclusion.cause).text}"
        return f"{lead(decider)}; {rejects}"
    nodes = listed(conclusion.feasible, MOST_NAMES)
    return f"{lead(decider)}; kube-scheduler's filters would allow {conclusion.pod} on {nodes}."

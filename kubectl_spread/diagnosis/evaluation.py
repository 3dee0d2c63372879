"""What the scheduler decides about one Pod, and why. All commands ask here.

The judgement of a Pod is also made from that of its twin, a Pod that differs only in its name.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from kubectl_spread.diagnosis import domains, lint
from kubectl_spread.diagnosis.causes import AnyCause
from kubectl_spread.diagnosis.domains import SpreadDiagnosis
from kubectl_spread.diagnosis.findings import Finding, StaleEvent
from kubectl_spread.diagnosis.incomplete import deciders, incomplete
from kubectl_spread.diagnosis.preemption import AwaitedVolumes, Preemption, awaited, preemption_report
from kubectl_spread.diagnosis.requirements import Requirement
from kubectl_spread.diagnosis.root_cause import Blame
from kubectl_spread.gaps import Decider, Gap
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.cycle import Evaluation
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.prefilter_extensions import outranks_any
from kubectl_spread.snapshot import Snapshot

if TYPE_CHECKING:
    from kubectl_spread.diagnosis.unread_nodes import Reach


class Verdict(StrEnum):
    """Whether the Pod can be scheduled now.

    Incomplete: something that could reject the Pod was not evaluated. Invalid: the API server refuses the object.
    FailedCreate: it accepts the workload but refuses its Pods.
    """

    SCHEDULABLE = "Schedulable"
    UNSCHEDULABLE = "Unschedulable"
    INCOMPLETE = "Incomplete"
    INVALID = "Invalid"
    FAILED_CREATE = "FailedCreate"


class Conclusion(msgspec.Struct, frozen=True, kw_only=True):
    """What decides about a Pod, and what leaves it no node."""

    # the volumes that the scheduler waits for on the node that it has chosen; None if it has chosen none
    awaited: AwaitedVolumes | None = None
    decider: Decider | None = None  # what else decides, if that matters; None for nothing
    # its namespace and name, and ``feasible`` the nodes that take it; both empty where nothing else decides
    pod: str = ""
    feasible: tuple[str, ...] = ()
    cause: AnyCause | None = None  # the root cause; None if some node takes the Pod
    preemption: Preemption | None = None
    clears: bool = True  # whether it is certain that no constraint is the cause where filters alone are


NOTHING = Conclusion()  # The conclusion about a Pod that some node takes


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What the scheduler decides about a Pod, and why no node is left; ``blame`` is None if one is.

    ``reach``: what is known if not all Pods were read; None if all were.
    """

    evaluation: Evaluation
    handle: Handle
    blame: Blame | None = None
    preemption: Preemption | None = None
    reach: Reach | None = None

    @property
    def assumed(self) -> bool:
        """Whether the scheduler has already chosen a node for the Pod, whatever its filters say now."""
        return self.evaluation.pod.key in self.handle.snapshot.assumed

    @property
    def message(self) -> str | None:
        """The scheduler's message; empty if there is none, None if it is not known."""
        decides = self.handle.decides(self.evaluation.pod) and not self.assumed
        return (self.reach or self.evaluation).message if decides else ""

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What the decision could not take into account."""
        evaluation = self.evaluation
        beyond = self.reach.incomplete if self.reach else ()
        return (*incomplete(evaluation.pod, self.handle, evaluation), *beyond)

    @property
    def conclusion(self) -> Conclusion:
        """What decides about the Pod, and what leaves it no node."""
        pod, cause = self.evaluation.pod, self.blame.cause if self.blame else None
        if volumes := awaited(pod, self.handle):
            return Conclusion(awaited=volumes)
        first = next(deciders(pod, self.handle, self.evaluation), None)
        if first is None or (cause and self.handle.decides(pod)):
            return Conclusion(cause=cause, preemption=self.preemption)
        return Conclusion(decider=first, pod="/".join(pod.key), feasible=self.evaluation.feasible, cause=cause)

    @property
    def hides_victims(self) -> bool:
        """Whether unread Pods may be victims, so that preemption is unknown."""
        return self.reach is not None and self.blame is not None and self.reach.hides_victims


class Judgement(Decision, frozen=True, kw_only=True, dict=True):
    """The same, with the diagnosis of the Pod's constraints; ``now``: the cluster as it is, if this is simulated."""

    spread: SpreadDiagnosis
    now: Snapshot | None = None

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The findings, worst first."""
        found = lint.of_pod(self.evaluation, self.spread, self.now)
        # If something was not evaluated, the Pod may still be unschedulable.
        return tuple(each for each in found if not (isinstance(each, StaleEvent) and self.gaps))

    @property
    def judged_on_all_nodes(self) -> tuple[Requirement, ...] | None:
        """If no node is left, the requirements that were evaluated on every node; None if all were."""
        if self.reach is None or self.blame is None:
            return None
        return tuple(self.reach.core_of(each.index for each in self.spread.constraints if each.hard))


def judge(pod: Pod, handle: Handle, known: Evaluation | None = None, *, preempts: bool = True) -> Judgement:
    """Return the scheduler's decision and why; ValueError if a selector or quantity of the Pod cannot be parsed.

    ``preempts``: whether it may evict Pods for this one; not where others take the room.
    """
    evaluation = known or cycle.evaluate(pod, handle)
    spread = domains.diagnose(evaluation, handle)
    reach = None
    if handle.snapshot.inventory.not_read:
        from kubectl_spread.diagnosis.unread_nodes import Reach  # Only large clusters have unread nodes.

        reach = Reach(evaluation, handle)
    found = Judgement(evaluation=evaluation, handle=handle, spread=spread, reach=reach)
    has_node = evaluation.feasible or found.assumed
    if has_node or (reach and evaluation.undecided) or handle.snapshot.inventory.nodes_unread:
        return found
    preemption = None
    hidden = reach is not None and reach.hides_victims
    if preempts and handle.decides(pod) and not hidden and outranks_any(pod, handle):
        preemption = preemption_report(evaluation, handle)
    if preemption:
        spread = domains.with_preemption(spread, (preemption.node, *preemption.ties), handle)
    return replace(found, spread=spread, blame=Blame(evaluation, handle, spread), preemption=preemption)


def decide(pod: Pod, handle: Handle, *, every_node: bool = False) -> Decision:
    """Return the scheduler's decision, with the reasons only if no node is feasible; errors as for ``judge``.

    It has one feasible node, or ``every_node`` that is, without scores.
    """
    evaluation = cycle.evaluate_briefly(pod, handle, every_node=every_node)
    return Decision(evaluation=evaluation, handle=handle) if evaluation.feasible else judge(pod, handle, evaluation)


def verdict_of(evaluation: Evaluation, *, complete: bool) -> Verdict:
    """Return the verdict: what was not evaluated can only reject more nodes, never fewer."""
    if not evaluation.feasible:
        return Verdict.INCOMPLETE if evaluation.undecided else Verdict.UNSCHEDULABLE
    return Verdict.SCHEDULABLE if complete else Verdict.INCOMPLETE


def judgement_for(pod: Pod, twin: Judgement) -> Judgement:
    """Return the scheduler's decision about the Pod, given its decision about the Pod's twin."""
    if any(volume.ephemeral is not None for volume in pod.spec.volumes):
        return judge(pod, twin.handle)  # Its claims have names of their own.
    blame = twin.blame and replace(twin.blame, known=twin.blame.cause)
    return replace(twin, evaluation=replace(twin.evaluation, pod=pod), blame=blame)


def findings_for(pod: Pod, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings about the Pod, given those about its twin."""
    return tuple(each.of_twin(pod.metadata.name) for each in findings)

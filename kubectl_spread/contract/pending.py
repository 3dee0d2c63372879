"""The report of ``why-pending``."""

from typing import Literal

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.contract.evaluation import EvaluationReport
from kubectl_spread.contract.report import Metadata, Report
from kubectl_spread.controllers.statefulset import HeldUp
from kubectl_spread.controllers.workloads import Replicas
from kubectl_spread.diagnosis.evaluation import NOTHING, Conclusion, Verdict
from kubectl_spread.diagnosis.events import LastFailure, difference
from kubectl_spread.diagnosis.preemption import Nomination, Preemption
from kubectl_spread.diagnosis.starting_pods import StartingPods
from kubectl_spread.diagnosis.upcoming_pods import NotCreated
from kubectl_spread.gaps import Gap
from kubectl_spread.wording.pending import summary_of


class Siblings(Report, frozen=True, kw_only=True):
    """The Pending Pods of a workload, or the Pods without one that differ only in their names."""

    pending: int  # how many were placed one after another (count), at most 100
    placed: int  # how many of them find a node (count)
    conclusion: Conclusion = NOTHING  # why the next one finds none then

    @property
    def summary(self) -> str:
        """Why the next one finds none then; empty if all do."""
        return summary_of(self.conclusion)


class PendingItem(EvaluationReport, frozen=True, kw_only=True):
    """Why one Pod is not scheduled."""

    scheduler_name: str  # the Pod's scheduler
    # how many Pods its workload wants, and how many run; absent if no known workload recreates the Pod
    replicas: Replicas | UnsetType = UNSET
    # the Pending Pods of its workload, or the Pods alike, if some node takes this one; absent if it is the only one
    siblings: Siblings | UnsetType = UNSET
    event: LastFailure | None = None  # the last FailedScheduling message; None if there is none
    held_by: tuple[str, ...] = ()  # the scheduling gates that hold the Pod back
    preemption: Preemption | None = None  # what the scheduler would evict; None for nothing
    nomination: Nomination | None = None  # the node the Pod is nominated to; None for none
    # what its OrderedReady StatefulSet does only when this Pod is Ready; absent if it holds nothing up
    holds: HeldUp | UnsetType = UNSET
    # the fewest and the most Pending Pods of its workload that find no node once all Pending Pods of the cluster were
    # placed, if a node takes this one now; absent if all find one, or that is not known
    left: tuple[int, int] | UnsetType = UNSET
    # present where a node takes this Pod now, and other Pending Pods, which may come first, were not placed
    alone: Literal[True] | UnsetType = UNSET
    same_as: str | UnsetType = UNSET  # an earlier Pod of the same template with the same explanation
    cluster: str | UnsetType = UNSET  # the context of its cluster; absent if one cluster was read

    @property
    def some_left(self) -> bool:
        """Whether a node takes the Pod, but not all of its siblings, or not once others are placed."""
        alone = self.siblings is not UNSET and self.siblings.placed < self.siblings.pending
        return alone or not isinstance(self.left, UnsetType)


class PendingReport(Report, frozen=True, kw_only=True):
    """The answer of ``why-pending``."""

    api_version: Literal["spread.kubectl.dev/v1alpha2"] = "spread.kubectl.dev/v1alpha2"
    kind: Literal["PendingReport"] = "PendingReport"
    metadata: Metadata
    items: tuple[PendingItem, ...]
    not_created: tuple[NotCreated, ...] = ()  # the workloads that lack Pods because these are not created
    # the Pods that have a node and are Pending, because their kubelet has not started them
    starting: tuple[StartingPods, ...] = ()
    # of several clusters each that answered; absent if one cluster was read
    clusters: tuple[Metadata, ...] | UnsetType = UNSET
    incomplete: tuple[Gap, ...] = ()


def with_event(item: PendingItem, failure: LastFailure | None, *, chosen: bool | None, known: bool) -> PendingItem:
    """Return the item with the scheduler's last message; the other arguments are those of ``difference``."""
    if failure is None:
        return item
    feasible, complete = bool(item.feasible), item.verdict is not Verdict.INCOMPLETE
    differs = difference(failure, item.message, chosen=chosen, feasible=feasible, known=known, complete=complete)
    item = replace(item, event=replace(failure, differs=differs))
    return replace(item, message=failure.message, message_from="event") if item.message is None else item

"""What the search for fixes concludes: changes that let a Pod in, how to make them, and what is not offered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.diagnosis.fixes.change import Change, Disturbance, ManifestEdit, Operations, Override
from kubectl_spread.diagnosis.fixes.proposals import OfConstraint, Proposal

if TYPE_CHECKING:
    from kubectl_spread.apiserver.eviction import EvictionRefused
    from kubectl_spread.autoscalers.decision import AutoscalerDecision
    from kubectl_spread.controllers.do_not_evict import Kept
    from kubectl_spread.controllers.taints import NodeTrouble
    from kubectl_spread.controllers.workloads import PodName
    from kubectl_spread.diagnosis.fixes.future import Future
    from kubectl_spread.objects.meta import Plain


Verb: TypeAlias = Literal[
    "patch", "replace", "delete", "evict", "uncordon", "label", "taint", "rollout resume", "rollout undo"
]


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One kubectl command to run; ``replace`` gets the object, patches the copy and replaces the object with it."""

    verb: Verb
    kind: str  # in lower case
    namespace: str = ""
    name: str
    operations: Operations = ()
    argument: str = ""  # the label or taint
    revision: int = 0  # the one to go back to; 0 for the previous one, and for other verbs
    force: bool = False  # whether the API server deletes the Pod without waiting for its kubelet
    others: tuple[str, ...] = ()  # names of further objects, of the same kind and namespace


class Fragment(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that change in an object, and the paths of those to remove; its identity is empty if unknown.

    ``former``: the same fields before the change, without those that it adds.
    """

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    removed: tuple[str, ...]
    fields: Plain
    former: Plain


class Keeper(msgspec.Struct, frozen=True):
    """What keeps an object as its source describes it; ``reverts``: whether it also reverts a patch by itself."""

    name: str
    reverts: bool = True


MOST_SIBLINGS = 100  # Pending Pods of the workload (count) that are placed, and reported as its siblings


class OfOwner(msgspec.Struct, frozen=True, kw_only=True):
    """What commands trigger, or why there are none; ``owner``: whom it is about, as ``deployment/web``."""

    # how many of the Pending Pods the commands let in at most (count); None for all
    lets_in: ClassVar[int | None] = None
    followed: ClassVar[bool] = False  # whether the owner's controller replaces or recreates Pods then

    owner: str


class ThisPodOnly(OfOwner, frozen=True, kw_only=True):
    """The first command helps this Pod only: the owner's next Pod is like the old one."""

    lets_in: ClassVar[int | None] = 1
    owner: str = ""


class PendingPodsOnly(OfOwner, frozen=True, kw_only=True):
    """The command helps these Pods (count) of a Job only; only recreating the Job would change its template."""

    waiting: int


class Replacing(OfOwner, frozen=True, kw_only=True):
    """The base of effects that may replace running Pods."""

    pods: int | None = None  # how many are replaced (count); None for all
    at_work: int | None = None  # how many of them run (count); None if all do, or none is replaced
    nothing_runs: bool = False  # whether Pods would be replaced, but none is on a node


class Rollout(Replacing, frozen=True, kw_only=True):
    """The owner replaces its Pods."""

    followed: ClassVar[bool] = True
    # how many Pending Pods have to be deleted first (count): then it replaces one after another; else 0
    waiting: int = 0
    all_at_once: bool = False  # whether the owner deletes all Pods that are replaced before it creates one


class Rollback(OfOwner, frozen=True, kw_only=True):
    """The change restores an older template, ``reused``, whose Pods (count) stay."""

    followed: ClassVar[bool] = True
    reused: str
    pods: int
    # how many Pods an older ReplicaSet creates, while all Pending ones are deleted; None for other owners
    created: int | None = None
    others: int = 0  # how many Pods of other ReplicaSets run (count), which are replaced


class BehindPartition(Replacing, frozen=True, kw_only=True):
    """The partition of the owner's rolling update keeps this Pod on the old template; ``waiting``: as for others."""

    lets_in: ClassVar[int | None] = 0
    partition: int
    waiting: int = 0


class PartitionLowered(OfOwner, frozen=True, kw_only=True):
    """The template needs no change, but a partition keeps the Pending Pods (count) on the old one.

    ``pods``: how many others are replaced (count).
    """

    partition: int
    pods: int
    waiting: int


class PodsRecreated(OfOwner, frozen=True, kw_only=True):
    """The Pending Pods (count) are recreated; the others stay unchanged."""

    followed: ClassVar[bool] = True
    waiting: int


class TemplateApplied(OfOwner, frozen=True, kw_only=True):
    """The Pending Pods (count) are recreated from the template, which needs no change.

    ``lacks``: fields of the Pod that the template lacks: it was changed since, or a webhook adds them.
    """

    lacks: tuple[str, ...] = ()
    waiting: int


class NextRun(OfOwner, frozen=True, kw_only=True):
    """The change is for later Jobs of a CronJob."""

    lets_in: ClassVar[int | None] = 0


class OwnerRecreated(Replacing, frozen=True, kw_only=True):
    """The owner is deleted and recreated, and the work of its Pods is lost."""

    followed: ClassVar[bool] = True


class PodRecreated(OfOwner, frozen=True, kw_only=True):
    """The Pod, which has no owner, is deleted and recreated."""

    owner: str = ""


class TemplateUnreadable(OfOwner, frozen=True, kw_only=True):
    """The fields have to change in the template of an owner that cannot be read."""

    fields: tuple[str, ...]


class Obstacle(Enum):
    """Why a change is not made in the owner's template."""

    TEMPLATE_INVALID = auto()
    TEMPLATE_DIFFERS = auto()  # The template lacks the field that changes in the Pod, or needs no change
    # The Pod is of an older template, which lacks the field, so that the change does not help.
    TEMPLATE_NEEDS_NONE = auto()
    WEBHOOK_DIFFERS = auto()  # The Pod is of this template, which lacks the field: admission changed it
    MANIFEST_DIFFERS = auto()  # The manifest lacks the field that changes in its Pod
    LIVE_DIFFERS = auto()  # The manifest lacks the field, and the existing object has it
    UPDATE_REFUSED = auto()


class Obstructed(OfOwner, frozen=True, kw_only=True):
    """No change of the owner's template is possible, or it does not help."""

    why: Obstacle


# Effects of routes that delete Pending Pods: so many (count) are ``waiting``.
Deleting: TypeAlias = Rollout | BehindPartition | PartitionLowered | PodsRecreated | TemplateApplied
Permanent: TypeAlias = ThisPodOnly | PendingPodsOnly | Rollback | NextRun | OwnerRecreated | PodRecreated
Effect: TypeAlias = Deleting | Permanent | TemplateUnreadable | Obstructed


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """How to make a change permanent."""

    commands: tuple[Command, ...] = ()  # in order; empty if no command makes the change
    effect: Effect | None = None  # what they trigger; None if there is nothing to report
    paused: bool = False  # whether the owner replaces nothing until it is resumed
    after: str = ""  # the Pod that has to be Ready before the owner recreates the deleted ones; empty for none
    disturbs: Disturbance = Disturbance.NOTHING  # what the change does to running Pods
    fragment: Fragment | None = None  # what to write in the source of the Pod; None for other changes
    keeper: Keeper | None = None  # what keeps the owner as its source describes it
    edits: tuple[ManifestEdit, ...] = ()


class Recreated(msgspec.Struct, frozen=True, kw_only=True):
    """The owner of a deleted Pod recreates it.

    ``may_be_first``: it may take the place made for the Pending Pod, which then stays Pending.
    """

    owner: str
    may_be_first: bool


class HeldByFinalizers(msgspec.Struct, frozen=True):
    """The Pod is being deleted and waits for its finalizers."""

    finalizers: tuple[str, ...]


class Outlook(Enum):
    """What else happens to a deleted Pod."""

    GONE_FOR_GOOD = auto()
    NODE_SILENT = auto()  # The Pod is being deleted, and its node does not answer


AfterDeletion: TypeAlias = Recreated | HeldByFinalizers | Outlook


class RolloutEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How many Pods of the owner (count) have no node once nothing changes, at least and at most.

    ``worth``: whether all may have a node then, or at least no fewer may run than now; more, if their work is lost,
    or for a manifest.
    ``gains``: whether fewer may be Pending then, if any is now. That more run is none: a rollout has surge Pods.
    """

    least: int
    most: int
    worth: bool
    gains: bool


class Fix(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A set of changes that lets the Pod in, verified by simulation on the snapshot."""

    # present where it is one of the two that are printed unless all are asked for
    offered: Literal[True] | UnsetType = UNSET
    proposals: tuple[Proposal, ...]
    after_deletion: AfterDeletion | None = None  # what happens to the deleted Pod; None if no Pod is deleted
    mends: bool = False  # whether it makes a constraint select its own Pod, which it did not: such fixes come first
    feasible: tuple[str, ...]  # the nodes it opens, best first
    # how many of the workload's Pending Pods it lets in, once the rollout that it triggers has ended; if that was not
    # simulated, placed one after another. At least that many if it was verified with only some Pods read
    admits: int
    siblings: int  # how many Pending Pods the workload has, this Pod included
    alike: tuple[tuple[str, ...], ...] = ()  # the objects of each set of changes with the same result
    changes: tuple[Change, ...]  # the simulated changes, for another simulation
    routes: tuple[Route, ...]  # how to make the changes
    # the nodes for a Pod of the owner's new revision; None if they are those of `feasible`
    new_revision: tuple[str, ...] | None = None
    # how the rollout ends that the commands trigger; None if there is none, or it was not followed
    rollout_end: RolloutEnd | None = None
    on_read_pods: bool  # whether it was verified with only some Pods read
    # whether the Pod gets a new volume, which keeps it where the weaker constraint lets it be placed
    for_good: bool = False
    warnings: tuple[str, ...] = ()  # ids of the findings that it adds; none is an error
    # what the cluster's autoscaler decides about the Pod after this change of it, or as it is, for a new node; None for
    # other changes, and without an autoscaler
    decision: AutoscalerDecision | None = None
    # what it does in the whole cluster; None if only the workload's own Pods were simulated
    future: Future | None = None
    alone: bool = False  # whether the Pending Pods of other workloads, which there are, were not simulated with it

    @property
    def id(self) -> str:
        """The class of the change; joined by ``+`` if there are two."""
        return "+".join(proposal.id for proposal in self.proposals)

    @property
    def cost(self) -> int:
        """How much it weakens the spread, or reaches beyond the Pod."""
        return sum(proposal.cost for proposal in self.proposals)

    @property
    def disturbs(self) -> Disturbance:
        """What it does to running Pods."""
        return max((route.disturbs for route in self.routes), key=lambda each: each.rank)

    @property
    def overrides(self) -> Override:
        """What it overrides that somebody decided on purpose."""
        return max((proposal.overrides for proposal in self.proposals), key=lambda each: each.rank)

    @property
    def commands(self) -> tuple[Command, ...]:
        """What to run, in order; empty if no command makes the change."""
        return tuple(command for route in self.routes for command in route.commands)

    @property
    def edits(self) -> tuple[ManifestEdit, ...]:
        """What to change in the checked manifest; empty if the change is made elsewhere."""
        return tuple(edit for route in self.routes for edit in route.edits)

    def with_edits(self, changed: Callable[[ManifestEdit], ManifestEdit]) -> Fix:
        """Return the fix with its edits changed."""
        routes = (replace(route, edits=tuple(map(changed, route.edits))) for route in self.routes)
        return replace(self, routes=tuple(routes))

    @property
    def fragment(self) -> Fragment | None:
        """What to write in the source of the Pod; None for nothing."""
        return next((route.fragment for route in self.routes if route.fragment), None)

    @property
    def keeper(self) -> Keeper | None:
        """What keeps the owner as its source describes it; None if nothing shows it."""
        return next((route.keeper for route in self.routes if route.keeper), None)

    @property
    def created(self) -> int | None:
        """How many Pods an older ReplicaSet creates while the Pending ones are deleted; None for other changes."""
        return next((route.effect.created for route in self.routes if isinstance(route.effect, Rollback)), None)

    @property
    def new_labels(self) -> Mapping[str, str]:
        """The labels of the node that it adds; empty for other changes."""
        added = next((change.object for change in self.changes if change.object is not UNSET), {})
        labels: Mapping[str, str] = added.get("metadata", {}).get("labels", {})
        return labels

    @property
    def without_node(self) -> int:
        """How many Pods of the workload may have no node in the end (count); 0 also if no rollout was simulated."""
        return self.rollout_end.most if self.rollout_end else 0

    @property
    def admits_at_most(self) -> int:
        """How many of the workload's Pending Pods it may let in by chance (count)."""
        return self.future.admits_at_most if self.future else self.admits

    @property
    def changes_nodes(self) -> bool:
        """Whether it changes a node, which other Pods may use too."""
        return any(change.target.kind == "Node" for change in self.changes)

    @property
    def admits_others(self) -> int:
        """How many Pods of other workloads get a node (count); those that lose one count against it."""
        return sum(each.admits for each in self.future.others) if self.future else 0

    @property
    def for_others(self) -> bool:
        """Whether other workloads take all the room that it makes."""
        return self.future is not None and not self.future.admits_at_most and self.admits_others > 0

    @property
    def may_be_overtaken(self) -> bool:
        """Whether the deleted Pod, made again, may take the place made for the Pending one."""
        return isinstance(self.after_deletion, Recreated) and self.after_deletion.may_be_first

    @property
    def in_vain(self) -> bool:
        """Whether it replaces Pods, and in the end no more have a node: none of its own, or others lose as many."""
        jams = self.rollout_end is not None and not self.rollout_end.gains
        return jams or 0 < self.admits_at_most <= -self.admits_others

    @property
    def breaks_spread(self) -> bool:
        """Whether it changes a constraint, and one that holds otherwise is surely violated in the end."""
        surely = self.future is not None and any(not each.by_chance for each in self.future.worse)
        return surely and any(isinstance(proposal, OfConstraint) for proposal in self.proposals)

    def rank(self, *, doubted: bool) -> tuple[object, ...]:
        """Return the sort key of fixes, the safest first; ``choice.ranked`` sorts those of one rank.

        Fixes that keep decisions come first, then those that let in any Pending Pod, then those that break no
        constraint, then those that surely let in all, then those that disturb less, then those that cost less. Those
        that replace Pods in vain come after all of them, then the deletion of a Pod that nothing recreates, then fixes
        that drop the Pod's node pool. ``doubted``: a change of a constraint that was not simulated may break another.
        """
        of_constraint = any(isinstance(proposal, OfConstraint) for proposal in self.proposals)
        return (
            self.overrides is Override.NODE_POOL,
            self.after_deletion is Outlook.GONE_FOR_GOOD,
            not self.mends,
            self.in_vain,
            self.overrides.rank,
            not self.admits,
            self.breaks_spread or (doubted and of_constraint and self.future is None),
            not any(proposal.corrects for proposal in self.proposals),
            self.may_be_overtaken or self.admits < self.siblings,
            self.disturbs.rank,
            self.cost,
            -self.admits_others,
            -len(self.feasible),
        )


class SufferingNodes(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes closed only by taints with which a controller reports a problem."""

    nodes: tuple[str, ...]
    taints: tuple[str, ...]
    trouble: NodeTrouble


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """Pods are being deleted, and their kubelets, which answer, end them."""

    grace_seconds: int = 0  # the longest grace period (seconds); 0 if unknown
    over_since: str = ""  # when the grace period of one was over (RFC 3339), which should be gone; empty if none is
    finalizers: tuple[str, ...] = ()  # what keeps them after that


class BudgetsNotRead(msgspec.Struct, frozen=True):
    """The PodDisruptionBudgets could not be listed."""


WhyNotDeleted: TypeAlias = "Kept | Ending | BudgetsNotRead | EvictionRefused"


class StayingPod(msgspec.Struct, frozen=True, kw_only=True):
    """A Pod in the way whose deletion is not offered."""

    namespace: str
    name: str
    node: str
    why: WhyNotDeleted


class WouldWarn(msgspec.Struct, frozen=True, kw_only=True):
    """Changes that let the Pod in, but add findings that are errors, given by their ids."""

    proposals: tuple[Proposal, ...]
    findings: tuple[str, ...]


# Also what would be worth waiting for, if other Pods did not take all the room.
NotOffered: TypeAlias = "SufferingNodes | StayingPod | WouldWarn | Wait"


class ExpectedChange(msgspec.Struct, frozen=True, kw_only=True):
    """What lets the Pod in, or removes it, without any action, once it is over."""

    # whether time alone is enough: nobody has to repair a node, and no controller to remove a finalizer
    sure: bool = True
    nodes: tuple[str, ...] = ()  # the nodes that take the Pod then or are removed, or the nodes of the Pods that end
    workload: str = ""  # the owner of the rollout or of the Pod that is deleted, or the Job; empty for others
    # the fewest and the most of the workload's Pending Pods that have a node then; absent if that is not known
    admits: tuple[int, int] | UnsetType = UNSET
    siblings: int | UnsetType = UNSET  # how many Pending Pods the workload has; absent as `admits` is

    @property
    def in_vain(self) -> bool:
        """Whether other Pods take all the room."""
        return self.admits == (0, 0)


class NodeRecovery(ExpectedChange, frozen=True, kw_only=True):
    """Nodes that take the Pod once they recover and any cordon is lifted; without ``taints`` only that closes them.

    ``problems``: the conditions that report one on cordoned nodes; ``ending``: Pods that are being deleted there, and
    have to end too.
    """

    sure: bool = False
    taints: tuple[str, ...]
    trouble: NodeTrouble
    cordoned: bool
    problems: tuple[str, ...] = ()
    ending: tuple[PodName, ...] = ()


class PodEnding(ExpectedChange, frozen=True, kw_only=True):
    """Pods in the way that are being deleted, all of which have to end."""

    pods: tuple[PodName, ...]
    ending: Ending


class PodPreemption(ExpectedChange, frozen=True, kw_only=True):
    """The scheduler evicts Pods for the Pod at its next attempt: these if it has one node, on any if none."""

    pods: tuple[PodName, ...]


class RolloutGoesOn(ExpectedChange, frozen=True, kw_only=True):
    """The rollout of the Pod's owner removes Pods in the way once new ones are Ready, or replaces the Pod itself."""

    replaces: bool = False


class JobGoesOn(ExpectedChange, frozen=True, kw_only=True):
    """The Pod's Job goes on: once any of ``pods`` (count) ends, which are on ``nodes``, a Pod of the Job finds a node.

    ``running``: all Pods of the Job that run (count).
    """

    pods: int
    running: int


class JobEnd(ExpectedChange, frozen=True, kw_only=True):
    """Another Job ends, whose Pods (count) use the room on ``nodes``; ``ours``: it is in the namespace of the Pod."""

    sure: bool = False
    namespace: str
    name: str
    pods: int
    priority: int
    ours: bool


class PodRemoval(ExpectedChange, frozen=True, kw_only=True):
    """The Pod itself is deleted because of its owner, so that no change is of use."""

    why: Literal["is being deleted", "is suspended", "wants no Pods", "has more Pods than it needs"]


class ClaimCreation(ExpectedChange, frozen=True, kw_only=True):
    """The Pod's controller creates the claims that it lacks."""

    claims: tuple[str, ...]


class NodeRemoval(ExpectedChange, frozen=True, kw_only=True):
    """Nodes about to be removed; without them the Pod finds a node."""

    trouble: NodeTrouble


class NodeAddition(ExpectedChange, frozen=True, kw_only=True):
    """A node of the cluster's autoscaler: one that starts and has room for the Pod, or one that nothing forbids."""

    # nodes: the one that starts, if it has joined the cluster
    sure: bool = False
    autoscaler: str
    pools: str = ""  # what it may come from, as a sentence names them; empty if it starts already


Wait: TypeAlias = (
    NodeRecovery
    | PodEnding
    | PodPreemption
    | RolloutGoesOn
    | JobGoesOn
    | JobEnd
    | PodRemoval
    | ClaimCreation
    | NodeRemoval
    | NodeAddition
)


class FixSearch(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the search; fixes and new nodes are sorted by rank. ``complete``: whether all were tried."""

    fixes: tuple[Fix, ...] = ()
    new_nodes: tuple[Fix, ...] = ()
    left_alone: tuple[NotOffered, ...] = ()
    waits: tuple[Wait, ...] = ()
    complete: bool = True


NO_FIXES = FixSearch()  # For a Pod that needs no fix, or if no fix can be verified

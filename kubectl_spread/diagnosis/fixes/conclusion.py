"""What the search for fixes concludes: changes that let a Pod in, how they are made, and what is not offered."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from kubectl_spread.diagnosis.fixes.change import Change, Disturbance, ManifestEdit, Override, PatchOperation
from kubectl_spread.diagnosis.fixes.proposals import Proposal

if TYPE_CHECKING:  # ``explain`` prints what fixes mean, and reads no object for it.
    from kubectl_spread.apiserver.eviction import EvictionRefused
    from kubectl_spread.controllers.do_not_evict import Kept
    from kubectl_spread.controllers.taints import NodeTrouble
    from kubectl_spread.objects.decoding import Plain


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One kubectl command that a person runs.

    Attributes:
        verb: kubectl's; ``replace`` fetches the object, patches the copy and puts it in the object's place.
        kind: of the object, in lower case.
        namespace: the object's; empty for a node.
        name: the object's.
        operations: the patch, to patch and replace.
        argument: the label or taint.
        force: whether the API server forgets the Pod without waiting for its kubelet.
        others: names of further objects, of the same kind and namespace.
    """

    verb: Literal["patch", "replace", "delete", "uncordon", "label", "taint", "rollout resume"]
    kind: str
    namespace: str = ""
    name: str
    operations: tuple[PatchOperation, ...] = ()
    argument: str = ""
    force: bool = False
    others: tuple[str, ...] = ()


class Fragment(msgspec.Struct, frozen=True, kw_only=True):
    """The fields in which an object changes.

    Attributes:
        api_version: of the object; empty, as the next three, where the object is not known.
        kind: its kind.
        namespace: where it lives.
        name: its name.
        removed: paths of the fields that are removed.
        fields: the others, as they have to read.
    """

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    removed: tuple[str, ...]
    fields: Plain


class Keeper(msgspec.Struct, frozen=True):
    """What keeps an object as its source has it.

    Attributes:
        name: its kind and name, as its users know it.
        reverts: whether it reverts a patch by itself, rather than only when it next writes the object.
    """

    name: str
    reverts: bool = True


class Effect(Enum):
    """What running the commands sets off, or why there are none."""

    THIS_POD_ONLY = auto()
    """The first command helps this Pod alone: the next Pod of its owner is like the old one."""
    ROLLOUT = auto()
    ROLLBACK = auto()
    """The change brings an older template back: its ReplicaSet is used again, and the Pods that it has stay."""
    ROLLOUT_IN_TURN = auto()
    """The owner replaces them one after another, once this Pod is deleted."""
    BEHIND_PARTITION = auto()
    """The partition of the owner's rolling update keeps this Pod on the old template."""
    THIS_POD_RECREATED = auto()
    """The Pods that wait are made again, the others stay as they are."""
    NEXT_RUN = auto()
    OWNER_RECREATED = auto()
    """The owner is deleted and made again, and the work of its Pods is lost."""
    POD_RECREATED = auto()
    TEMPLATE_UNREADABLE = auto()
    """The fields are to be changed in the template of an owner that cannot be read."""
    TEMPLATE_INVALID = auto()
    TEMPLATE_DIFFERS = auto()
    """The template lacks what is changed in the Pod."""
    UPDATE_REFUSED = auto()
    TEMPLATE_IS_RIGHT = auto()
    """The template needs no change: the Pod was made before it had its last one."""


LETS_IN_AT_MOST = {Effect.THIS_POD_ONLY: 1, Effect.NEXT_RUN: 0, Effect.BEHIND_PARTITION: 0}
"""What running the commands sets off → how many of the Pods that wait come in by that (count)."""


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """How a change is made for good.

    Attributes:
        commands: in order; empty where no command makes the change.
        effect: what they set off; None where there is nothing to know.
        owner: what the effect is about, as ``deployment/web``; empty where no owner is named.
        pods: how many Pods are replaced, or stay where an older template comes back (count); None for all there are.
        waiting: how many Pods that wait are deleted (count).
        paused: whether the owner replaces nothing before it is resumed.
        reused: the ReplicaSet whose template comes back.
        partition: of the rolling update.
        fields: to be changed by hand.
        disturbs: what the change does to Pods that run.
        at_work: how many of the Pods that are replaced run (count); None where all do, or none is replaced.
        nothing_runs: whether Pods would be replaced, and none is on a node.
        fragment: what to write in the source of the Pod; None for other changes.
        keeper: what keeps the owner as its source has it.
        edits: what to change in the manifest that is checked.
    """

    commands: tuple[Command, ...] = ()
    effect: Effect | None = None
    owner: str = ""
    pods: int | None = None
    waiting: int = 1
    paused: bool = False
    reused: str = ""
    partition: int = 0
    fields: tuple[str, ...] = ()
    disturbs: Disturbance = Disturbance.NOTHING
    at_work: int | None = None
    nothing_runs: bool = False
    fragment: Fragment | None = None
    keeper: Keeper | None = None
    edits: tuple[ManifestEdit, ...] = ()


class Recreated(msgspec.Struct, frozen=True, kw_only=True):
    """The owner of a Pod that is deleted makes it again.

    Attributes:
        owner: ``deployment/web``.
        here: whether perhaps on the same node.
        may_be_first: whether it may take the place that was made for the Pending Pod, which then stays Pending.
    """

    owner: str
    here: bool
    may_be_first: bool


class HeldByFinalizers(msgspec.Struct, frozen=True):
    """The Pod is being deleted and waits for finalizers."""

    finalizers: tuple[str, ...]


class Outlook(Enum):
    """What else there is to know of a Pod that is deleted."""

    GONE_FOR_GOOD = auto()
    NODE_SILENT = auto()
    """The Pod is being deleted, and its node does not answer."""


AfterDeletion: TypeAlias = Recreated | HeldByFinalizers | Outlook


class VerifiedFix(msgspec.Struct, frozen=True, kw_only=True):
    """A set of changes that lets the Pod in, tried on the snapshot.

    Attributes:
        proposals: the changes, in the order in which they are made.
        after_deletion: what becomes of the Pod that is deleted; None where none is.
        mends: whether it makes a constraint that misses its own Pod select it: such fixes come first.
        feasible: the nodes that it opens, best first.
        admits: how many of the Pending Pods of the same workload it lets in, placed one after another (count).
        siblings: how many of them there are, this Pod included (count).
        alike: the objects of each set of changes that does the same.
        changes: what was tried.
        routes: how the changes are made.
        new_revision: the nodes for a Pod of the owner's new revision; None where they are those of ``feasible``.
        on_read_pods: whether it was tried on the Pods that were read, which are not all.
        warnings: ids of the findings that it brings, none of them an error.
    """

    proposals: tuple[Proposal, ...]
    after_deletion: AfterDeletion | None
    mends: bool
    feasible: tuple[str, ...]
    admits: int
    siblings: int
    alike: tuple[tuple[str, ...], ...]
    changes: tuple[Change, ...]
    routes: tuple[Route, ...]
    new_revision: tuple[str, ...] | None
    on_read_pods: bool
    warnings: tuple[str, ...] = ()

    @property
    def cost(self) -> int:
        """How much it weakens or reaches beyond the Pod."""
        return sum(proposal.cost for proposal in self.proposals)

    @property
    def disturbs(self) -> Disturbance:
        """What it does to Pods that run."""
        return max((route.disturbs for route in self.routes), key=lambda each: each.rank)

    @property
    def overrides(self) -> Override:
        """What it sets aside that somebody decided on purpose."""
        return max((proposal.overrides for proposal in self.proposals), key=lambda each: each.rank)

    @property
    def rank(self) -> tuple[bool, bool, bool, bool, int, bool, int, int, int]:
        """What fixes are sorted by, the safest first; those of one rank are sorted by their text.

        What keeps decisions comes first, then what surely lets in all Pods that wait, then what breaks less, then what
        costs less. What lets in none comes after all that, then the deletion of a Pod that nothing makes again, and a
        Pod's node pool is last.
        """
        overtaken = isinstance(self.after_deletion, Recreated) and self.after_deletion.may_be_first
        return (
            self.overrides is Override.NODE_POOL,
            self.after_deletion is Outlook.GONE_FOR_GOOD,
            not self.admits,
            not self.mends,
            self.overrides.rank,
            overtaken or self.admits < self.siblings,
            self.disturbs.rank,
            self.cost,
            -len(self.feasible),
        )


class SufferingNodes(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes that nothing closes but taints by which a controller says what they suffer from."""

    nodes: tuple[str, ...]
    taints: tuple[str, ...]
    trouble: NodeTrouble


class EndsByItself(msgspec.Struct, frozen=True):
    """The Pod is being deleted, and its kubelet ends it within the grace period (seconds; 0 where it is not known)."""

    grace_seconds: int


class BudgetsNotRead(msgspec.Struct, frozen=True):
    """PodDisruptionBudgets could not be listed."""


WhyNotDeleted: TypeAlias = "Kept | EndsByItself | BudgetsNotRead | EvictionRefused"


class StayingPod(msgspec.Struct, frozen=True, kw_only=True):
    """A Pod in the way that is not to be deleted."""

    namespace: str
    name: str
    node: str
    why: WhyNotDeleted


class WouldWarn(msgspec.Struct, frozen=True, kw_only=True):
    """Changes that let the Pod in and bring findings that are errors, by their ids."""

    proposals: tuple[Proposal, ...]
    findings: tuple[str, ...]


NotOffered: TypeAlias = SufferingNodes | StayingPod | WouldWarn


class NodeRecovery(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes that take the Pod once they are well again.

    Attributes:
        taints: by which controllers say what they suffer from; empty where only a cordon closes them.
    """

    nodes: tuple[str, ...]
    taints: tuple[str, ...]
    trouble: NodeTrouble


class PodEnding(msgspec.Struct, frozen=True, kw_only=True):
    """A Pod in the way that is being deleted.

    Attributes:
        grace_seconds: within which its kubelet ends it; 0 where that is not known.
    """

    namespace: str
    name: str
    node: str
    grace_seconds: int


class RolloutGoesOn(msgspec.Struct, frozen=True):
    """The rollout of the Pod's owner takes away the Pods in the way, once new ones are Ready."""

    owner: str


Wait: TypeAlias = NodeRecovery | PodEnding | RolloutGoesOn


class FixSearch(msgspec.Struct, frozen=True, kw_only=True):
    """What the search found.

    Attributes:
        fixes: by rank.
        new_nodes: nodes that would let the Pod in if somebody added them, by rank.
        not_offered: what would let the Pod in too, and why it is not offered.
        waits: what lets the Pod in without anybody's doing.
        complete: whether every change was tried.
    """

    fixes: tuple[VerifiedFix, ...] = ()
    new_nodes: tuple[VerifiedFix, ...] = ()
    not_offered: tuple[NotOffered, ...] = ()
    waits: tuple[Wait, ...] = ()
    complete: bool = True


NO_FIXES = FixSearch()
"""For a Pod that needs no fix, or where no fix can be verified."""

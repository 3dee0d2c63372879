"""The classes of fixes: the facts of each change.

Two proposals are the same change exactly if they are equal. So each field tells two changes apart.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from kubectl_spread.diagnosis.fixes.change import Override

AffinityField: TypeAlias = Literal["podAffinity", "podAntiAffinity"]


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """One change worth trying; ``cost``: how much it weakens the spread, or reaches beyond the Pod."""

    cost: int = 1
    overrides: Override = Override.NOTHING

    @property
    def id(self) -> str:
        """The class of the change, as reports name it."""
        return type(self).__name__

    @property
    def order(self) -> tuple[object, ...]:
        """The sort key of changes that are equally good: by class, then by their values."""
        values = (getattr(self, field) for field in self.__struct_fields__ if field not in {"cost", "overrides"})
        return EQUALLY_GOOD.index(type(self)), *map(str, values)


class OfConstraint(Proposal, frozen=True, kw_only=True):
    """A change of the constraint on a topology key."""

    topology_key: str

    @property
    def order(self) -> tuple[object, ...]:
        """The sort key of changes that are equally good: those of constraints by their own values first."""
        of_class, key, *values = super().order
        return of_class, *values, key


class FixSelector(OfConstraint, frozen=True, kw_only=True):
    """The constraint selects Pods like its own; so many ``others`` (count), of these workloads, count no longer."""

    selector: str
    others: int = 0
    workloads: tuple[str, ...] = ()


class AddPodLabel(Proposal, frozen=True, kw_only=True):
    """The Pod gets the labels that its constraint selects."""

    labels: tuple[tuple[str, str], ...]


class FixTopologyKey(OfConstraint, frozen=True, kw_only=True):
    """The constraint uses a key that nodes have; ``former``: an older revision of the workload uses it too."""

    meant: str
    former: bool = False


class AddMatchLabelKeys(OfConstraint, frozen=True, kw_only=True):
    """The constraint counts each revision separately."""

    label: str


class HonorTaints(OfConstraint, frozen=True, kw_only=True):
    """Nodes whose taints the Pod does not tolerate are not counted."""


class RequireZones(Proposal, frozen=True, kw_only=True):
    """The Pod goes to these zones only, so that no other zone counts."""

    cost: int = 2
    zones: tuple[str, ...]


class IgnoreAffinity(OfConstraint, frozen=True, kw_only=True):
    """Nodes that the Pod's node affinity excludes are counted."""


class HonorAffinity(OfConstraint, frozen=True, kw_only=True):
    """Nodes that the Pod's node affinity excludes are not counted."""


class Uncordon(Proposal, frozen=True, kw_only=True):
    """A cordoned node takes Pods again; ``problems``: its conditions that report one."""

    node: str
    problems: tuple[str, ...] = ()


class LabelNode(Proposal, frozen=True, kw_only=True):
    """A node gets the label that it lacks, with the value of its label ``similar``."""

    node: str
    key: str
    value: str
    similar: str


class AddToleration(Proposal, frozen=True, kw_only=True):
    """The Pod tolerates a taint."""

    overrides: Override = Override.DECISION
    taint: str


class RemoveTaint(Proposal, frozen=True, kw_only=True):
    """A taint is removed from a node."""

    overrides: Override = Override.DECISION
    taint: str
    node: str


class MovePod(Proposal, frozen=True, kw_only=True):
    """Another Pod is deleted.

    ``ending``: it is being deleted already, and its deletion has to end. ``loses_data``: it has emptyDir volumes.
    """

    cost: int = 2
    namespace: str
    pod: str
    node: str
    ending: bool = False
    loses_data: bool = False


class RecreatePod(Proposal, frozen=True, kw_only=True):
    """The Pod itself is deleted: its template changed after the Pod was created, or may have.

    ``resumed``: the paused owner whose rollout does that; empty if a command deletes it.
    """

    certain: bool = True
    resumed: str = ""
    namespace: str
    pod: str


class RollBack(Proposal, frozen=True, kw_only=True):
    """The Deployment goes back to an older revision, of which Pods run; ``previous``: it is the one before."""

    owner: str
    revision: int
    previous: bool


class LowerMinDomains(OfConstraint, frozen=True, kw_only=True):
    """minDomains becomes the number of eligible domains."""

    cost: int = 3
    min_domains: int


class RaiseMaxSkew(OfConstraint, frozen=True, kw_only=True):
    """maxSkew becomes larger."""

    cost: int = 3
    max_skew: int


class AddNode(Proposal, frozen=True, kw_only=True):
    """A node like an existing one is added to domains (topology key, value), and to its node pool (key=value), if any.

    ``repaired``: the existing one has a problem that a new node does not have. ``moved``: it is not in these domains;
    ``elsewhere``: nor is any other.
    """

    cost: int = 3
    elsewhere: bool = False
    moved: bool = False
    like: str
    domains: tuple[tuple[str, str], ...]
    repaired: bool
    pool: str = ""


class RelaxNodeSelector(Proposal, frozen=True, kw_only=True):
    """A label is removed from nodeSelector; if None, the required node affinity becomes a preference."""

    cost: int = 3
    overrides: Override = Override.DECISION
    label: tuple[str, str] | None = None


class LowerRequests(Proposal, frozen=True, kw_only=True):
    """A request of a container becomes smaller, or of the Pod if the container is None."""

    cost: int = 3
    overrides: Override = Override.DECISION
    resource: str
    container: str | None
    quantity: str


class RelaxPodAffinity(Proposal, frozen=True, kw_only=True):
    """A required term on other Pods becomes a preference."""

    cost: int = 3
    overrides: Override = Override.DECISION
    field: AffinityField
    selector: str
    topology_key: str


class ChangeHostPort(Proposal, frozen=True, kw_only=True):
    """A container no longer uses a host port."""

    cost: int = 3
    port: int
    protocol: str
    container: str


class MakeSoft(OfConstraint, frozen=True, kw_only=True):
    """The constraint becomes a preference."""

    cost: int = 4


EQUALLY_GOOD = (
    AddNode,
    AddMatchLabelKeys,
    FixSelector,
    MovePod,
    RecreatePod,
    ChangeHostPort,
    RelaxNodeSelector,
    RollBack,
    RequireZones,
    LabelNode,
    AddPodLabel,
    LowerMinDomains,
    LowerRequests,
    RelaxPodAffinity,
    RaiseMaxSkew,
    RemoveTaint,
    HonorAffinity,
    IgnoreAffinity,
    HonorTaints,
    MakeSoft,
    AddToleration,
    Uncordon,
    FixTopologyKey,
)
"""The classes of changes, in the order in which fixes of one rank come."""

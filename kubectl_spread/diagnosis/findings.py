"""The findings: facts about constraints, a Pod or the cluster that matter besides the verdict.

``lint`` makes them; ``wording.findings`` has their texts.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Self

import msgspec
from msgspec.structs import replace

from kubectl_spread.diagnosis.statuses import Idle, SpreadStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_spread.autoscalers.decision import Reason
    from kubectl_spread.controllers.workloads import WorkloadRef
    from kubectl_spread.diagnosis.domains import BypassedNode, Pin
    from kubectl_spread.diagnosis.requirements import Requirement
    from kubectl_spread.scheduler.podtopologyspread import Constraint


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A fact about a constraint, a Pod or the cluster that matters besides the verdict."""

    # The field that it is about, within the constraint if it is about one.
    field: ClassVar[str] = ""
    # Why its constraint has no effect, if it says so.
    idle: ClassVar[Idle | None] = None
    severity: Severity = Severity.WARNING

    @property
    def id(self) -> str:
        """Its name in reports."""
        return type(self).__name__

    @property
    def name(self) -> str:
        """Its name in text: that of the fact in ``show``, where its constraint has the status of that name."""
        return SpreadStatus.NO_EFFECT if self.idle else self.id

    @property
    def path(self) -> str:
        """The path of the field that it is about."""
        return self.field

    def of_twin(self, pod: str) -> Self:  # noqa: ARG002 - for those that name the Pod
        """Return the same about a Pod that differs in its name alone."""
        return self


class ConstraintFinding(Finding, frozen=True, kw_only=True):
    """The base of the findings about one constraint."""

    constraint: Constraint

    @property
    def path(self) -> str:
        """The path of the constraint, or of its field."""
        return f"spec.topologySpreadConstraints[{self.constraint.index}]" + (f".{self.field}" if self.field else "")


class DuplicateConstraint(ConstraintFinding, frozen=True, kw_only=True):
    """The last of several constraints with the same topologyKey and whenUnsatisfiable; ``times`` is their number."""

    severity: Severity = Severity.ERROR
    times: int


class MissingTopologyKey(ConstraintFinding, frozen=True, kw_only=True):
    """Nodes lack the topologyKey of a hard constraint; an error if all nodes do."""

    field = "topologyKey"
    nodes: tuple[str, ...]


class PinnedMinimum(ConstraintFinding, frozen=True, kw_only=True):
    """The domains with the global minimum (Pods) cannot take the Pod; ``pins`` has the reasons, node by node."""

    severity: Severity = Severity.ERROR
    global_minimum: int
    domains: tuple[str, ...]
    pins: tuple[Pin, ...]


class GhostPod(ConstraintFinding, frozen=True, kw_only=True):
    """The selector does not match the Pod itself; ``owner``: the workload of a Pod that does not exist yet."""

    field = "labelSelector"
    idle = Idle.MATCHES_OTHERS
    pod: str
    owner: WorkloadRef | None = None

    def of_twin(self, pod: str) -> Self:
        """Return the same about the Pod of this name."""
        return replace(self, pod=pod)


class NilSelector(ConstraintFinding, frozen=True, kw_only=True):
    """There is no labelSelector."""

    field = "labelSelector"
    idle = Idle.NO_SELECTOR


class EmptySelector(ConstraintFinding, frozen=True, kw_only=True):
    """The labelSelector is ``{}``; ``counts``: whether the release then counts every Pod, or none."""

    field = "labelSelector"
    counts: bool

    @property
    def name(self) -> str:
        """Its name in text."""
        return self.id if self.counts else SpreadStatus.NO_EFFECT


class SimilarTopologyKey(ConstraintFinding, frozen=True, kw_only=True):
    """Nodes lack the topologyKey, but have a similar label."""

    field = "topologyKey"
    similar_key: str
    nodes: tuple[str, ...]


class MinDomainsUnreachable(ConstraintFinding, frozen=True, kw_only=True):
    """There are fewer eligible domains than minDomains; ``daemon`` if each Pod of a DaemonSet counts only its node."""

    field = "minDomains"
    domains: tuple[str, ...]
    daemon: bool = False


class SingleDomain(ConstraintFinding, frozen=True, kw_only=True):
    """One domain is eligible; ``daemon`` if each Pod of a DaemonSet counts only its node."""

    idle = Idle.ONE_DOMAIN
    field = "topologyKey"
    domain: str
    daemon: bool = False


class RolloutMixesRevisions(ConstraintFinding, frozen=True, kw_only=True):
    """Pods of the owner's other revisions are counted; ``label`` is the label with the revision.

    ``among``: all constraints that count these Pods, and are as hard; none if the Pod has no other constraint.
    ``together``: other workloads that it counts and that count the Pod, so that no revision can be counted alone.
    """

    field = "matchLabelKeys"
    among: tuple[Constraint, ...] = ()
    owner: WorkloadRef
    pods: tuple[str, ...]
    label: str
    together: tuple[WorkloadRef, ...] = ()


class RolloutWillStick(Finding, frozen=True, kw_only=True):
    """All replicas of a Deployment are placed, but its next rollout does not finish: a new Pod finds no node."""

    field = "spec.strategy"
    owner: WorkloadRef
    by_chance: bool = False  # whether it finishes in some orders
    requirements: tuple[Requirement, ...]  # what rejects nodes for that Pod
    max_unavailable: int | None = None  # with which it finishes without surge (count); None if it does not
    topology_keys: tuple[str, ...] = ()  # the constraints with which it finishes if each counts every revision alone


class MatchLabelKeyAbsent(Finding, frozen=True, kw_only=True):
    """The Pod lacks labels that matchLabelKeys names in the constraint with this index."""

    index: int
    keys: tuple[str, ...]
    revision: str = ""  # the label with the revision that its owner gives the Pod, if the constraint does not name it

    @property
    def path(self) -> str:
        """The path of matchLabelKeys."""
        return f"spec.topologySpreadConstraints[{self.index}].matchLabelKeys"


class DeprecatedTopologyKey(ConstraintFinding, frozen=True, kw_only=True):
    """The topologyKey is deprecated; ``successor`` is empty if no label replaces it."""

    field = "topologyKey"
    successor: str


class UncountedNodes(ConstraintFinding, frozen=True, kw_only=True):
    """Matching Pods (count) are on nodes that are not counted."""

    severity: Severity = Severity.INFO
    nodes: tuple[BypassedNode, ...]
    pods: int


class TerminatingPods(ConstraintFinding, frozen=True, kw_only=True):
    """Matching Pods are being deleted; ``in_use``: whether one of them still has its room, in what is judged."""

    severity: Severity = Severity.INFO
    pods: tuple[str, ...]
    in_use: bool = True


class OtherScheduler(Finding, frozen=True, kw_only=True):
    """No known profile has the Pod's schedulerName."""

    field = "spec.schedulerName"
    severity: Severity = Severity.INFO
    scheduler_name: str


class DefaultConstraints(Finding, frozen=True, kw_only=True):
    """The cluster's default constraints apply: the scheduler's built-in ones, or configured ones."""

    field = "spec.topologySpreadConstraints"
    severity: Severity = Severity.INFO
    built_in: bool
    constraints: tuple[Constraint, ...]


class SoftConstraintIsPreference(ConstraintFinding, frozen=True, kw_only=True):
    """The skew (Pods) of a soft constraint is larger than its maxSkew."""

    field = "whenUnsatisfiable"
    severity: Severity = Severity.INFO
    skew: int


class AutoscalerBlind(ConstraintFinding, frozen=True, kw_only=True):
    """No node of these domains takes the Pod, and its soft constraints let it go elsewhere."""

    field = "whenUnsatisfiable"
    severity: Severity = Severity.INFO
    domains: tuple[str, ...]


class PhantomDomain(ConstraintFinding, frozen=True, kw_only=True):
    """Only NodePools that bring no node for the Pod offer this domain, and Karpenter counts it with no Pods.

    ``refused``: why they bring none. ``fixed_by_honor``: nodeTaintsPolicy: Honor leaves the domain out.
    """

    field = "topologyKey"
    domain: str
    refused: Mapping[str, Reason]
    fixed_by_honor: bool


class EmptyPool(ConstraintFinding, frozen=True, kw_only=True):
    """No node is in this domain, and these NodePools may bring one, which then closes the ``full`` domains."""

    field = "topologyKey"
    severity: Severity = Severity.INFO
    domain: str
    pools: tuple[str, ...]
    full: tuple[str, ...]


class GroupAtMaximum(ConstraintFinding, frozen=True, kw_only=True):
    """All node groups in this domain, which holds the minimum, have as many nodes as they may have."""

    field = "topologyKey"
    severity: Severity = Severity.INFO
    domain: str
    groups: tuple[str, ...]


class StaleEvent(Finding, frozen=True, kw_only=True):
    """The Pod's condition reports it as unschedulable, but a node takes it."""

    field = "status.conditions"
    severity: Severity = Severity.INFO


class InjectedFields(Finding, frozen=True, kw_only=True):
    """Running Pods have these fields, at least one, which their template lacks."""

    severity: Severity = Severity.INFO
    fields: tuple[str, ...]

    @property
    def path(self) -> str:
        """The first of the fields."""
        return self.fields[0]


class MergedConstraints(Finding, frozen=True, kw_only=True):
    """A manifest or its existing object has several constraints on a key, and apply merges them by the key alone.

    ``written``: whenUnsatisfiable of each in the manifest; ``merged``: after apply, empty if that changes nothing.
    """

    field = "spec.topologySpreadConstraints"
    topology_key: str
    written: tuple[str, ...]
    merged: tuple[str, ...] = ()

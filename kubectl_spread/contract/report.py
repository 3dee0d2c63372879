"""What the commands answer: the contract of the renderers, of ``-o json`` and of the JSON Schema.

Names on the wire are camelCase. The contract only grows: a field is never renamed or given another meaning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

JsonValue: TypeAlias = Any  # msgspec knows no recursive type
FEW_DOMAINS = 5
"""Domains (count) up to which the table has the count of each."""
API_VERSION = "spread.kubectl.dev/v1alpha1"


class Report(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The base of everything that is reported."""


class Verdict(StrEnum):
    """Whether the Pod can be scheduled now.

    Incomplete where something that could say no was not evaluated, Invalid where the API server takes no such object.
    """

    SCHEDULABLE = "Schedulable"
    UNSCHEDULABLE = "Unschedulable"
    INCOMPLETE = "Incomplete"
    INVALID = "Invalid"


class SpreadStatus(StrEnum):
    """How a workload stands to one of its constraints, worst first."""

    NO_DOMAINS = "NoDomains"
    BLOCKED = "Blocked"
    FAILED_CREATE = "FailedCreate"
    UNSCHEDULABLE = "Unschedulable"
    VIOLATED = "Violated"
    NO_EFFECT = "NoEffect"
    INCOMPLETE = "Incomplete"
    UNEVEN = "Uneven"
    OK = "OK"


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Metadata(Report, frozen=True, kw_only=True):
    """What was asked and how it was read.

    Attributes:
        version: of this program.
        server: the API server's URL; empty for files.
        kube_version: the release whose rules were applied, such as ``v1.36``.
        kube_version_from: ``flag``, ``server``, ``nodes`` (the newest kubelet: at least that) or ``default``.
        source: the context, or the files.
        resource_versions: list → version it was read at; empty for files.
        as_of: the last time that the Pods tell of (RFC 3339): the answer is no older; empty where they tell none.
    """

    version: str
    server: str = ""
    kube_version: str
    kube_version_from: Literal["flag", "server", "nodes", "default"]
    source: str = ""
    resource_versions: dict[str, str] = {}
    as_of: str = ""


class Incomplete(Report, frozen=True, kw_only=True):
    """Something that was not read or is not modelled, and what that means for the answer."""

    what: str
    why: str
    consequence: str


class Finding(Report, frozen=True, kw_only=True):
    """Something worth knowing about a constraint, a Pod or the cluster, and what to do."""

    id: str
    severity: Severity
    path: str = ""
    message: str


class WorkloadRef(Report, frozen=True, kw_only=True):
    """What owns Pods; kind ``Pod`` for Pods that nothing owns."""

    kind: str
    name: str

    def __str__(self) -> str:
        """Return it as kubectl takes it: ``deployment/web``."""
        return f"{self.kind.lower()}/{self.name}"


class Requirement(Report, frozen=True, kw_only=True):
    """One thing that can reject a node: a constraint by its index, or a filter plugin by its name."""

    kind: Literal["constraint", "filter"]
    index: int | UnsetType = UNSET
    plugin: str | UnsetType = UNSET


class Pin(Report, frozen=True, kw_only=True):
    """Why one node of a domain cannot take the Pod, other than by the constraint in question."""

    node: str
    requirement: Requirement
    detail: str


class Domain(Report, frozen=True, kw_only=True):
    """One topology value of a constraint.

    Attributes:
        value: the label's value.
        nodes: the nodes that are counted, by name.
        eligible: whether any node of it is counted.
        not_counted: its nodes that are not (count); absent where all are.
        matching: the Pods counted.
        by_node: counted node → the Pods counted there.
        skew: matching minus the global minimum.
        skew_if_placed: the same with the Pod placed there.
        allowed: whether the constraint lets the Pod go there.
        pinned: whether it holds the minimum and every node in it is rejected by other requirements.
        pinned_by: by which; empty where it is not pinned.
    """

    value: str
    nodes: tuple[str, ...]
    eligible: bool
    not_counted: int | UnsetType = UNSET
    matching: int
    by_node: dict[str, int] = {}
    skew: int
    skew_if_placed: int
    allowed: bool
    pinned: bool = False
    pinned_by: tuple[Pin, ...] = ()


class BypassedNode(Report, frozen=True, kw_only=True):
    """A node whose Pods a constraint does not count.

    Attributes:
        name: the node's.
        reason: which rule passes it over.
        key: the topology key it lacks; absent for the other reasons.
        similar_keys: labels it has that may be meant instead; absent for the other reasons.
        matching: the matching Pods on it, which nobody counts.
    """

    name: str
    reason: Literal["MissingTopologyKey", "NodeAffinityPolicy", "NodeTaintsPolicy"]
    key: str | UnsetType = UNSET
    similar_keys: tuple[str, ...] | UnsetType = UNSET
    matching: int = 0


class ConstraintReport(Report, frozen=True, kw_only=True):
    """One constraint as it applies to one Pod.

    Attributes:
        index: its place in the Pod's spec, or among the cluster's defaults.
        selector: the effective selector as ``kubectl -l`` takes it; ``<none>`` selects nothing, ``<all>`` everything.
        self_match: whether the Pod is counted itself once it is placed.
        node_affinity_policy: whether nodes that the Pod's node affinity rules out count; absent for Honor, they do not.
        node_taints_policy: whether nodes whose taints the Pod does not tolerate do not; absent for Ignore, they do.
        default: whether it is one of the cluster's default constraints.
        global_minimum: the fewest matching Pods in any eligible domain, 0 while minDomains is not reached.
        minimum_domains: every domain that holds the minimum; empty when none does.
    """

    index: int
    topology_key: str
    max_skew: int
    min_domains: int
    when_unsatisfiable: str
    selector: str
    self_match: bool
    node_affinity_policy: Literal["Ignore"] | UnsetType = UNSET
    node_taints_policy: Literal["Honor"] | UnsetType = UNSET
    default: bool
    global_minimum: int
    minimum_domains: tuple[str, ...]
    domains: tuple[Domain, ...]
    bypassed_nodes: tuple[BypassedNode, ...]

    @property
    def hard(self) -> bool:
        """Whether it keeps a Pod from a node, rather than only making another better."""
        return self.when_unsatisfiable == "DoNotSchedule"

    @property
    def skew(self) -> int:
        """The largest count minus the global minimum over eligible domains (Pods)."""
        return max((domain.skew for domain in self.domains if domain.eligible), default=0)


class Rejection(Report, frozen=True, kw_only=True):
    """What one filter says of a node, and in our words why."""

    plugin: str
    code: str
    reasons: tuple[str, ...]
    detail: str = ""


class NodeReport(Report, frozen=True, kw_only=True):
    """What became of one node.

    Attributes:
        plugin: the filter at which the scheduler stops, with its code and reasons; absent where the node is feasible.
        rejections: every filter that rejects the node.
        scores: score plugin → weighted score, and ``total``; absent where the node is not feasible.
        first: whether ``plugin`` is known to be where the scheduler stops; absent where all Pods were read: it is then.
    """

    name: str
    feasible: bool
    plugin: str | UnsetType = UNSET
    code: str | UnsetType = UNSET
    reasons: tuple[str, ...] | UnsetType = UNSET
    rejections: tuple[Rejection, ...] = ()
    scores: dict[str, int] | UnsetType = UNSET
    first: bool | UnsetType = UNSET


class PatchOperation(Report, frozen=True, kw_only=True):
    """One operation of a JSON patch (RFC 6902)."""

    op: Literal["add", "replace", "remove"]
    path: str
    value: JsonValue | UnsetType = UNSET


class Target(Report, frozen=True, kw_only=True):
    """The object that is changed; nodes have no namespace."""

    kind: Literal["Pod", "Node"]
    namespace: str | UnsetType = UNSET
    name: str


class Change(Report, frozen=True, kw_only=True):
    """A what-if on one object: patched, deleted (a Pod) or created (a Node)."""

    target: Target
    json_patch: tuple[PatchOperation, ...] | UnsetType = UNSET
    op: Literal["delete", "create"] | UnsetType = UNSET
    object: dict[str, JsonValue] | UnsetType = UNSET


class Disturbance(StrEnum):
    """What a fix does to Pods that run, the least first."""

    NOTHING = "Nothing"
    REPLACED = "PodsReplaced"
    LOST = "PodLost"

    @property
    def rank(self) -> int:
        """Its place among them, from 0."""
        return tuple(Disturbance).index(self)


class ManifestEdit(Report, frozen=True, kw_only=True):
    """A change of one field of a manifest.

    Attributes:
        file: the file; empty where it comes from none, as for ``origin``.
        document: which of the source, counted from 1.
        line: of the field, or of what it would stand in, counted from 1; 0 where it is not known.
        path: the field.
        before: the field as YAML; empty where it is to be added.
        after: the field as it has to read; empty where it is to be removed.
    """

    file: str = ""
    document: int = 1
    line: int = 0
    path: str
    before: str
    after: str


class Fix(Report, frozen=True, kw_only=True):
    """A set of changes that lets the Pod in, tried on the snapshot.

    Attributes:
        id: the class of the change; joined by ``+`` where there are two.
        summary: the change in words.
        disturbs: what making it does to Pods that run.
        cost: how much it weakens or reaches beyond the Pod.
        feasible: the nodes it opens, best first.
        admits: how many of the Pending Pods of the same workload it lets in, placed one after another; at least that
            many where it was tried with the Pods that were read.
        siblings: how many of them there are, this Pod included.
        alike: objects for which the same change does the same.
        changes: what was tried, so that it can be tried again.
        commands: what a person runs, in order; empty where no command changes the owner.
        starts: what running them sets off.
        yaml: what to write where the Pod comes from, below the identity of that object; empty where nothing is.
        source: what keeps the owner as it is, so that the YAML belongs there; empty where nothing says so.
        new_revision: the nodes a Pod of the owner's new revision may go to, where they differ from ``feasible``.
        edits: what to change in the manifest that is checked; empty where the change is made elsewhere.
        proved_on: ``read`` where it was tried on the Pods that were read, which are not all.
    """

    id: str
    summary: str
    cost: int
    feasible: tuple[str, ...]
    admits: int
    siblings: int
    alike: tuple[str, ...]
    changes: tuple[Change, ...]
    commands: tuple[str, ...] = ()
    starts: str = ""
    disturbs: Disturbance = Disturbance.NOTHING
    yaml: str = ""
    source: str = ""
    new_revision: tuple[str, ...] | UnsetType = UNSET
    edits: tuple[ManifestEdit, ...] = ()
    proved_on: Literal["read"] | UnsetType = UNSET


class EvaluationReport(Report, frozen=True, kw_only=True):
    """What the scheduler decides about one Pod, and why.

    Attributes:
        summary: what is to blame, in a sentence or two; empty when the Pod is schedulable, but for volumes that a Pod
            waits for once the scheduler has chosen its node.
        message: the scheduler's wording, without preemption; empty when the Pod is schedulable. None where the first
            rejection of some node is not known, and no event tells.
        message_from: ``event`` where it is the scheduler's own, for that reason.
        feasible: the nodes no filter rejects, best total score first, then by name.
        conflict: the fewest requirements that together leave no node; empty where one is left.
        core_of: the requirements that were judged on every node; absent where all Pods were read: all were then.
        fixes: changes that let the Pod in, those that disturb least first, then the cheapest.
        left_alone: what would let the Pod in too and is not offered, with the reason: a sentence each.
        new_nodes: nodes that would let the Pod in if somebody, or an autoscaler, added them; of the shape of fixes.
        fix_search: ``bounded`` where time ran out before every change was tried.
    """

    namespace: str
    name: str
    kind: str = "Pod"
    source: str = ""
    workload: WorkloadRef | UnsetType = UNSET
    verdict: Verdict
    summary: str
    message: str | None
    message_from: Literal["event"] | UnsetType = UNSET
    feasible: tuple[str, ...]
    nodes: tuple[NodeReport, ...]
    constraints: tuple[ConstraintReport, ...]
    conflict: tuple[Requirement, ...] = ()
    core_of: tuple[Requirement, ...] | UnsetType = UNSET
    fixes: tuple[Fix, ...] = ()
    new_nodes: tuple[Fix, ...] = ()
    left_alone: tuple[str, ...] = ()
    fix_search: Literal["complete", "bounded"] = "complete"
    findings: tuple[Finding, ...] = ()
    incomplete: tuple[Incomplete, ...] = ()

    @property
    def stuck(self) -> bool:
        """Whether no node takes the Pod, or nothing could take one that the API server refuses."""
        return self.verdict is Verdict.UNSCHEDULABLE or (self.verdict is Verdict.INVALID and not self.feasible)

    @property
    def assumed(self) -> bool:
        """Whether the scheduler has chosen a node already and waits to bind the Pod, as the summary says."""
        return self.verdict is Verdict.SCHEDULABLE and bool(self.summary)


class EventReport(Report, frozen=True, kw_only=True):
    """The scheduler's last word about the Pod.

    Attributes:
        message: as it stands in the event or the Pod's condition, the part about preemption included.
        time: RFC 3339 text; empty when unknown.
        count: how often it was said.
        differs: why it differs from the report's message; empty where it does not.
    """

    message: str
    time: str = ""
    count: int = 1
    differs: str = ""


class PodName(Report, frozen=True, kw_only=True):
    """A Pod by its name."""

    namespace: str
    name: str


class Preemption(Report, frozen=True, kw_only=True):
    """What the scheduler would evict for the Pod at its next turn.

    Attributes:
        node: where; the first by name where several are equally good.
        victims: the Pods to go, the most important first.
        pdb_violations: how many of them a PodDisruptionBudget protects; None where budgets could not be read.
        ties: the other nodes that are as good, any of which the scheduler may choose.
        other_nodes: nodes that evictions would open too, at a higher price.
        sampled: whether there are so many nodes that the scheduler tries only some, and may choose another one.
        read: false where too few Pods were read to tell; absent where all is known.
    """

    node: str = ""
    victims: tuple[PodName, ...] = ()
    pdb_violations: int | None = None
    ties: tuple[str, ...] = ()
    other_nodes: tuple[str, ...] = ()
    sampled: bool = False
    read: Literal[False] | UnsetType = UNSET


class Nomination(Report, frozen=True, kw_only=True):
    """The node that the scheduler makes room on for the Pod.

    Attributes:
        node: which.
        leaving: the Pods that it evicts and that are still there.
    """

    node: str
    leaving: tuple[PodName, ...]


class Replicas(Report, frozen=True, kw_only=True):
    """How much of a workload is at work.

    Attributes:
        wanted: the Pods that it asks for (count).
        running: those of its Pods that run, and do not say that they are not ready (count).
    """

    wanted: int
    running: int


class PendingItem(EvaluationReport, frozen=True, kw_only=True):
    """Why one Pod is not scheduled.

    Attributes:
        scheduler_name: who decides about the Pod.
        replicas: how much of its workload is at work; absent where that makes no Pod again, or cannot be read.
        event: the last FailedScheduling message; None when there is none.
        held_by: the scheduling gates that hold the Pod back.
        preemption: whom the scheduler would evict; None where it would evict nobody.
        nomination: the node the Pod is nominated to; None for none.
        same_as: an earlier Pod of the same template whose explanation holds for this one too.
    """

    scheduler_name: str
    replicas: Replicas | UnsetType = UNSET
    event: EventReport | None = None
    held_by: tuple[str, ...] = ()
    preemption: Preemption | None = None
    nomination: Nomination | None = None
    same_as: str | UnsetType = UNSET


class NotCreated(Report, frozen=True, kw_only=True):
    """A workload some of whose Pods do not even exist, for the API server refuses them.

    Attributes:
        wanted: the Pods that it, or the newest revision of a Deployment, is to have (count).
        created: how many of them there are.
        message: why the next one is refused.
        message_from: ``condition`` where that is the last word of the workload's own controller; absent where it
            follows from the quotas, limits and other objects that were read.
    """

    namespace: str
    workload: WorkloadRef
    wanted: int
    created: int
    message: str
    message_from: Literal["condition"] | UnsetType = UNSET


class ValidationError(Report, frozen=True, kw_only=True):
    """What the API server would refuse, in its words."""

    field: str
    reason: str
    message: str


class ValidationWarning(Report, frozen=True, kw_only=True):
    """What the API server accepts, but warns of in these words."""

    field: str
    message: str


class Placement(Report, frozen=True, kw_only=True):
    """Where one replica goes.

    Attributes:
        replica: which, counted from 1.
        node: where.
        ties: the other nodes of the same total score.
        preempts: the Pods that the scheduler evicts from the node to make room; unset where it evicts none.
    """

    replica: int
    node: str
    ties: tuple[str, ...] = ()
    preempts: tuple[PodName, ...] | UnsetType = UNSET


class Jam(Report, frozen=True, kw_only=True):
    """The first replica that finds no node.

    Attributes:
        replica: which; where it depends on ties, the earliest.
        replica_max: the latest, where it depends on ties; None where with some luck all replicas find a node.
        message: the scheduler's wording; None where not all Pods were read and it is not known.
        nodes: of a DaemonSet, the nodes that have no room for their Pod.
        summary: what is to blame, in a sentence or two.
        conflict: the fewest requirements that together leave it no node.
    """

    replica: int
    replica_max: int | UnsetType | None = UNSET
    message: str | None
    nodes: tuple[str, ...] = ()
    summary: str = ""
    conflict: tuple[Requirement, ...] = ()


class DomainRange(Report, frozen=True, kw_only=True):
    """How many Pods a domain may hold once all replicas are placed, where that depends on ties.

    Attributes:
        constraint: the constraint's index.
        value: the domain.
        minimum: the fewest matching Pods that were found.
        maximum: the most.
    """

    constraint: int
    value: str
    minimum: int
    maximum: int


class Rollout(Report, frozen=True, kw_only=True):
    """How the workload gets from the Pods it has to those of the manifest.

    Attributes:
        strategy: ``RollingUpdate``, ``Recreate`` or ``OnDelete`` where the template changes; ``Scale`` where it does
            not and only missing Pods come; ``Replace`` for a Pod that exists; ``Unknown`` for kinds of other APIs.
        running: the Pods the workload has (count).
        replaced: how many of them go.
        assumed: what was assumed, as a sentence.
    """

    strategy: Literal["RollingUpdate", "Recreate", "OnDelete", "Scale", "Replace", "Unknown"]
    running: int
    replaced: int
    assumed: str


class Origin(Report, frozen=True, kw_only=True):
    """Where a manifest stands.

    Attributes:
        file: empty where it comes from no file: standard input, a URL, a build.
        document: which of the source, counted from 1.
        line: of the source, counted from 1; 0 where it is not known, as in JSON.
        lines: path or field, as findings and validation errors name it → its line, or that of what it would stand in.
    """

    file: str
    document: int
    line: int = 0
    lines: dict[str, int] = {}


class FailedCreate(Report, frozen=True, kw_only=True):
    """At which Pod the API server ends the making of Pods, as a quota does.

    Attributes:
        created: how many come to be.
        message: why the next one does not, in the API server's words.
    """

    created: int
    message: str


class CheckItem(EvaluationReport, frozen=True, kw_only=True):
    """Whether one Pod template of a manifest schedules, and how its replicas lie.

    Attributes:
        replicas: how many were asked for.
        validation: what the API server would refuse.
        warnings: what it would warn of; nothing where it refuses the manifest.
        placements: where each replica goes, in order; ties go to the first name.
        jam: the first replica that finds no node; None when all find one.
        pending: how many Pods then wait for a node (count), with ties going to the first name.
        failed_create: the first Pod that the API server refuses; None where it takes all.
        held_by: the scheduling gates that hold its Pods back.
        after: the constraints with all placed replicas counted.
        orders: in how many orders ties were broken, by name first.
        ranges: the domains of ``after`` whose counts differ between these orders.
        sampled: whether there are so many nodes that the scheduler may look at some of them only.
        rollout: what was assumed about the workload's running Pods; None where it has none.
        origin: where the manifest stands.
    """

    replicas: int = 1
    validation: tuple[ValidationError, ...] = ()
    warnings: tuple[ValidationWarning, ...] = ()
    placements: tuple[Placement, ...] = ()
    jam: Jam | None = None
    pending: int = 0
    failed_create: FailedCreate | None = None
    held_by: tuple[str, ...] = ()
    after: tuple[ConstraintReport, ...] = ()
    orders: int = 1
    ranges: tuple[DomainRange, ...] = ()
    sampled: bool = False
    rollout: Rollout | None = None
    origin: Origin | UnsetType = UNSET

    @property
    def blamed(self) -> tuple[Requirement, ...]:
        """The fewest requirements that leave the first Pod without a node no node."""
        return self.conflict or (self.jam.conflict if self.jam else ())

    @property
    def blamed_paths(self) -> tuple[str, ...]:
        """The fields of the Pod in which the constraints among them stand; nothing for those of the cluster."""
        own = {each.index for each in self.constraints if not each.default}
        indexes = (each.index for each in self.blamed if each.kind == "constraint" and each.index in own)
        return tuple(f"spec.topologySpreadConstraints[{index}]" for index in indexes)


class Headroom(Report, frozen=True, kw_only=True):
    """How many more replicas find a node, one after another.

    Attributes:
        more: how many do (count), before the first that does not.
        tried: how many were tried (count).
        then: what stops that one; empty where all that were tried found a node.
    """

    more: int
    tried: int
    then: str = ""


class SkewItem(Report, frozen=True, kw_only=True):
    """How one workload lies over the domains of one constraint.

    Attributes:
        revision: of the Pods the row speaks of; empty where the workload has only one.
        pods: the Pods the constraint counts.
        own_pods: how many of them are the workload's.
        status_reason: the one thing to know about the status; empty for OK.
        ghosts: the workload's Pods that the constraint does not count because its selector does not match them.
        next: the nodes the next replica may go to, best first; empty when there is no next Pod.
        evaluated_filters: the filters that decided about ``next``.
        headroom: how many more replicas find a node; absent where that was not asked, or there is no next Pod.
        proved_on: ``read`` where ``next`` holds only nodes whose Pods were read, which are not all.
    """

    namespace: str
    workload: WorkloadRef
    revision: str = ""
    pods: int
    own_pods: int
    default: bool
    status: SpreadStatus
    status_reason: str = ""
    constraint: ConstraintReport
    ghosts: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    evaluated_filters: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    headroom: Headroom | UnsetType = UNSET
    proved_on: Literal["read"] | UnsetType = UNSET


class Counts(Report, frozen=True, kw_only=True):
    """The Pods in each domain, or in so many of them.

    Attributes:
        each: domain → its Pods, where there are few domains.
        domains: Pods → how many domains hold so many, where there are more.
    """

    each: dict[str, int] = {}
    domains: dict[int, int] = {}

    @classmethod
    def of(cls, matching: Mapping[str, int]) -> Counts:
        """Return the Pods in each of these domains (domain → Pods), or in so many of them."""
        if len(matching) <= FEW_DOMAINS:
            return cls(each=dict(sorted(matching.items())))
        return cls(domains=dict(sorted(Counter(matching.values()).items())))


class ConstraintRow(Report, frozen=True, kw_only=True):
    """What the table says of a constraint; as in a ConstraintReport where that has it too."""

    index: int
    topology_key: str
    max_skew: int
    when_unsatisfiable: str
    selector: str
    skew: int
    counts: Counts


class SkewRow(Report, frozen=True, kw_only=True):
    """What the table says of a workload and one of its constraints; as in a SkewItem."""

    namespace: str
    workload: WorkloadRef
    revision: str = ""
    pods: int
    own_pods: int
    default: bool
    status: SpreadStatus
    status_reason: str = ""
    constraint: ConstraintRow
    next: tuple[str, ...] = ()
    headroom: Headroom | UnsetType = UNSET

    @classmethod
    def of(cls, item: SkewItem) -> SkewRow:
        """Return what the table says of the item."""
        constraint = item.constraint
        return cls(
            namespace=item.namespace,
            workload=item.workload,
            revision=item.revision,
            pods=item.pods,
            own_pods=item.own_pods,
            default=item.default,
            status=item.status,
            status_reason=item.status_reason,
            constraint=ConstraintRow(
                index=constraint.index,
                topology_key=constraint.topology_key,
                max_skew=constraint.max_skew,
                when_unsatisfiable=constraint.when_unsatisfiable,
                selector=constraint.selector,
                skew=constraint.skew,
                counts=Counts.of({domain.value: domain.matching for domain in constraint.domains if domain.eligible}),
            ),
            next=item.next,
            headroom=item.headroom,
        )


class SkewTable(Report, frozen=True, kw_only=True):
    """The answer of ``show`` as its table has it; no report of the contract, for it is never printed as JSON."""

    metadata: Metadata
    items: tuple[SkewRow, ...]
    incomplete: tuple[Incomplete, ...] = ()


class SkewReport(Report, frozen=True, kw_only=True):
    """The answer of ``show``."""

    api_version: Literal["spread.kubectl.dev/v1alpha1"] = "spread.kubectl.dev/v1alpha1"
    kind: Literal["SkewReport"] = "SkewReport"
    metadata: Metadata
    items: tuple[SkewItem, ...]
    incomplete: tuple[Incomplete, ...] = ()


class PendingReport(Report, frozen=True, kw_only=True):
    """The answer of ``why-pending``.

    Attributes:
        not_created: the workloads that lack Pods which are not even there to be Pending.
    """

    api_version: Literal["spread.kubectl.dev/v1alpha1"] = "spread.kubectl.dev/v1alpha1"
    kind: Literal["PendingReport"] = "PendingReport"
    metadata: Metadata
    items: tuple[PendingItem, ...]
    not_created: tuple[NotCreated, ...] = ()
    incomplete: tuple[Incomplete, ...] = ()


class CheckReport(Report, frozen=True, kw_only=True):
    """The answer of ``check``."""

    api_version: Literal["spread.kubectl.dev/v1alpha1"] = "spread.kubectl.dev/v1alpha1"
    kind: Literal["CheckReport"] = "CheckReport"
    metadata: Metadata
    items: tuple[CheckItem, ...]
    incomplete: tuple[Incomplete, ...] = ()


class EvictedPod(Report, frozen=True, kw_only=True):
    """A Pod that went, and the node it was on; empty for none."""

    namespace: str
    pod: str
    node: str


class BlockedPod(Report, frozen=True, kw_only=True):
    """A Pod that should have gone and did not."""

    namespace: str
    pod: str
    why: str


class PendingPods(Report, frozen=True, kw_only=True):
    """The Pods of a workload that wait for a node.

    Attributes:
        count: how many, in the outcome that is reported.
        range: the fewest and the most that were seen in any order.
        message: the scheduler's wording; empty where none waits in this outcome.
        summary: what is to blame, in a sentence or two.
        incomplete: what that does not rest on.
    """

    namespace: str
    workload: WorkloadRef
    count: int
    range: tuple[int, int]
    message: str
    summary: str
    incomplete: tuple[Incomplete, ...] = ()


class ChangedConstraint(Report, frozen=True, kw_only=True):
    """Which constraint is spoken of."""

    index: int
    topology_key: str
    max_skew: int


class SimulatedItem(Report, frozen=True, kw_only=True):
    """How the Pods that one constraint counts lie before and after a step.

    Attributes:
        before: eligible domain → Pods before the step.
        after: the same after it, in one outcome.
        ranges: domain → the fewest and the most Pods that were seen in any order: observed, not proved.
        skew_before: the skew before the step.
        skew_after: the least and the greatest skew that were seen after it.
        status_before: how the workload stood to the constraint.
        status_after: how it stands to it after the step, in one outcome.
    """

    namespace: str
    workload: WorkloadRef
    constraint: ChangedConstraint
    before: dict[str, int]
    after: dict[str, int]
    ranges: dict[str, tuple[int, int]]
    skew_before: int
    skew_after: tuple[int, int]
    status_before: SpreadStatus
    status_after: SpreadStatus

    @property
    def changed(self) -> bool:
        """Whether the step changes anything about it, in any order."""
        by_chance = any(low != high for low, high in set(self.ranges.values()))
        return by_chance or self.before != self.after or self.status_before is not self.status_after


class SimulatedStep(Report, frozen=True, kw_only=True):
    """What one step does.

    Attributes:
        step: the step, as ``drain n1``.
        evicted: the Pods that go for it; what manages them makes others.
        blocked: the Pods that should go and do not.
        lost: the Pods that go and that nothing makes again.
        preempted: the Pods that the scheduler evicts for those that come.
        pending: what waits for a node then; of workloads that are not asked about, where more wait than at the start.
        newly_pending: whether more Pods of some workload wait than before, for a scheduler whose rules are known,
            or are refused.
        untried: how many of the Pods that wait were not tried on any node, for too many had been before;
            absent where all were.
        items: the constraints, changed or not.
        orders: in how many orders chance was tried.
        notes: what else is to be known, a sentence each.
    """

    step: str
    evicted: tuple[EvictedPod, ...] = ()
    blocked: tuple[BlockedPod, ...] = ()
    lost: tuple[EvictedPod, ...] = ()
    preempted: tuple[EvictedPod, ...] = ()
    pending: tuple[PendingPods, ...] = ()
    newly_pending: bool = False
    untried: int | UnsetType = UNSET
    items: tuple[SimulatedItem, ...] = ()
    orders: int = 1
    notes: tuple[str, ...] = ()


class SimulateReport(Report, frozen=True, kw_only=True):
    """The answer of ``simulate``."""

    api_version: Literal["spread.kubectl.dev/v1alpha1"] = "spread.kubectl.dev/v1alpha1"
    kind: Literal["SimulateReport"] = "SimulateReport"
    metadata: Metadata
    steps: tuple[SimulatedStep, ...]
    incomplete: tuple[Incomplete, ...] = ()


class RebalanceVerdict(StrEnum):
    """Whether a constraint holds, or can be made to hold, by evictions."""

    IMPOSSIBLE = "Impossible"
    PARTIAL = "Partial"
    INCOMPLETE = "Incomplete"
    PLANNED = "Planned"
    BALANCED = "Balanced"


class PlannedEviction(Report, frozen=True, kw_only=True):
    """One eviction of a plan.

    Attributes:
        order: its place in the plan, from 1: it goes once the Pod in place of the one before has a node.
        wave: the evictions of one wave follow each other so; before the next all that went has to be gone and
            all that came ready: budgets allow no more, a StatefulSet makes one after another, or room is needed.
        pod: the Pod that goes.
        node: where it is.
        workload: whose it is.
        lands: the nodes of which the Pod in its place goes to one, by name.
        command: what evicts it.
    """

    order: int
    wave: int
    namespace: str
    pod: str
    node: str
    workload: WorkloadRef
    lands: tuple[str, ...]
    command: str


class RebalancedConstraint(ChangedConstraint, frozen=True, kw_only=True):
    """Which constraint is spoken of, and whether it is hard."""

    when_unsatisfiable: str


class RebalanceItem(Report, frozen=True, kw_only=True):
    """How the Pods that one constraint counts lie before and after the plan.

    Attributes:
        verdict: Balanced where it holds as it is, Planned where it holds after the plan, Partial where less is left.
        reason: why not all is reached; empty where it is.
        fixes: what to fix first, for a plan to reach more: after each, a Pod evicted where there are most goes where
            there are fewest. Its changes of a Pod are made on one that is evicted then.
        before: eligible domain → Pods.
        after: the same in the end, in the worst case.
        skew_before: the skew as it is (Pods).
        skew_after: the largest skew in the end, whichever of equal nodes the scheduler takes (Pods).
    """

    namespace: str
    workload: WorkloadRef
    verdict: RebalanceVerdict
    reason: str = ""
    fixes: tuple[Fix, ...] = ()
    constraint: RebalancedConstraint
    before: dict[str, int]
    after: dict[str, int]
    skew_before: int
    skew_after: int


class RebalanceReport(Report, frozen=True, kw_only=True):
    """The answer of ``rebalance``.

    Attributes:
        evictions: the plan, in order.
        pending: how many Pods of the workloads wait for a node, for which nothing is planned.
        items: the constraints, worst first.
        search: ``bounded`` where the search ended before it was known that there is nothing better.
        orders: ``sampled`` where there are more choices among equal nodes than were followed.
    """

    api_version: Literal["spread.kubectl.dev/v1alpha1"] = "spread.kubectl.dev/v1alpha1"
    kind: Literal["RebalanceReport"] = "RebalanceReport"
    metadata: Metadata
    evictions: tuple[PlannedEviction, ...]
    pending: int = 0
    items: tuple[RebalanceItem, ...]
    search: Literal["complete", "bounded"] = "complete"
    orders: Literal["all", "sampled"] = "all"
    incomplete: tuple[Incomplete, ...] = ()


ItemsReport: TypeAlias = SkewReport | PendingReport | CheckReport
"""The reports whose items have nodes and domains that can be drawn."""
AnyReport: TypeAlias = ItemsReport | SimulateReport | RebalanceReport

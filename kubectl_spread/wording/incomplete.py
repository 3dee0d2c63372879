"""The texts about incomplete answers: what is missing, why, and what is not known without it."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias, assert_never

import msgspec
from msgspec import UNSET, UnsetType

from kubectl_spread import gaps
from kubectl_spread.objects import kinds
from kubectl_spread.objects.configuration import DEFAULT_SCHEDULER
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.scheduler import dynamicresources
from kubectl_spread.wording.words import LIST, count_of, did_you_mean, enumerated

Texts: TypeAlias = tuple[str, str, str]  # What is missing, why, and the consequence


class Incomplete(msgspec.Struct, frozen=True):
    """Something that was not read or is not modelled, and its consequence for the answer."""

    what: str
    why: str
    consequence: str
    cluster: str | UnsetType = UNSET  # the context of the cluster that it is about; absent if one cluster was read

    def __str__(self) -> str:
        where = "" if isinstance(self.cluster, UnsetType) else f" in {self.cluster}"
        return f"incomplete{where}: {self.what} ({self.why}): {self.consequence}."


OfManifest: TypeAlias = (
    gaps.UnreadTemplate
    | gaps.MayBeRefused
    | gaps.MayBreakQuota
    | gaps.MayRollOut
    | gaps.UnknownKind
    | gaps.UnknownManagers
)
NEVER_RUNS = "no node has that name: it never runs, and pod garbage collection deletes it"
IDLE = "no Pod with this schedulerName has a node, and no event is from it"  # Why a scheduler may not run
# The outcome for a Pod, and for several, on no existing node.
ALL_NEVER_RUN = "no node has that name: they never run, and pod garbage collection deletes them"
MOST_NAMES = 2  # Nodes (count) that a sentence names where there are more

_OWNER_SELECTS = "what the owner adds to the selector of the cluster's default constraints is not known"
_VOLUMES = "its volumes were not evaluated"
_WHERE_VOLUMES = "where its volumes could be was not evaluated"
_WHERE_PODS_CAN_GO: Mapping[Kind, str] = {
    **dict.fromkeys(
        (*kinds.VOLUME_KINDS, kinds.VOLUME_ATTACHMENT),
        "whether nodes suit the volumes of Pods was not evaluated",
    ),
    **dict.fromkeys(kinds.DEVICE_KINDS, "whether nodes have the devices that Pods claim was not evaluated"),
    kinds.NAMESPACE: "affinity between Pods was not evaluated",
}
_DEVICES = "whether nodes have the devices it claims is not known"
_NO_OWNER = "the owners of Pods, and the requests of the next Pod, are not known"
_NO_LOSS = "lost Pods of such owners are recreated like their running Pods"

# Purpose → kind → what is not known where its list could not be read.
UNREAD: Mapping[gaps.Purpose, Mapping[Kind, str]] = {
    gaps.Purpose.SCHEDULING: {
        kinds.POD: "Pods of other namespaces use unknown resources and ports, and Pod affinity was not evaluated",
        kinds.SERVICE: "what Services add to the selector of the cluster's default constraints is not known",
        kinds.REPLICA_SET: _OWNER_SELECTS,
        kinds.STATEFUL_SET: _OWNER_SELECTS,
        kinds.REPLICATION_CONTROLLER: _OWNER_SELECTS,
        kinds.NAMESPACE: "Pod affinity was not evaluated",
        kinds.PERSISTENT_VOLUME_CLAIM: _VOLUMES,
        kinds.PERSISTENT_VOLUME: _VOLUMES,
        kinds.STORAGE_CLASS: _VOLUMES,
        kinds.CSI_NODE: "where its volumes can be attached was not evaluated",
        kinds.CSI_DRIVER: _WHERE_VOLUMES,
        kinds.CSI_STORAGE_CAPACITY: _WHERE_VOLUMES,
        **dict.fromkeys(kinds.DEVICE_KINDS, _DEVICES),
        kinds.VOLUME_ATTACHMENT: "whether nodes can attach more volumes was not evaluated",
    },
    gaps.Purpose.ADMISSION: {
        kinds.LIMIT_RANGE: "the default requests of its containers are not known",
        kinds.RUNTIME_CLASS: "the overhead and the nodes of its runtime were not considered",
        kinds.PRIORITY_CLASS: "whether its PriorityClass exists, and whether Pods that wait for room go first, is not"
        " known",
        kinds.RESOURCE_QUOTA: "whether a quota leaves room for its Pods is not known",
        kinds.SERVICE_ACCOUNT: "whether its ServiceAccount exists is not known",
    },
    gaps.Purpose.PREEMPTION: {
        kinds.PRIORITY_CLASS: "whether its PriorityClass exists, and whether it makes room by preemption, is not known"
    },
    gaps.Purpose.FIXES: {
        **dict.fromkeys(
            kinds.WORKLOAD_KINDS,
            "fixes name no command for its owner, whose template is not known",
        ),
        kinds.EVENT: "the scheduler's last message is not known",
        kinds.POD_DISRUPTION_BUDGET: "moving Pods was not simulated",
        kinds.NETWORK_POLICY: "adding labels to the Pod was not simulated",
    },
    gaps.Purpose.WORKLOADS: {
        **dict.fromkeys(
            kinds.WORKLOAD_KINDS, "workloads without Pods are not shown, and the owners of other Pods are not known"
        ),
        kinds.POD: "Pods that were not read are not shown, and use unknown resources",
        kinds.POD_DISRUPTION_BUDGET: "whether an outage breaks a budget is not known",
    },
    gaps.Purpose.SIMULATION: {
        **_WHERE_PODS_CAN_GO,
        kinds.POD_DISRUPTION_BUDGET: "evictions were simulated that a budget may refuse",
        kinds.REPLICA_SET: "Deployments were not scaled or rolled out",
        kinds.HORIZONTAL_POD_AUTOSCALER: "one of them may change the replicas again",
        **dict.fromkeys((kinds.DEPLOYMENT, kinds.STATEFUL_SET, kinds.DAEMON_SET, kinds.JOB, kinds.CRON_JOB), _NO_LOSS),
    },
    gaps.Purpose.APPLYING: dict.fromkeys(kinds.WORKLOAD_KINDS, "whether it exists already, and has Pods, is not known"),
    gaps.Purpose.REBALANCE: {
        **_WHERE_PODS_CAN_GO,
        **dict.fromkeys(kinds.WORKLOAD_KINDS, _NO_OWNER),
        kinds.POD_DISRUPTION_BUDGET: "a budget may refuse planned evictions",
    },
    gaps.Purpose.AUTOSCALING: dict.fromkeys(
        (*kinds.AUTOSCALER_KINDS, kinds.DAEMON_SET), "the autoscaler's decision is made without them"
    ),
}


def texts(gap: gaps.Gap) -> Texts:
    """Return what is missing, why, and what is not known without it."""
    match gap:
        case gaps.InCluster():
            return texts(gap.gap)
        case gaps.UnansweredCluster():
            return "its workloads", gap.why, "none of them is shown"
        case gaps.UnreadKind():
            return f"{LIST}{gap.kind.plural}", gap.why, UNREAD[gap.purpose][gap.kind]
        case gaps.ReadApart():
            what = ", ".join(f"{plural} at resourceVersion {version}" for plural, version in gap.versions)
            return what, "read at different times", "changes in between may be missing"
        case gaps.UnreadNodes():
            what = f"list {kinds.POD.plural} on {count_of(gap.nodes, 'node')}"
            return what, "not asked for", f"Pods there of other namespaces than {gap.namespace} may keep it away"
        case gaps.UnreadRevision():
            told = f"{gap.pod} is of an older revision, of which no Pod runs: the newest template is used"
            return f"ControllerRevision {gap.revision}", "not read", told
        case gaps.GuessedVolume():
            told = "its provisioner decides where it can be used, before the Pod is scheduled"
            return f'the volume of claim "{gap.claim}"', f"StorageClass {gap.storage_class} binds at once", told
        case gaps.UnreadableManifest():
            return gap.place, "unreadable", gap.why
        case gaps.UnparsableConstraint():
            what = f"the constraint of {gap.workload} in namespace {gap.namespace} on {gap.topology_key}"
            return what, gap.error, "kube-scheduler fails on its Pods, and none of their constraints is shown"
        case gaps.NotModelled():
            return gap.plugin, "not evaluated", f"the result of {gap.plugin} is not known"
        case gaps.UnprovedRelease():
            told = f"the rules of v1.{gap.nearest} and its known differences were applied"
            return f"kube-scheduler v1.{gap.minor}", "not among the proved releases", told
        case gaps.UnknownFeatureGate():
            return f"feature gate {gap.gate}", "not known", "what it changes was not considered"
        case gaps.UndecidedChoice():
            named = enumerated([f"{pod} on {node_name}" for pod, node_name in gap.pods], most=MOST_NAMES)
            both = f"the scheduler has chosen a node for {enumerated([pod for pod, _ in gap.pods], most=MOST_NAMES)}"
            told = f"{both} and also refused it: the times do not show which came last"
            return f"whether the scheduler counts {named}", "not known", told
        case gaps.NoDryRun():
            return "the dry run", gap.why, "what admission would change in its Pods is estimated"
        case gaps.UntriedPods():
            told = "they are counted as Pending, though nodes may take them"
            what = f"nodes for {count_of(gap.pods, 'Pod')} of {gap.step}"
            return what, "not simulated, because too many Pods came before", told
        case _:
            return _of_manifest(gap) if isinstance(gap, OfManifest) else _of_decider(gap)


def _of_manifest(gap: OfManifest) -> Texts:
    match gap:
        case gaps.UnreadTemplate():
            told = "what its controller creates was not checked"
            return f"the Pods of {gap.workload}", "it has no Pod template", told
        case gaps.MayBeRefused():
            return f"the immutable fields of {gap.named}", "not all are in the snapshot", "it may be refused"
        case gaps.MayBreakQuota() if gap.by_chance and gap.workload.split("/")[1] == "pod":
            return f"how much the controllers have done when {gap.workload} is created", gap.why, "it may be refused"
        case gaps.MayBreakQuota() if gap.by_chance:
            what = f"the order in which the Pods of {gap.workload} and other objects are created"
            return what, gap.why, "some may be refused"
        case gaps.MayBreakQuota():
            return f"the objects that {gap.workload} needs beside its Pods", gap.why, "it may not create all its Pods"
        case gaps.MayRollOut() if gap.revision:
            beside = "it may create new Pods beside those of this revision"
            told = beside if gap.orphaned else "it may roll out"
            return f"revision {gap.revision} of {gap.workload}", "not read", told
        case gaps.MayRollOut():
            why = "fields that the snapshot does not hold may change"
            return f"the template of {gap.workload}", why, "it may roll out"
        case gaps.UnknownKind():
            told = "if it does not, kubectl apply fails"
            return f"whether the cluster serves {gap.kind} in {gap.api_version}", gap.why, told
        case gaps.UnknownManagers():
            told = "fields that others manage may conflict; other fields may stay or be removed"
            return f"the managedFields of {gap.named}", "the API server was not asked", told


def entries(unknown: Iterable[gaps.Gap]) -> tuple[Incomplete, ...]:
    """Return the text of each gap; gaps with the same text have one."""
    return tuple(dict.fromkeys(Incomplete(*texts(gap), _cluster(gap)) for gap in unknown))


def _cluster(gap: gaps.Gap) -> str | UnsetType:
    return gap.cluster if isinstance(gap, gaps.InCluster) else UNSET


def merged_entries(unknown: Iterable[gaps.Gap]) -> tuple[Incomplete, ...]:
    """Return the text of each gap; lists that could not be read for one reason and with one consequence have one."""
    by_key: dict[tuple[str, str, str, str | UnsetType], list[str]] = {}
    for gap in unknown:
        what, why, not_known = texts(gap)
        is_list = gaps.is_unread_list(gap.gap if isinstance(gap, gaps.InCluster) else gap)
        names = by_key.setdefault(("" if is_list else what, why, not_known, _cluster(gap)), [])
        name = what.removeprefix(LIST) if names else what
        names += [] if what in names or name in names else [name]
    return tuple(Incomplete(", ".join(names), *key[1:]) for key, names in by_key.items())


def consequence(gap: gaps.Gap) -> str:
    """Return what the answer does not know, as a sentence without its full stop."""
    return texts(gap)[2]


def _of_decider(gap: gaps.Decider) -> Texts:
    match gap:
        case gaps.UnreadCluster():
            return f"{LIST}{kinds.NODE.plural}", gap.why, "which domains there are, and where Pods can go, is not known"
        case gaps.OtherScheduler():
            name = gap.scheduler_name
            if gap.idle:
                return f"schedulerName {name}", IDLE, "if it does not run, the Pod stays Pending"
            return f"schedulerName {name}", "in no known profile", f"{name} decides by its own rules"
        case gaps.NodeNamed():
            told = f"the kubelet of {gap.node_name} takes or rejects it, regardless of topology spread"
            return f"spec.nodeName {gap.node_name}", "no scheduler is involved", told
        case gaps.SchedulingGroup():
            return _group(gap), "not evaluated", "the Pod is held until its PodGroup is complete"
        case gaps.UndecidedDevices():
            return dynamicresources.NAME, "not evaluated", f"{_DEVICES} ({gap.wanted})"
        case _:
            assert_never(gap)


def lead(gap: gaps.Decider) -> str:
    """Return what else decides about the Pod, as the first half of a sentence."""
    match gap:
        case gaps.UnreadCluster():
            return f"Nodes were not read ({gap.why})"
        case gaps.OtherScheduler(scheduler_name=name, idle=True):
            meant = did_you_mean(name, [DEFAULT_SCHEDULER])
            nobody = f"schedulerName {name} is served by nobody{f' ({meant})' if meant else ''}, as far as was read"
            return f"{nobody}: {IDLE}"
        case gaps.OtherScheduler():
            return f"{gap.scheduler_name} schedules this Pod"
        case gaps.NodeNamed():
            named = f"{gap.pod} sets spec.nodeName {gap.node_name}"
            return f"{named}, but {NEVER_RUNS}" if gap.absent else f"{named}, so no scheduler is involved"
        case gaps.SchedulingGroup():
            return f"{gap.pod} is held until its PodGroup is complete ({_group(gap)})"
        case gaps.UndecidedDevices():
            return f"{gap.pod} needs devices, and which nodes have them is not modelled"
        case _:
            assert_never(gap)


def _group(gap: gaps.SchedulingGroup) -> str:
    return f"group {gap.pod_group} of Workload {gap.workload}" if gap.workload else f"PodGroup {gap.pod_group}"

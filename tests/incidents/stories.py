"""Incidents in a few words each: what the cluster was like, and what is true of the Pod that found no node.

``write.py`` makes the folders from them; what the scheduler decides is asked of the scheduler, the rest is said here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread

AT = "/spec/topologySpreadConstraints"
RACK = "example.com/rack"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, kw_only=True)
class Count:
    """What a hard constraint counts.

    Attributes:
        minimum: the global minimum (Pods).
        held_by: the domains that hold it.
        matching: domain → matching Pods (count), eligible domains only.
        index: the constraint's place.
        self_match: whether it counts the Pod.
    """

    minimum: int
    held_by: str
    matching: Mapping[str, int]
    index: int = 0
    self_match: bool = True


@dataclass(frozen=True, kw_only=True)
class Story:
    """One incident.

    Attributes:
        told: what happened.
        objects: the cluster without the Pod.
        pod: the Pod.
        conflict: the smallest sets of requirements that leave no node, any of which is right: a constraint by its
            index, a filter by its name.
        counts: what each hard constraint counts.
        fixes: why it helps → the changes; each must be offered.
        absent: classes of fixes that must not be offered.
        findings: which must be there.
        says: what any good text says.
        config: the scheduler's.
    """

    told: str
    objects: Sequence[Object]
    pod: Object
    conflict: Sequence[Sequence[int | str]]
    counts: Sequence[Count] = ()
    fixes: Mapping[str, Sequence[Object]] = field(default_factory=dict)
    absent: Sequence[str] = ()
    findings: Sequence[str] = ()
    says: Sequence[str] = ()
    config: Object | None = None


def on_pod(name: str, *operations: Object) -> list[Object]:
    """Return the changes that patch a Pod of the namespace default."""
    return [{"target": {"kind": "Pod", "namespace": "default", "name": name}, "jsonPatch": [*operations]}]


def on_node(name: str, *operations: Object) -> list[Object]:
    """Return the changes that patch a node."""
    return [{"target": {"kind": "Node", "name": name}, "jsonPatch": [*operations]}]


def deleted(name: str) -> list[Object]:
    """Return the changes that delete a Pod of the namespace default."""
    return [{"target": {"kind": "Pod", "namespace": "default", "name": name}, "op": "delete"}]


def add(path: str, value: object) -> Object:
    """Return the operation that sets a field."""
    return {"op": "add", "path": path, "value": value}


def remove(path: str) -> Object:
    """Return the operation that removes a field."""
    return {"op": "remove", "path": path}


def field_of(constraint: int, name: str, value: object) -> list[Object]:
    """Return the changes that set a field of one of the Pending Pod's constraints."""
    return on_pod("pending", add(f"{AT}/{constraint}/{name}", value))


def pending(
    name: str = "web", *constraints: Object, labels: Mapping[str, str] | None = None, **fields: object
) -> Object:
    """Return the Pod in question, of that application; it spreads over zones unless constraints are given."""
    described = [*constraints] or [spread(ZONE, selector=app(name))]
    own = {"app": name, **(labels or {})}
    return pod("pending", labels=own, topologySpreadConstraints=described, **fields)  # type: ignore[arg-type] # any field, by the builder's own names


def running(name: str, *places: str, **fields: object) -> list[Object]:
    """Return Pods of the application, one on each node."""
    return [pod(f"{name}-{i}", on=place, **{"labels": {"app": name}, **fields}) for i, place in enumerate(places)]  # type: ignore[arg-type] # any field, by the builder's own names


def zone_nodes(counts: Mapping[str, int], **fields: Mapping[str, object]) -> list[Object]:
    """Return so many nodes in each zone; ``fields`` of all nodes of a zone."""
    return [
        node(f"{zone}{number}", zone=zone, **fields.get(zone, {}))  # type: ignore[arg-type] # any field, by the builder's own names
        for zone, most in counts.items()
        for number in range(1, most + 1)
    ]


def filler(*places: str, **requests: str) -> list[Object]:
    """Return a Pod of somebody else's on each node."""
    return [pod(f"batch-{place}", on=place, requests=requests, labels={"app": "batch"}) for place in places]


THREE = {"a": 2, "b": 2, "c": 2}
_RESERVED = {"key": "reserved", "operator": "Equal", "value": "search", "effect": "NoSchedule"}

STORIES: Mapping[str, Story] = {
    "reserved-zone": Story(
        told="A team reserved all of zone c for its search cluster by a taint. The web tier, spread by zone, stopped.",
        objects=[
            *zone_nodes(THREE, c={"taints": ["reserved=search:NoSchedule"]}),
            *running("web", "a1", "a2", "b1", "b2"),
        ],
        pod=pending(),
        conflict=[[0, "TaintToleration"]],
        counts=[Count(minimum=0, held_by="c", matching={"a": 2, "b": 2, "c": 0})],
        fixes={
            "count only what can be reached": field_of(0, "nodeTaintsPolicy", "Honor"),
            "maxSkew 3": field_of(0, "maxSkew", 3),
            "tolerate the reservation": on_pod("pending", add("/spec/tolerations", [_RESERVED])),
            "give one node back": on_node("c1", remove("/spec/taints/0")),
            "prefer": field_of(0, "whenUnsatisfiable", "ScheduleAnyway"),
        },
        findings=["PinnedMinimum"],
        says=["reserved=search", "c1", "zone"],
    ),
    "autoscaler-takes-the-last-node": Story(
        told="The autoscaler had marked the only node of zone c for deletion when the web tier scaled up.",
        objects=[
            *zone_nodes(
                {"a": 1, "b": 1, "c": 1}, c={"taints": ["ToBeDeletedByClusterAutoscaler=1763600000:NoSchedule"]}
            ),
            *running("web", "a1", "b1"),
        ],
        pod=pending(),
        conflict=[[0, "TaintToleration"]],
        counts=[Count(minimum=0, held_by="c", matching={"a": 1, "b": 1, "c": 0})],
        fixes={
            "count only what can be reached": field_of(0, "nodeTaintsPolicy", "Honor"),
            "maxSkew 2": field_of(0, "maxSkew", 2),
        },
        absent=["AddToleration", "RemoveTaint", "Uncordon"],
        findings=["PinnedMinimum"],
        says=["ToBeDeletedByClusterAutoscaler"],
    ),
    "kubelet-died-in-the-smallest-rack": Story(
        told="A rack of one machine lost its kubelet; the message queue, one Pod a rack, could not replace its Pod.",
        objects=[
            *(node(f"r{i}", labels={RACK: f"r{i}"}) for i in (1, 2)),
            node(
                "r3",
                labels={RACK: "r3"},
                taints=["node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"],
            ),
            *running("mq", "r1", "r2"),
            pod("mq-lost", on="r3", labels={"app": "mq"}, terminating=True),
        ],
        pod=pending("mq", spread(RACK, selector=app("mq"))),
        conflict=[[0, "TaintToleration"]],
        counts=[Count(minimum=0, held_by="r3", matching={"r1": 1, "r2": 1, "r3": 0})],
        fixes={"maxSkew 2": field_of(0, "maxSkew", 2)},
        absent=["AddToleration", "RemoveTaint"],
        findings=["PinnedMinimum", "TerminatingPods"],
        says=["unreachable", "r3"],
    ),
    "cordoned-for-a-kernel-and-forgotten": Story(
        told="Node n4 was cordoned for a kernel update in spring and never put back: a fourth replica has no host.",
        objects=[
            *(node(f"n{i}") for i in (1, 2, 3)),
            node("n4", unschedulable=True, taints=["node.kubernetes.io/unschedulable:NoSchedule"]),
            *running("auth", "n1", "n2", "n3"),
        ],
        pod=pending("auth", spread(HOSTNAME, selector=app("auth"))),
        conflict=[[0, "NodeUnschedulable"], [0, "TaintToleration"]],
        counts=[Count(minimum=0, held_by="n4", matching={"n1": 1, "n2": 1, "n3": 1, "n4": 0})],
        fixes={
            "put it back": on_node("n4", remove("/spec/taints/0"), remove("/spec/unschedulable")),
            "count only what can be reached": field_of(0, "nodeTaintsPolicy", "Honor"),
        },
        absent=["AddToleration", "RemoveTaint"],
        findings=["PinnedMinimum"],
        says=["n4"],
    ),
    "zone-key-misspelt": Story(
        told="Somebody typed the topology key by heart.",
        objects=[*zone_nodes({"a": 1, "b": 1})],
        pod=pending("web", spread("topology.kubernetes.io/zones", selector=app("web"))),
        conflict=[[0]],
        counts=[Count(minimum=0, held_by="", matching={})],
        fixes={
            "the well-known key": field_of(0, "topologyKey", ZONE),
            "prefer": field_of(0, "whenUnsatisfiable", "ScheduleAnyway"),
        },
        findings=["MissingTopologyKey", "SimilarTopologyKey"],
        says=["topology.kubernetes.io/zones", ZONE],
    ),
    "new-pool-with-old-labels": Story(
        told="The nodes of a new pool came with the zone label of ten years ago only; the labelled ones were full.",
        objects=[
            *zone_nodes({"a": 1, "b": 1}),
            *(node(f"new-{z}", labels={OLD_ZONE: z}) for z in "ab"),
            *filler("a1", "b1", cpu="7900m"),
        ],
        pod=pending(requests={"cpu": "500m"}),
        conflict=[[0, "NodeResourcesFit"]],
        counts=[Count(minimum=0, held_by="ab", matching={"a": 0, "b": 0})],
        fixes={
            "label a node of zone a": on_node("new-a", add("/metadata/labels/topology.kubernetes.io~1zone", "a")),
            "label a node of zone b": on_node("new-b", add("/metadata/labels/topology.kubernetes.io~1zone", "b")),
        },
        absent=["FixTopologyKey"],
        findings=["MissingTopologyKey", "SimilarTopologyKey"],
        says=["new-a", OLD_ZONE, "cpu"],
    ),
    "surge-pod-waits-for-the-old-revision": Story(
        told="Zone c went full during a rollout: the new revision waits for the old, which waits for the new.",
        objects=[
            *zone_nodes({"a": 1, "b": 1, "c": 1}),
            *running("shop", "a1", "b1", labels={"app": "shop", "pod-template-hash": "old"}),
            *filler("c1", cpu="8"),
        ],
        pod=pending("shop", labels={"pod-template-hash": "new"}, requests={"cpu": "100m"}),
        conflict=[[0, "NodeResourcesFit"]],
        counts=[Count(minimum=0, held_by="c", matching={"a": 1, "b": 1, "c": 0})],
        fixes={
            "count only Pods of the same revision": field_of(0, "matchLabelKeys", ["pod-template-hash"]),
            "maxSkew 2": field_of(0, "maxSkew", 2),
            "somebody else makes room": deleted("batch-c1"),
        },
        findings=["PinnedMinimum"],
        says=["c1", "cpu"],
    ),
    "selector-of-the-neighbour": Story(
        told="The constraint was copied from the API's manifest, selector and all: it counts the API's Pods.",
        objects=[
            *zone_nodes({"a": 1, "b": 1, "c": 1}, c={"allocatable": {"pods": "0"}}),
            *running("api", "a1", "a1", "b1", "b1"),
        ],
        pod=pending("worker", spread(ZONE, selector=app("api"))),
        conflict=[[0, "NodeResourcesFit"]],
        counts=[Count(minimum=0, held_by="c", matching={"a": 2, "b": 2, "c": 0}, self_match=False)],
        fixes={
            "its own selector": on_pod("pending", add(f"{AT}/0/labelSelector/matchLabels", {"app": "worker"})),
            "maxSkew 2": field_of(0, "maxSkew", 2),
        },
        findings=["GhostPod", "PinnedMinimum"],
        says=["app=api"],
    ),
    "three-zones-promised-two-delivered": Story(
        told="minDomains 3 came with a template for regions of three zones; this one has two.",
        objects=[*zone_nodes({"a": 2, "b": 2}), *running("db", "a1", "b1")],
        pod=pending("db", spread(ZONE, selector=app("db"), minDomains=3)),
        conflict=[[0]],
        counts=[Count(minimum=0, held_by="", matching={"a": 1, "b": 1})],
        fixes={
            "minDomains 2": field_of(0, "minDomains", 2),
            "maxSkew 2": field_of(0, "maxSkew", 2),
            "prefer": on_pod(
                "pending", remove(f"{AT}/0/minDomains"), add(f"{AT}/0/whenUnsatisfiable", "ScheduleAnyway")
            ),
        },
        findings=["MinDomainsUnreachable"],
        says=["minDomains"],
    ),
    "zones-against-racks": Story(
        told="Even over zones means rack r3, even over racks means rack r1: no node is in both.",
        objects=[
            *(node(f"n{i}", zone=zone, labels={RACK: f"r{i}"}) for i, zone in ((1, "a"), (2, "a"), (3, "b"))),
            *running("idx", "n2", "n2", "n3"),
        ],
        pod=pending("idx", spread(ZONE, selector=app("idx")), spread(RACK, selector=app("idx"))),
        conflict=[[0, 1]],
        counts=[
            Count(minimum=1, held_by="b", matching={"a": 2, "b": 1}),
            Count(index=1, minimum=0, held_by="r1", matching={"r1": 0, "r2": 2, "r3": 1}),
        ],
        fixes={"maxSkew 2 by zone": field_of(0, "maxSkew", 2), "maxSkew 2 by rack": field_of(1, "maxSkew", 2)},
        says=["n1", "n3"],
    ),
    "memory-only-where-it-is-crowded": Story(
        told="Zone b has room for the cache only up to 12Gi; zone a, with more, holds one already.",
        objects=[
            *zone_nodes({"a": 1, "b": 1}, b={"allocatable": {"memory": "12Gi"}}),
            *running("cache", "a1"),
        ],
        pod=pending("cache", requests={"memory": "16Gi"}),
        conflict=[[0, "NodeResourcesFit"]],
        counts=[Count(minimum=0, held_by="b", matching={"a": 1, "b": 0})],
        fixes={
            "12Gi": on_pod("pending", add("/spec/containers/0/resources/requests", {"memory": "12288Mi"})),
            "maxSkew 2": field_of(0, "maxSkew", 2),
        },
        findings=["PinnedMinimum"],
        says=["memory", "b1"],
    ),
    "exporter-holds-the-port": Story(
        told="A node exporter that nobody owns any more holds port 9100 of the one node that is left.",
        objects=[
            node("n1", taints=["node.kubernetes.io/memory-pressure:NoSchedule"]),
            node("n2"),
            pod("old-exporter", on="n2", host_ports=["9100"], labels={"app": "old"}),
        ],
        pod=pending("exporter", spread(HOSTNAME, selector=app("exporter")), host_ports=["9100"]),
        conflict=[["TaintToleration", "NodePorts"]],
        counts=[Count(minimum=0, held_by="n1 n2", matching={"n1": 0, "n2": 0})],
        fixes={
            "delete what holds it": deleted("old-exporter"),
            "do without": on_pod("pending", remove("/spec/containers/0/ports/0/hostPort")),
        },
        absent=["AddToleration", "RemoveTaint", "RaiseMaxSkew"],
        says=["9100", "old-exporter"],
    ),
    "one-a-node-and-even-by-zone": Story(
        told="Required anti-affinity by node and a constraint by zone: zone b has one node, and it is taken.",
        objects=[*zone_nodes({"a": 3, "b": 1}), *running("kv", "a1", "a2", "b1")],
        pod=pending(
            "kv",
            affinity={"podAntiAffinity": {REQUIRED: [{"labelSelector": app("kv"), "topologyKey": HOSTNAME}]}},
        ),
        conflict=[[0, "InterPodAffinity"]],
        counts=[Count(minimum=1, held_by="b", matching={"a": 2, "b": 1})],
        fixes={
            "maxSkew 2": field_of(0, "maxSkew", 2),
            "two on one node": on_pod(
                "pending",
                remove(f"/spec/affinity/podAntiAffinity/{REQUIRED}/0"),
                add(
                    "/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution",
                    [{"weight": 100, "podAffinityTerm": {"labelSelector": app("kv"), "topologyKey": HOSTNAME}}],
                ),
            ),
        },
        says=["b1"],
    ),
    "pool-that-was-renamed": Story(
        told="The node pool general is called standard since the migration.",
        objects=[node(f"n{i}", zone=zone, labels={"pool": "standard"}) for i, zone in ((1, "a"), (2, "b"))],
        pod=pending("web", nodeSelector={"pool": "general"}),
        conflict=[["NodeAffinity"]],
        counts=[Count(minimum=0, held_by="", matching={})],
        fixes={"any pool": on_pod("pending", remove("/spec/nodeSelector/pool"))},
        absent=["RaiseMaxSkew", "MakeSoft"],
        says=["pool=general", "pool=standard"],
    ),
    "nodes-it-may-not-use-are-counted": Story(
        told="nodeAffinityPolicy Ignore counts the ARM zone, where the Pod may not go.",
        objects=[
            *zone_nodes(
                {"a": 1, "b": 1, "c": 1},
                a={"labels": {"kubernetes.io/arch": "amd64"}},
                b={"labels": {"kubernetes.io/arch": "arm64"}},
                c={"labels": {"kubernetes.io/arch": "amd64"}},
            ),
            *running("job", "a1", "c1"),
        ],
        pod=pending(
            "job",
            spread(ZONE, selector=app("job"), nodeAffinityPolicy="Ignore"),
            nodeSelector={"kubernetes.io/arch": "amd64"},
        ),
        conflict=[[0, "NodeAffinity"]],
        counts=[Count(minimum=0, held_by="b", matching={"a": 1, "b": 0, "c": 1})],
        fixes={
            "count only what it may use": field_of(0, "nodeAffinityPolicy", "Honor"),
            "maxSkew 2": field_of(0, "maxSkew", 2),
        },
        findings=["PinnedMinimum"],
        says=["kubernetes.io/arch"],
    ),
    "volume-in-the-crowded-zone": Story(
        told="The claim of the second replica is bound to a disk in zone a, where the first one is.",
        objects=[
            *zone_nodes({"a": 2, "b": 1}),
            *running("pg", "a1"),
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": "disk-7"},
                "spec": {
                    "capacity": {"storage": "10Gi"},
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "fast",
                    "claimRef": {
                        "kind": "PersistentVolumeClaim",
                        "namespace": "default",
                        "name": "data-pg-1",
                        "uid": "c7",
                    },
                    "csi": {"driver": "disk.csi.example.com", "volumeHandle": "7"},
                    "nodeAffinity": {
                        "required": {
                            "nodeSelectorTerms": [
                                {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]}
                            ]
                        }
                    },
                },
                "status": {"phase": "Bound"},
            },
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {
                    "name": "data-pg-1",
                    "namespace": "default",
                    "uid": "c7",
                    "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
                },
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "fast",
                    "volumeName": "disk-7",
                    "resources": {"requests": {"storage": "10Gi"}},
                },
                "status": {"phase": "Bound"},
            },
        ],
        pod=pending("pg", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data-pg-1"}}]),
        conflict=[[0, "VolumeBinding"]],
        counts=[Count(minimum=0, held_by="b", matching={"a": 1, "b": 0})],
        fixes={"maxSkew 2": field_of(0, "maxSkew", 2), "prefer": field_of(0, "whenUnsatisfiable", "ScheduleAnyway")},
        findings=["PinnedMinimum"],
        says=["data-pg-1", "disk-7"],
    ),
    "defaults-of-the-platform-team": Story(
        told="The platform's scheduler spreads everything by zone, hard; the team's manifest says nothing of it.",
        objects=[
            *zone_nodes({"a": 1, "b": 1}, b={"taints": ["dedicated=ml:NoSchedule"]}),
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "web", "namespace": "default"},
                "spec": {"selector": {"app": "web"}},
            },
            *running("web", "a1"),
        ],
        pod=pod("pending", labels={"app": "web"}),
        conflict=[[0, "TaintToleration"]],
        counts=[Count(minimum=0, held_by="b", matching={"a": 1, "b": 0})],
        fixes={"open the node": on_node("b1", remove("/spec/taints/0"))},
        absent=["RaiseMaxSkew", "MakeSoft", "HonorTaints"],
        findings=["DefaultConstraints"],
        says=["dedicated=ml"],
        config={
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [
                {
                    "schedulerName": "default-scheduler",
                    "pluginConfig": [
                        {
                            "name": "PodTopologySpread",
                            "args": {
                                "defaultingType": "List",
                                "defaultConstraints": [
                                    {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
                                ],
                            },
                        }
                    ],
                }
            ],
        },
    ),
    "budget-guards-the-only-way-out": Story(
        told="Moving one batch Pod would make room, but its budget is used up.",
        objects=[
            *zone_nodes({"a": 1, "b": 1}),
            *running("web", "a1"),
            *filler("b1", cpu="6"),
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "batch", "namespace": "default"},
                "spec": {"minAvailable": 1, "selector": app("batch")},
                "status": {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1},
            },
        ],
        pod=pending(requests={"cpu": "4"}),
        conflict=[[0, "NodeResourcesFit"]],
        counts=[Count(minimum=0, held_by="b", matching={"a": 1, "b": 0})],
        fixes={
            "maxSkew 2": field_of(0, "maxSkew", 2),
            "2 cores": on_pod("pending", add("/spec/containers/0/resources/requests", {"cpu": "2000m"})),
            "move the other replica": deleted("web-0"),
        },
        findings=["PinnedMinimum"],
        says=["b1", "cpu"],
    ),
    "two-locks-on-one-door": Story(
        told="The GPU node carries two taints; the manifest tolerates neither.",
        objects=[node("g1", zone="a", taints=["gpu=a100:NoSchedule", "team=ml:NoSchedule"])],
        pod=pending("train"),
        conflict=[["TaintToleration"]],
        counts=[Count(minimum=0, held_by="a", matching={"a": 0})],
        fixes={
            "tolerate both": on_pod(
                "pending",
                add(
                    "/spec/tolerations",
                    [
                        {"key": key, "operator": "Equal", "value": value, "effect": "NoSchedule"}
                        for key, value in (("gpu", "a100"), ("team", "ml"))
                    ],
                ),
            )
        },
        absent=["AddToleration", "RemoveTaint"],
        says=["gpu=a100"],
    ),
    "ghost-of-a-lost-kubelet": Story(
        told="A Pod that is being deleted, on a machine that is gone, still holds both GPUs.",
        objects=[
            node("g1", zone="a", allocatable={"nvidia.com/gpu": "2"}),
            *running("train", "g1", requests={"nvidia.com/gpu": "2"}, terminating=True),
        ],
        pod=pending("train", requests={"nvidia.com/gpu": "1"}),
        conflict=[["NodeResourcesFit"]],
        counts=[Count(minimum=0, held_by="a", matching={"a": 0})],
        fixes={"let it go": deleted("train-0")},
        absent=["LowerRequests"],
        findings=["TerminatingPods"],
        says=["nvidia.com/gpu", "train-0"],
    ),
    "nothing-helps": Story(
        told="Eight GPUs are asked for where no node has one, and the only node is not ready.",
        objects=[node("n1", zone="a", taints=["node.kubernetes.io/not-ready:NoExecute"])],
        pod=pending("train", requests={"nvidia.com/gpu": "8"}),
        conflict=[["TaintToleration"], ["NodeResourcesFit"]],
        counts=[Count(minimum=0, held_by="a", matching={"a": 0})],
        says=["No simulated change helps, not even two together", "not-ready"],
    ),
    "full-rack-and-a-cordon": Story(
        told="Nothing alone helps: one rack is full, the other cordoned and crowded.",
        objects=[
            node("n1", labels={RACK: "r1"}, allocatable={"pods": "0"}),
            node("n2", labels={RACK: "r2"}, unschedulable=True, taints=["node.kubernetes.io/unschedulable:NoSchedule"]),
            pod("old", on="n2", labels={"app": "log"}, owner={"apiVersion": "v1", "kind": "Node", "name": "n2"}),
        ],
        pod=pending("log", spread(RACK, selector=app("log"))),
        conflict=[
            [0, "NodeResourcesFit"],
            ["NodeUnschedulable", "NodeResourcesFit"],
            ["TaintToleration", "NodeResourcesFit"],
        ],
        counts=[Count(minimum=0, held_by="r1", matching={"r1": 0, "r2": 1})],
        fixes={
            "put it back and let two be there": [
                *on_node("n2", remove("/spec/taints/0"), remove("/spec/unschedulable")),
                *field_of(0, "maxSkew", 2),
            ]
        },
        absent=["Uncordon", "RaiseMaxSkew", "MovePod"],
        findings=["PinnedMinimum"],
        says=["n2", "r1"],
    ),
}

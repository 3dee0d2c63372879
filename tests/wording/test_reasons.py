"""Why a node is rejected, in words that name the taint, the label, the number, the other Pod."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kubectl_spread.diagnosis.requirements import ConstraintRequirement, FilterRequirement
from kubectl_spread.scheduler.profile import Profile, default_profile
from kubectl_spread.wording.reasons import name_of
from tests.build import ZONE, Object, app, configured_profile, namespace, node, pod, spread
from tests.build_devices import CLAIMING
from tests.build_storage import claim, csi_driver, csi_node, storage_class, volume
from tests.diagnosis.judged import ABC, incoming, report_of, web
from tests.naming import in_order


def details(described: Object, objects: Sequence[Object], profile: Profile | None = None) -> dict[str, str]:
    """Return plugin → what is said of the first node it rejects."""
    said: dict[str, str] = {}
    for judged in report_of(described, objects, profile).nodes:
        for rejection in judged.rejections:
            said.setdefault(rejection.plugin, rejection.detail)
    return said


def affinity(*terms: Object) -> Object:
    """Return a required node affinity."""
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [*terms]}}}


def expression(key: str, operator: str, *values: str) -> Object:
    """Return one expression of a term."""
    return {"key": key, "operator": operator, "values": [*values]}


SSD = expression("disk", "In", "ssd", "nvme")
BIG = expression("size", "Gt", "3")
ANTI = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ZONE, "labelSelector": app("web")}]
    }
}
NEAR = {
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": ZONE, "labelSelector": app("db")}]
    }
}


@pytest.mark.parametrize(
    ("described", "place", "plugin", "said"),
    [
        (
            pod("p"),
            node("n", taints=["a=b:NoSchedule", "c:NoExecute", "d:PreferNoSchedule"]),
            "TaintToleration",
            "taint a=b:NoSchedule, c:NoExecute",
        ),
        (
            pod("p", tolerations=[{"key": "a", "operator": "Exists"}]),
            node("n", taints=["a=b:NoSchedule", "c:NoExecute"]),
            "TaintToleration",
            "taint c:NoExecute",
        ),
        (pod("p"), node("n", unschedulable=True), "NodeUnschedulable", "cordoned"),
        (pod("p", on="other"), node("n"), "NodeName", "spec.nodeName is other"),
        (pod("p", nodeSelector={"disk": "ssd"}), node("n"), "NodeAffinity", "no label disk=ssd"),
        (pod("p", nodeSelector={"gpu": ""}), node("n"), "NodeAffinity", 'no label gpu=""'),
        (pod("p", nodeSelector={"gpu": "a"}), node("n", labels={"gpu": ""}), "NodeAffinity", 'label gpu="", not a'),
        (
            pod("p", nodeSelector={"disk": "ssd"}),
            node("n", labels={"disk": "hdd"}),
            "NodeAffinity",
            "label disk=hdd, not ssd",
        ),
        (
            pod("p", nodeSelector={"a": "1", "b": "2"}),
            node("n", labels={"a": "1"}),
            "NodeAffinity",
            "no label b=2",
        ),
        (
            pod(
                "p",
                affinity=affinity(
                    {"matchExpressions": [SSD, BIG]}, {"matchFields": [expression("metadata.name", "In", "m")]}
                ),
            ),
            node("n"),
            "NodeAffinity",
            "node affinity requires disk In ssd,nvme and size Gt 3 or metadata.name In m",
        ),
        (
            pod("p", affinity=affinity({"matchExpressions": [expression("disk", "Exists")]})),
            node("n"),
            "NodeAffinity",
            "node affinity requires disk Exists",
        ),
        (
            pod("p", affinity=affinity({})),
            node("n"),
            "NodeAffinity",
            "node affinity requires nothing (an empty term matches no node)",
        ),
        (pod("p", affinity=affinity()), node("n"), "NodeAffinity", "node affinity requires no node at all"),
        (pod("p", requests={"cpu": "9"}), node("n"), "NodeResourcesFit", "9 cpu requested, 8 of 8 free"),
        (
            pod("p", requests={"cpu": "100m", "memory": "48Gi"}),
            node("n"),
            "NodeResourcesFit",
            "48Gi memory requested, 32Gi of 32Gi free",
        ),
        (
            pod("p", requests={"example.com/gpu": "1"}),
            node("n"),
            "NodeResourcesFit",
            "1 example.com/gpu requested, none there",
        ),
        (
            pod("p", requests={"cpu": "9", "memory": "33Gi"}),
            node("n", allocatable={"pods": "0"}),
            "NodeResourcesFit",
            "Pod limit reached (0 of 0); 9 cpu requested, 8 of 8 free; 33Gi memory requested, 32Gi of 32Gi free",
        ),
    ],
    ids=in_order,
)
def test_a_node_alone(described: Object, place: Object, plugin: str, said: str) -> None:
    assert details(described, [place])[plugin] == said


@pytest.mark.parametrize(
    ("described", "neighbours", "plugin", "said"),
    [
        (
            pod("p", requests={"cpu": "3"}),
            [pod("q", on="n", requests={"cpu": "6500m"})],
            "NodeResourcesFit",
            "3 cpu requested, 1500m of 8 free",
        ),
        (
            pod("p", requests={"cpu": "1"}),
            [pod("q", on="n", requests={"cpu": "10"})],
            "NodeResourcesFit",
            "1 cpu requested, 0 of 8 free",
        ),
        (
            pod("p", host_ports=["80", "53/UDP"]),
            [pod("q", on="n", host_ports=["53/UDP", "80", "81"])],
            "NodePorts",
            "default/q uses host ports 53/UDP and 80/TCP",
        ),
        (
            pod("p", host_ports=["80", "81"]),
            [pod("q", on="n", host_ports=["80"]), pod("r", on="n", namespace="s", host_ports=["81"])],
            "NodePorts",
            "default/q uses host port 80/TCP; s/r uses host port 81/TCP",
        ),
        (
            pod("p", labels={"app": "web"}),
            [pod("q", on="n", affinity=ANTI)],
            "InterPodAffinity",
            "anti-affinity of default/q in the same zone",
        ),
        (
            pod("p", affinity=ANTI),
            web("n"),
            "InterPodAffinity",
            "anti-affinity to default/web-0 in the same zone",
        ),
        (pod("p", affinity=NEAR), web("n"), "InterPodAffinity", "no Pod with app=db is in the same zone"),
    ],
    ids=in_order,
)
def test_a_node_with_other_pods(described: Object, neighbours: Sequence[Object], plugin: str, said: str) -> None:
    assert details(described, [node("n", zone="z"), *neighbours])[plugin] == said


@pytest.mark.parametrize(
    "selector",
    [{}, {"matchLabels": {"team": "bank"}}, {"matchExpressions": [expression("team", "NotIn", "bank")]}],
    ids=["selects all", "selects it", "matches no labels and so counts for all"],
)
def test_anti_affinity_names_a_pod_of_another_namespace_whose_selector(selector: Object) -> None:
    term = {"topologyKey": ZONE, "labelSelector": app("db"), "namespaceSelector": selector}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    there = pod("db", on="n", namespace="bank", labels={"app": "db"})
    said = details(pod("p", affinity=apart), [node("n", zone="z"), namespace("bank", team="bank"), there])
    assert said["InterPodAffinity"] == "anti-affinity to bank/db in the same zone"


def test_affinity_needs_the_topology_key() -> None:
    assert details(pod("p", affinity=NEAR), [node("n")])["InterPodAffinity"] == f"no label {ZONE}"


def test_affinity_names_what_speaks_against_each_node() -> None:
    nodes = [node("a", zone="a"), node("b", zone="b")]
    objects = [*nodes, pod("db", on="a", labels={"app": "db"}), pod("lost", on="gone", labels={"app": "web"})]
    report = report_of(pod("p", affinity={**NEAR, **ANTI}), [*objects, *web("a")])
    assert {judged.name: judged.rejections[0].detail for judged in report.nodes} == {
        "a": "anti-affinity to default/web-0 in the same zone",
        "b": "no Pod with app=db is in the same zone",
    }


BY_DEFAULT = {"name": "fast", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
AT_ONCE = storage_class("fast", waits=False)
DEFAULT_CLASS = {**AT_ONCE, "metadata": BY_DEFAULT}


@pytest.mark.parametrize(
    ("objects", "plugin", "said"),
    [
        (
            [claim("data")],
            "VolumeBinding",
            "claim data is not bound: no persistent volumes available for this claim and no storage class is set",
        ),
        (
            [claim("data", class_name="fast"), storage_class("slow")],
            "VolumeBinding",
            'claim data is not bound: storageclass.storage.k8s.io "fast" not found',
        ),
        (
            [claim("data", class_name="fast"), storage_class("fast", waits=False)],
            "VolumeBinding",
            "claim data is not bound",
        ),
        ([claim("data"), DEFAULT_CLASS], "VolumeBinding", "claim data is not bound"),
        ([], "VolumeBinding", "claim data is not bound"),
        (
            [claim("data", bound_to="pv"), volume("pv", usable_on={ZONE: ["x", "y"]})],
            "VolumeBinding",
            "claim data is bound to pv in x, y",
        ),
        ([claim("data", bound_to="pv")], "VolumeBinding", "claim data is bound to pv"),
        ([claim("data", bound_to="pv"), volume("pv", labels={ZONE: "x"})], "VolumeZone", "claim data is bound to pv"),
    ],
    ids=in_order,
)
def test_claims_are_named_with_their_volumes(objects: Sequence[Object], plugin: str, said: str) -> None:
    mounts = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "tmp", "emptyDir": {}}]
    assert details(pod("p", volumes=mounts), [node("n", zone="z"), *objects])[plugin] == said


WAITS = storage_class("fast", topologies=[{ZONE: ["y"]}])
ELSEWHERE = {"volume.kubernetes.io/selected-node": "gone"}


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        (
            [claim("data", class_name="fast", annotations=ELSEWHERE), WAITS],
            "claim data is not bound: its volume is being created for node gone, which does not exist",
        ),
        (
            [
                claim("data", class_name="fast", annotations=ELSEWHERE),
                WAITS,
                node("gone", zone="y", unschedulable=True),
            ],
            "claim data is not bound: its volume is being created for node gone",
        ),
        (
            [claim("data", class_name="fast"), WAITS],
            (
                "claim data is not bound: no free PersistentVolume matches,"
                " and StorageClass fast is not allowed to create one there"
            ),
        ),
        (
            [claim("data", class_name="local"), storage_class("local", provisioner="kubernetes.io/no-provisioner")],
            "claim data is not bound: no free PersistentVolume matches, and StorageClass local creates none",
        ),
        (
            [claim("data", class_name="fast"), storage_class("fast"), csi_driver(counts_storage=True)],
            "claim data is not bound: StorageClass fast has too little storage left there",
        ),
    ],
    ids=in_order,
)
def test_a_claim_that_waits_is_named_with_what_it_misses_on_the_node(objects: Sequence[Object], said: str) -> None:
    asked = pod("p", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
    assert details(asked, [node("n", zone="z"), *objects])["VolumeBinding"] == said


def test_of_two_claims_the_one_that_misses_nothing_there_is_only_named() -> None:
    claims = [claim("made", class_name="any"), claim("data", class_name="fast")]
    mounts = [{"name": n, "persistentVolumeClaim": {"claimName": n}} for n in ("made", "data")]
    found = details(pod("p", volumes=mounts), [node("n", zone="z"), *claims, storage_class("any"), WAITS])
    assert found["VolumeBinding"] == (
        "claim made is not bound; "
        "claim data is not bound: no free PersistentVolume matches,"
        " and StorageClass fast is not allowed to create one there"
    )


@pytest.mark.parametrize(
    ("limit", "own", "said", "told"),
    [
        (1, 1, "1 of 1 volume of d attached", "The only node would exceed its volume limit (1 of 1 attached)"),
        (
            2,
            2,
            "1 of 2 volumes of d attached, 2 more requested",
            "The only node would exceed its volume limit (1 of 2 attached, 2 more requested)",
        ),
    ],
)
def test_volumes_that_are_attached_are_counted(limit: int, own: int, said: str, told: str) -> None:
    names = [f"v{number}" for number in range(own + 1)]
    volumes = [volume(name, source={"csi": {"driver": "d", "volumeHandle": name}}) for name in names]
    claims = [claim(name, bound_to=name) for name in names]
    mounts = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    there = pod("there", on="n", volumes=mounts[:1])
    objects = [node("n"), csi_node("n", limits={"d": limit}), *volumes, *claims, there]
    asked = pod("p", volumes=mounts[1:])
    assert details(asked, objects)["NodeVolumeLimits"] == said
    assert report_of(asked, objects).summary == f"No spread constraint is the cause. {told}."


def test_the_configuration_may_add_a_node_affinity() -> None:
    added = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [SSD]}]}}
    args: Object = {"name": "NodeAffinity", "args": {"addedAffinity": added}}
    profile = configured_profile({"profiles": [{"pluginConfig": [args]}]})
    (judged,) = report_of(pod("p"), [node("n")], profile).nodes
    assert judged.rejections[0].detail == "the scheduler's configuration adds a node affinity"


@pytest.mark.parametrize(
    ("constraints", "place", "said"),
    [
        ([spread(ZONE, selector=app("web"))], node("n"), f"no label {ZONE}"),
        (
            [spread("rack", selector=app("web")), spread(ZONE, selector=app("web"))],
            node("n", zone="a"),
            "no label rack",
        ),
    ],
    ids=in_order,
)
def test_the_first_constraint_that_fails_is_named(constraints: list[Object], place: Object, said: str) -> None:
    assert details(incoming(*constraints), [place])["PodTopologySpread"] == said


def test_a_constraint_that_rejects_for_skew_is_named_by_its_key() -> None:
    nodes = [node("a1", zone="a"), node("b1", zone="b")]
    assert details(incoming(), [*nodes, *web("a1")]) == {"PodTopologySpread": f"constraint on {ZONE}"}


def test_a_plugin_with_no_more_to_say_says_nothing() -> None:
    disk = {"name": "d", "gcePersistentDisk": {"pdName": "pd"}}
    assert details(pod("p", volumes=[disk]), [node("n"), pod("q", on="n", volumes=[disk])])["VolumeRestrictions"] == ""


def test_a_resource_that_is_ignored_is_not_said_to_be_short() -> None:
    args: Object = {"ignoredResources": ["example.com/gpu"]}
    profile = configured_profile({"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": args}]}]})
    asked = pod("p", requests={"cpu": "3", "example.com/gpu": "1"})
    said = details(asked, [node("n", allocatable={"cpu": "2", "memory": "8Gi", "pods": "10"})], profile)
    assert said == {"NodeResourcesFit": "3 cpu requested, 2 of 2 free"}


def test_a_pod_that_grows_in_place_has_its_own_share_besides() -> None:
    gates = {"InPlacePodVerticalScalingSchedulerPreemption": True}
    status = {"phase": "Running", "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]}
    grown = pod("p", on="n", requests={"cpu": "3"}, status=status)
    place = node("n", allocatable={"cpu": "4", "memory": "8Gi", "pods": "10"})
    there = [pod("p", on="n", requests={"cpu": "1"}), pod("q", on="n", requests={"cpu": "2"})]
    said = details(grown, [place, *there], default_profile(37, gates=gates))
    assert said == {"NodeResourcesFit": "3 cpu requested, 2 of 4 free"}


def test_a_plugin_that_breaks_says_why_itself() -> None:
    preference = {"weight": 1, "preference": {"matchExpressions": [expression("gen", "Gt", "abc")]}}
    asked = pod("p", affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}})
    report = report_of(asked, [node("a"), node("b")])
    assert {rejection.detail for judged in report.nodes for rejection in judged.rejections} == {""}
    assert str(report.message).startswith('running PreScore plugin "NodeAffinity": ')


def test_what_is_said_of_devices_stands_in_the_sentence() -> None:
    report = report_of(incoming(**CLAIMING), ABC)
    assert report.summary == 'could not find ResourceClaim "default/g": no node is evaluated.'


def test_requirements_have_names() -> None:
    assert name_of(ConstraintRequirement(2)) == "constraint 2"
    assert name_of(FilterRequirement("NodePorts")) == "NodePorts"

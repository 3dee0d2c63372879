"""Why a node is rejected, in words that name the taint, the label, the number, the other Pod."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from kubectl_spread.diagnosis.requirements import ConstraintRequirement, FilterRequirement
from kubectl_spread.scheduler.profile import Profile, default_profile
from kubectl_spread.wording.reasons import name_of
from tests.build import ZONE, Object, app, configured_profile, namespace, node, pod, spread
from tests.build_devices import CLAIMING
from tests.build_storage import claim, csi_driver, csi_node, storage_class, volume
from tests.diagnosis.judged import ABC, incoming, report_of, web


def details(described: Object, objects: Sequence[Object], profile: Profile | None = None) -> dict[str, str]:
    """Return plugin → what is said of the first node it rejects."""
    said: dict[str, str] = {}
    for judged in report_of(described, objects, profile).nodes:
        for rejection in judged.rejections:
            said.setdefault(rejection.plugin, rejection.detail)
    return said


def affinity(*terms: Object) -> Object:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [*terms]}}}


def expression(key: str, operator: str, *values: str) -> Object:
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


ALONE: list[tuple[Object, Object, str]] = [
    (pod("p"), node("n", taints=["a=b:NoSchedule", "c:NoExecute", "d:PreferNoSchedule"]), "TaintToleration"),
    (
        pod("p", tolerations=[{"key": "a", "operator": "Exists"}]),
        node("n", taints=["a=b:NoSchedule", "c:NoExecute"]),
        "TaintToleration",
    ),
    (pod("p"), node("n", unschedulable=True), "NodeUnschedulable"),
    (pod("p", on="other"), node("n"), "NodeName"),
    (pod("p", nodeSelector={"disk": "ssd"}), node("n"), "NodeAffinity"),
    (pod("p", nodeSelector={"gpu": ""}), node("n"), "NodeAffinity"),
    (pod("p", nodeSelector={"gpu": "a"}), node("n", labels={"gpu": ""}), "NodeAffinity"),
    (pod("p", nodeSelector={"disk": "ssd"}), node("n", labels={"disk": "hdd"}), "NodeAffinity"),
    (pod("p", nodeSelector={"a": "1", "b": "2"}), node("n", labels={"a": "1"}), "NodeAffinity"),
    (
        pod(
            "p",
            affinity=affinity(
                {"matchExpressions": [SSD, BIG]}, {"matchFields": [expression("metadata.name", "In", "m")]}
            ),
        ),
        node("n"),
        "NodeAffinity",
    ),
    (pod("p", affinity=affinity({"matchExpressions": [expression("disk", "Exists")]})), node("n"), "NodeAffinity"),
    (pod("p", affinity=affinity({})), node("n"), "NodeAffinity"),
    (pod("p", affinity=affinity()), node("n"), "NodeAffinity"),
    (pod("p", requests={"cpu": "9"}), node("n"), "NodeResourcesFit"),
    (pod("p", requests={"cpu": "100m", "memory": "48Gi"}), node("n"), "NodeResourcesFit"),
    (pod("p", requests={"example.com/gpu": "1"}), node("n"), "NodeResourcesFit"),
    (pod("p", requests={"cpu": "9", "memory": "33Gi"}), node("n", allocatable={"pods": "0"}), "NodeResourcesFit"),
]


WITH_OTHERS: list[tuple[Object, Sequence[Object], str]] = [
    (pod("p", requests={"cpu": "3"}), [pod("q", on="n", requests={"cpu": "6500m"})], "NodeResourcesFit"),
    (pod("p", requests={"cpu": "1"}), [pod("q", on="n", requests={"cpu": "10"})], "NodeResourcesFit"),
    (pod("p", host_ports=["80", "53/UDP"]), [pod("q", on="n", host_ports=["53/UDP", "80", "81"])], "NodePorts"),
    (
        pod("p", host_ports=["80", "81"]),
        [pod("q", on="n", host_ports=["80"]), pod("r", on="n", namespace="s", host_ports=["81"])],
        "NodePorts",
    ),
    (pod("p", labels={"app": "web"}), [pod("q", on="n", affinity=ANTI)], "InterPodAffinity"),
    (pod("p", affinity=ANTI), web("n"), "InterPodAffinity"),
    (pod("p", affinity=NEAR), web("n"), "InterPodAffinity"),
]


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


CLAIMS: list[tuple[Sequence[Object], str]] = [
    ([claim("data")], "VolumeBinding"),
    ([claim("data", class_name="fast"), storage_class("slow")], "VolumeBinding"),
    ([claim("data", class_name="fast"), storage_class("fast", waits=False)], "VolumeBinding"),
    ([claim("data"), DEFAULT_CLASS], "VolumeBinding"),
    ([], "VolumeBinding"),
    ([claim("data", bound_to="pv"), volume("pv", usable_on={ZONE: ["x", "y"]})], "VolumeBinding"),
    ([claim("data", bound_to="pv")], "VolumeBinding"),
    ([claim("data", bound_to="pv"), volume("pv", labels={ZONE: "x"})], "VolumeZone"),
]


WAITS = storage_class("fast", topologies=[{ZONE: ["y"]}])
ELSEWHERE = {"volume.kubernetes.io/selected-node": "gone"}


CLAIMS_THAT_WAIT: list[Sequence[Object]] = [
    [claim("data", class_name="fast", annotations=ELSEWHERE), WAITS],
    [claim("data", class_name="fast", annotations=ELSEWHERE), WAITS, node("gone", zone="y", unschedulable=True)],
    [claim("data", class_name="fast"), WAITS],
    [claim("data", class_name="local"), storage_class("local", provisioner="kubernetes.io/no-provisioner")],
    [claim("data", class_name="fast"), storage_class("fast"), csi_driver(counts_storage=True)],
]


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


CONSTRAINTS: list[tuple[list[Object], Object]] = [
    ([spread(ZONE, selector=app("web"))], node("n")),
    ([spread("rack", selector=app("web")), spread(ZONE, selector=app("web"))], node("n", zone="a")),
]


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
    assert said == {"NodeResourcesFit": "3 cpu requested, too large even for an empty node with 2"}


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


def test_why_a_node_is_rejected(same_as_golden: Callable[[str, str], None]) -> None:
    mounts = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "tmp", "emptyDir": {}}]
    claiming, place = pod("p", volumes=mounts), node("n", zone="z")
    cases = (
        *((described, [alone], plugin) for described, alone, plugin in ALONE),
        *((described, [place, *there], plugin) for described, there, plugin in WITH_OTHERS),
        *((claiming, [place, *objects], plugin) for objects, plugin in CLAIMS),
        *((claiming, [place, *objects], "VolumeBinding") for objects in CLAIMS_THAT_WAIT),
        *((incoming(*constraints), [alone], "PodTopologySpread") for constraints, alone in CONSTRAINTS),
    )
    told = (f"{plugin}: {details(described, objects)[plugin]}\n" for described, objects, plugin in cases)
    same_as_golden("".join(told), "phrasebook/reasons.txt")

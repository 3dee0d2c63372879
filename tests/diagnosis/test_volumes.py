"""Claims that are made along with a Pod, and the volumes they get."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kubectl_spread.diagnosis.volumes import Storage, created, ephemeral_claims, guessed, settled
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_spread.scheduler.profile import default_profile
from kubectl_spread.snapshot import Snapshot
from tests.build import ZONE, Object, handle, node, pod, snapshot, typed_pod
from tests.build_storage import claim, csi_node, storage_class, volume

DRIVER = "csi.example.com"
WAITS, AT_ONCE = storage_class("waits"), storage_class("at-once", waits=False)
LOCAL = storage_class("local", provisioner="kubernetes.io/no-provisioner", waits=False)


def mounting(*claims: str) -> Object:
    """Return a Pod that mounts the claims."""
    mounts = [{"name": f"v{n}", "persistentVolumeClaim": {"claimName": name}} for n, name in enumerate(claims)]
    return pod("web", volumes=[*mounts, {"name": "tmp", "emptyDir": {}}])


def made(described: Sequence[Object], objects: Sequence[Object]) -> tuple[Storage, ...]:
    """Return the claims as they are by the time their Pods are scheduled."""
    claims = [convert(each, PersistentVolumeClaim) for each in described]
    return created(claims, snapshot(objects), default_profile())


def bindings(storage: Sequence[Storage]) -> dict[str, str]:
    """Return claim → its volume, empty for none; each volume must know its claim."""
    volumes = {each.metadata.name: each for each in storage if isinstance(each, PersistentVolume)}
    found = {each.metadata.name: each.spec.volume_name for each in storage if isinstance(each, PersistentVolumeClaim)}
    for name, bound_to in found.items():
        if bound_to:
            claim_ref = volumes[bound_to].spec.claim_ref
            assert claim_ref is not None
            assert (claim_ref.namespace, claim_ref.name) == ("default", name)
    return found


def usable_on(storage: Sequence[Storage]) -> list[dict[str, tuple[str, ...]]]:
    """Return label → its values, on the nodes that can use the only volume; empty for all nodes."""
    (found,) = (each for each in storage if isinstance(each, PersistentVolume))
    affinity = found.spec.node_affinity
    terms = affinity.required.node_selector_terms if affinity and affinity.required else ()
    return [{each.key: each.values for each in term.match_expressions} for term in terms]


def test_an_ephemeral_volume_has_a_claim_of_its_own() -> None:
    template = {"metadata": {"labels": {"tier": "cache"}}, "spec": claim("x", class_name="waits")["spec"]}
    volumes = [{"name": "cache", "ephemeral": {"volumeClaimTemplate": template}}, {"name": "tmp", "emptyDir": {}}]
    (found,) = ephemeral_claims(typed_pod(pod("web", volumes=volumes)))
    assert (found.metadata.name, found.metadata.namespace) == ("web-cache", "default")
    assert found.metadata.labels == {"tier": "cache"}
    assert found.class_name == "waits"
    owner = found.metadata.controller
    assert owner is not None
    assert (owner.kind, owner.name) == ("Pod", "web")


@pytest.mark.parametrize(
    ("objects", "class_name", "bound_to"),
    [
        ([WAITS], "waits", ""),
        ([WAITS, volume("pv", class_name="waits")], "waits", ""),
        ([AT_ONCE], "at-once", "pvc-default-data"),
        ([AT_ONCE, volume("pv", class_name="at-once")], "at-once", "pv"),
        ([AT_ONCE, volume("pv", class_name="other")], "at-once", "pvc-default-data"),
        ([AT_ONCE, volume("small", class_name="at-once", size="1Mi")], "at-once", "pvc-default-data"),
        ([LOCAL], "local", ""),
        ([LOCAL, volume("pv", class_name="local")], "local", "pv"),
        ([volume("pv", class_name="")], "", "pv"),
        ([], "nowhere", ""),
    ],
    ids=range(10),
)
def test_what_a_claim_is_bound_to_before_its_pod_is_scheduled(
    objects: Sequence[Object], class_name: str, bound_to: str
) -> None:
    assert bindings(made([claim("data", class_name=class_name)], objects)) == {"data": bound_to}


def test_a_claim_that_exists_stays_as_it_is() -> None:
    there = claim("data", class_name="waits")
    assert made([claim("data", class_name="at-once")], [there, WAITS, AT_ONCE]) == ()


def test_no_two_claims_get_the_same_volume() -> None:
    claims = [claim(name, class_name="local") for name in ("one", "two", "one")]
    found = bindings(made(claims, [LOCAL, volume("pv", class_name="local")]))
    assert found == {"one": "pv", "two": ""}


def test_a_class_may_allow_some_nodes_only() -> None:
    allowed = storage_class("zoned", waits=False, topologies=[{ZONE: ["a", "b"]}])
    assert usable_on(made([claim("data", class_name="zoned")], [allowed])) == [{ZONE: ("a", "b")}]
    assert usable_on(made([claim("data", class_name="at-once")], [AT_ONCE])) == []


NODES = [node("a1", zone="a"), node("b1", zone="b")]


def on(node_name: str, objects: Sequence[Object], *claims: str) -> tuple[Storage, ...]:
    """Return what the claims get once the Pod is on the node."""
    return settled(typed_pod(mounting(*claims)), node_name, handle([*NODES, *objects]))


def test_a_waiting_claim_gets_a_volume_that_is_there() -> None:
    volumes = [volume(f"pv-{zone}", class_name="waits", usable_on={ZONE: [zone]}) for zone in "ab"]
    storage = on("b1", [WAITS, claim("data", class_name="waits"), *volumes], "data")
    assert bindings(storage) == {"data": "pv-b"}


@pytest.mark.parametrize(("keys", "expected"), [([ZONE], [{ZONE: ("b",)}]), ([], []), (["rack"], [])])
def test_a_waiting_claim_gets_a_new_volume_that_the_nodes_driver_can_reach(
    keys: list[str], expected: list[dict[str, tuple[str, ...]]]
) -> None:
    driver = csi_node("b1", limits={DRIVER: None})
    driver["spec"]["drivers"][0]["topologyKeys"] = keys
    storage = on("b1", [WAITS, driver, claim("data", class_name="waits")], "data")
    assert bindings(storage) == {"data": "pvc-default-data"}
    assert usable_on(storage) == expected


def test_a_node_without_the_driver_reaches_all() -> None:
    assert usable_on(on("a1", [WAITS, claim("data", class_name="waits")], "data")) == []


@pytest.mark.parametrize(
    "objects",
    [[], [WAITS], [claim("data", class_name="waits", bound_to="pv"), volume("pv", class_name="waits"), WAITS]],
    ids=["nothing", "no claim", "bound"],
)
def test_what_is_bound_or_missing_gets_nothing(objects: Sequence[Object]) -> None:
    assert on("a1", objects, "data") == ()


def after(objects: Sequence[Object], described: Sequence[Object]) -> Snapshot:
    """Return the cluster with the claims that are made."""
    before = snapshot(objects)
    claims = [convert(each, PersistentVolumeClaim) for each in described]
    return before.with_others(created(claims, before, default_profile()))


@pytest.mark.parametrize(
    ("objects", "class_name", "told"),
    [
        ([AT_ONCE], "at-once", True),
        ([AT_ONCE, volume("pv", class_name="at-once")], "at-once", False),
        ([WAITS], "waits", False),
        ([LOCAL], "local", False),
    ],
    ids=["made before", "there already", "waits", "not made"],
)
def test_a_volume_that_is_made_before_the_pod_is_scheduled_is_a_guess(
    objects: Sequence[Object], class_name: str, *, told: bool
) -> None:
    cluster = after(objects, [claim("data", class_name=class_name)])
    missing = guessed(typed_pod(mounting("data", "gone")), cluster)
    assert [each.what for each in missing] == (['the volume of claim "data"'] if told else [])
    assert all(each.why == "StorageClass at-once binds at once" for each in missing)

"""Claims that are made along with a Pod, and the volumes they get."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from kubectl_spread.controllers.persistent_volumes import bound_on, created, ephemeral_claims, guessed
from kubectl_spread.controllers.templates import renamed
from kubectl_spread.gaps import GuessedVolume
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.simulation.placement import with_placed
from tests.build import HOSTNAME, ZONE, Object, handle, node, pod, typed_pod
from tests.build_storage import DRIVER, claim, csi_node, storage_class, volume

NO_PROVISIONER = "kubernetes.io/no-provisioner"
NODES = (node("a", zone="a"), node("b", zone="b"))


def mounting(*names: str) -> Object:
    """Return a Pod that mounts these claims."""
    sources = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
    return pod("p", volumes=sources)


def made(described: Object, *objects: Object) -> Handle:
    """Return the cluster of these objects in which the claim is made."""
    before = handle([*NODES, *objects])
    return before.with_others(created([convert(described, PersistentVolumeClaim)], before.snapshot, before.profile))


def feasible(described: Object, cluster: Handle) -> tuple[str, ...]:
    """Return the nodes that the Pod may go to."""
    return cycle.evaluate(typed_pod(described), cluster).feasible


def bound(cluster: Handle, name: str = "data") -> str:
    """Return the volume of a claim; empty where it has none."""
    found = cluster.snapshot.get(PersistentVolumeClaim, "default", name)
    assert found is not None
    assert found.fully_bound == bool(found.spec.volume_name)
    return found.spec.volume_name


def affinity(volumes: Iterable[PersistentVolume], name: str) -> Any:  # noqa: ANN401 - tuples of tuples
    """Return the node labels that a volume asks for."""
    (found,) = (each for each in volumes if each.metadata.name == name)
    required = found.spec.node_affinity and found.spec.node_affinity.required
    if not required:
        return None
    return [[(e.key, e.values) for e in term.match_expressions] for term in required.node_selector_terms]


def test_a_claim_for_each_ephemeral_volume() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"storageClassName": "fast"}}
    described = pod("p", volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}, {"name": "x"}])
    owner = renamed(typed_pod(described), "web-1")
    (found,) = ephemeral_claims(owner)
    assert (found.metadata.namespace, found.metadata.name) == ("default", "web-1-scratch")
    assert (found.metadata.labels, found.class_name) == ({"a": "b"}, "fast")
    assert found.metadata.controller is not None
    assert found.metadata.controller.uid == owner.metadata.uid


def test_a_claim_that_exists_stays_as_it_is() -> None:
    there = [claim("data", bound_to="pv"), volume("pv", kept_for={"name": "data"}, phase="Bound")]
    assert bound(made(claim("data", class_name="other"), *there)) == "pv"


def test_a_claim_that_waits_for_a_pod_is_left_to_the_scheduler() -> None:
    cluster = made(claim("data", class_name="waits"), storage_class("waits"))
    assert bound(cluster) == ""
    assert feasible(mounting("data"), cluster) == ("a", "b")
    assert guessed(typed_pod(mounting("data")), cluster.snapshot) == ()


def test_a_claim_gets_a_volume_that_is_there_at_once() -> None:
    volumes = [volume("large", size="9Gi"), volume("small", size="2Gi", usable_on={HOSTNAME: ["b"]})]
    cluster = made(claim("data", class_name=""), *volumes)
    assert bound(cluster) == "small"
    assert feasible(mounting("data"), cluster) == ("b",)
    assert guessed(typed_pod(mounting("data")), cluster.snapshot) == ()


def test_two_claims_do_not_get_the_same_volume() -> None:
    before = handle([*NODES, volume("one"), volume("two")])
    claims = [convert(claim(name, class_name=""), PersistentVolumeClaim) for name in ("x", "y", "x")]
    after = before.with_others(created(claims, before.snapshot, before.profile))
    assert {bound(after, "x"), bound(after, "y")} == {"one", "two"}


@pytest.mark.parametrize(
    ("topologies", "nodes"),
    [([], ("a", "b")), ([{ZONE: ["b", "c"]}], ("b",)), ([{ZONE: ["a"]}, {ZONE: ["b"]}], ("a", "b"))],
    ids=str,
)
def test_a_volume_that_is_made_at_once_is_a_guess(topologies: list[Any], nodes: tuple[str, ...]) -> None:
    at_once = storage_class("now", waits=False, topologies=topologies)
    cluster = made(claim("data", class_name="now"), at_once)
    assert feasible(mounting("data"), cluster) == nodes
    (entry,) = guessed(typed_pod(mounting("data")), cluster.snapshot)
    assert entry == GuessedVolume(claim="data", storage_class="now")


@pytest.mark.parametrize(
    ("classes", "nodes"),
    [
        ([storage_class("fast")], ()),
        ([storage_class("none", waits=False, provisioner=NO_PROVISIONER)], ()),
        ([], ("a", "b")),
    ],
    ids=["not-there", "none-makes-it", "classes-not-read"],
)
def test_a_claim_that_nobody_provides_for_keeps_its_pod_pending(classes: list[Object], nodes: tuple[str, ...]) -> None:
    cluster = made(claim("data", class_name="none"), *classes)
    assert bound(cluster) == ""
    assert feasible(mounting("data"), cluster) == nodes


def test_the_default_class_is_that_of_claims_that_name_none() -> None:
    default = storage_class("std")
    default["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
    assert feasible(mounting("data"), made(claim("data"), default)) == ("a", "b")
    assert feasible(mounting("data"), made(claim("data", class_name=""), default)) == ()


def test_a_placed_pod_takes_the_volume_it_found() -> None:
    local = [volume(f"disk-{name}", class_name="local", usable_on={HOSTNAME: [name]}) for name in "ab"]
    cluster = made(claim("data", class_name="local"), *local, storage_class("local", provisioner=NO_PROVISIONER))
    after = with_placed(typed_pod(mounting("data")), "b", cluster)
    assert bound(after) == "disk-b"
    assert feasible(mounting("data"), after) == ("b",)
    taken = after.snapshot.get(PersistentVolume, "", "disk-b")
    assert taken is not None
    assert taken.spec.claim_ref is not None
    assert taken.spec.claim_ref.name == "data"


@pytest.mark.parametrize(("keys", "nodes"), [([ZONE], ("b",)), ([], ("a", "b")), (["unknown"], ("a", "b"))], ids=str)
def test_a_volume_made_for_a_node_is_reached_from_where_its_driver_says(
    keys: list[str], nodes: tuple[str, ...]
) -> None:
    driver = csi_node("b", limits={DRIVER: None})
    driver["spec"]["drivers"][0]["topologyKeys"] = keys
    cluster = made(claim("data", class_name="waits"), storage_class("waits"), driver)
    after = with_placed(typed_pod(mounting("data")), "b", cluster)
    assert bound(after) == "pvc-default-data"
    expected = [[(ZONE, ("b",))]] if keys == [ZONE] else None
    assert affinity(after.snapshot.all(PersistentVolume), "pvc-default-data") == expected
    assert feasible(mounting("data"), after) == nodes


def test_bound_claims_need_nothing_more() -> None:
    there = [claim("data", bound_to="pv"), volume("pv", kept_for={"name": "data"}, phase="Bound")]
    cluster = handle([*NODES, *there])
    assert bound_on(typed_pod(mounting("data")), "a", cluster) == ()
    assert bound_on(typed_pod(pod("p")), "a", cluster) == ()

"""Equal parts of objects are kept once."""

from __future__ import annotations

import msgspec

from kubectl_spread.cluster.api.interning import Interning
from kubectl_spread.objects.core import Namespace, Node, Pod, PodResourceClaim, PodSchedulingGate
from kubectl_spread.objects.decoding import decode


def pod(name: str, *, app: str = "web") -> bytes:
    return msgspec.json.encode(
        {
            "metadata": {"name": name, "labels": {"app": app}},
            "spec": {
                "nodeName": f"node-{name}",
                "tolerations": [{"key": "a"}],
                "schedulingGates": [{"name": "x"}],
                "resourceClaims": [{"name": "x"}],
                "resources": {"requests": {"cpu": "1"}},
            },
            "status": {"phase": "Running", "conditions": [{"type": "Ready"}]},
        }
    )


def test_objects_stay_what_they_were() -> None:
    interning = Interning()
    for document in (pod("a"), pod("b"), pod("c", app="api")):
        assert interning.intern(decode(document, Pod)) == decode(document, Pod)


def test_equal_parts_become_one() -> None:
    interning = Interning()
    first, second = (interning.intern(decode(pod(name), Pod)) for name in "ab")
    assert first.metadata.labels is second.metadata.labels
    assert first.spec.tolerations is second.spec.tolerations
    assert first.spec.resources is second.spec.resources
    assert first.status.conditions is second.status.conditions


def test_different_parts_stay_apart() -> None:
    interning = Interning()
    first, second = (interning.intern(decode(pod("a", app=app), Pod)) for app in ("web", "api"))
    assert (first.metadata.labels, second.metadata.labels) == ({"app": "web"}, {"app": "api"})


def test_parts_of_different_fields_stay_apart_even_if_they_look_alike() -> None:
    shared = Interning().intern(decode(pod("a"), Pod))
    assert isinstance(shared.spec.scheduling_gates[0], PodSchedulingGate)
    assert isinstance(shared.spec.resource_claims[0], PodResourceClaim)


def test_kinds_without_spec_or_status_are_shared_too() -> None:
    interning = Interning()
    document = b'{"metadata": {"name": "x", "labels": {"a": "b"}}}'
    first, second = (interning.intern(decode(document, Namespace)) for _ in range(2))
    assert first.metadata.labels is second.metadata.labels


def test_what_a_type_has_by_default_stays_as_it_is() -> None:
    Interning().intern(decode(b'{"metadata": {"name": "x", "labels": {"a": "b"}}}', Node))
    assert decode(b"{}", Node) == Node()
    assert Node().metadata.labels == {}

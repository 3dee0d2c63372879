"""What Pods request and nodes offer, as whole numbers; most of it is in the situations of noderesources."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_spread.scheduler import resource
from kubectl_spread.scheduler.profile import default_profile
from tests.build import pod, typed_pod

PROFILE = default_profile()


def test_amounts_are_millicores_bytes_and_counts_rounded_up() -> None:
    quantities = {"cpu": "0.0001", "memory": "1.5", "nvidia.com/gpu": "2", "hugepages-2Mi": "4Mi", "unheard-of": "1"}
    expected = {"cpu": 1, "memory": 2, "nvidia.com/gpu": 2, "hugepages-2Mi": 4 * 2**20}
    assert resource.amounts(quantities) == expected


def test_fractions_are_added_before_they_are_rounded() -> None:
    containers = [{"name": f"c{i}", "resources": {"requests": {"memory": "100m"}}} for i in range(10)]
    requests = resource.pod_requests(typed_pod(pod("p", containers=containers)), PROFILE, assigned=False)
    assert requests == {"memory": 1}


@pytest.mark.parametrize(
    ("name", "extended"),
    [("nvidia.com/gpu", True), ("cpu", False), ("kubernetes.io/x", False), ("requests.example.com/x", False)],
)
def test_resources_kubernetes_does_not_know(name: str, *, extended: bool) -> None:
    assert resource.is_extended(name) is extended


def test_a_container_that_is_not_being_resized_counts_once() -> None:
    cpu = {"cpu": "1"}
    status = {"containerStatuses": [{"name": "main", "resources": {"requests": cpu}, "allocatedResources": cpu}]}
    running = typed_pod(pod("p", requests=cpu, status=status))
    assert resource.pod_requests(running, PROFILE, assigned=True) == {"cpu": 1000}


@pytest.mark.parametrize("release", [36, 37])
@pytest.mark.parametrize(("has", "counts"), [("1", 1500), ("2", 2500)])
def test_containers_that_are_settled_count_as_those_that_are_gone_through(release: int, has: str, counts: int) -> None:
    asked = [{"name": name, "resources": {"requests": {"cpu": cpu}}} for name, cpu in (("a", "1"), ("b", "500m"))]
    states = [
        {"name": name, "resources": {"requests": {"cpu": cpu}}, "allocatedResources": {"cpu": cpu}}
        for name, cpu in (("a", has), ("b", "500m"))
    ]
    profile = default_profile(release)
    for statuses in (states, states[::-1]):
        running = typed_pod(pod("p", containers=asked, status={"containerStatuses": statuses}))
        assert resource.pod_requests(running, profile, assigned=True) == {"cpu": counts}
        together = resource.requested_by([running, running], profile)
        assert together.named == {"cpu": 2 * counts}
        assert together.non_zero == {"cpu": 2 * counts, "memory": 800 * 2**20}


@pytest.mark.parametrize(("release", "counts"), [(32, 1000), (33, 2000)])
def test_what_was_allocated_counts_from_the_release_that_resizes_on(release: int, counts: int) -> None:
    two = {"requests": {"cpu": "2"}}
    status = {"containerStatuses": [{"name": "main", "resources": two, "allocatedResources": {"cpu": "2"}}]}
    running = typed_pod(pod("p", requests={"cpu": "1"}, status=status))
    profile = default_profile(release)
    assert resource.pod_requests(running, profile, assigned=True) == {"cpu": counts}
    assert resource.pod_requests(running, profile, assigned=False) == {"cpu": 1000}
    assert resource.requested_by([running], profile).named == {"cpu": counts}


def test_pods_of_a_node_count_together_whatever_there_is_to_add_up() -> None:
    plain, sidecar = {"cpu": "1"}, {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}
    pods = [
        typed_pod(pod("p", requests=plain)),
        typed_pod(pod("q", requests=plain, overhead={"cpu": "250m"})),
        typed_pod(pod("r", requests=plain, initContainers=[sidecar])),
        typed_pod(pod("s", requests=plain, resources={"requests": {"cpu": "4"}})),
    ]
    together = resource.requested_by(pods, PROFILE)
    assert together.named == {"cpu": 1000 + 1250 + 2000 + 4000}
    # Five containers name no memory, and what the last Pod asks for as a whole does not spare its container that.
    assert together.non_zero == {"cpu": together.named["cpu"], "memory": 5 * 200 * 2**20}


def test_pods_that_share_their_containers_may_have_been_allocated_more() -> None:
    template = typed_pod(pod("p", requests={"cpu": "1"})).spec
    counts = []
    for has in ("1", "2", "1"):
        states = [{"name": "main", "resources": {"requests": {"cpu": has}}, "allocatedResources": {"cpu": has}}]
        running = replace(typed_pod(pod("p", status={"containerStatuses": states})), spec=template)
        counts.append(resource.pod_requests(running, PROFILE, assigned=True))
    assert counts == [{"cpu": 1000}, {"cpu": 2000}, {"cpu": 1000}]


def test_what_a_container_is_taken_to_need() -> None:
    some, both = {"requests": {"cpu": "0"}}, {"requests": {"cpu": "1", "memory": "1Gi"}}
    containers = [{"name": "a"}, {"name": "b", "resources": some}, {"name": "c", "resources": both}]
    requests = resource.requested_by([typed_pod(pod("p", containers=containers))], PROFILE)
    assert requests.non_zero == {"cpu": 1100, "memory": 2**30 + 400 * 2**20}


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("cpu", 1500, "1500m"),
        ("cpu", 2000, "2"),
        ("memory", 9 * 2**30 + 2**29, "9.5Gi"),
        ("memory", 2**20, "1Mi"),
        ("ephemeral-storage", 2048, "2Ki"),
        ("hugepages-2Mi", 4 * 2**20, "4Mi"),
        ("memory", 12, "12"),
        ("nvidia.com/gpu", 2048, "2048"),
        ("pods", 110, "110"),
    ],
)
def test_an_amount_for_people(name: str, value: int, text: str) -> None:
    assert resource.readable(name, value) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [("cpu", 1500, "1500m"), ("memory", 2**30 + 1, "1024Mi"), ("memory", 5, "5"), ("nvidia.com/gpu", 2**20, "1048576")],
)
def test_an_amount_as_a_quantity(name: str, value: int, text: str) -> None:
    assert resource.quantity_of(name, value) == text

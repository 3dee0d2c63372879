"""What the API server writes into a Pod before the scheduler sees it."""

from __future__ import annotations

from typing import Any

from kubectl_spread.apiserver.defaults import defaulted
from kubectl_spread.objects.core import Pod, ResourceRequirements
from kubectl_spread.objects.decoding import convert
from kubectl_spread.release import Release
from tests.build import Object, pod


def stored(minor: int = 36, **spec: Any) -> Pod:  # noqa: ANN401 - any field of the spec
    """Return the Pod as the API server of the release stores it."""
    return defaulted(convert(pod("p", **spec), Pod), Release(minor))


def container(**resources: Object) -> Object:
    """Return a container with these requests or limits."""
    return {"name": "c", "resources": resources}


def test_what_is_stored_already_stays() -> None:
    once = stored(containers=[container(limits={"cpu": "1"})], hostNetwork=True)
    assert defaulted(once, Release()) == once


def test_requests_are_the_limits_unless_said() -> None:
    found = stored(
        containers=[container(requests={"cpu": "1"}, limits={"cpu": "2", "memory": "1Gi"})],
        initContainers=[container(limits={"cpu": "3"})],
    )
    assert found.spec.containers[0].resources.requests == {"cpu": "1", "memory": "1Gi"}
    assert found.spec.init_containers[0].resources.requests == {"cpu": "3"}


def test_ports_on_the_nodes_network_are_the_nodes() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81}]
    described = [{"name": "c", "ports": ports}]
    assert [port.host_port for port in stored(containers=described).spec.containers[0].ports] == [0, 81]
    on_host = stored(containers=described, hostNetwork=True)
    assert [port.host_port for port in on_host.spec.containers[0].ports] == [80, 81]


def test_requests_of_the_pod_are_those_of_its_containers_or_its_own_limits() -> None:
    found = stored(
        resources={"limits": {"cpu": "4", "memory": "4Gi"}},
        containers=[container(requests={"cpu": "1"}), container(requests={"cpu": "500m"})],
    )
    assert found.spec.resources == ResourceRequirements(
        requests={"cpu": "1500m", "memory": "4Gi"}, limits={"cpu": "4", "memory": "4Gi"}
    )


def test_a_sum_has_the_notation_of_the_container_that_is_counted_first() -> None:
    found = stored(
        resources={"limits": {"memory": "8Gi"}},
        containers=[container(requests={"memory": "1k"})],
        initContainers=[
            {**container(requests={"memory": "1Gi"}), "name": "sidecar", "restartPolicy": "Always"},
            {**container(requests={"memory": "3000M"}), "name": "setup"},
        ],
    )
    assert found.spec.resources is not None
    assert found.spec.resources.requests == {"memory": "4073741824"}


def test_requests_of_the_pod_that_are_said_stay() -> None:
    found = stored(
        resources={"limits": {"cpu": "4"}, "requests": {"cpu": "2"}}, containers=[container(requests={"cpu": "1"})]
    )
    assert found.spec.resources is not None
    assert found.spec.resources.requests == {"cpu": "2"}


def test_huge_pages_of_the_containers_limit_the_pod_that_says_anything() -> None:
    pages = [container(limits={"hugepages-2Mi": "4Mi"}), container(limits={"hugepages-2Mi": "2Mi"})]
    found = stored(resources={"requests": {"cpu": "1"}}, containers=pages).spec.resources
    assert found is not None
    assert found.requests == {"cpu": "1", "hugepages-2Mi": "6Mi"}
    said = stored(resources={"requests": {"hugepages-2Mi": "8Mi"}}, containers=pages).spec.resources
    assert said == ResourceRequirements(requests={"hugepages-2Mi": "8Mi"})


def test_a_pod_that_says_nothing_as_a_whole_gets_nothing() -> None:
    assert stored(resources={}, containers=[container(limits={"hugepages-2Mi": "4Mi"})]).spec.resources == (
        ResourceRequirements()
    )


def test_until_1_33_the_pod_as_a_whole_is_left_alone() -> None:
    found = stored(33, resources={"limits": {"cpu": "4"}})
    assert found.spec.resources == ResourceRequirements(limits={"cpu": "4"})

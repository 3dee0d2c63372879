"""A term of affinity that cannot be read rejects the Pod as a whole."""

from __future__ import annotations

from kubectl_spread.scheduler import interpodaffinity
from kubectl_spread.scheduler.framework import Code, Status
from tests.build import handle, node, pod, typed_pod


def test_a_term_that_cannot_be_read_rejects_the_pod() -> None:
    selector = {"matchExpressions": [{"key": "app", "operator": "Like"}]}
    required = [{"topologyKey": "rack", "labelSelector": selector}]
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    status = interpodaffinity.pre_filter(typed_pod(pod("p", affinity=affinity)), handle([node("a")]))
    assert isinstance(status, Status)
    assert status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert status.reasons[0].startswith("parsing pod: ")

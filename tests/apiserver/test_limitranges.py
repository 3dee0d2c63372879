"""Bounds of LimitRanges, in the API server's words."""

from collections.abc import Sequence

import pytest

from kubectl_spread.apiserver.denials import denials
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.release import Release
from tests.build import Object, object_of, pod, snapshot


def limit_range(name: str = "limits", **item: object) -> Object:
    """Return a LimitRange of containers, unless its item is of another type."""
    limits = [{"type": "Container", **item}]
    return object_of("LimitRange", name, spec={"limits": limits})


def faults(*ranges: Object, overhead: Object | None = None, **resources: Object) -> Sequence[str]:
    described = pod("p", overhead=overhead or {})
    described["spec"]["containers"][0]["resources"] = resources
    return tuple(each.message for each in denials(convert(described, Pod), snapshot(ranges), Release()))


@pytest.mark.parametrize(
    ("item", "resources", "told"),
    [
        ({"max": {"cpu": "2"}}, {"limits": {"cpu": "3"}}, "maximum cpu usage per Container is 2, but limit is 3"),
        ({"max": {"cpu": "2"}}, {}, "maximum cpu usage per Container is 2.  No limit is specified"),
        (
            {"max": {"cpu": "500m"}},
            {"limits": {"cpu": "500m"}, "requests": {"cpu": "1"}},
            "maximum cpu usage per Container is 500m, but request is 1",
        ),
        (
            {"min": {"memory": "1Gi"}},
            {"requests": {"memory": "512Mi"}},
            "minimum memory usage per Container is 1Gi, but request is 512Mi",
        ),
        ({"min": {"memory": "1Gi"}}, {}, "minimum memory usage per Container is 1Gi.  No request is specified"),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "1"}, "limits": {"cpu": "3"}},
            "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {"limits": {"cpu": "3"}},
            "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0",
        ),
        (
            {"type": "Pod", "max": {"cpu": "1"}},
            {"limits": {"cpu": "2"}},
            "maximum cpu usage per Pod is 1, but limit is 2",
        ),
    ],
)
def test_a_bound_that_is_broken(item: Object, resources: Object, told: str) -> None:
    assert faults(limit_range(**item), **resources) == (told,)


@pytest.mark.parametrize(
    ("item", "resources"),
    [
        ({"max": {"cpu": "2"}}, {"limits": {"cpu": "2"}}),
        ({"min": {"cpu": "100m"}}, {"requests": {"cpu": "0.1"}}),
        ({"maxLimitRequestRatio": {"cpu": "1.5"}}, {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}}),
        ({"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}}, {}),
    ],
)
def test_a_bound_that_is_kept(item: Object, resources: Object) -> None:
    assert faults(limit_range(**item), **resources) == ()


def test_overhead_is_no_matter_of_bounds() -> None:
    kept = limit_range(type="Pod", max={"cpu": "1"})
    assert faults(kept, overhead={"cpu": "1"}, limits={"cpu": "1"}) == ()


def test_what_one_limit_range_says_stands_together() -> None:
    both = limit_range(max={"cpu": "2"}, min={"memory": "1Gi"})
    first, second = faults(both, limit_range("more", max={"cpu": "1"}), limits={"cpu": "3"})
    memory, cpu = (
        "minimum memory usage per Container is 1Gi.  No request is specified",
        "maximum cpu usage per Container",
    )
    assert (first, second) == (f"[{memory}, {cpu} is 2, but limit is 3]", f"{cpu} is 1, but limit is 3")


def test_bounds_hold_in_their_namespace() -> None:
    elsewhere = limit_range(max={"cpu": "2"})
    elsewhere["metadata"]["namespace"] = "other"
    assert faults(elsewhere, limits={"cpu": "3"}) == ()

"""ResourceQuotas: whom they count, and when one Pod more is too many."""

from collections.abc import Sequence
from typing import Any

import pytest

from kubectl_spread.apiserver.resourcequotas import quota_fault
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.release import Release
from tests.build import Object, object_of, pod, snapshot


def quota(hard: Object, used: Object | None = None, name: str = "q", **spec: object) -> Object:
    """Return a quota whose status says what is used, unless that is None."""
    status: Object = {} if used is None else {"hard": hard, "used": used}
    return object_of("ResourceQuota", name, spec={"hard": hard, **spec}, status=status)


def described(requests: Object | None = None, limits: Object | None = None, name: str = "p", **spec: Any) -> Object:  # noqa: ANN401 - as for pod
    made = pod(name, **spec)
    made["spec"]["containers"][0]["resources"] = {"requests": requests or {}, "limits": limits or {}}
    return made


def fault(made: Object, *objects: Object, others: Sequence[tuple[Object, int]] = ()) -> str:
    counted = [(convert(other, Pod), count) for other, count in others]
    return quota_fault(convert(made, Pod), counted, snapshot(objects), Release())


@pytest.mark.parametrize(
    ("hard", "used", "told"),
    [
        ({"pods": "1"}, {"pods": "1"}, "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"),
        (
            {"count/pods": "0"},
            {},
            "exceeded quota: q, requested: count/pods=1, used: count/pods=0, limited: count/pods=0",
        ),
        (
            {"requests.cpu": "2", "pods": "9"},
            {"requests.cpu": "1500m", "pods": "1"},
            "exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=1500m, limited: requests.cpu=2",
        ),
        (
            {"cpu": "1", "limits.memory": "1Gi"},
            {"cpu": "500m", "limits.memory": "512Mi"},
            (
                "exceeded quota: q, requested: cpu=1,limits.memory=1Gi, used: cpu=500m,limits.memory=512Mi,"
                " limited: cpu=1,limits.memory=1Gi"
            ),
        ),
        ({"pods": "2"}, {"pods": "1"}, ""),
        ({"requests.cpu": "2"}, {"requests.cpu": "1"}, ""),
        ({"services": "0"}, {"services": "0"}, ""),
    ],
)
def test_one_pod_more(hard: Object, used: Object, told: str) -> None:
    assert fault(described({"cpu": "1"}, {"memory": "1Gi"}), quota(hard, used)) == told


def test_what_a_quota_is_on_must_be_said() -> None:
    hard = {"requests.cpu": "1", "limits.memory": "1Gi", "requests.storage": "1Gi"}
    assert fault(described({"cpu": "1"}), quota(hard, {})) == "failed quota: q: must specify limits.memory for: main"
    told = "failed quota: q: must specify limits.memory for: main; requests.cpu for: main"
    assert fault(described(), quota(hard, {})) == told
    assert not fault(described({"cpu": "1"}, {"memory": "1Gi"}), quota(hard, {}))


def test_pods_that_the_status_does_not_count_yet_take_room_and_make_it() -> None:
    made, more = described({"cpu": "1"}), described({"cpu": "2"}, name="more")
    held = quota({"requests.cpu": "4"}, {"requests.cpu": "2"})
    assert not fault(made, held)
    assert fault(made, held, others=[(made, 2)])
    assert fault(made, held, others=[(more, 1)])
    assert not fault(made, held, others=[(made, 2), (made, -1)])


def test_what_is_used_is_counted_where_no_status_says_it() -> None:
    running, done = described({"cpu": "1"}, name="a"), described({"cpu": "1"}, name="b")
    done["status"] = {"phase": "Succeeded"}
    assert not fault(described({"cpu": "1"}), quota({"requests.cpu": "2"}), running, done)
    assert fault(described({"cpu": "1"}), quota({"requests.cpu": "2"}), running, described({"cpu": "1"}, name="c"))
    assert fault(described(), quota({"count/pods": "2"}), running, done)


def test_extended_resources_and_overhead_are_counted() -> None:
    gpu = quota({"requests.example.com/gpu": "1"}, {})
    assert fault(described({"example.com/gpu": "2"}), gpu).startswith(
        "exceeded quota: q, requested: requests.example.com"
    )
    assert not fault(described({"example.com/gpu": "1"}), gpu)
    assert fault(described({"cpu": "1"}, overhead={"cpu": "1"}), quota({"requests.cpu": "1"}, {}))


@pytest.mark.parametrize(
    ("scope", "counted", "free"),
    [
        ("Terminating", described(activeDeadlineSeconds=5), described()),
        ("NotTerminating", described(), described(activeDeadlineSeconds=5)),
        ("BestEffort", described(), described({"cpu": "1"})),
        ("NotBestEffort", described({"cpu": "1"}), described()),
        (
            "CrossNamespacePodAffinity",
            described(
                affinity={
                    "podAntiAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "namespaces": ["a"]}]
                    }
                }
            ),
            described(),
        ),
        ("PriorityClass", described(priorityClassName="high"), described()),
    ],
)
def test_scopes(scope: str, counted: Object, free: Object) -> None:
    held = quota({"pods": "0"}, {}, scopes=[scope])
    assert fault(counted, held)
    assert not fault(free, held)


@pytest.mark.parametrize(
    ("operator", "values", "counted"),
    [
        ("In", ["high", "low"], ["high"]),
        ("NotIn", ["high"], ["", "mid"]),
        ("Exists", [], ["high", "mid"]),
        ("DoesNotExist", [], [""]),
    ],
)
def test_a_selector_of_priority_classes(operator: str, values: Sequence[str], counted: Sequence[str]) -> None:
    scope = {"scopeName": "PriorityClass", "operator": operator, "values": values}
    held = quota({"pods": "0"}, {}, scopeSelector={"matchExpressions": [scope]})
    names = ("", "high", "mid")
    assert [name for name in names if fault(described(priorityClassName=name), held)] == list(counted)


def test_the_first_quota_by_name_is_named() -> None:
    ended = quota({"pods": "0"}, {}, name="b"), quota({"pods": "0"}, {}, name="a")
    assert fault(described(), *ended).startswith("exceeded quota: a,")

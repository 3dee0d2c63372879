"""What an API server writes into Pods and claims as they are created."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from kubectl_spread.apiserver.admission import admitted_claim, mutated, refusals, unknown
from kubectl_spread.apiserver.creation import prepared
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod, Toleration
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.policy import PriorityClass, RuntimeClass
from kubectl_spread.objects.storage import ANN_DEFAULT_CLASS, PersistentVolumeClaim
from kubectl_spread.scheduler.profile import Profile, default_profile
from kubectl_spread.snapshot import Snapshot, Unread
from tests.build import ZONE, Object, app, object_of, pod, snapshot, spread

LISTED = {"runtimeclasses": "1", "priorityclasses": "1", "limitranges": "1"}


def limit_range(*items: Object, name: str = "limits", namespace: str = "default") -> Object:
    return object_of("LimitRange", name, namespace=namespace, spec={"limits": [*items]})


def container(**fields: object) -> Object:
    """Return what a LimitRange says of containers."""
    return {"type": "Container", **fields}


def priority_class(name: str, value: int, **fields: Any) -> Object:  # noqa: ANN401 - any field
    return object_of("PriorityClass", name, value=value, **fields)


def storage_class(name: str, *, created: str = "", default: str = "") -> Object:
    """Return a StorageClass; ``default`` is the annotation that makes it the default one."""
    metadata = {"name": name, "annotations": {default: "true"} if default else {}, "creationTimestamp": created}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": metadata}


def listed(objects: Iterable[Object]) -> Snapshot:
    """Return the cluster of these objects as an API server lists it: what is not there does not exist."""
    found = snapshot(objects)
    return replace(found, inventory=replace(found.inventory, resource_versions=LISTED))


def unread(*found: Unread) -> Snapshot:
    """Return a cluster of which these lists could not be had."""
    empty = snapshot([])
    return replace(empty, inventory=replace(empty.inventory, unread=found))


def created(described: Object, *objects: Object, minor: int = 36) -> Pod:
    """Return the Pod as the cluster of these objects stores it."""
    return stored(convert(described, Pod), listed(objects), default_profile(minor))


def stored(sent: Pod, cluster: Snapshot, profile: Profile) -> Pod:
    """Return the Pod as the API server stores it."""
    return prepared(mutated(sent, cluster, profile), profile.release)


def test_what_a_container_leaves_open_a_limit_range_of_its_namespace_says() -> None:
    limits = limit_range(container(default={"cpu": "2", "memory": "1Gi"}, defaultRequest={"cpu": "1"}))
    (asked,) = created(pod("web", requests={"memory": "2Gi"}), limits).spec.containers
    assert asked.resources.requests == {"cpu": "1", "memory": "2Gi"}
    assert asked.resources.limits == {"cpu": "2", "memory": "1Gi"}


def test_a_limit_is_a_request_before_a_limit_range_is_asked() -> None:
    described = pod("web")
    described["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "4"}}
    (asked,) = created(described, limit_range(container(defaultRequest={"cpu": "1"}))).spec.containers
    assert asked.resources.requests == {"cpu": "4"}


@pytest.mark.parametrize(
    ("item", "requests"),
    [
        (container(max={"cpu": "3"}), {"cpu": "3"}),
        (container(min={"cpu": "1"}), {"cpu": "1"}),
        (container(min={"cpu": "1"}, max={"cpu": "3"}), {"cpu": "3"}),
        (container(max={"cpu": "3"}, default={"cpu": "2"}), {"cpu": "2"}),
        ({"type": "Pod", "max": {"cpu": "3"}}, {}),
    ],
)
def test_bounds_imply_defaults(item: Object, requests: dict[str, str]) -> None:
    (asked,) = created(pod("web"), limit_range(item)).spec.containers
    assert asked.resources.requests == requests


def test_limit_ranges_of_other_namespaces_say_nothing_and_the_first_by_name_wins() -> None:
    ranges = (
        limit_range(container(defaultRequest={"cpu": "9"}), namespace="other"),
        limit_range(container(defaultRequest={"cpu": "2"}), name="b"),
        limit_range(container(defaultRequest={"cpu": "1"}), name="a"),
    )
    (asked,) = created(pod("web"), *ranges).spec.containers
    assert asked.resources.requests == {"cpu": "1"}


def test_init_containers_are_limited_too() -> None:
    described = pod("web", initContainers=[{"name": "first", "image": "i"}])
    (first,) = created(described, limit_range(container(defaultRequest={"cpu": "1"}))).spec.init_containers
    assert first.resources.requests == {"cpu": "1"}


def test_a_pod_has_the_priority_of_its_class() -> None:
    high = priority_class("high", 1000, preemptionPolicy="Never")
    spec = created(pod("web", priorityClassName="high"), high).spec
    assert (spec.priority, spec.preemption_policy) == (1000, "Never")


def test_without_a_class_it_has_that_of_the_global_default_with_the_lowest_value_or_none() -> None:
    defaults = (priority_class("b", 7, globalDefault=True), priority_class("a", 5, globalDefault=True))
    spec = created(pod("web"), *defaults, priority_class("c", 1)).spec
    assert (spec.priority_class_name, spec.priority, spec.preemption_policy) == ("a", 5, "PreemptLowerPriority")
    assert created(pod("web")).spec.priority == 0


def test_the_classes_of_the_system_are_known_without_being_read() -> None:
    spec = created(pod("web", priorityClassName="system-node-critical")).spec
    assert (spec.priority_class_name, spec.priority) == ("system-node-critical", 2_000_001_000)


def test_a_priority_that_was_not_read_stays_open() -> None:
    known = unread(Unread(kinds.PRIORITY_CLASS, "forbidden"))
    assert stored(convert(pod("web"), Pod), known, default_profile()).spec.priority is None


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"priorityClassName": "none"}, "priorityClassName", "no PriorityClass with name none was found"),
        (
            {"priorityClassName": "high", "priority": 3},
            "priority",
            (
                "the integer value of priority (3) must not be provided in pod spec;"
                " priority admission controller computed 9 from the given PriorityClass name"
            ),
        ),
        (
            {"preemptionPolicy": "Never"},
            "preemptionPolicy",
            (
                "the string value of PreemptionPolicy (Never) must not be provided in pod spec;"
                " priority admission controller computed PreemptLowerPriority from the given PriorityClass name"
            ),
        ),
        ({"runtimeClassName": "none"}, "runtimeClassName", 'pod rejected: RuntimeClass "none" not found'),
        (
            {"runtimeClassName": "kata", "overhead": {"cpu": "1"}},
            "overhead",
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        ),
        (
            {"overhead": {"cpu": "250m"}},
            "overhead",
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
        (
            {"runtimeClassName": "kata", "nodeSelector": {"kata": "no"}},
            "nodeSelector",
            "conflict: runtimeClass.scheduling.nodeSelector[kata] = yes; pod.spec.nodeSelector[kata] = no",
        ),
    ],
)
def test_what_admission_refuses(fields: Object, field: str, message: str) -> None:
    kata = object_of(
        "RuntimeClass", "kata", overhead={"podFixed": {"cpu": "0.25"}}, scheduling={"nodeSelector": {"kata": "yes"}}
    )
    (refusal,) = refusals(convert(pod("web", **fields), Pod), listed([priority_class("high", 9), kata]))
    assert (refusal.field, refusal.message) == (field, message)


def test_what_agrees_with_the_classes_is_not_refused() -> None:
    kata = object_of("RuntimeClass", "kata", overhead={"podFixed": {"cpu": "0.25"}})
    agreeing = pod("web", runtimeClassName="kata", overhead={"cpu": "250m"}, priorityClassName="high", priority=9)
    assert refusals(convert(agreeing, Pod), listed([priority_class("high", 9), kata])) == ()


def test_files_that_hold_no_class_refuse_none() -> None:
    fields: Object = {"runtimeClassName": "kata", "overhead": {"cpu": "1"}, "priorityClassName": "high"}
    described = convert(pod("web", **fields), Pod)
    assert refusals(described, snapshot([])) == ()
    assert [(entry.kind, entry.why) for entry in unknown(described, snapshot([]))] == [
        (kind, "none in the files") for kind in (kinds.RUNTIME_CLASS, kinds.PRIORITY_CLASS)
    ]
    living = convert(pod("web", priorityClassName="high", priority=9), Pod)
    assert unknown(living, snapshot([])) == ()


def test_what_a_manifest_brings_was_not_read() -> None:
    described = convert(pod("web", runtimeClassName="kata", priorityClassName="high"), Pod)
    classes = [
        convert(priority_class("low", 1), PriorityClass),
        convert(object_of("RuntimeClass", "gvisor"), RuntimeClass),
    ]
    brought = snapshot([]).with_objects(classes)
    assert refusals(described, brought) == ()
    assert [entry.kind for entry in unknown(described, brought)] == [kinds.RUNTIME_CLASS, kinds.PRIORITY_CLASS]
    both = [convert(priority_class("high", 1), PriorityClass), convert(object_of("RuntimeClass", "kata"), RuntimeClass)]
    assert unknown(described, snapshot([]).with_objects(both)) == ()


def test_nodes_out_of_reach_are_put_up_with_for_five_minutes() -> None:
    tolerations = created(pod("web", tolerations=[{"key": "a", "operator": "Exists"}])).spec.tolerations
    assert tolerations[1:] == tuple(
        Toleration(key=f"node.kubernetes.io/{state}", operator="Exists", effect="NoExecute", toleration_seconds=300)
        for state in ("not-ready", "unreachable")
    )


@pytest.mark.parametrize(
    "own",
    [
        {"operator": "Exists"},
        {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"},
        {"key": "node.kubernetes.io/not-ready", "operator": "Equal", "value": "x"},
    ],
)
def test_a_pod_that_minds_such_nodes_itself_is_left_to_it(own: Object) -> None:
    tolerations = created(pod("web", tolerations=[own])).spec.tolerations
    assert all(toleration.toleration_seconds is None for toleration in tolerations if "not-ready" in toleration.key)


def test_a_runtime_takes_room_and_says_on_which_nodes_it_runs() -> None:
    kata = object_of(
        "RuntimeClass",
        "kata",
        overhead={"podFixed": {"cpu": "250m"}},
        scheduling={"nodeSelector": {"kata": "yes"}, "tolerations": [{"key": "kata", "operator": "Exists"}]},
    )
    spec = created(pod("web", runtimeClassName="kata", nodeSelector={"disk": "fast"}), kata).spec
    assert spec.overhead == {"cpu": "250m"}
    assert spec.node_selector == {"disk": "fast", "kata": "yes"}
    assert [toleration.key for toleration in spec.tolerations][-1] == "kata"


@pytest.mark.parametrize(("minor", "values"), [(33, []), (34, ["x"]), (36, ["x"])])
def test_label_keys_are_merged_as_a_pod_is_created_since_134(minor: int, values: list[str]) -> None:
    constraint = spread(ZONE, selector=app("web"), matchLabelKeys=["pod-template-hash", "absent"])
    described = pod("web", labels={"pod-template-hash": "x"}, topologySpreadConstraints=[constraint])
    (stored,) = created(described, minor=minor).spec.topology_spread_constraints
    assert stored.label_selector is not None
    merged = [expression.values for expression in stored.label_selector.match_expressions]
    assert merged == [(value,) for value in values]


def test_what_was_not_read_is_told_where_it_matters() -> None:
    known = unread(*(Unread(kind, "forbidden") for kind in (kinds.LIMIT_RANGE, kinds.RUNTIME_CLASS)))
    silent = convert(pod("web", runtimeClassName="kata"), Pod)
    assert [entry.kind for entry in unknown(silent, known)] == [kinds.LIMIT_RANGE, kinds.RUNTIME_CLASS]
    explicit = convert(pod("web", requests={"cpu": "1", "memory": "1Gi"}), Pod)
    assert unknown(explicit, known) == ()


def test_a_limit_range_of_another_namespace_that_was_not_read_does_not_matter() -> None:
    known = unread(Unread(kinds.LIMIT_RANGE, "forbidden", "other"))
    assert unknown(convert(pod("web"), Pod), known) == ()


def test_priorities_matter_where_a_pod_waits_for_room() -> None:
    waiting = pod("waits", status={"nominatedNodeName": "a"})
    known = snapshot([waiting])
    known = replace(known, inventory=replace(known.inventory, unread=(Unread(kinds.PRIORITY_CLASS, "forbidden"),)))
    explicit = convert(pod("web", requests={"cpu": "1", "memory": "1Gi"}), Pod)
    assert [entry.kind for entry in unknown(explicit, known)] == [kinds.PRIORITY_CLASS]


@pytest.mark.parametrize(("name", "told"), [("mine", True), ("system-cluster-critical", False), ("", False)])
def test_a_priority_class_may_not_exist_where_none_could_be_listed(name: str, *, told: bool) -> None:
    described = pod("web", requests={"cpu": "1", "memory": "1Gi"}, priorityClassName=name)
    missing = unknown(convert(described, Pod), unread(Unread(kinds.PRIORITY_CLASS, "forbidden")))
    assert [entry.kind for entry in missing] == ([kinds.PRIORITY_CLASS] if told else [])


def test_the_default_class_is_the_newest_and_then_the_first_by_name() -> None:
    ours, beta = ANN_DEFAULT_CLASS
    classes = [
        storage_class("old", created="2026-01-01T00:00:00Z", default=ours),
        storage_class("new", created="2026-02-01T00:00:00Z", default=beta),
        storage_class("also-new", created="2026-02-01T00:00:00Z", default=ours),
        storage_class("other", created="2026-03-01T00:00:00Z"),
    ]
    claim = convert({"metadata": {"name": "data"}, "spec": {}}, PersistentVolumeClaim)
    assert admitted_claim(claim, snapshot(classes)).class_name == "also-new"
    assert admitted_claim(claim, snapshot([storage_class("other")])) == claim


@pytest.mark.parametrize(("spec", "expected"), [({}, "std"), ({"storageClassName": ""}, ""), (None, "std")])
def test_only_a_claim_that_leaves_it_open_gets_the_default_class(spec: Object | None, expected: str) -> None:
    claim = convert({"metadata": {"name": "data"}, "spec": spec}, PersistentVolumeClaim)
    cluster = snapshot([storage_class("std", default=ANN_DEFAULT_CLASS[0])])
    assert admitted_claim(claim, cluster).class_name == expected
    assert admitted_claim(claim, snapshot([])).class_name == ""

"""What is read to answer a question."""

from __future__ import annotations

import pytest

from kubectl_spread.cluster.reads import Read
from kubectl_spread.commands import read_sets
from kubectl_spread.objects import kinds
from kubectl_spread.objects.kinds import Kind


def by_kind(reads: tuple[Read, ...]) -> dict[Kind, Read]:
    """Return kind → its only read."""
    assert len({read.kind for read in reads}) == len(reads)
    return {read.kind: read for read in reads}


@pytest.mark.parametrize(
    "reads", [read_sets.everything("shop"), read_sets.everything("shop", pending=True), read_sets.spread_only("shop")]
)
def test_without_nodes_and_pods_there_is_no_answer(reads: tuple[Read, ...]) -> None:
    assert {read.kind for read in reads if read.required} == {kinds.NODE, kinds.POD}


def test_pods_of_every_namespace_take_room() -> None:
    assert by_kind(read_sets.everything("shop"))[kinds.POD].namespace == ""


def test_counting_takes_the_namespaces_pods_alone() -> None:
    found = by_kind(read_sets.spread_only("shop"))
    assert {kind: read.namespace for kind, read in found.items()} == {
        kinds.NODE: "",
        **dict.fromkeys(
            (kinds.POD, kinds.SERVICE, kinds.LIMIT_RANGE, *read_sets.FOR_ADMISSION, *kinds.WORKLOAD_KINDS), "shop"
        ),
        **dict.fromkeys((kinds.PRIORITY_CLASS, kinds.RUNTIME_CLASS), ""),
    }


@pytest.mark.parametrize("namespace", ["shop", ""])
def test_what_decides_about_nodes_is_read_of_the_whole_cluster(namespace: str) -> None:
    found = by_kind(read_sets.everything(namespace))
    assert found[kinds.PERSISTENT_VOLUME_CLAIM].namespace == ""
    assert found[kinds.PERSISTENT_VOLUME].namespace == ""
    assert found[kinds.SERVICE].namespace == namespace


def test_events_and_guards_are_read_for_pending_pods_alone() -> None:
    for_pending = {kinds.EVENT, kinds.POD_DISRUPTION_BUDGET, kinds.NETWORK_POLICY}
    assert not for_pending & by_kind(read_sets.everything("shop")).keys()
    found = by_kind(read_sets.everything("shop", pending=True))
    assert for_pending < found.keys()
    assert (found[kinds.EVENT].namespace, found[kinds.EVENT].field_selector) == ("shop", "reason=FailedScheduling")
    assert found[kinds.POD_DISRUPTION_BUDGET].namespace == ""


def test_the_pods_of_the_namespace_will_do_where_they_are_all_one_may_see() -> None:
    assert by_kind(read_sets.everything("shop", pending=True))[kinds.POD].fallback == "shop"
    assert by_kind(read_sets.everything(""))[kinds.POD].fallback == ""


def test_manifests_need_all_pods_once() -> None:
    reads = read_sets.for_manifests(["shop", "bank"])
    assert [read for read in reads if read.kind is kinds.POD] == [Read(kind=kinds.POD)]


@pytest.mark.parametrize("namespaces", [["shop"], ["shop", "bank"], [""]])
def test_what_scales_workloads_is_read_in_their_namespaces_and_optional(namespaces: list[str]) -> None:
    reads = read_sets.scalers(namespaces)
    assert [(read.kind, read.namespace, read.required) for read in reads] == [
        (kinds.HORIZONTAL_POD_AUTOSCALER, each, False) for each in namespaces
    ]
    assert kinds.HORIZONTAL_POD_AUTOSCALER not in by_kind(read_sets.everything("", pending=True))


def test_daemons_of_every_namespace_take_room_on_new_nodes() -> None:
    assert by_kind(read_sets.OF_KARPENTER)[kinds.DAEMON_SET].namespace == ""

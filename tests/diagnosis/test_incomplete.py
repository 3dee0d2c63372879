"""What an answer does not rest on is told where it could change the answer, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from kubectl_spread.contract.evaluation import EvaluationReport
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.incomplete import KINDS_THAT_MATTER, VOLUME_FILTERS, incomplete, without_unread
from kubectl_spread.gaps import Gap, NotModelled, Purpose, UnreadKind
from kubectl_spread.objects import kinds
from kubectl_spread.objects.kinds import KINDS, Kind
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import default_profile
from kubectl_spread.snapshot import Snapshot, Unread
from kubectl_spread.wording.incomplete import entries
from tests.build import ZONE, Object, app, configured_profile, node, pod, snapshot, spread, typed_pod
from tests.build_devices import CLAIMING
from tests.build_storage import claim
from tests.diagnosis.judged import evaluated

CLAIM: Object = {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}]}
TERM: Object = {"topologyKey": ZONE, "labelSelector": app("web")}
ANTI: Object = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}}
PREFERRED: Object = {
    "affinity": {
        "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": TERM}]}
    }
}
OWN: Object = {"topologySpreadConstraints": [spread(ZONE, selector=app("web"))]}


def seen(objects: Sequence[Object], *unread: Kind) -> Handle:
    """Return the cluster where these lists could not be had."""
    read = snapshot([node("n", zone="z"), *objects])
    inventory = replace(read.inventory, unread=tuple(Unread(kind, "forbidden") for kind in unread))
    cluster = Snapshot.build(inventory)
    return Handle.build(cluster, without_unread(default_profile(), cluster))


def judged(described: Object, objects: Sequence[Object], *unread: Kind) -> EvaluationReport:
    """Return what is said of the Pod where these lists could not be had."""
    return evaluated(typed_pod(described), seen(objects, *unread))


def gaps_of(described: Object, handle: Handle) -> tuple[Gap, ...]:
    """Return what the answer about the Pod does not rest on."""
    described_pod = typed_pod(described)
    return incomplete(described_pod, handle, cycle.evaluate(described_pod, handle))


@pytest.mark.parametrize(
    ("unread", "described", "objects", "told"),
    [
        (kinds.POD, pod("p"), [], True),
        (kinds.SERVICE, pod("p"), [], True),
        (kinds.SERVICE, pod("p", **OWN), [], False),
        (kinds.REPLICA_SET, pod("p"), [], True),
        (kinds.STATEFUL_SET, pod("p", **OWN), [], False),
        (kinds.REPLICATION_CONTROLLER, pod("p"), [], True),
        (kinds.NAMESPACE, pod("p"), [], False),
        (kinds.NAMESPACE, pod("p", **ANTI), [], True),
        (kinds.NAMESPACE, pod("p", **PREFERRED), [], True),
        (kinds.NAMESPACE, pod("p"), [pod("q", on="n", **ANTI)], True),
        (kinds.NAMESPACE, pod("p"), [pod("q", on="n", **PREFERRED)], False),
        (kinds.NAMESPACE, pod("p"), [pod("q", **ANTI)], False),
        (kinds.RESOURCE_CLAIM, pod("p"), [], False),
        (kinds.RESOURCE_CLAIM, pod("p", **CLAIMING), [], True),
        (kinds.RESOURCE_SLICE, pod("p", **CLAIMING), [], True),
        (kinds.DEVICE_CLASS, pod("p", requests={"cpu": "1"}), [], False),
        (kinds.DEVICE_CLASS, pod("p", requests={"example.com/gpu": "1"}), [], True),
        (kinds.RESOURCE_CLAIM_TEMPLATE, pod("p"), [], False),
        (kinds.PERSISTENT_VOLUME, pod("p"), [], False),
        (kinds.PERSISTENT_VOLUME, pod("p", **CLAIM), [], True),
        (kinds.PERSISTENT_VOLUME, pod("p", volumes=[{"name": "tmp", "emptyDir": {}}]), [], False),
        (kinds.STORAGE_CLASS, pod("p", **CLAIM), [], True),
        (kinds.CSI_NODE, pod("p", **CLAIM), [], True),
        (kinds.CSI_DRIVER, pod("p", **CLAIM), [], True),
        (kinds.CSI_STORAGE_CAPACITY, pod("p", **CLAIM), [], True),
        (kinds.VOLUME_ATTACHMENT, pod("p", **CLAIM), [], True),
        (kinds.VOLUME_ATTACHMENT, pod("p"), [], False),
        (kinds.DEPLOYMENT, pod("p"), [], False),
        (kinds.EVENT, pod("p"), [], False),
        (kinds.POD_DISRUPTION_BUDGET, pod("p"), [], False),
    ],
    ids=lambda value: value.name if isinstance(value, Kind) else "",
)
def test_a_list_that_could_not_be_had(
    unread: Kind, described: Object, objects: Sequence[Object], *, told: bool
) -> None:
    gap = UnreadKind(kind=unread, why="forbidden", purpose=Purpose.SCHEDULING)
    assert gaps_of(described, seen(objects, unread)) == ((gap,) if told else ())
    assert len(judged(described, objects, unread).incomplete) == told


def test_a_clean_verdict_becomes_incomplete_and_a_rejection_stays() -> None:
    assert judged(pod("p"), []).verdict is Verdict.SCHEDULABLE
    assert judged(pod("p"), [], kinds.POD).verdict is Verdict.INCOMPLETE
    assert judged(pod("p", nodeSelector={"a": "b"}), [], kinds.POD).verdict is Verdict.UNSCHEDULABLE


def read_at(described: Object, objects: Sequence[Object], *, apart: bool = True, **versions: str) -> EvaluationReport:
    """Return what is said of the Pod where lists are of these versions."""
    inventory = replace(snapshot([node("n"), *objects]).inventory, resource_versions=versions, apart=apart)
    return evaluated(typed_pod(described), Handle.build(Snapshot.build(inventory), default_profile()))


def test_nodes_and_pods_of_two_moments_are_told() -> None:
    report = read_at(pod("p"), [], nodes="7", pods="9", jobs="8")
    assert report.verdict is Verdict.INCOMPLETE
    (told,) = entries(report.incomplete)
    assert (told.what, told.why) == ("nodes at resourceVersion 7, pods at resourceVersion 9", "read at different times")


def test_a_rejection_by_lists_of_two_moments_stays_and_is_told() -> None:
    report = read_at(pod("p", nodeSelector={"a": "b"}), [], nodes="7", pods="9")
    assert (report.verdict, len(report.incomplete)) == (Verdict.UNSCHEDULABLE, 1)


@pytest.mark.parametrize(
    ("described", "verdict"), [(pod("p"), Verdict.SCHEDULABLE), (pod("p", **CLAIM), Verdict.UNSCHEDULABLE)]
)
def test_a_list_of_another_moment_is_told_where_it_decides(described: Object, verdict: Verdict) -> None:
    report = read_at(described, [], nodes="7", pods="7", persistentvolumeclaims="8", jobs="9")
    assert report.verdict is verdict
    claims = "nodes at resourceVersion 7, pods at resourceVersion 7, persistentvolumeclaims at resourceVersion 8"
    assert [told.what for told in entries(report.incomplete)] == ([claims] if "volumes" in described["spec"] else [])


def test_lists_that_are_followed_are_of_no_moment() -> None:
    assert read_at(pod("p"), [], apart=False, nodes="7", pods="9").incomplete == ()


def test_no_claim_is_called_missing_because_claims_may_not_be_listed() -> None:
    assert judged(pod("p", **CLAIM), []).verdict is Verdict.UNSCHEDULABLE
    for kind in (kinds.PERSISTENT_VOLUME_CLAIM, kinds.PERSISTENT_VOLUME, kinds.STORAGE_CLASS):
        report = judged(pod("p", **CLAIM), [], kind)
        assert report.verdict is Verdict.INCOMPLETE
        assert not {rejection.plugin for found in report.nodes for rejection in found.rejections} & {*VOLUME_FILTERS}


@pytest.mark.parametrize("kind", KINDS_THAT_MATTER, ids=lambda kind: kind.name)
def test_filters_that_would_be_wrong_are_left_out(kind: Kind) -> None:
    read = snapshot([node("n")])
    seen = Snapshot.build(replace(read.inventory, unread=(Unread(kind, "forbidden"),)))
    left = without_unread(default_profile(), seen).filters
    assert set(default_profile().filters) - set(left) == {*KINDS_THAT_MATTER[kind].filters} - {"VolumeBinding"}


@pytest.mark.parametrize("kind", [kinds.PERSISTENT_VOLUME, kinds.CSI_DRIVER], ids=lambda kind: kind.name)
@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"status": {"phase": "Lost"}}, 'persistentvolumeclaim "x" bound to non-existent persistentvolume "gone"'),
        ({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, 'persistentvolumeclaim "x" is being deleted'),
    ],
)
def test_what_a_claim_says_itself_is_certain_without_its_volume(kind: Kind, fields: Object, why: str) -> None:
    made = claim("x")
    made["spec"]["volumeName"] = "gone"
    for name, value in fields.items():
        made[name] = {**made.get(name, {}), **value}
    mounts = pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}])
    report = judged(mounts, [node("n"), made], kind)
    assert (report.verdict, why in str(report.message)) == (Verdict.UNSCHEDULABLE, True)


def test_every_kind_that_has_a_consequence_is_one_that_is_read() -> None:
    assert set(KINDS_THAT_MATTER) <= set(KINDS)


@pytest.mark.parametrize(
    ("plugin", "described", "told"),
    [("NodePorts", pod("p", host_ports=["80"]), False), ("Coscheduling", pod("p"), True)],
)
def test_a_filter_that_is_not_modelled(plugin: str, described: Object, *, told: bool) -> None:
    enabled: Object = {"profiles": [{"plugins": {"filter": {"enabled": [{"name": plugin}]}}}]}
    profile = configured_profile(enabled)
    handle = Handle.build(snapshot([node("n")]), profile)
    assert gaps_of(described, handle) == ((NotModelled(plugin=plugin),) if told else ())
    report = evaluated(typed_pod(described), handle)
    assert report.verdict is (Verdict.INCOMPLETE if told else Verdict.SCHEDULABLE)

"""What an answer does not rest on is said in three parts, for every kind of object that can be missing."""

from __future__ import annotations

from collections.abc import Callable

from kubectl_spread import gaps
from kubectl_spread.diagnosis.incomplete import BESIDE_REJECTIONS, KINDS_THAT_MATTER
from kubectl_spread.objects import kinds
from kubectl_spread.wording.incomplete import UNREAD, texts

GAPS: list[gaps.Gap] = [
    gaps.UnreadKind(kind=kinds.EVENT, why="forbidden", purpose=gaps.Purpose.FIXES),
    gaps.ReadApart(versions=(("nodes", "7"), ("pods", "9"))),
    gaps.UnreadNodes(nodes=1, namespace="shop"),
    gaps.UnreadRevision(revision="db-5d", pod="db-1"),
    gaps.GuessedVolume(claim="data", storage_class="now"),
    gaps.UnparsableConstraint(namespace="shop", workload="deployment/web", topology_key="zone", error="none"),
    gaps.UnreadableManifest(place="web.yaml", why="is no mapping"),
    gaps.NotModelled(plugin="Gang"),
    gaps.UnprovedRelease(minor=99, nearest=37),
    gaps.UnknownFeatureGate(gate="Warp"),
    gaps.UndecidedChoice(pods=(("shop/db-0", "a1"),)),
    gaps.NoDryRun(why="forbidden"),
    gaps.MayBreakQuota(workload="shop/deployment/web", why="exceeded quota: q", by_chance=True),
    gaps.MayBreakQuota(workload="shop/pod/job", why="exceeded quota: q", by_chance=True),
    gaps.MayRollOut(workload="shop/deployment/web", revision="59d4", orphaned=True),
    gaps.MayBreakQuota(workload="shop/deployment/web", why="exceeded quota: q"),
    gaps.UnknownManagers(named="deployment/web"),
    gaps.UntriedPods(pods=47, step="cordon c2"),
    gaps.OtherScheduler(scheduler_name="volcano"),
    gaps.NodeNamed(pod="shop/web-0", node_name="a1"),
    gaps.SchedulingGroup(pod="shop/web-0", pod_group="gang"),
    gaps.SchedulingGroup(pod="shop/web-0", pod_group="workers", workload="train"),
    gaps.UndecidedDevices(pod="shop/web-0", wanted="ResourceClaim gpu"),
]


def test_every_list_that_matters_has_its_consequence() -> None:
    assert UNREAD[gaps.Purpose.SCHEDULING].keys() == KINDS_THAT_MATTER.keys()
    read_by_admission = (kinds.LIMIT_RANGE, kinds.RUNTIME_CLASS, kinds.PRIORITY_CLASS, kinds.RESOURCE_QUOTA)
    assert UNREAD[gaps.Purpose.ADMISSION].keys() == {*read_by_admission, kinds.SERVICE_ACCOUNT}
    assert UNREAD[gaps.Purpose.FIXES].keys() == {*BESIDE_REJECTIONS, *kinds.WORKLOAD_KINDS}


def test_what_is_missing_why_and_what_follows(same_as_golden: Callable[[str, str], None]) -> None:
    told = "".join(f"{type(gap).__name__}: {'; '.join(texts(gap))}\n" for gap in GAPS)
    same_as_golden(told, "phrasebook/incomplete.txt")

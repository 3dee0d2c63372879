"""What an answer does not rest on is said in three parts, for every kind of object that can be missing."""

from __future__ import annotations

import pytest

from kubectl_spread import gaps
from kubectl_spread.diagnosis.incomplete import BESIDE_REJECTIONS, KINDS_THAT_MATTER
from kubectl_spread.objects import kinds
from kubectl_spread.wording.incomplete import UNREAD, texts


@pytest.mark.parametrize(
    ("gap", "what", "why", "consequence"),
    [
        (
            gaps.UnreadKind(kind=kinds.EVENT, why="forbidden", purpose=gaps.Purpose.FIXES),
            "list events",
            "forbidden",
            "the scheduler's last message is not known",
        ),
        (
            gaps.ReadApart(versions=(("nodes", "7"), ("pods", "9"))),
            "nodes at resourceVersion 7, pods at resourceVersion 9",
            "read at different times",
            "changes in between may be missing",
        ),
        (
            gaps.UnreadNodes(nodes=1, namespace="shop"),
            "list pods on 1 node",
            "not asked for",
            "Pods there of other namespaces than shop may keep it away",
        ),
        (
            gaps.UnreadRevision(revision="db-5d", pod="db-1"),
            "ControllerRevision db-5d",
            "not read",
            "db-1 is of an older revision, of which no Pod runs: the newest template is used",
        ),
        (
            gaps.GuessedVolume(claim="data", storage_class="now"),
            'the volume of claim "data"',
            "StorageClass now binds at once",
            "its provisioner decides where it can be used, before the Pod is scheduled",
        ),
        (
            gaps.UnparsableConstraint(namespace="shop", workload="deployment/web", topology_key="zone", error="none"),
            "the constraint of deployment/web in namespace shop on zone",
            "none",
            "kube-scheduler fails on its Pods, and none of their constraints is shown",
        ),
        (gaps.UnreadableManifest(place="web.yaml", why="is no mapping"), "web.yaml", "unreadable", "is no mapping"),
        (gaps.NotModelled(plugin="Gang"), "Gang", "not evaluated", "the result of Gang is not known"),
        (
            gaps.UnprovedRelease(minor=99, nearest=37),
            "kube-scheduler v1.99",
            "not among the proved releases",
            "the rules of v1.37 and its known differences were applied",
        ),
        (gaps.UnknownFeatureGate(gate="Warp"), "feature gate Warp", "not known", "what it changes was not considered"),
        (
            gaps.UndecidedChoice(pods=(("shop/db-0", "a1"),)),
            "whether the scheduler counts shop/db-0 on a1",
            "not known",
            "the scheduler has chosen a node for shop/db-0 and also refused it: the times do not show which came last",
        ),
        (
            gaps.NoDryRun(why="forbidden"),
            "the dry run",
            "forbidden",
            "what admission would change in its Pods is estimated",
        ),
        (
            gaps.UnknownLastApplied(named="deployment/web", fields=("spec.paused", "spec.replicas")),
            "the last applied manifest of deployment/web",
            "not in the snapshot",
            "spec.paused and spec.replicas may be removed when it is applied",
        ),
        (
            gaps.MayBreakQuota(workload="shop/deployment/web", why="exceeded quota: q", by_chance=True),
            "the order in which the Pods of shop/deployment/web and other objects are created",
            "exceeded quota: q",
            "some may be refused",
        ),
        (
            gaps.MayBreakQuota(workload="shop/pod/job", why="exceeded quota: q", by_chance=True),
            "how much the controllers have done when shop/pod/job is created",
            "exceeded quota: q",
            "it may be refused",
        ),
        (
            gaps.MayRollOut(workload="shop/deployment/web", revision="59d4", orphaned=True),
            "revision 59d4 of shop/deployment/web",
            "not read",
            "it may create new Pods beside those of this revision",
        ),
        (
            gaps.MayBreakQuota(workload="shop/deployment/web", why="exceeded quota: q"),
            "the objects that shop/deployment/web needs beside its Pods",
            "exceeded quota: q",
            "it may not create all its Pods",
        ),
        (
            gaps.UnknownManagers(named="deployment/web"),
            "the managedFields of deployment/web",
            "the API server was not asked",
            "fields that others manage may conflict; other fields may stay or be removed",
        ),
        (
            gaps.UntriedPods(pods=47, step="cordon c2"),
            "nodes for 47 Pods of cordon c2",
            "not simulated, because too many Pods came before",
            "they are counted as Pending, though nodes may take them",
        ),
        (
            gaps.OtherScheduler(scheduler_name="volcano"),
            "schedulerName volcano",
            "in no known profile",
            "volcano decides by its own rules",
        ),
        (
            gaps.NodeNamed(pod="shop/web-0", node_name="a1"),
            "spec.nodeName a1",
            "no scheduler is involved",
            "the kubelet of a1 takes or rejects it, regardless of topology spread",
        ),
        (
            gaps.SchedulingGroup(pod="shop/web-0", pod_group="gang"),
            "PodGroup gang",
            "not evaluated",
            "the Pod is held until its PodGroup is complete",
        ),
        (
            gaps.SchedulingGroup(pod="shop/web-0", pod_group="workers", workload="train"),
            "group workers of Workload train",
            "not evaluated",
            "the Pod is held until its PodGroup is complete",
        ),
        (
            gaps.UndecidedDevices(pod="shop/web-0", wanted="ResourceClaim gpu"),
            "DynamicResources",
            "not evaluated",
            "whether nodes have the devices it claims is not known (ResourceClaim gpu)",
        ),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_is_missing_why_and_what_follows(gap: gaps.Gap, what: str, why: str, consequence: str) -> None:
    assert texts(gap) == (what, why, consequence)


def test_every_list_that_matters_has_its_consequence() -> None:
    assert UNREAD[gaps.Purpose.SCHEDULING].keys() == KINDS_THAT_MATTER.keys()
    read_by_admission = (kinds.LIMIT_RANGE, kinds.RUNTIME_CLASS, kinds.PRIORITY_CLASS, kinds.RESOURCE_QUOTA)
    assert UNREAD[gaps.Purpose.ADMISSION].keys() == {*read_by_admission, kinds.SERVICE_ACCOUNT}
    assert UNREAD[gaps.Purpose.FIXES].keys() == {*BESIDE_REJECTIONS, *kinds.WORKLOAD_KINDS}

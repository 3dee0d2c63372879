"""The sentences of fixes, from what the engine concludes."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from msgspec.structs import replace

from kubectl_spread.apiserver.eviction import EvictionRefused
from kubectl_spread.controllers.do_not_evict import KeptByController
from kubectl_spread.controllers.taints import NodeTrouble
from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.diagnosis.fixes import conclusion, constraints, demands, moves, nodes
from kubectl_spread.diagnosis.fixes import proposals as of
from kubectl_spread.diagnosis.fixes.conclusion import Ending, ExpectedChange, Fix, Obstacle, Route, Wait
from kubectl_spread.diagnosis.fixes.waits import LASTING
from kubectl_spread.wording.fixes import OVERTAKEN, changes, instead, left_alone, starts, summary
from kubectl_spread.wording.fixes.routes import fragment_text
from kubectl_spread.wording.fixes.waits import wait_text

ZONE = "topology.kubernetes.io/zone"
MOVE = moves.MovePod(namespace="shop", pod="web-0", node="a1")
WEB = "deployment/web"


def fix(*routes: Route, after: conclusion.AfterDeletion | None = None, proposal: of.Proposal | None = None) -> Fix:
    """Return a fix that is made so."""
    return Fix(
        proposals=(proposal or constraints.MakeSoft(topology_key=ZONE),),
        after_deletion=after,
        mends=False,
        feasible=("a1",),
        admits=1,
        siblings=1,
        alike=(),
        changes=(),
        routes=routes,
        new_revision=None,
        on_read_pods=False,
    )


CHANGES: list[tuple[of.Proposal, str]] = [
    (
        constraints.FixSelector(topology_key=ZONE, selector="app=web"),
        f"count only Pods with app=web in the constraint on {ZONE}",
    ),
    (
        constraints.FixSelector(topology_key=ZONE, selector="app=web", others=3, workloads=("pod/a", "job/b")),
        f"count only Pods with app=web in the constraint on {ZONE}, no longer 3 Pods of pod/a and 1 more",
    ),
    (constraints.AddPodLabel(labels=(("app", "web"), ("tier", "x"))), "label the Pod app=web, tier=x"),
    (
        constraints.FixTopologyKey(topology_key="zone", meant=ZONE),
        f"use the topologyKey {ZONE}, which nodes carry, instead of zone",
    ),
    (
        constraints.FixTopologyKey(topology_key="zone", meant=ZONE, former=True),
        f"use the topologyKey {ZONE}, which nodes carry and an older revision uses, instead of zone",
    ),
    (
        constraints.AddMatchLabelKeys(topology_key=ZONE, label="pod-template-hash"),
        (
            f"add matchLabelKeys [pod-template-hash] to the constraint on {ZONE}, so that it counts only Pods of"
            " the same revision"
        ),
    ),
    (
        constraints.HonorTaints(topology_key=ZONE),
        (
            f"set nodeTaintsPolicy Honor in the constraint on {ZONE}, so that cordoned nodes and nodes with"
            " untolerated taints do not count"
        ),
    ),
    (
        constraints.IgnoreAffinity(topology_key=ZONE),
        (
            f"set nodeAffinityPolicy Ignore in the constraint on {ZONE}, so that nodes outside the Pod's node"
            " affinity count"
        ),
    ),
    (
        constraints.HonorAffinity(topology_key=ZONE),
        (
            f"set nodeAffinityPolicy Honor in the constraint on {ZONE}, so that nodes outside the Pod's node"
            " affinity do not count"
        ),
    ),
    (nodes.Uncordon(node="a1"), "uncordon a1"),
    (nodes.LabelNode(node="a1", key=ZONE, value="a", similar="zone"), f"label a1 {ZONE}=a, to match its zone"),
    (demands.AddToleration(cost=2, taint="x=y:NoSchedule"), "tolerate the taint x=y:NoSchedule"),
    (nodes.RemoveTaint(cost=2, taint="x=y:NoSchedule", node="a1"), "remove the taint x=y:NoSchedule from a1"),
    (MOVE, "delete the Pod shop/web-0 on a1"),
    (
        constraints.LowerMinDomains(topology_key=ZONE, min_domains=2),
        f"lower minDomains to 2 in the constraint on {ZONE}, because no more than 2 domains count",
    ),
    (constraints.RaiseMaxSkew(topology_key=ZONE, max_skew=2), f"raise maxSkew to 2 in the constraint on {ZONE}"),
    (
        nodes.AddNode(like="a1", domains=((ZONE, "a"), ("rack", "r")), repaired=True),
        f"add a node like a1, but healthy, in {ZONE} a and rack r, by hand or by an autoscaler",
    ),
    (
        nodes.AddNode(like="a1", domains=(), repaired=False, pool="karpenter.sh/nodepool=gpu"),
        "add a node like a1 to the node pool karpenter.sh/nodepool=gpu, by hand or by an autoscaler",
    ),
    (
        nodes.AddNode(like="a1", domains=((ZONE, "b"), ("rack", "r")), repaired=False, elsewhere=True),
        (
            f"add a node like a1 in {ZONE} b and rack r, by hand or by an autoscaler. No node is in all of these"
            " domains: first make sure that the node pool covers the zone"
        ),
    ),
    (
        nodes.AddNode(like="a1", domains=(), repaired=False),
        "add a node like a1, by hand or by an autoscaler",
    ),
    (demands.RelaxNodeSelector(label=("disk", "ssd")), "drop disk=ssd from the nodeSelector"),
    (demands.RelaxNodeSelector(), "only prefer the nodes that the required node affinity names"),
    (
        demands.LowerRequests(resource="cpu", container="web", quantity="2"),
        "lower the cpu request of container web to 2",
    ),
    (demands.LowerRequests(resource="cpu", container=None, quantity="2"), "lower the cpu request of the Pod to 2"),
    (
        demands.RelaxPodAffinity(field="podAffinity", selector="app=db", topology_key=ZONE),
        f"only prefer the podAffinity to Pods app=db in the same {ZONE}",
    ),
    (
        demands.ChangeHostPort(port=80, protocol="TCP", container="web"),
        "drop the host port 80/TCP of container web",
    ),
    (
        constraints.MakeSoft(topology_key=ZONE),
        f"set whenUnsatisfiable ScheduleAnyway in the constraint on {ZONE}, so that it is only a preference",
    ),
    (replace(MOVE, ending=True), "finish the deletion of the Pod shop/web-0 on a1"),
    (
        moves.RecreatePod(namespace="shop", pod="web-0"),
        "delete the Pod shop/web-0, which was made before its template was changed",
    ),
    (
        moves.RecreatePod(namespace="shop", pod="web-0", certain=False),
        "delete the Pod shop/web-0, which may have been made before its template was changed",
    ),
    (
        moves.RecreatePod(namespace="shop", pod="web-0", resumed=WEB),
        f"resume {WEB}, whose rollout replaces the Pod shop/web-0 of an older template",
    ),
    (demands.RequireZones(zones=("a", "b")), "keep the Pod to zones a and b by node affinity"),
    (moves.RollBack(owner=WEB, revision=2, previous=True), f"go back to revision 2 of {WEB}"),
]


@pytest.mark.parametrize(("proposal", "text"), CHANGES)
def test_each_change_has_its_sentence(proposal: of.Proposal, text: str) -> None:
    assert summary(fix(proposal=proposal)) == text


def test_all_changes_are_among_them() -> None:
    kinds = (kind for base in (of.Proposal, of.OfConstraint) for kind in base.__subclasses__())
    assert {type(proposal) for proposal, _ in CHANGES} == {*kinds} - {of.OfConstraint}


def test_a_change_of_two_constraints_is_one_clause() -> None:
    both = [constraints.MakeSoft(topology_key=key) for key in ("rack", ZONE)]
    assert changes(both) == (
        f"set whenUnsatisfiable ScheduleAnyway in the constraints on rack and {ZONE}, so that it is only a preference"
    )
    assert changes([constraints.AddMatchLabelKeys(topology_key=key, label="hash") for key in ("rack", ZONE)]) == (
        f"add matchLabelKeys [hash] to the constraints on rack and {ZONE}, so that they count only Pods of the same"
        " revision"
    )


def test_two_changes_are_one_sentence() -> None:
    assert changes([nodes.Uncordon(node="a1"), MOVE]) == "uncordon a1; also delete the Pod shop/web-0 on a1"


@pytest.mark.parametrize(
    ("route", "text"),
    [
        (Route(), ""),
        (Route(effect=conclusion.Rollout(owner=WEB, pods=1)), f"replaces the Pod of {WEB}"),
        (Route(effect=conclusion.Rollout(owner=WEB, pods=3)), f"replaces 3 Pods of {WEB}"),
        (Route(effect=conclusion.Rollout(owner=WEB)), f"replaces each Pod of {WEB}"),
        (
            Route(effect=conclusion.Rollout(owner=WEB, pods=3, nothing_runs=True)),
            f"replaces 3 Pods of {WEB} (none of them runs yet)",
        ),
        (
            Route(effect=conclusion.Rollout(owner=WEB, pods=3, at_work=0)),
            f"replaces 3 Pods of {WEB} (none of them runs)",
        ),
        (Route(effect=conclusion.Rollout(owner=WEB, pods=3, at_work=2)), f"replaces 3 Pods of {WEB} (2 of them run)"),
        (
            Route(effect=conclusion.Rollout(owner="statefulset/db", pods=2, waiting=1)),
            "replaces 2 Pods of statefulset/db one after another; the rollout starts once this Pod is deleted",
        ),
        (
            Route(effect=conclusion.Rollout(owner="statefulset/db", pods=5, waiting=2)),
            (
                "replaces 5 Pods of statefulset/db one after another;"
                " the rollout starts once the 2 Pending Pods are deleted"
            ),
        ),
        (
            Route(effect=conclusion.Rollout(owner=WEB, pods=3, at_work=2), paused=True),
            (
                f"{WEB} is paused: nothing is replaced until it is resumed, which also rolls out all other changes"
                f" since the pause; that replaces 3 Pods of {WEB} (2 of them run)"
            ),
        ),
        (
            Route(effect=conclusion.Rollback(owner=WEB, reused="replicaset/web-1", pods=4)),
            f"{WEB} uses replicaset/web-1 again: its 4 Pods stay",
        ),
        (
            Route(effect=conclusion.Rollback(owner=WEB, reused="replicaset/web-1", pods=1, others=2)),
            (f"{WEB} uses replicaset/web-1 again: its Pod stays; 2 running Pods of other ReplicaSets are deleted"),
        ),
        (
            Route(effect=conclusion.PodsRecreated(owner="replicaset/web", waiting=3)),
            "recreates the 3 Pending Pods; other Pods of replicaset/web stay",
        ),
        (
            Route(effect=conclusion.BehindPartition(owner="statefulset/db", partition=2)),
            (
                "spec.updateStrategy.rollingUpdate.partition of statefulset/db is 2 and keeps this Pod on the old"
                " template: the change of statefulset/db reaches it only once that is lowered and the Pod is deleted"
            ),
        ),
        (
            Route(effect=conclusion.TemplateUnreadable(owner="rollout/web", fields=("spec.nodeName", "spec.volumes"))),
            "change spec.nodeName, spec.volumes in the template of rollout/web, which creates these Pods",
        ),
        (
            Route(
                effect=conclusion.NextRun(owner="cronjob/c"),
                keeper=conclusion.Keeper("Helm release web", reverts=False),
            ),
            (
                "change it in its source (Helm release web): kubectl's change lasts until the next upgrade;"
                " the change is only for later runs of cronjob/c: the Pending Pods of this run stay Pending"
            ),
        ),
        (
            Route(
                effect=conclusion.NextRun(owner="cronjob/c"), keeper=conclusion.Keeper("Flux Kustomization shop/web")
            ),
            (
                "change it in its source (Flux Kustomization shop/web): a patch will be reverted;"
                " the change is only for later runs of cronjob/c: the Pending Pods of this run stay Pending"
            ),
        ),
    ],
)
def test_what_the_commands_set_off(route: Route, text: str) -> None:
    assert "; ".join(starts(fix(route))) == text


def test_every_effect_has_its_sentence() -> None:
    """Those that the table above leaves out, too."""
    effects: list[conclusion.Effect] = [
        conclusion.ThisPodOnly(),
        conclusion.PendingPodsOnly(owner=WEB, waiting=2),
        conclusion.PartitionLowered(owner=WEB, partition=2, pods=1, waiting=1),
        conclusion.OwnerRecreated(owner=WEB, at_work=2),
        conclusion.PodRecreated(),
        conclusion.TemplateApplied(owner=WEB, lacks=("spec.a",), waiting=1),
        conclusion.TemplateApplied(owner=WEB, waiting=2),
        *(conclusion.Obstructed(owner=WEB, why=why) for why in Obstacle),
    ]
    missing = {*get_args(conclusion.Effect)} - {type(effect) for effect in effects}
    assert missing == {
        conclusion.Rollout,
        conclusion.Rollback,
        conclusion.BehindPartition,
        conclusion.PodsRecreated,
        conclusion.NextRun,
        conclusion.TemplateUnreadable,
    }
    texts = ["; ".join(starts(fix(Route(effect=effect)))) for effect in effects]
    assert all(text and "{" not in text for text in texts)
    assert len({*texts}) == len(texts)


def test_what_is_to_be_known_comes_first_and_once() -> None:
    routes = [Route(effect=conclusion.ThisPodOnly()), Route(effect=conclusion.Rollout(owner=WEB)), Route()]
    proposal = demands.AddToleration(cost=2, taint="x")
    twice = fix(*routes, proposal=proposal)
    assert starts(twice) == [
        "the nodes are reserved on purpose: make sure that this Pod belongs there",
        "the first command changes only this Pod",
        f"replaces each Pod of {WEB}",
    ]


@pytest.mark.parametrize(
    ("after", "text"),
    [
        (conclusion.Outlook.GONE_FOR_GOOD, "the deleted Pod does not come back, because no controller recreates it"),
        (
            conclusion.Outlook.NODE_SILENT,
            (
                "it is being deleted, and its node does not answer: first make sure that the machine is off, or the Pod"
                " may run twice"
            ),
        ),
        (
            conclusion.HeldByFinalizers(("a/b", "c/d")),
            "it is being deleted and waits for its finalizers a/b, c/d: their controllers must remove them",
        ),
        (conclusion.Recreated(owner=WEB, here=False, may_be_first=False), f"{WEB} recreates it on another node"),
        (
            conclusion.Recreated(owner=WEB, here=True, may_be_first=True),
            f"{WEB} recreates it, perhaps on the same node; {OVERTAKEN}",
        ),
    ],
)
def test_what_becomes_of_the_pod_that_is_deleted(after: conclusion.AfterDeletion, text: str) -> None:
    assert "; ".join(starts(fix(Route(), after=after, proposal=MOVE))) == text


@pytest.mark.parametrize(
    ("what", "text"),
    [
        (
            conclusion.SufferingNodes(nodes=("a1",), taints=("x:NoSchedule",), trouble=NodeTrouble.NOT_READY),
            "tolerating the taint of a1 (not ready; the taint clears on recovery)",
        ),
        (
            conclusion.SufferingNodes(
                nodes=("a1", "b1", "c1"), taints=("x:NoSchedule", "y:NoExecute"), trouble=NodeTrouble.NOT_READY
            ),
            "tolerating the taints of a1 and 2 more (not ready; the taints clear on recovery)",
        ),
        (
            conclusion.SufferingNodes(nodes=("a1", "b1"), taints=("x:NoSchedule",), trouble=NodeTrouble.UNREACHABLE),
            "tolerating the taints of a1 and 1 more (kubelet unreachable; the taints clear on recovery)",
        ),
        (
            conclusion.WouldWarn(proposals=(nodes.Uncordon(node="a1"),), findings=("EmptySelector", "SingleDomain")),
            "uncordon a1 (it would cause EmptySelector, SingleDomain)",
        ),
    ],
)
def test_what_is_left_alone(what: conclusion.NotOffered, text: str) -> None:
    assert left_alone(what) == text


@pytest.mark.parametrize("trouble", NodeTrouble)
def test_all_that_nodes_suffer_from_has_its_words(trouble: NodeTrouble) -> None:
    what = conclusion.SufferingNodes(nodes=("a1",), taints=("x",), trouble=trouble)
    goes = "" if trouble in LASTING else "; the taint clears on recovery"
    goes = "; somebody set .+" if trouble is NodeTrouble.OUT_OF_SERVICE else goes
    assert re.fullmatch(rf"tolerating the taint of a1 \([^;]+{goes}\)", left_alone(what))


@pytest.mark.parametrize(
    ("why", "text"),
    [
        (Ending(grace_seconds=30), "it is being deleted and ends within 30s"),
        (Ending(), "it is being deleted and ends within its grace period"),
        (
            Ending(grace_seconds=30, finalizers=("a/b", "c/d")),
            "it is being deleted and ends within 30s, unless finalizers keep it: a/b, c/d",
        ),
        (
            Ending(grace_seconds=30, over_since="2026-01-01T00:00:30Z"),
            "it is being deleted, and its grace period ended at 2026-01-01T00:00:30Z: check the kubelet of a1",
        ),
        (conclusion.BudgetsNotRead(), "its disruption budgets could not be listed"),
        (EvictionRefused("The disruption budget web"), "The disruption budget web"),
        (KeptByController("Job"), "its Job would count it as failed"),
    ],
)
def test_why_a_pod_is_not_deleted(why: conclusion.WhyNotDeleted, text: str) -> None:
    staying = conclusion.StayingPod(namespace="shop", name="web-0", node="a1", why=why)
    assert left_alone(staying) == f"deleting shop/web-0 on a1 ({text})"


def test_a_fragment_names_its_object_and_marks_what_changes() -> None:
    known = conclusion.Fragment(
        api_version="apps/v1",
        kind="Deployment",
        namespace="shop",
        name="web",
        removed=("spec.a",),
        fields={"metadata": {"labels": {"app": "web", "tier": "front"}}},
        former={"metadata": {"labels": {"app": "web"}}},
    )
    assert fragment_text(known).splitlines() == [
        "# remove spec.a",
        "apiVersion: apps/v1",
        "kind: Deployment",
        "metadata:",
        "  name: web",
        "  namespace: shop",
        "  labels:",
        "    app: web",
        "    tier: front  # changed",
    ]
    changed = conclusion.Fragment(removed=(), fields={"spec": {"a": 1}}, former={"spec": {"a": 2}})
    assert fragment_text(changed).splitlines() == ["spec:", "  a: 1"]


RECOVERY = conclusion.NodeRecovery(nodes=("c1",), taints=("x",), trouble=NodeTrouble.NOT_READY, cordoned=False)
OLD = PodName(namespace="shop", name="old")
JOB_END = conclusion.JobEnd(namespace="etl", name="load", nodes=("a1",), pods=2, priority=7, ours=False)
WAITS: list[tuple[Wait, str]] = [
    (RECOVERY, "c1 to recover (not ready)"),
    (replace(RECOVERY, nodes=("c1", "c2")), "c1 or c2 to recover (not ready)"),
    (replace(RECOVERY, nodes=("c1", "c2", "c3")), "any of 3 nodes, such as c1, to recover (not ready)"),
    (replace(RECOVERY, taints=(), cordoned=True), "c1 to be uncordoned: maintenance goes on there"),
    (replace(RECOVERY, cordoned=True), "c1 to recover (not ready), and to be uncordoned"),
    (replace(RECOVERY, problems=("DiskBad",)), "c1 to recover (condition DiskBad)"),
    (replace(RECOVERY, ending=(OLD,)), "c1 to recover (not ready), and for shop/old to end there"),
    (
        conclusion.NodeRemoval(nodes=("c1",), trouble=NodeTrouble.BEING_DELETED),
        "c1 to be removed (its Node object is being deleted): without it, the Pod can be scheduled",
    ),
    (
        conclusion.PodEnding(pods=(OLD, replace(OLD, name="older")), nodes=("c1",), ending=Ending(grace_seconds=30)),
        "shop/old and shop/older on c1: they are being deleted and end within 30s",
    ),
    (
        conclusion.PodEnding(pods=(OLD, replace(OLD, name="older")), nodes=("c1",), ending=Ending(over_since="noon")),
        (
            "shop/old and shop/older on c1: they are being deleted, and the first grace period ended at noon: check the"
            " kubelet of c1"
        ),
    ),
    (conclusion.PodRemoval(workload="job/web", why="is suspended"), "this Pod to be deleted: job/web is suspended"),
    (conclusion.ClaimCreation(claims=("disk",)), "the controller of the Pod to create the PersistentVolumeClaim disk"),
    (
        conclusion.RolloutGoesOn(workload=WEB, replaces=True),
        f"the rollout of {WEB}: it replaces this Pod, which is of an older revision",
    ),
    (
        conclusion.RolloutGoesOn(workload=WEB),
        f"the rollout of {WEB}: it deletes old Pods as new ones become Ready, which makes room for this one",
    ),
    (
        conclusion.JobGoesOn(workload="job/web", nodes=("a1", "b1"), pods=5, running=5),
        (
            "one of the 5 running Pods of job/web to end: then this Pod, or another one of the Job, can be scheduled."
            " The Job goes on meanwhile"
        ),
    ),
    (
        conclusion.JobGoesOn(workload="job/web", nodes=("c1",), pods=1, running=5),
        (
            "the running Pod of job/web on c1 to end: then this Pod, or another one of the Job, can be scheduled. The"
            " Job goes on meanwhile"
        ),
    ),
    (
        JOB_END,
        (
            "job etl/load to end, or ask the owner of namespace etl to suspend it: its 2 Pods with priority 7 use the"
            " room on a1"
        ),
    ),
    (
        replace(JOB_END, ours=True, pods=1),
        "job etl/load to end, or suspend it: its 1 Pod with priority 7 uses the room on a1",
    ),
    (
        conclusion.NodeAddition(autoscaler="Karpenter", pools="NodePool p"),
        "a node that Karpenter may add from NodePool p",
    ),
    (
        conclusion.NodeAddition(autoscaler="Karpenter"),
        "a node that starts: it is not Ready yet, and Karpenter sees room for the Pod there",
    ),
]


@pytest.mark.parametrize(("wait", "text"), WAITS)
def test_what_is_waited_for(wait: Wait, text: str) -> None:
    assert wait_text(wait) == text


def test_all_waits_are_among_them() -> None:
    assert {type(wait) for wait, _ in WAITS} == {*ExpectedChange.__subclasses__()}


@pytest.mark.parametrize(
    ("created", "feasible", "siblings", "text"),
    [
        (0, ("a1",), 1, "Then the Pending Pod is deleted, and no new Pod is needed."),
        (1, ("a1", "b1"), 2, "Then the 2 Pending Pods are deleted, and 1 new Pod can go to a1 or b1."),
        (2, (), 2, "Then the 2 Pending Pods are deleted, and 2 new Pods are created."),
    ],
)
def test_the_pods_of_an_older_replica_set_come_instead_of_the_pending_ones(
    created: int, feasible: tuple[str, ...], siblings: int, text: str
) -> None:
    assert instead(created, feasible, siblings) == text

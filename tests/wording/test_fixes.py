"""The sentences of fixes, from what the engine concludes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import get_args

import pytest
from msgspec.structs import replace

from kubectl_spread.apiserver.eviction import EvictionRefused
from kubectl_spread.controllers.do_not_evict import KeptByController
from kubectl_spread.controllers.taints import NodeTrouble
from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.diagnosis.fixes import conclusion, constraints, demands, moves, nodes, strategy
from kubectl_spread.diagnosis.fixes import proposals as of
from kubectl_spread.diagnosis.fixes.conclusion import Ending, ExpectedChange, Fix, Obstacle, Route, Wait
from kubectl_spread.diagnosis.fixes.waits import LASTING
from kubectl_spread.wording.fixes import changes, instead, left_alone, starts, summary
from kubectl_spread.wording.fixes.routes import fragment_text
from kubectl_spread.wording.fixes.waits import wait_text

ZONE = "topology.kubernetes.io/zone"
MOVE = moves.MovePod(namespace="shop", pod="web-0", node="a1")
WEB = "deployment/web"


def fix(*routes: Route, after: conclusion.AfterDeletion | None = None, proposal: of.Proposal | None = None) -> Fix:
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


CHANGES: list[of.Proposal] = [
    constraints.FixSelector(topology_key=ZONE, selector="app=web"),
    constraints.FixSelector(topology_key=ZONE, selector="app=web", others=3, workloads=("pod/a", "job/b")),
    constraints.FixSelector(topology_key=ZONE, selector="app=web", label="pod-template-hash", apart=("job/a", "job/b")),
    constraints.AddPodLabel(labels=(("app", "web"), ("tier", "x"))),
    constraints.FixTopologyKey(topology_key="zone", meant=ZONE),
    constraints.FixTopologyKey(topology_key="zone", meant=ZONE, former=True),
    constraints.AddMatchLabelKeys(topology_key=ZONE, label="pod-template-hash"),
    constraints.AddMatchLabelKeys(topology_key=ZONE, label="pod-template-hash", apart=("deployment/canary",)),
    constraints.HonorTaints(topology_key=ZONE),
    constraints.IgnoreAffinity(topology_key=ZONE),
    constraints.HonorAffinity(topology_key=ZONE),
    nodes.Uncordon(node="a1"),
    nodes.LabelNode(node="a1", key=ZONE, value="a", similar="zone"),
    demands.AddToleration(cost=2, taint="x=y:NoSchedule"),
    nodes.RemoveTaint(cost=2, taint="x=y:NoSchedule", node="a1"),
    MOVE,
    constraints.LowerMinDomains(topology_key=ZONE, min_domains=2),
    constraints.RaiseMaxSkew(topology_key=ZONE, max_skew=2),
    nodes.AddNode(like="a1", domains=((ZONE, "a"), ("rack", "r")), repaired=True),
    nodes.AddNode(like="a1", domains=(), repaired=False, pool="karpenter.sh/nodepool=gpu"),
    nodes.AddNode(like="a1", domains=((ZONE, "b"), ("rack", "r")), repaired=False, elsewhere=True),
    nodes.AddNode(like="a1", domains=(), repaired=False),
    demands.RelaxNodeSelector(label=("disk", "ssd")),
    demands.RelaxNodeSelector(),
    demands.LowerRequests(resource="cpu", container="web", quantity="2"),
    demands.LowerRequests(resource="cpu", container=None, quantity="2"),
    demands.RelaxPodAffinity(field="podAffinity", selector="app=db", topology_key=ZONE),
    demands.ChangeHostPort(port=80, protocol="TCP", container="web"),
    strategy.ChangeStrategy(owner=WEB, max_unavailable=1, replicas=3),
    constraints.MakeSoft(topology_key=ZONE),
    replace(MOVE, ending=True),
    replace(MOVE, evicted=True),
    moves.RecreatePod(namespace="shop", pod="web-0"),
    moves.RecreatePod(namespace="shop", pod="web-0", certain=False),
    moves.RecreatePod(namespace="shop", pod="web-0", resumed=WEB),
    demands.RequireZones(zones=("a", "b")),
    moves.RollBack(owner=WEB, revision=2, previous=True),
]


def test_all_changes_are_among_them() -> None:
    kinds = (kind for base in (of.Proposal, of.OfConstraint) for kind in base.__subclasses__())
    assert {type(each) for each in CHANGES} == {*kinds} - {of.OfConstraint}


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


ROUTES: list[Route] = [
    Route(),
    Route(effect=conclusion.Rollout(owner=WEB, pods=1)),
    Route(effect=conclusion.Rollout(owner=WEB, pods=3)),
    Route(effect=conclusion.Rollout(owner=WEB)),
    Route(effect=conclusion.Rollout(owner=WEB, pods=3, nothing_runs=True)),
    Route(effect=conclusion.Rollout(owner=WEB, pods=3, at_work=0)),
    Route(effect=conclusion.Rollout(owner=WEB, pods=3, at_work=2)),
    Route(effect=conclusion.Rollout(owner="statefulset/db", pods=2, waiting=1)),
    Route(effect=conclusion.Rollout(owner="statefulset/db", pods=5, waiting=2)),
    Route(effect=conclusion.Rollout(owner=WEB, pods=3, at_work=2), paused=True),
    Route(effect=conclusion.Rollback(owner=WEB, reused="replicaset/web-1", pods=4)),
    Route(effect=conclusion.Rollback(owner=WEB, reused="replicaset/web-1", pods=1, others=2)),
    Route(effect=conclusion.PodsRecreated(owner="replicaset/web", waiting=3)),
    Route(effect=conclusion.BehindPartition(owner="statefulset/db", partition=2)),
    Route(effect=conclusion.TemplateUnreadable(owner="rollout/web", fields=("spec.nodeName", "spec.volumes"))),
    Route(effect=conclusion.NextRun(owner="cronjob/c"), keeper=conclusion.Keeper("Helm release web", reverts=False)),
    Route(effect=conclusion.NextRun(owner="cronjob/c"), keeper=conclusion.Keeper("Flux Kustomization shop/web")),
]


EFFECTS: list[conclusion.Effect] = [
    conclusion.ThisPodOnly(),
    conclusion.PendingPodsOnly(owner=WEB, waiting=2),
    conclusion.PartitionLowered(owner=WEB, partition=2, pods=1, waiting=1),
    conclusion.OwnerRecreated(owner=WEB, at_work=2),
    conclusion.PodRecreated(),
    conclusion.TemplateApplied(owner=WEB, lacks=("spec.a",), waiting=1),
    conclusion.TemplateApplied(owner=WEB, waiting=2),
    *(conclusion.Obstructed(owner=WEB, why=why) for why in Obstacle),
]


def test_every_effect_is_among_them() -> None:
    assert {type(each) for each in (*EFFECTS, *(route.effect for route in ROUTES))} == {
        *get_args(conclusion.Effect),
        type(None),
    }


def test_what_is_to_be_known_comes_first_and_once() -> None:
    routes = [Route(effect=conclusion.ThisPodOnly()), Route(effect=conclusion.Rollout(owner=WEB)), Route()]
    proposal = demands.AddToleration(cost=2, taint="x")
    twice = fix(*routes, proposal=proposal)
    assert starts(twice) == [
        "the nodes are reserved on purpose: make sure that this Pod belongs there",
        "the first command changes only this Pod",
        f"replaces each Pod of {WEB}",
    ]


DELETED: list[conclusion.AfterDeletion] = [
    conclusion.Outlook.GONE_FOR_GOOD,
    conclusion.Outlook.NODE_SILENT,
    conclusion.HeldByFinalizers(("a/b", "c/d")),
    conclusion.Recreated(owner=WEB, may_be_first=False),
    conclusion.Recreated(owner=WEB, may_be_first=True),
]


LEFT_ALONE: list[conclusion.NotOffered] = [
    conclusion.SufferingNodes(nodes=("a1",), taints=("x:NoSchedule",), trouble=NodeTrouble.NOT_READY),
    conclusion.SufferingNodes(
        nodes=("a1", "b1", "c1"), taints=("x:NoSchedule", "y:NoExecute"), trouble=NodeTrouble.NOT_READY
    ),
    conclusion.SufferingNodes(nodes=("a1", "b1"), taints=("x:NoSchedule",), trouble=NodeTrouble.UNREACHABLE),
    conclusion.WouldWarn(proposals=(nodes.Uncordon(node="a1"),), findings=("EmptySelector", "SingleDomain")),
]


@pytest.mark.parametrize("trouble", NodeTrouble)
def test_all_that_nodes_suffer_from_has_its_words(trouble: NodeTrouble) -> None:
    what = conclusion.SufferingNodes(nodes=("a1",), taints=("x",), trouble=trouble)
    goes = "" if trouble in LASTING else "; the taint clears on recovery"
    goes = "; somebody set .+" if trouble is NodeTrouble.OUT_OF_SERVICE else goes
    assert re.fullmatch(rf"tolerating the taint of a1 \([^;]+{goes}\)", left_alone(what))


NOT_DELETED: list[conclusion.WhyNotDeleted] = [
    Ending(grace_seconds=30),
    Ending(),
    Ending(grace_seconds=30, finalizers=("a/b", "c/d")),
    Ending(grace_seconds=30, over_since="2026-01-01T00:00:30Z"),
    conclusion.BudgetsNotRead(),
    EvictionRefused("The disruption budget web"),
    KeptByController("Job"),
]


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
WAITS: list[Wait] = [
    RECOVERY,
    replace(RECOVERY, nodes=("c1", "c2")),
    replace(RECOVERY, nodes=("c1", "c2", "c3")),
    replace(RECOVERY, taints=(), cordoned=True),
    replace(RECOVERY, cordoned=True),
    replace(RECOVERY, problems=("DiskBad",)),
    replace(RECOVERY, ending=(OLD,)),
    conclusion.NodeRemoval(nodes=("c1",), trouble=NodeTrouble.BEING_DELETED),
    conclusion.PodEnding(pods=(OLD, replace(OLD, name="older")), nodes=("c1",), ending=Ending(grace_seconds=30)),
    conclusion.PodEnding(pods=(OLD, replace(OLD, name="older")), nodes=("c1",), ending=Ending(over_since="noon")),
    conclusion.PodPreemption(pods=(OLD,), nodes=("c1",)),
    conclusion.PodPreemption(pods=(OLD,), nodes=("c1", "c2")),
    conclusion.PodPreemption(pods=(OLD,)),
    conclusion.PodRemoval(workload="job/web", why="is suspended"),
    conclusion.ClaimCreation(claims=("disk",)),
    conclusion.RolloutGoesOn(workload=WEB, replaces=True),
    conclusion.RolloutGoesOn(workload=WEB),
    conclusion.JobGoesOn(workload="job/web", nodes=("a1", "b1"), pods=5, running=5),
    conclusion.JobGoesOn(workload="job/web", nodes=("c1",), pods=1, running=5),
    JOB_END,
    replace(JOB_END, ours=True, pods=1),
    conclusion.NodeAddition(autoscaler="Karpenter", pools="NodePool p"),
    conclusion.NodeAddition(autoscaler="Karpenter"),
]


def test_all_waits_are_among_them() -> None:
    assert {type(each) for each in WAITS} == {*ExpectedChange.__subclasses__()}


INSTEAD: list[tuple[int, tuple[str, ...], int]] = [(0, ("a1",), 1), (1, ("a1", "b1"), 2), (2, (), 2)]


def test_the_sentences_of_fixes(same_as_golden: Callable[[str, str], None]) -> None:
    staying = [conclusion.StayingPod(namespace="shop", name="web-0", node="a1", why=why) for why in NOT_DELETED]
    told = (
        *(f"{each.id}: {summary(fix(proposal=each))}" for each in CHANGES),
        *(f"{type(each).__name__}: {'; '.join(starts(fix(Route(effect=each))))}" for each in EFFECTS),
        *(f"Route: {'; '.join(starts(fix(each)))}" for each in ROUTES),
        *(f"Deleted: {'; '.join(starts(fix(Route(), after=each, proposal=MOVE)))}" for each in DELETED),
        *(f"Not proposed: {left_alone(each)}" for each in (*LEFT_ALONE, *staying)),
        *(f"{type(each).__name__}: {wait_text(each)}" for each in WAITS),
        *(f"Instead: {instead(*each)}" for each in INSTEAD),
    )
    same_as_golden("".join(f"{each}\n" for each in told), "phrasebook/fixes.txt")

"""The fixes of a Pending Pod, as their lines read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from kubectl_spread.contract.check import CheckItem, Jam
from kubectl_spread.contract.evaluation import EvaluationReport, as_item
from kubectl_spread.controllers.do_not_evict import KeptByController
from kubectl_spread.controllers.taints import NodeTrouble
from kubectl_spread.controllers.workloads import PodName, WorkloadRef
from kubectl_spread.diagnosis.fixes import constraints, moves, nodes, proposals
from kubectl_spread.diagnosis.fixes.change import Change, Disturbance, Override, Target
from kubectl_spread.diagnosis.fixes.choice import with_offered
from kubectl_spread.diagnosis.fixes.conclusion import (
    BudgetsNotRead,
    Command,
    Ending,
    Fix,
    NodeRecovery,
    PodEnding,
    Rollout,
    RolloutEnd,
    Route,
    StayingPod,
)
from kubectl_spread.diagnosis.fixes.future import Future, OtherWorkload, WorseConstraint
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.gaps import UnreadableManifest
from kubectl_spread.render.outline import Extent, Step
from kubectl_spread.render.outline.fixes import steps_block
from kubectl_spread.render.text import block_lines
from kubectl_spread.wording.fixes import NOT_JUDGED, NOTHING_HELPS, ON_PURPOSE, RESTARTS_NOTHING
from tests.build import ZONE, app, node, spread
from tests.diagnosis.judged import ABC, TAINTED, incoming, report_of, web

BLOCKED = report_of(incoming(), [*TAINTED, *web("a1", "b1")])
RAISE = constraints.RaiseMaxSkew(topology_key="rack", max_skew=2)
RAISED = "RaiseMaxSkew: raise maxSkew to 2 in the constraint on rack."
SOFT = constraints.MakeSoft(topology_key="rack")
MOVE = moves.MovePod(namespace="default", pod="b", node="b1")
UNCORDON = nodes.Uncordon(node="a1")
HONOR = constraints.HonorTaints(topology_key="rack")
BACK = moves.RollBack(owner="deployment/web", revision=1, previous=True)
NODE = nodes.AddNode(like="a1", domains=(("rack", "c"),), repaired=False)
RECOVERY = NodeRecovery(nodes=("c1",), taints=("x",), trouble=NodeTrouble.NOT_READY, cordoned=False)
ENDING = PodEnding(pods=(PodName(namespace="default", name="old"),), nodes=("a1",), ending=Ending())
ADD = "Add a node like a1 in rack c, by hand or by an autoscaler"


def fix(
    proposal: proposals.Proposal = RAISE,
    *,
    disturbs: Disturbance = Disturbance.NOTHING,
    overrides: Override = Override.NOTHING,
    end: RolloutEnd | None = None,
    **fields: Any,  # noqa: ANN401 - any field
) -> Fix:
    """Return a fix that opens a node."""
    values: dict[str, Any] = {"feasible": ("a1", "b1"), "admits": 1, "siblings": 1, "changes": ()}
    values |= {"routes": (Route(disturbs=disturbs),), "on_read_pods": False, "rollout_end": end}
    return Fix(proposals=(replace(proposal, overrides=overrides),), **values | fields)


def blocked(*fixes: Fix, **fields: Any) -> EvaluationReport:  # noqa: ANN401 - any field
    """Return the report of a Pod that these fixes let in."""
    report = replace(BLOCKED, fixes=fixes, **fields)
    return replace(report, fixes=with_offered(report))


def steps(report: EvaluationReport, *, every: bool = False) -> Sequence[Step]:
    """Return what there is to do."""
    block = steps_block(report, Extent(every_fix=every))
    return block.steps if block else ()


def lines(report: EvaluationReport, *, every: bool = False) -> list[str]:
    block = steps_block(report, Extent(every_fix=every))
    return list(block_lines(block)) if block else []


def ids(report: EvaluationReport, *, every: bool = False) -> list[str]:
    """Return the classes of the fixes among the steps, and what is said of other steps."""
    return [step.id or step.summary for step in steps(report, every=every)]


@pytest.mark.parametrize(
    "report", [report_of(incoming(), ABC), report_of(incoming(), [])], ids=["feasible", "no nodes"]
)
def test_nothing_is_said_where_nothing_can_be_fixed(report: EvaluationReport) -> None:
    assert steps_block(report, Extent()) is None


def test_a_fix_that_restarts_nothing_says_so() -> None:
    safe, rolling, costly = (fix(disturbs=disturbs) for disturbs in Disturbance)
    found = steps(blocked(safe, rolling, costly), every=True)
    assert [RESTARTS_NOTHING in step.notes for step in found] == [True, False, False]
    assert lines(blocked(safe, rolling))[0] == "What to do, best first (fixes verified by simulation):"
    assert lines(blocked(rolling))[0] == "What to do (verified by simulation):"
    assert lines(blocked(costly, costly))[0] == (
        "No safe fix was found. What would help, best first (fixes verified by simulation):"
    )


def test_of_a_manifest_nothing_is_said_to_restart_nothing() -> None:
    jam = Jam(replica=1, message="0/4 nodes are available")
    item = as_item(CheckItem, blocked(fix(), source="web.yaml, document 1"), jam=jam)
    assert not any("restarts" in line for line in lines(item))


def test_what_ends_by_itself_comes_first_and_all_is_one_list() -> None:
    waits = (replace(ENDING, sure=False),)
    report = blocked(fix(disturbs=Disturbance.REPLACED), waits=waits, new_nodes=(fix(NODE),))
    assert ids(report) == [
        "Wait for default/old on a1: it is being deleted and ends within its grace period",
        ADD,
        "RaiseMaxSkew",
    ]


def test_a_fix_with_all_there_is_to_say() -> None:
    commands = tuple(Command(verb="delete", kind="pod", name=name) for name in ("one", "two"))
    route = Route(effect=Rollout(owner="deployment/web", pods=3), commands=commands)
    alike = (("n1",), ("n2",))
    report = blocked(fix(siblings=3, admits=2, alike=alike, new_revision=("a1",), routes=(route,)))
    assert lines(report) == [
        "What to do (verified by simulation):",
        (
            f"  1. {RAISED} Replaces 3 Pods of deployment/web. Then 2 of 3 Pending Pods can be scheduled, the first on"
            f" a1 or b1. n1, n2 would do as well. A Pod of the new revision may go to a1. {RESTARTS_NOTHING}"
        ),
        "     kubectl delete pod one",
        "     kubectl delete pod two",
    ]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "Then this Pod can go to a1 or b1."),
        ({"siblings": 100, "admits": 100}, "Then at least 100 Pending Pods can be scheduled, this one on a1 or b1."),
        (
            {"siblings": 100, "admits": 40},
            "Then 40 of at least 100 Pending Pods can be scheduled, the first on a1 or b1.",
        ),
        (
            {"siblings": 3, "admits": 2, "on_read_pods": True},
            "Then at least 2 of 3 Pending Pods can be scheduled, the first on a1 or b1.",
        ),
        (
            {"siblings": 3, "admits": 3, "on_read_pods": True},
            "Then all 3 Pending Pods can be scheduled, this one on a1 or b1.",
        ),
        ({"siblings": 2, "admits": 0}, ""),
    ],
)
def test_where_the_pod_goes_and_how_many_of_the_pending_pods(fields: dict[str, Any], said: str) -> None:
    assert steps(blocked(fix(**fields)))[0].notes[0] == said


def test_only_those_offered_first_unless_all_are_wanted() -> None:
    fixes = [fix(part) for part in (HONOR, SOFT, RAISE, UNCORDON)]
    assert ids(blocked(*fixes)) == ["HonorTaints", "MakeSoft"]
    assert "; 2 more with --all-fixes):" in lines(blocked(*fixes))[0]
    assert len(ids(blocked(*fixes), every=True)) == len(fixes)
    assert "more with" not in lines(blocked(*fixes), every=True)[0]


def test_why_fixes_are_hidden() -> None:
    rest = RolloutEnd(least=2, most=2, worth=True, gains=False)
    hidden = [
        (fix(admits=0, end=rest), "1 fix would replace Pods and leave as many without a node: see --all-fixes."),
        (fix(overrides=Override.NODE_POOL), "1 fix changes what somebody set on purpose: see --all-fixes."),
    ]
    for each, said in hidden:
        assert lines(blocked(each)) == [said]
        assert ids(blocked(each), every=True) == ["RaiseMaxSkew"]
    needless = lines(blocked(fix(disturbs=Disturbance.REPLACED), waits=(ENDING,)))
    assert needless[-1] == "  1 fix would end running Pods, which is not needed if you wait: see --all-fixes."


def test_what_somebody_set_on_purpose_is_asked_for() -> None:
    assert steps(blocked(fix(UNCORDON, overrides=Override.DECISION)))[0].notes[-2:] == (ON_PURPOSE, RESTARTS_NOTHING)


def test_a_node_that_only_has_to_be_uncordoned_comes_before_one_that_recovers() -> None:
    wait = "Wait for c1 to recover (not ready)"
    assert ids(blocked(fix(UNCORDON), waits=(RECOVERY,))) == ["Uncordon", wait]
    assert ids(blocked(fix(UNCORDON, siblings=2), waits=(RECOVERY,))) == [wait, "Uncordon"]


@pytest.mark.parametrize(("overrides", "told"), [(Override.NOTHING, True), (Override.DECISION, False)])
def test_a_node_under_maintenance_is_not_as_good_as_another(overrides: Override, *, told: bool) -> None:
    cordoned = fix(UNCORDON, alike=(("b1",),), overrides=overrides)
    assert ("b1 would do as well." in steps(blocked(cordoned))[0].notes) == told


def test_nothing_helps_and_what_no_change_reaches() -> None:
    rejects = f"the constraint on {ZONE} and TaintToleration still reject nodes"
    assert lines(blocked()) == [f"{NOTHING_HELPS.format('')}: {rejects}."]
    assert lines(blocked(conflict=())) == [f"{NOTHING_HELPS.format('')}."]
    full = (FilterRequirement(plugin="NodeResourcesFit"),)
    larger = "NodeResourcesFit still rejects nodes. A larger node or smaller requests would."
    assert lines(blocked(conflict=full)) == [f"{NOTHING_HELPS.format('')}: {larger}"]
    told = lines(blocked(conflict=(), new_nodes=(fix(NODE),)))
    assert told == ["What to do:", f"  1. {ADD}.", f"  {NOTHING_HELPS.format('other ')}."]


def test_a_search_that_was_cut_short_does_not_say_that_nothing_helps() -> None:
    cut_short = "The search was cut short: --fix-budget gives it more time."
    assert lines(blocked(fix_search="bounded")) == [cut_short]
    assert lines(blocked(fix(), fix_search="bounded"))[-1] == f"  {cut_short}"


def test_a_further_node_comes_after_what_costs_less() -> None:
    more = fix(NODE, alike=(("new-a2",), ("new-b1",)))
    with_more = blocked(fix(HONOR), new_nodes=(more,))
    like = "Add a node like a1 in rack c (or like a2, b1), by hand or by an autoscaler"
    assert ids(with_more, every=True) == ["HonorTaints", like]
    assert lines(with_more)[0].endswith("; 1 more with --all-fixes):")
    # What gives up a part of the spread, another Pod's place or a decision comes after what keeps them.
    decision = fix(HONOR, overrides=Override.DECISION)
    pair = replace(fix(HONOR), proposals=(HONOR, RAISE))
    for costlier in (*map(fix, (SOFT, RAISE, MOVE, BACK)), decision, pair):
        report = blocked(costlier, new_nodes=(fix(NODE),))
        assert ids(report)[0] == ADD
        assert lines(report)[0].startswith("What to do, best first")


def test_of_two_constraints_the_operator_chooses_which_to_weaken() -> None:
    other = fix(replace(RAISE, topology_key="zone"))
    either = "This one or the one before is enough: choose the constraint that matters less."
    assert [either in step.notes for step in steps(blocked(fix(), other, fix(SOFT)))] == [False, True]


def test_the_deletion_of_a_pod_in_another_namespace_asks_its_owner() -> None:
    def told(namespace: str) -> str:
        change = Change(target=Target(kind="Pod", namespace=namespace, name="b"), op="delete")
        return " ".join(steps(blocked(fix(MOVE, changes=(change,))))[0].notes)

    assert "Ask the owner of namespace etl first." in told("etl")
    assert "Ask the owner" not in told("default")


def test_nodes_that_lack_only_the_label_are_to_be_labelled() -> None:
    objects = [*TAINTED, *web("a1", "b1"), node("new-1"), node("new-2")]
    report = report_of(incoming(), objects)
    assert lines(report)[1] == (
        f"  1. Set {ZONE} on new-1 and 1 more to where each of them is: without that label, no Pod with this constraint"
        " may go there. Other nodes have a, b, c."
    )
    nobody = report_of(incoming(spread("rack", selector=app("web"))), [node("new-1"), node("new-2")])
    nobody = replace(nobody, fixes=(fix(SOFT, offered=True),))
    assert [step[:8] for step in ids(nobody)] == ["MakeSoft", "Set rack"]
    named = fix(nodes.LabelNode(node="new-1", key=ZONE, value="a", similar="zone"))
    assert ids(replace(report, fixes=(named,)), every=True) == ["LabelNode"]


def test_what_is_not_proposed_for_one_reason_is_one_line() -> None:
    kept, unread = KeptByController("Job"), BudgetsNotRead()
    pods = (("b", kept), ("c", kept), ("d", unread))
    left = tuple(StayingPod(namespace="a", name=name, node="n1", why=why) for name, why in pods)
    assert lines(blocked(fix(), left_alone=left))[2:] == [
        "  Not proposed: deleting a/b on n1, or another Pod like it (its Job would count it as failed).",
        "  Not proposed: deleting a/d on n1 (its disruption budgets could not be listed).",
    ]


def test_fixes_are_told_to_rest_on_what_was_judged() -> None:
    missing = UnreadableManifest(place="DynamicResources", why="devices were not judged")
    assert NOT_JUDGED in "\n".join(lines(blocked(fix(), incomplete=(missing,))))
    assert NOT_JUDGED not in "\n".join(lines(blocked(fix())))
    assert NOT_JUDGED not in "\n".join(lines(blocked(incomplete=(missing,))))


def test_a_new_revision_may_find_no_node_yet() -> None:
    assert "A Pod of the new revision may go to no node yet." in steps(blocked(fix(new_revision=())))[0].notes


def test_a_new_node_that_is_not_enough_says_so() -> None:
    alone = steps(blocked(new_nodes=(fix(NODE, siblings=2),)))[0]
    assert alone.notes == ("Then 1 of 2 Pending Pods can be scheduled, the first on the new node.",)


def future(**fields: Any) -> Future:  # noqa: ANN401 - any field
    """Return what a fix does in a cluster in which it changes nothing else."""
    values: dict[str, Any] = {"admits": 1, "admits_at_most": 1, "in_all": (1, 1), "pending": 1, "replaced": 0}
    end = RolloutEnd(least=0, most=0, worth=True, gains=True)
    return Future(**{**values, "others": (), "worse": (), "end": end, **fields})


API = WorkloadRef(kind="Deployment", name="api")
GAINS = OtherWorkload(namespace="shop", workload=API, admits=1, admits_at_most=2, pending=2)
LOSES = OtherWorkload(namespace="shop", workload=API, admits=-1, admits_at_most=-1, pending=0)
WORSE = WorseConstraint(namespace="shop", workload=API, topology_key=ZONE, skew=3, max_skew=1)


@pytest.mark.parametrize(
    ("fields", "texts"),
    [
        ({}, ["Then this Pod can go to a1 or b1.", RESTARTS_NOTHING]),
        ({"replaced": 1}, ["The rollout goes on: 1 running Pod is replaced."]),
        (
            {"others": (GAINS,), "in_all": (2, 3), "pending": 9},
            ["In all, 2 to 3 of 9 Pending Pods get a node: others are shop/api 1 to 2."],
        ),
        (
            {"others": (LOSES,), "admits": 2, "admits_at_most": 2},
            ["Fewer Pods of other workloads have a node: shop/api 1."],
        ),
        ({"worse": (WORSE,)}, ["The constraint of shop/api on zone is violated then (skew 3, maxSkew 1)."]),
        (
            {"worse": (replace(WORSE, by_chance=True),)},
            ["The constraint of shop/api on zone may be violated then (skew 3, maxSkew 1)."],
        ),
    ],
)
def test_what_a_fix_does_for_the_others(fields: dict[str, Any], texts: Sequence[str]) -> None:
    (step,) = steps(blocked(fix(UNCORDON, future=future(**fields))))
    assert set(texts) <= set(step.notes)


def test_what_others_may_take_is_no_promise() -> None:
    (step,) = steps(blocked(fix(UNCORDON, admits=0, future=future(admits=0))))
    assert step.notes[0] == "Then this Pod may go to a1 or b1, unless Pods of other workloads are scheduled first."


def test_a_node_that_only_others_get_is_not_offered() -> None:
    hidden = fix(UNCORDON, admits=0, future=future(admits=0, admits_at_most=0, others=(GAINS,)))
    block = steps_block(blocked(hidden), Extent())
    assert block is not None
    assert block.steps == ()
    assert block.notes == (
        "1 fix would let in Pods of other workloads only, which are scheduled first: see --all-fixes.",
    )


def test_where_others_were_not_simulated_it_says_so() -> None:
    change = Change(target=Target(kind="Node", name="a1"), json_patch=())
    (step,) = steps(blocked(fix(UNCORDON, alone=True, changes=(change,))))
    assert step.notes[1:] == ("Other workloads' Pending Pods were not simulated.",)

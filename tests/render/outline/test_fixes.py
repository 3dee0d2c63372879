"""The fixes of a Pending Pod, as their lines read."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from kubectl_spread.contract.check import CheckItem, Jam
from kubectl_spread.contract.evaluation import EvaluationReport, as_item
from kubectl_spread.contract.fixes import ExpectedChange, Fix
from kubectl_spread.contract.report import Incomplete
from kubectl_spread.diagnosis.fixes.change import Change, Disturbance, Override, Target
from kubectl_spread.render.outline import Extent
from kubectl_spread.render.outline.fixes import MOST_FIXES, steps_block
from kubectl_spread.render.text import block_lines
from kubectl_spread.wording.fixes import NOT_JUDGED, NOTHING_HELPS, ON_PURPOSE, RESTARTS_NOTHING
from tests.build import ZONE, app, node, spread
from tests.diagnosis.judged import ABC, TAINTED, incoming, report_of, web

BLOCKED = report_of(incoming(), [*TAINTED, *web("a1", "b1")])


def fix(**fields: Any) -> Fix:  # noqa: ANN401 - any field
    """Return a fix that opens a node."""
    values: dict[str, Any] = {
        "id": "RaiseMaxSkew",
        "summary": "raise maxSkew to 2",
        "cost": 3,
        "feasible": ("a1", "b1"),
        "admits": 1,
        "siblings": 1,
        "alike": (),
        "changes": (),
    }
    return Fix(**values | fields)


def blocked(*fixes: Fix, **fields: Any) -> EvaluationReport:  # noqa: ANN401 - any field
    """Return the report of a Pod that these fixes let in."""
    return msgspec.structs.replace(BLOCKED, fixes=fixes, **fields)


def lines(report: EvaluationReport, *, every: bool = False) -> list[str]:
    """Return the lines."""
    fixes = steps_block(report, Extent(every_fix=every))
    return list(block_lines(fixes)) if fixes else []


@pytest.mark.parametrize(
    "report", [report_of(incoming(), ABC), report_of(incoming(), [])], ids=["feasible", "no nodes"]
)
def test_nothing_is_said_where_nothing_can_be_fixed(report: EvaluationReport) -> None:
    assert steps_block(report, Extent()) is None


def test_a_fix_that_restarts_nothing_says_so() -> None:
    safe, rolling, costly = (
        fix(id=each.value, disturbs=each) for each in (Disturbance.NOTHING, Disturbance.REPLACED, Disturbance.LOST)
    )
    told = lines(blocked(safe, safe, rolling, costly), every=True)
    assert told[0] == "What to do, best first (fixes verified by simulation):"
    assert ["No running Pod restarts." in line for line in told[1:]] == [True, True, False, False]
    assert lines(blocked(rolling))[0] == "What to do (verified by simulation):"
    assert lines(blocked(costly, costly))[0] == (
        "No safe fix was found. What would help, best first (fixes verified by simulation):"
    )
    numbered = [line.partition(": ")[0] for line in lines(blocked(safe, rolling)) if line.startswith("  ")]
    assert numbered == ["  1. Nothing", "  2. PodsReplaced"]


def test_of_a_manifest_nothing_is_said_to_restart_nothing() -> None:
    item = as_item(
        CheckItem, blocked(fix(), source="web.yaml, document 1"), jam=Jam(replica=1, message="0/4 nodes are available")
    )
    assert not any("restarts" in line for line in lines(item))


def test_what_ends_by_itself_comes_first_and_all_is_one_list() -> None:
    more = fix(id="AddNode", summary="add a node like a1 to zone c, by hand or by an autoscaler")
    waited = msgspec.structs.replace(ENDING, sure=False)
    told = lines(blocked(fix(disturbs=Disturbance.REPLACED), waits=(waited,), new_nodes=(more,)))
    assert told[:3] == [
        "What to do, best first (fixes verified by simulation):",
        "  1. Wait for default/old on a1.",
        "  2. Add a node like a1 to zone c, by hand or by an autoscaler.",
    ]
    assert told[3].startswith("  3. RaiseMaxSkew: ")


def test_a_fix_with_all_there_is_to_say() -> None:
    told = lines(
        blocked(
            fix(
                siblings=3,
                admits=2,
                alike=("n1", "n2"),
                new_revision=("a1",),
                commands=("kubectl patch one", "kubectl patch two"),
                starts="replaces 3 Pods",
            )
        )
    )
    assert told == [
        "What to do (verified by simulation):",
        (
            "  1. RaiseMaxSkew: raise maxSkew to 2. Replaces 3 Pods. Then 2 of 3 Pending Pods can be scheduled, this"
            " one on a1 or b1. n1, n2 would do as well. A Pod of the new revision may go to a1. No running Pod"
            " restarts."
        ),
        "     kubectl patch one",
        "     kubectl patch two",
    ]


ENDING = ExpectedChange(kind="PodEnding", sure=True, message="default/old on a1")
ROLLOUT = ExpectedChange(kind="RolloutGoesOn", sure=True, workload="deployment/web", message="the rollout")
NEEDLESS = "  1 fix would end running Pods, which is not needed if you wait: see --all-fixes."


@pytest.mark.parametrize(
    ("wait", "siblings", "hidden"),
    [
        (ENDING, 1, True),
        (ENDING, 2, False),
        (ROLLOUT, 2, True),
        (msgspec.structs.replace(ENDING, sure=False), 1, False),
    ],
)
def test_where_waiting_is_enough_no_fix_that_ends_running_pods_is_shown(
    wait: ExpectedChange, siblings: int, *, hidden: bool
) -> None:
    replacing = fix(disturbs=Disturbance.REPLACED, siblings=siblings)
    told = lines(blocked(replacing, waits=(wait,)))
    assert (NEEDLESS in told, "  2. RaiseMaxSkew" in "".join(told)) == (hidden, not hidden)
    assert "2. RaiseMaxSkew" in "".join(lines(blocked(replacing, waits=(wait,)), every=True))
    harmless = fix(id="Uncordon", siblings=siblings)
    assert "2. Uncordon" in "".join(lines(blocked(harmless, replacing, waits=(wait,))))


def test_where_anything_else_helps_no_decision_is_overridden() -> None:
    overriding = fix(id="Uncordon", overrides=Override.DECISION)
    assert lines(blocked(overriding))[1].endswith(f" {ON_PURPOSE} {RESTARTS_NOTHING}")
    told = "".join(lines(blocked(fix(), overriding)))
    assert ("Uncordon" in told, "1 more with --all-fixes" in told) == (False, True)
    waiting = ExpectedChange(kind="NodeRecovery", sure=False, message="c1")
    waited = lines(blocked(overriding, waits=(waiting,)))
    assert waited == [
        "What to do:",
        "  1. Wait for c1.",
        "  1 fix changes what somebody set on purpose: see --all-fixes.",
    ]


def test_a_node_that_only_has_to_be_uncordoned_comes_before_one_that_recovers() -> None:
    recovery = ExpectedChange(kind="NodeRecovery", sure=False, message="c1 to recover")
    told = lines(blocked(fix(id="Uncordon", summary="uncordon a1"), waits=(recovery,)))
    assert [line.split(".")[1] for line in told[1:]] == [" Uncordon: uncordon a1", " Wait for c1 to recover"]
    some = fix(id="Uncordon", siblings=2)
    assert lines(blocked(some, waits=(recovery,)))[1] == "  1. Wait for c1 to recover."


@pytest.mark.parametrize(("overrides", "told"), [(UNSET, True), (Override.DECISION, False)])
def test_a_node_under_maintenance_is_not_as_good_as_another(overrides: Any, *, told: bool) -> None:  # noqa: ANN401
    cordoned = fix(id="Uncordon", alike=("b1",), overrides=overrides)
    assert ("b1 would do as well." in "".join(lines(blocked(cordoned)))) == told


def test_a_fix_with_little_to_say() -> None:
    told = f"  1. RaiseMaxSkew: raise maxSkew to 2. Then this Pod can go to a1 or b1. {RESTARTS_NOTHING}"
    assert lines(blocked(fix()))[1:] == [told]


@pytest.mark.parametrize(("admits", "said"), [(100, "at least 100"), (40, "40 of at least 100")])
def test_of_many_pending_pods_only_some_are_considered(admits: int, said: str) -> None:
    told = lines(blocked(fix(siblings=100, admits=admits)))
    assert told[1].endswith(f" Then {said} Pending Pods can be scheduled, this one on a1 or b1. {RESTARTS_NOTHING}")


@pytest.mark.parametrize(("admits", "said"), [(2, "at least 2 of 3"), (3, "all 3")])
def test_more_pods_may_go_to_nodes_that_were_not_read(admits: int, said: str) -> None:
    told = lines(blocked(fix(siblings=3, admits=admits, proved_on="read")))
    assert told[1].endswith(f" Then {said} Pending Pods can be scheduled, this one on a1 or b1. {RESTARTS_NOTHING}")


def test_a_new_revision_may_find_no_node_yet() -> None:
    assert " A Pod of the new revision may go to no node yet. " in lines(blocked(fix(new_revision=())))[1]


@pytest.mark.parametrize(
    ("number", "every", "shown", "more"),
    [
        (MOST_FIXES, False, MOST_FIXES, []),
        (
            MOST_FIXES + 2,
            False,
            MOST_FIXES,
            ["2 more with --all-fixes"],
        ),
        (MOST_FIXES + 2, True, MOST_FIXES + 2, []),
    ],
)
def test_the_first_two_unless_all_are_wanted(number: int, shown: int, more: list[str], *, every: bool) -> None:
    told = lines(blocked(*(fix(id=f"Fix{n}") for n in range(number))), every=every)
    assert sum(line.startswith("  ") and ". Fix" in line for line in told) == shown
    assert re.findall(r"; (.* --all-fixes)\):", "".join(told)) == more


def test_nothing_helps_and_what_no_change_reaches() -> None:
    rejects = f"the constraint on {ZONE} and TaintToleration still reject nodes"
    assert lines(blocked()) == [f"{NOTHING_HELPS.format('')}: {rejects}."]
    assert lines(blocked(conflict=())) == [f"{NOTHING_HELPS.format('')}."]
    told = lines(blocked(conflict=(), new_nodes=(fix(id="AddNode", summary="add a node in zone a: by hand"),)))
    assert told == ["What to do:", "  1. Add a node in zone a: by hand.", f"  {NOTHING_HELPS.format('other ')}."]


def test_a_fix_that_lets_in_no_pending_pod_hides_none_that_does() -> None:
    taint = fix(id="RemoveTaint", overrides=Override.DECISION, admits=2, siblings=2)
    later = fix(id="HonorTaints", admits=0, siblings=2)
    assert [line.partition(":")[0] for line in lines(blocked(taint, later))[1:]] == [
        "  1. RemoveTaint",
        "  2. HonorTaints",
    ]


def test_a_rollback_hides_no_fix_of_the_new_revision() -> None:
    """To go back is safe, but the release is not out."""
    back, asked = fix(id="RollBack"), fix(id="LowerRequests", overrides=Override.DECISION)
    told = lines(blocked(back, asked))
    assert [line.partition(":")[0] for line in told[1:]] == ["  1. RollBack", "  2. LowerRequests"]
    assert told[0].startswith("What to do, best first")


def test_a_search_that_was_cut_short_does_not_say_that_nothing_helps() -> None:
    assert lines(blocked(fix_search="bounded")) == ["The search was cut short: --fix-budget gives it more time."]
    told = lines(blocked(fix(), fix_search="bounded"))
    assert told[0] == "What to do (verified by simulation):"
    assert told[-1] == "  The search was cut short: --fix-budget gives it more time."


def test_a_node_more_is_told_apart() -> None:
    more = fix(id="AddNode", summary="add a node like a1 to zone c", alike=("new-a2", "new-b1"))
    with_more = blocked(fix(id="HonorTaints"), new_nodes=(more,))
    assert lines(with_more, every=True)[-1] == "  2. Add a node like a1 to zone c (or like a2, b1)."
    assert lines(with_more)[0].endswith("; 1 more with --all-fixes):")
    alone = fix(id="AddNode", summary="add a node like a1 to zone c")
    assert lines(blocked(new_nodes=(alone,)))[:2] == ["What to do:", "  1. Add a node like a1 to zone c."]
    # What gives up a part of the spread, or another Pod's place, comes after what keeps both.
    for costlier in ("MakeSoft", "RaiseMaxSkew", "MovePod", "RollBack"):
        assert lines(blocked(fix(id=costlier), new_nodes=(alone,)))[1] == "  1. Add a node like a1 to zone c."


def test_a_new_node_that_is_not_enough_says_so() -> None:
    alone = fix(id="AddNode", summary="add a node like a1 to zone c", admits=1, siblings=2)
    assert lines(blocked(new_nodes=(alone,)))[1] == (
        "  1. Add a node like a1 to zone c. Then 1 of 2 Pending Pods can be scheduled, this one on the new node."
    )


def test_of_two_constraints_the_operator_chooses_which_to_weaken() -> None:
    zone, rack, soft = fix(summary="by zone"), fix(summary="by rack"), fix(id="MakeSoft")
    told = lines(blocked(zone, rack, soft))
    assert told[2] == (
        "  2. RaiseMaxSkew: by rack. Then this Pod can go to a1 or b1. This one or the one before is enough: choose the"
        " constraint that matters less. No running Pod restarts."
    )
    fewer = fix(summary="by rack", admits=0)
    assert lines(blocked(zone, fewer, soft))[2].startswith("  2. MakeSoft: ")
    assert lines(blocked(fix(id="MovePod"), fix(id="MovePod"), soft))[2].startswith("  2. MakeSoft: ")


def test_the_deletion_of_a_pod_in_another_namespace_asks_its_owner() -> None:
    def told(namespace: str) -> str:
        change = Change(target=Target(kind="Pod", namespace=namespace, name="b"), op="delete")
        return " ".join(lines(blocked(fix(id="MovePod", changes=(change,)))))

    assert "Ask the owner of namespace etl first." in told("etl")
    assert "Ask the owner" not in told("default")


def test_nodes_that_lack_only_the_label_are_to_be_labelled() -> None:
    objects = [*TAINTED, *web("a1", "b1"), node("new-1"), node("new-2")]
    report = report_of(incoming(), objects)
    assert lines(report)[1] == (
        f"  1. Set {ZONE} on new-1 and 1 more to where each of them is: without that label, no Pod with this constraint"
        " may go there."
    )
    nobody = report_of(incoming(spread("rack", selector=app("web"))), [node("new-1"), node("new-2")])
    nobody = msgspec.structs.replace(nobody, fixes=(fix(id="MakeSoft"),))
    assert lines(nobody)[1].startswith("  1. MakeSoft: ")
    assert lines(nobody)[-1].startswith("  2. Set rack on new-1 and 1 more ")
    named = fix(id="LabelNode")
    assert "on new-1" not in "".join(lines(msgspec.structs.replace(report, fixes=(named,))))


def test_what_is_not_proposed_for_one_reason_is_one_line() -> None:
    why = "(its Job would count it as failed)"
    left = (f"deleting a/b on n1 {why}", f"deleting a/c on n2 {why}", "deleting a/d on n1 (it has no budget)")
    assert lines(blocked(fix(), left_alone=left))[2:] == [
        f"  Not proposed: deleting a/b on n1, or another Pod like it {why}.",
        "  Not proposed: deleting a/d on n1 (it has no budget).",
    ]


def test_how_it_ends_comes_after_where_the_pod_goes() -> None:
    told = lines(blocked(fix(starts="replaces 3 Pods", ends="in the end, 1 Pod still has no node", without_node=1)))
    assert told[1].endswith(
        f"Replaces 3 Pods. Then this Pod can go to a1 or b1. In the end, 1 Pod still has no node. {RESTARTS_NOTHING}"
    )


def test_what_others_wrote_cannot_act() -> None:
    evil = "x\x1b[2J\u202e\ny"
    told = lines(
        blocked(
            fix(summary=evil, feasible=(evil,), alike=(evil,), commands=(evil,), starts=evil, new_revision=(evil,))
        ),
        every=True,
    )
    assert not {"\x1b", "\u202e"} & set("".join(told))
    assert len(told) == 3


def test_fixes_are_told_to_rest_on_what_was_judged() -> None:
    missing = Incomplete(what="DynamicResources", why="not evaluated", consequence="devices were not judged")
    assert NOT_JUDGED in "\n".join(lines(blocked(fix(), incomplete=(missing,))))
    assert NOT_JUDGED not in "\n".join(lines(blocked(fix())))
    assert NOT_JUDGED not in "\n".join(lines(blocked(incomplete=(missing,))))


def test_the_second_that_is_shown_is_of_another_kind() -> None:
    first, second, other = fix(id="MovePod", summary="a"), fix(id="MovePod", summary="b"), fix(id="MakeSoft")
    report = blocked(first, second, other)
    told, all_told = (
        [line.split()[:2] for line in lines(report, every=every) if ". M" in line] for every in (False, True)
    )
    assert told == [["1.", "MovePod:"], ["2.", "MakeSoft:"]]
    assert all_told == [["1.", "MovePod:"], ["2.", "MovePod:"], ["3.", "MakeSoft:"]]
    assert sum("MovePod" in line for line in lines(blocked(first, second))) == MOST_FIXES


def test_what_replaces_pods_in_vain_is_shown_only_when_all_fixes_are_asked_for() -> None:
    in_vain = fix(siblings=1, admits=0, without_node=2, in_vain=True)
    assert lines(blocked(in_vain)) == ["1 fix would replace Pods and leave as many without a node: see --all-fixes."]
    assert any(line.startswith("  1. RaiseMaxSkew: ") for line in lines(blocked(in_vain), every=True))
    assert len([line for line in lines(blocked(in_vain, fix())) if "RaiseMaxSkew" in line]) == 1


def test_nothing_is_said_of_where_pods_go_that_it_does_not_let_in() -> None:
    assert lines(blocked(fix(siblings=2, admits=0)))[1] == f"  1. RaiseMaxSkew: raise maxSkew to 2. {RESTARTS_NOTHING}"

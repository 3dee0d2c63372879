"""Which fixes are offered first, and what is left alone."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from kubectl_spread.controllers.taints import NodeTrouble
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.fixes.change import Disturbance, Override
from kubectl_spread.diagnosis.fixes.choice import EQUALLY_GOOD, MOST, not_proposed, offered_first, ranked, with_offered
from kubectl_spread.diagnosis.fixes.conclusion import (
    Fix,
    FixSearch,
    NodeRecovery,
    NotOffered,
    RolloutEnd,
    RolloutGoesOn,
    SufferingNodes,
    Wait,
    WouldWarn,
)
from kubectl_spread.diagnosis.fixes.demands import AddToleration, LowerRequests
from kubectl_spread.diagnosis.fixes.future import Future, OtherWorkload, WorseConstraint
from kubectl_spread.diagnosis.fixes.proposals import OfConstraint, Proposal
from tests.render.outline.test_fixes import BACK, ENDING, HONOR, MOVE, NODE, RAISE, RECOVERY, SOFT, UNCORDON, fix

ROLLOUT = RolloutGoesOn(workload="deployment/web")
TOLERATE = AddToleration(taint="x:NoSchedule")
LOWER = LowerRequests(resource="cpu", container="web", quantity="1")


def offered(*fixes: Fix, **found: Any) -> list[str]:  # noqa: ANN401 - any field
    """Return the classes of those that are offered first."""
    return [each.id for each in offered_first(FixSearch(fixes=fixes, **found))]


@pytest.mark.parametrize(
    ("wait", "siblings", "hidden"),
    [(ENDING, 1, True), (ENDING, 2, False), (ROLLOUT, 2, True), (replace(ENDING, sure=False), 1, False)],
)
def test_where_waiting_is_enough_no_fix_that_ends_running_pods_is_offered(
    wait: Wait, siblings: int, *, hidden: bool
) -> None:
    replacing, harmless = fix(disturbs=Disturbance.REPLACED, siblings=siblings), fix(UNCORDON, siblings=siblings)
    assert offered(replacing, waits=(wait,)) == ["RaiseMaxSkew"] * (not hidden)
    assert "Uncordon" in offered(harmless, replacing, waits=(wait,))


def test_where_anything_else_helps_no_decision_is_overridden() -> None:
    overriding = fix(UNCORDON, overrides=Override.DECISION)
    assert offered(overriding) == ["Uncordon"]
    assert offered(fix(), overriding) == ["RaiseMaxSkew"]
    assert offered(overriding, waits=(RECOVERY,)) == []


def test_where_anything_else_helps_no_pod_is_lost() -> None:
    losing = fix(MOVE, disturbs=Disturbance.LOST)
    assert (offered(losing), offered(losing, fix()), offered(losing, new_nodes=(fix(NODE),))) == (
        ["MovePod"],
        ["RaiseMaxSkew"],
        [],
    )


def test_no_taint_is_given_up_where_a_new_node_helps() -> None:
    tolerating = fix(TOLERATE, overrides=Override.DECISION)
    assert (offered(tolerating), offered(tolerating, new_nodes=(fix(NODE),))) == (["AddToleration"], [])


def test_a_fix_that_lets_in_no_pending_pod_hides_none_that_does() -> None:
    taint = fix(TOLERATE, overrides=Override.DECISION, admits=2, siblings=2)
    assert offered(taint, fix(HONOR, admits=0, siblings=2)) == ["AddToleration", "HonorTaints"]


def test_a_rollback_hides_no_fix_of_the_new_revision() -> None:
    """To go back is safe, but the release is not out."""
    assert offered(fix(BACK), fix(LOWER, overrides=Override.DECISION)) == ["RollBack", "LowerRequests"]


def test_what_was_not_simulated_is_no_better_than_what_breaks_a_constraint() -> None:
    end, web = RolloutEnd(least=0, most=0, worth=True, gains=True), WorkloadRef(kind="Deployment", name="web")
    worse = WorseConstraint(namespace="n", workload=web, topology_key="zone", skew=2, max_skew=1)
    future = Future(
        admits=1, admits_at_most=1, in_all=(1, 1), pending=1, others=(), worse=(worse,), replaced=0, end=end
    )
    breaks, unknown = fix(HONOR, future=future), fix(SOFT)
    assert [each.id for each in ranked([breaks, unknown])] == ["MakeSoft", "HonorTaints"]  # which is simulated next
    assert [each.id for each in ranked([breaks, unknown], final=True)] == ["HonorTaints", "MakeSoft"]
    # One that is known to break none is better.
    known = fix(SOFT, future=replace(future, worse=()))
    assert [each.id for each in ranked([breaks, unknown, known], final=True)] == ["MakeSoft", "HonorTaints", "MakeSoft"]


def test_what_keeps_the_promise_of_a_constraint_comes_first_even_if_others_gain_less() -> None:
    end, api = RolloutEnd(least=0, most=0, worth=True, gains=True), WorkloadRef(kind="Deployment", name="api")
    gain = OtherWorkload(namespace="n", workload=api, admits=2, admits_at_most=2, pending=2)
    future = Future(admits=1, admits_at_most=1, in_all=(3, 3), pending=3, others=(gain,), worse=(), replaced=0, end=end)
    fixes = fix(SOFT, future=future), fix(HONOR, future=replace(future, others=())), fix(UNCORDON, future=future)
    assert [each.id for each in ranked(fixes)] == ["Uncordon", "HonorTaints", "MakeSoft"]


def test_the_second_is_of_another_kind_or_weakens_another_constraint_as_far() -> None:
    other = fix(replace(MOVE, pod="c"))
    assert offered(fix(MOVE), other, fix(SOFT)) == ["MovePod", "MakeSoft"]
    assert offered(fix(MOVE), other) == ["MovePod", "MovePod"]
    zone = replace(RAISE, topology_key="zone")
    assert offered(fix(), fix(zone), fix(SOFT)) == ["RaiseMaxSkew", "RaiseMaxSkew"]
    assert offered(fix(), fix(zone, admits=0), fix(SOFT)) == ["RaiseMaxSkew", "MakeSoft"]


def test_what_replaces_pods_in_vain_or_leaves_the_node_pool_is_not_offered() -> None:
    in_vain = RolloutEnd(least=2, most=2, worth=True, gains=False)
    assert offered(fix(admits=0, end=in_vain), fix(SOFT)) == ["MakeSoft"]
    assert offered(fix(overrides=Override.NODE_POOL)) == []


def test_those_offered_first_are_marked() -> None:
    fixes = tuple(fix(part) for part in (HONOR, SOFT, RAISE))
    assert [each.offered is True for each in with_offered(FixSearch(fixes=fixes))] == [True] * MOST + [False]


def test_a_node_that_is_awaited_is_not_left_alone() -> None:
    suffering = SufferingNodes(nodes=("c1",), taints=("x",), trouble=NodeTrouble.NOT_READY)
    warned = [WouldWarn(proposals=(part,), findings=("EmptySelector",)) for part in (SOFT, HONOR)]
    left: tuple[NotOffered, ...] = (suffering, replace(suffering, trouble=NodeTrouble.UNREACHABLE), *warned)
    found = FixSearch(left_alone=left, waits=(RECOVERY,))
    assert [what for what, _ in not_proposed(found)] == [*left[1:]]
    assert not any(others for _, others in not_proposed(found))
    cordoned = NodeRecovery(nodes=("c1",), taints=(), trouble=NodeTrouble.NOT_READY, cordoned=True)
    assert len([*not_proposed(replace(found, waits=(cordoned,)))]) == len(left)


def test_every_change_has_its_place_among_equally_good_ones() -> None:
    kinds = {*Proposal.__subclasses__(), *OfConstraint.__subclasses__()} - {OfConstraint}
    assert ({*EQUALLY_GOOD}, len(EQUALLY_GOOD)) == (kinds, len(kinds))

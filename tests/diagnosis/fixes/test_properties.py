"""What holds of every fix: it can be made, it opens the nodes it names, and leaves a Pod the API server accepts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations

import pytest
from msgspec.structs import replace

from kubectl_spread.diagnosis.findings import Severity
from kubectl_spread.diagnosis.fixes import moves, nodes
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.diagnosis.requirements import Requirement, conflict_cores
from kubectl_spread.objects.core import Pod
from tests.diagnosis.fixes import claims
from tests.diagnosis.fixes.claims import Refused, refused, situation_of, with_fix
from tests.diagnosis.fixes.clusters import patch_of

SEED = 7
COUNT = 300


@pytest.fixture(scope="module")
def pending() -> Sequence[Refused]:
    """Generated Pods that find no node."""
    return list(refused(seed=SEED, count=COUNT))


def test_there_is_something_to_test(pending: Sequence[Refused]) -> None:
    ids = {part for each in pending for fix in each.claims for part in fix.id.split("+")}
    assert len(pending) == COUNT
    assert sum(len(each.claims) + len(each.found.left_alone) for each in pending) > COUNT
    assert len(ids) >= 12, ids


def test_every_change_opens_exactly_the_nodes_that_are_named_with_a_pod_that_is_accepted(
    pending: Sequence[Refused],
) -> None:
    for each in pending:
        for fix in each.claims:
            after = situation_of(with_fix(each.case, fix))
            assert after is not None
            assert fix.feasible, (each.case["id"], fix.summary)
            assert set(after.evaluation.feasible) == set(fix.feasible), (each.case["id"], fix.summary)
            assert after.errors <= each.situation.errors, (each.case["id"], fix.summary)


def test_no_smaller_max_skew_and_no_greater_min_domains_would_do(pending: Sequence[Refused]) -> None:
    for each in pending:
        for fix in each.found.fixes:
            if fix.id not in {"RaiseMaxSkew", "LowerMinDomains"}:
                continue
            ((_, path, value),) = patch_of(fix)
            assert isinstance(value, int)
            closer = value - 1 if fix.id == "RaiseMaxSkew" else value + 1
            case = with_fix(each.case, fix)
            *_, index, field = path.split("/")
            case["pod"]["spec"]["topologySpreadConstraints"][int(index)][field] = closer
            after = situation_of(case)
            assert after is not None
            assert not after.evaluation.feasible, (each.case["id"], fix.summary)


def test_no_part_of_a_fix_does_what_the_whole_does(pending: Sequence[Refused]) -> None:
    """Unless the part alone is refused, or is what we would call an error."""
    tried = 0
    for each in pending:
        alone = {fix.summary: fix.admits for fix in each.found.fixes if "+" not in fix.id}
        for fix in (fix for fix in each.found.fixes if "+" in fix.id):
            assert all(alone.get(part, -1) < fix.admits for part in fix.summary.split("; also ")), fix.summary
            for change in fix.changes[: len(fix.changes) if len(fix.changes) > 1 else 0]:
                after = situation_of(with_fix(each.case, replace(fix, changes=(change,))))
                assert after is not None
                brought = after.warnings - each.situation.warnings
                if after.errors <= each.situation.errors and not any(found[0] is Severity.ERROR for found in brought):
                    tried += 1
                    assert not after.evaluation.feasible, (each.case["id"], fix.summary)
    assert tried > 20


def test_the_order_of_input_changes_nothing(pending: Sequence[Refused]) -> None:
    dice = random.Random(SEED)  # noqa: S311 - the same order every time
    for each in pending[::3]:
        shuffled = situation_of({**each.case, "objects": dice.sample(each.case["objects"], len(each.case["objects"]))})
        assert shuffled is not None
        assert claims.offered(shuffled) == each.found, each.case["id"]


def test_no_smaller_set_of_requirements_covers_every_node(pending: Sequence[Refused]) -> None:
    for each in pending:
        rejected, nodes = each.situation.rejected, set(each.situation.handle.node_infos)
        core = next(iter(conflict_cores(rejected, nodes)), ())
        if not core:
            continue
        assert _covers(core, each)
        assert not any(_covers(fewer, each) for fewer in combinations(rejected, len(core) - 1)), each.case["id"]


def _covers(requirements: Sequence[Requirement], each: Refused) -> bool:
    """Whether these together reject every node."""
    rejected = each.situation.rejected
    return set().union(*(rejected[requirement] for requirement in requirements)) >= set(
        each.situation.handle.node_infos
    )


def test_no_node_that_would_help_is_passed_over(pending: Sequence[Refused]) -> None:
    """Every cordon and every taint is tried here, whatever else rejects the node."""
    helped = 0
    for each in pending:
        found = {part for fix in each.found.fixes for part in fix.id.split("+")}
        for candidate in nodes.candidates(each.situation, others=len(each.situation.rejected)):
            if candidate.apply(each.situation).evaluation.feasible:
                helped += 1
                assert candidate.proposal.id in found, (each.case["id"], candidate.proposal)
    assert helped >= 20


def offered(pod: Pod, before: Situation, after: Situation) -> bool:
    """Whether nothing speaks against deleting the Pod."""
    successor = pod.metadata.controller is None or moves.has_successor(pod, after)
    return not moves.why_not(pod, before) and bool(successor) and after.warnings <= before.warnings


def test_no_pod_that_would_help_is_passed_over(pending: Sequence[Refused]) -> None:
    """Every Pod of the cluster is deleted here; one that is alike another is named with it."""
    helped = 0
    for each in pending:
        moved = [fix for fix in each.found.fixes if fix.id == "MovePod"]
        named = {name for fix in moved for name in (fix.changes[0].target.name, *fix.alike)}
        for info in each.situation.handle.node_infos.values():
            for pod in info.pods:
                after = replace(each.situation, handle=each.situation.handle.without_pod(pod))
                if after.evaluation.feasible and offered(pod, each.situation, after):
                    helped += 1
                    assert pod.metadata.name in named, (each.case["id"], pod.key)
    assert helped >= 20

"""The result of a search for fixes as reports have it, with the sentences and the commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypedDict, assert_never

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.fixes import ExpectedChange, Fix
from kubectl_spread.diagnosis.fixes import conclusion
from kubectl_spread.diagnosis.fixes.change import Override
from kubectl_spread.diagnosis.fixes.shell import command_line
from kubectl_spread.wording import fixes


class OpeningFields(TypedDict):
    """The fields of a ``RebalanceItem`` with what would let a plan reach more."""

    fixes: tuple[Fix, ...]
    waits: tuple[ExpectedChange, ...] | UnsetType


class SearchedFields(OpeningFields):
    """The fields of an ``EvaluationReport`` with the result of the search for fixes."""

    new_nodes: tuple[Fix, ...]
    left_alone: tuple[str, ...]
    fix_search: Literal["complete", "bounded"]


def searched_fields(search: conclusion.FixSearch, connection_flags: Sequence[str] = ()) -> SearchedFields:
    """Return the result of the search as reports have it, with these connection flags in the commands."""
    return {
        **opening_fields(search, connection_flags),
        "new_nodes": fix_reports(search.new_nodes, connection_flags),
        "left_alone": tuple(map(fixes.left_alone, search.not_offered)),
        "fix_search": "complete" if search.complete else "bounded",
    }


def opening_fields(search: conclusion.FixSearch, connection_flags: Sequence[str] = ()) -> OpeningFields:
    """Return the fixes and what to wait for as reports have them, with these connection flags in the commands."""
    return {
        "fixes": fix_reports(search.fixes, connection_flags),
        "waits": tuple(map(expected_change, search.waits)) or UNSET,
    }


def expected_change(wait: conclusion.Wait) -> ExpectedChange:
    """Return what lets the Pod in without any action as reports have it."""
    message = fixes.WAITS.text(wait)
    match wait:
        case conclusion.NodeRecovery():
            change = ExpectedChange(kind="NodeRecovery", sure=False, nodes=wait.nodes, message=message)
        case conclusion.NodeRemoval():
            change = ExpectedChange(kind="NodeRemoval", sure=True, nodes=wait.nodes, message=message)
        case conclusion.PodEnding():
            pods, sure = tuple(map(str, wait.pods)), not (wait.ending.over_since or wait.ending.finalizers)
            change = ExpectedChange(
                kind="PodEnding", sure=sure, nodes=wait.nodes, pod=pods[0], pods=pods, message=message
            )
        case conclusion.PodRemoval():
            change = ExpectedChange(kind="PodRemoval", sure=True, workload=wait.owner, message=message)
        case conclusion.ClaimCreation():
            change = ExpectedChange(kind="ClaimCreation", sure=True, message=message)
        case conclusion.RolloutGoesOn():
            change = ExpectedChange(kind="RolloutGoesOn", sure=True, workload=wait.owner, message=message)
        case conclusion.JobGoesOn():
            change = ExpectedChange(kind="JobGoesOn", sure=True, nodes=wait.nodes, workload=wait.owner, message=message)
        case conclusion.JobEnd():
            job = f"job/{wait.name}"
            change = ExpectedChange(kind="JobEnd", sure=False, nodes=wait.nodes, workload=job, message=message)
        case conclusion.NodeAddition():
            nodes = (wait.node,) if wait.node else ()
            change = ExpectedChange(kind="NodeAddition", sure=False, nodes=nodes, message=message)
        case _:
            assert_never(wait)
    return change


def fix_reports(verified: Iterable[conclusion.VerifiedFix], connection_flags: Sequence[str] = ()) -> tuple[Fix, ...]:
    """Return the fixes as reports have them: by rank, and those of one rank by their text."""
    reports = [(fix.rank, _report(fix, connection_flags)) for fix in verified]
    return tuple(report for _, report in sorted(reports, key=lambda each: (each[0], each[1].summary)))


def _report(fix: conclusion.VerifiedFix, connection_flags: Sequence[str]) -> Fix:
    return Fix(
        id="+".join(proposal.id for proposal in fix.proposals),
        summary=fixes.summary(fix.proposals),
        cost=fix.cost,
        feasible=fix.feasible,
        admits=fix.admits,
        siblings=fix.siblings,
        without_node=(fix.rollout_end and fix.rollout_end.most) or UNSET,
        in_vain=fix.in_vain or UNSET,
        alike=tuple(" and ".join(names) for names in fix.alike),
        changes=fix.changes,
        commands=tuple(command_line(command, connection_flags) for route in fix.routes for command in route.commands),
        starts=fixes.starts(fix),
        created=next((route.created for route in fix.routes if route.created is not None), UNSET),
        ends=fixes.ends(fix.rollout_end),
        disturbs=fix.disturbs,
        overrides=UNSET if fix.overrides is Override.NOTHING else fix.overrides,
        yaml=next((fixes.fragment_text(route.fragment) for route in fix.routes if route.fragment is not None), ""),
        source=next((route.keeper.name for route in fix.routes if route.keeper is not None), ""),
        edits=tuple(edit for route in fix.routes for edit in route.edits),
        new_revision=UNSET if fix.new_revision is None else fix.new_revision,
        proved_on="read" if fix.on_read_pods else UNSET,
    )

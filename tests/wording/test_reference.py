"""The reference explains everything that the program says of constraints, and nothing else."""

from __future__ import annotations

import msgspec
import pytest

from kubectl_spread.contract.form import form_of
from kubectl_spread.diagnosis.audit import Holder, Risk
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.findings import ConstraintFinding, Finding
from kubectl_spread.diagnosis.fixes.proposals import OfConstraint, Proposal
from kubectl_spread.diagnosis.remaining_skew import RebalanceVerdict
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.diagnosis.step_changes import SimulatedStep
from kubectl_spread.objects.core import TopologySpreadConstraint
from kubectl_spread.render.sarif import CONSTRAINTS_PAGE
from kubectl_spread.wording.reference import Entry, EntryKind, entries, entries_named, similar_names

HEADINGS = {
    "",
    *("spread-constraint-definition", "node-labels", "consistency", "example-conflicting-topologyspreadconstraints"),
    *("interaction-with-node-affinity-and-node-selectors", "implicit-conventions"),
    *("cluster-level-default-constraints", "known-limitations"),
}
"""Those headings of kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints that are linked."""


def explained(kind: EntryKind) -> list[str]:
    return [each.name for each in entries() if each.kind is kind]


def test_every_finding_is_explained_and_no_other() -> None:
    bases: tuple[type[Finding], ...] = (Finding, ConstraintFinding)
    made = {finding.__name__ for base in bases for finding in base.__subclasses__() if finding not in bases}
    assert sorted(explained(EntryKind.FINDING)) == sorted(made)


def test_every_fix_is_explained_and_no_other() -> None:
    classes = (*Proposal.__subclasses__(), *OfConstraint.__subclasses__())
    assert sorted(explained(EntryKind.FIX)) == sorted(each.__name__ for each in classes if each is not OfConstraint)


def test_every_status_and_verdict_is_explained_in_its_order() -> None:
    assert explained(EntryKind.STATUS) == list(SpreadStatus)
    assert explained(EntryKind.RISK) == list(Risk)
    assert explained(EntryKind.HOLDER) == list(Holder)
    assert sorted(explained(EntryKind.VERDICT)) == sorted({*Verdict, *RebalanceVerdict})


def test_everything_that_a_step_does_is_explained() -> None:
    told = {field.encode_name for field in msgspec.structs.fields(form_of(SimulatedStep))}
    in_words_of_its_own = {"step", "items", "notes", "newlyPending", "newlyViolated", "pdbViolations"}
    assert set(explained(EntryKind.OUTCOME)) == told - in_words_of_its_own | {"ranges"}


def test_every_field_of_a_constraint_is_explained() -> None:
    fields = {field.encode_name for field in msgspec.structs.fields(TopologySpreadConstraint)}
    assert set(explained(EntryKind.FIELD)) == fields
    assert len(explained(EntryKind.FIELD)) == len(fields)


@pytest.mark.parametrize("column", ["NODEPOOL", "GROUP", "VERDICT"])
def test_the_columns_of_an_autoscalers_decision_are_explained(column: str) -> None:
    assert [each.when for each in entries_named(column) if "autoscaler" in each.when or "NodePool" in each.when]


@pytest.mark.parametrize("each", entries(), ids=lambda each: f"{each.kind}-{each.name}")
def test_an_entry_is_short_whole_and_linked(each: Entry) -> None:
    for text in (each.meaning, each.when, each.action):
        assert text.endswith(".")
        assert len(text) < 320
    assert not each.summary.endswith(".")
    assert len(each.summary) < 80
    page, _, heading = each.link.partition("#")
    assert page.startswith("https://kubernetes.io/docs/concepts/")
    assert page != CONSTRAINTS_PAGE or heading in HEADINGS


@pytest.mark.parametrize("named", ["maxSkew", "MAXSKEW", "spec.topologySpreadConstraints[0].maxSkew"])
def test_a_name_is_found_in_any_case_and_at_the_end_of_a_path(named: str) -> None:
    assert [each.name for each in entries_named(named)] == ["maxSkew"]


def test_one_name_may_mean_two_things() -> None:
    assert [each.kind for each in entries_named("incomplete")] == [EntryKind.STATUS, EntryKind.VERDICT]


@pytest.mark.parametrize(
    ("typed", "first"), [("maxscew", "maxSkew"), ("pinedminimum", "PinnedMinimum"), ("GhostPods", "GhostPod")]
)
def test_what_is_nearly_named_is_suggested(typed: str, first: str) -> None:
    assert entries_named(typed) == ()
    assert similar_names(typed)[0] == first


def test_what_is_nothing_like_a_name_is_not() -> None:
    assert similar_names("quux") == ()

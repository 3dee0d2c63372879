"""Each incident: what is reported is true of it."""

from __future__ import annotations

import pytest

from tests.conformance.record import ask, oracle
from tests.diagnosis.fixes.claims import with_changes
from tests.diagnosis.fixes.test_oracle import feasible
from tests.incidents.judge import FOLDER, RELEASE, Incident, complaints, incidents

ALL = [pytest.param(incident, id=incident.folder.name) for incident in incidents()]


def test_there_are_many() -> None:
    assert len(ALL) >= 20


@pytest.mark.parametrize("incident", ALL)
def test_what_is_reported_is_true(incident: Incident) -> None:
    assert [*complaints(incident)] == []


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("verdict", "Schedulable", "verdict: "),
        ("message", "", "message: "),
        ("feasible", ["a1"], "feasible: "),
        ("counts", [], "counts: "),
        ("conflict", [[0]], "conflict: "),
        ("fixes", [{"why": "by magic", "changes": []}], "not offered: by magic"),
        ("absent", ["MakeSoft"], "offered: MakeSoft"),
        ("answers", {}, "set whenUnsatisfiable ScheduleAnyway"),
        ("findings", ["StaleEvent"], "no finding StaleEvent"),
        ("says", ["abracadabra"], "'abracadabra' is not said"),
    ],
)
def test_what_is_not_true_is_complained_of(field: str, value: object, complaint: str) -> None:
    incident = Incident(FOLDER / "reserved-zone")
    incident.want[field] = value
    assert any(text.startswith(complaint) for text in complaints(incident))


@pytest.mark.e2e
@pytest.mark.parametrize("incident", ALL)
def test_kube_scheduler_bears_out_every_fix(incident: Incident, pytestconfig: pytest.Config) -> None:
    if "e2e" not in pytestconfig.option.markexpr:
        pytest.skip("needs the oracle: make e2e")
    fixes = incident.item["fixes"]
    answers = ask(oracle(RELEASE), [with_changes(incident.case, fix["changes"]) for fix in fixes])
    assert [sorted(feasible(answer)) for answer in answers] == [sorted(fix["feasible"]) for fix in fixes]

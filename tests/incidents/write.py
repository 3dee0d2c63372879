"""Ask kube-scheduler again what it decides about each incident, and write that into its folder.

python -m tests.incidents.write
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.build import Object
from tests.conformance.record import ask, oracle
from tests.diagnosis.fixes.claims import with_changes
from tests.diagnosis.fixes.test_oracle import feasible
from tests.incidents.judge import RELEASE, Incident, incidents


def main() -> None:
    """Write what the scheduler says into every folder; the rest of want.json is written by hand."""
    program = oracle(RELEASE)
    for incident in incidents():
        want = decided(incident, program)
        (incident.folder / "want.json").write_text(json.dumps(want, indent=1) + "\n")
        sys.stdout.write(f"{incident.folder.name}\n")


def decided(incident: Incident, program: Path) -> Object:
    """Return what is true of the incident, as the scheduler decides now."""
    case, want = incident.case, incident.want
    base, *fixed = ask(program, [case, *(with_changes(case, fix["changes"]) for fix in want["fixes"])])
    fixes = [{**fix, "feasible": _opened(fix["why"], answer)} for fix, answer in zip(want["fixes"], fixed, strict=True)]
    opened = sorted(feasible(base))
    verdict = "Schedulable" if opened else "Unschedulable"
    answers = _answers(incident, program)
    return {
        **want,
        "verdict": verdict,
        "message": _message(base),
        "feasible": opened,
        "fixes": fixes,
        "answers": answers,
    }


def _opened(why: str, answer: Mapping[str, Any]) -> Sequence[str]:
    """Return the nodes that a change opens; an incident whose change does not help is told wrong."""
    opened = sorted(feasible(answer))
    assert opened, f"does not help: {why}"
    return opened


def _message(answer: Mapping[str, Any]) -> str:
    """Return what the scheduler says of a Pod that it cannot place."""
    if feasible(answer):
        return ""
    head = f"0/{len(answer['nodes'])} nodes are available: "
    if "prefilter" in answer:
        return head + ", ".join(answer["prefilter"]["reasons"]) + "."
    reasons = Counter(reason for verdict in answer["nodes"].values() for reason in verdict["reasons"])
    return head + ", ".join(sorted(f"{number} {reason}" for reason, number in reasons.items())) + "."


def _answers(incident: Incident, program: Path) -> Mapping[str, Sequence[str]]:
    """Return what the scheduler says of every fix that is offered now, by its summary."""
    fixes = incident.item["fixes"]
    answers = ask(program, [with_changes(incident.case, fix["changes"]) for fix in fixes])
    return {fix["summary"]: sorted(feasible(answer)) for fix, answer in zip(fixes, answers, strict=True)}


if __name__ == "__main__":
    main()

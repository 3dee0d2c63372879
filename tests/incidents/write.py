"""Make the folders of the incidents from their stories; kube-scheduler is asked what it decides.

python -m tests.incidents.write
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from tests.build import Object
from tests.conformance.record import ask, oracle
from tests.diagnosis.fixes.claims import with_changes
from tests.diagnosis.fixes.test_oracle import feasible
from tests.incidents.judge import FOLDER, RELEASE, Incident
from tests.incidents.stories import STORIES, Count, Story

_CREATED = "2026-11-20T08:00:00Z"


def main() -> None:
    """Write every folder but its screen."""
    program = oracle(RELEASE)
    for name, story in STORIES.items():
        folder = FOLDER / name
        folder.mkdir(exist_ok=True)
        _dump(folder / "cluster.yaml", {"apiVersion": "v1", "kind": "List", "items": [*map(_stored, _all(story))]})
        if story.config:
            _dump(folder / "scheduler-config.yaml", story.config)
        _write(folder, _want(name, story, program))
        _write(folder, {**json.loads((folder / "want.json").read_text()), "answers": _answers(folder, program)})
        sys.stdout.write(f"{name}\n")


def _all(story: Story) -> Sequence[Object]:
    """Return the cluster with its namespace and the Pod."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    return [namespace, *story.objects, story.pod]


def _stored(described: Object) -> Object:
    """Return an object as the API server would give it back, as far as anybody looks at it."""
    metadata = {"creationTimestamp": _CREATED, **described["metadata"]}
    metadata.setdefault("uid", f"uid-{described['kind'].lower()}-{metadata['name']}")
    return {**described, "metadata": metadata}


def _want(name: str, story: Story, program: Path) -> Object:
    """Return what is true of the incident."""
    case: Object = {"id": name, "kubeVersion": f"v{RELEASE}", "objects": [*story.objects], "pod": story.pod}
    case |= {"config": story.config} if story.config else {}
    base, *fixed = ask(program, [case, *(with_changes(case, changes) for changes in story.fixes.values())])
    fixes = [
        {"why": why, "changes": changes, "feasible": _opened(why, answer)}
        for (why, changes), answer in zip(story.fixes.items(), fixed, strict=True)
    ]
    return {
        "story": story.told,
        "pod": story.pod["metadata"]["name"],
        "verdict": "Schedulable" if feasible(base) else "Unschedulable",
        "message": _message(base),
        "feasible": sorted(feasible(base)),
        "counts": [_count(count) for count in story.counts],
        "conflict": story.conflict,
        "fixes": fixes,
        "absent": story.absent,
        "findings": story.findings,
        "says": story.says,
        "answers": {},
    }


def _opened(why: str, answer: Mapping[str, Any]) -> Sequence[str]:
    """Return the nodes that a change opens; a story whose change does not help is told wrong."""
    opened = sorted(feasible(answer))
    assert opened, f"does not help: {why}"
    return opened


def _count(count: Count) -> Object:
    """Return what a constraint counts, as want.json has it."""
    held_by = [value for value in count.matching if value in count.held_by]
    described = asdict(count)
    return {
        **{key: described[key] for key in ("index", "minimum")},
        "heldBy": held_by,
        "matching": dict(count.matching),
        "selfMatch": count.self_match,
    }


def _message(answer: Mapping[str, Any]) -> str:
    """Return what the scheduler says of a Pod that it cannot place."""
    if feasible(answer):
        return ""
    head = f"0/{len(answer['nodes'])} nodes are available: "
    if "prefilter" in answer:
        return head + ", ".join(answer["prefilter"]["reasons"]) + "."
    reasons = Counter(reason for verdict in answer["nodes"].values() for reason in verdict["reasons"])
    return head + ", ".join(sorted(f"{number} {reason}" for reason, number in reasons.items())) + "."


def _answers(folder: Path, program: Path) -> Mapping[str, Sequence[str]]:
    """Return what the scheduler says of every fix that is offered now, by its summary."""
    incident = Incident(folder)
    fixes = incident.item["fixes"]
    answers = ask(program, [with_changes(incident.case, fix["changes"]) for fix in fixes])
    return {fix["summary"]: sorted(feasible(answer)) for fix, answer in zip(fixes, answers, strict=True)}


def _dump(path: Path, document: Object) -> None:
    """Write YAML as kubectl does: keys sorted, no anchors."""
    plain = json.loads(json.dumps(document))
    path.write_text(yaml.safe_dump(plain, default_flow_style=False, width=1000))


def _write(folder: Path, want: Object) -> None:
    """Write want.json."""
    (folder / "want.json").write_text(json.dumps(want, indent=1) + "\n")


if __name__ == "__main__":
    main()

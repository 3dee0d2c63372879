"""The situations of the Kubernetes documentation on topology spread constraints, and what kube-scheduler makes of them.

``tests/testdata/documentation/<situation>/`` holds the cluster, the Pod to be placed, the scheduler's configuration
where the situation has one, and in ``want.json`` what kube-scheduler 1.36 decides:

* ``feasible``: the nodes it may take, best total score first, then by name;
* ``nodes``: node → plugin, code and reasons of its first rejection; feasible nodes are absent;
* ``message``: the event those rejections make; empty where a node is feasible;
* ``scores``: feasible node → score plugin → weighted score, and their ``total``.

``python -m tests.documentation.record`` writes the wants anew (Go is needed).
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

RELEASE = "1.36"
TESTDATA = Path(__file__).parent.parent / "testdata" / "documentation"

Object: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Situation:
    """A cluster and a Pod that is to be placed in it."""

    folder: Path

    def __str__(self) -> str:
        """Return the name under which pytest shows it."""
        return self.folder.name

    @property
    def cluster(self) -> Path:
        """The cluster, without the Pod."""
        return self.folder / "cluster.yaml"

    @property
    def pod(self) -> Path:
        return self.folder / "pod.yaml"

    @property
    def flags(self) -> tuple[str, ...]:
        """What the command line needs besides: the scheduler's configuration, where there is one."""
        config = self.folder / "scheduler-config.yaml"
        return ("--scheduler-config", str(config)) if config.exists() else ()

    @property
    def want(self) -> Object:
        """What kube-scheduler decides."""
        wanted: Object = json.loads((self.folder / "want.json").read_text(encoding="utf-8"))
        return wanted

    @property
    def case(self) -> Object:
        """The situation as the oracle is asked."""
        case: Object = {"id": str(self), "objects": _read(self.cluster)["items"], "pod": _read(self.pod)}
        if self.flags:
            case["config"] = _read(Path(self.flags[1]))
        return case


def situations() -> list[Situation]:
    return [Situation(path.parent) for path in sorted(TESTDATA.glob("*/pod.yaml"))]


def want_of(answer: Object) -> Object:
    """Return an answer of the oracle as it stands in ``want.json``."""
    rejections = {node: said for node, said in answer["nodes"].items() if said["code"] != "Success"}
    scores = answer.get("scores") or {}
    feasible = sorted(answer["nodes"].keys() - rejections.keys(), key=lambda node: (-scores[node]["total"], node))
    return {
        "feasible": feasible,
        "nodes": rejections,
        "message": "" if feasible else _message(rejections),
        "scores": scores,
    }


def _message(rejections: Object) -> str:
    """Return the event of a Pod that no node can take.

    Source: kube-scheduler framework/types.go FitError.Error (v1.36).
    """
    counts = Counter(reason for said in rejections.values() for reason in said["reasons"])
    reasons = sorted(f"{count} {reason}" for reason, count in counts.items())
    return f"0/{len(rejections)} nodes are available: {', '.join(reasons)}."


def _read(path: Path) -> Object:
    """Return the file's only document."""
    values: Object = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return values

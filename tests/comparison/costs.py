"""What one question costs on a cluster with many Pods: time and peak memory, beside reading all Pods with kubectl."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.live import ZONES, fill
from tests.bench.measuring import Measured, measure
from tests.comparison.stage import unborn
from tests.comparison.tools import Question, Tool
from tests.controlplane.cluster import ControlPlane
from tests.e2e.manifests import ZONE, constraint, match, pod

NODES, PODS = 300, 3_000
_NAMESPACE, _POD = "shop", "asked"
_WEB = {"app": "web"}
"""Pods with this label lie evenly in all zones."""
_READ_ALL = ("kubectl", "get", "pods", "-A", "-o", "json")


def costs(plane: ControlPlane, tools: Sequence[Tool]) -> Sequence[Measured]:
    """Return how reading all Pods goes, then each tool's question about a Pending Pod; all take turns."""
    fill(plane, nodes=NODES, pods=PODS)
    client = plane.client()
    # One zone more than there are: a minimum of 0, which no node meets, and fixes to look for.
    spread = constraint(ZONE, selector=match(**_WEB), minDomains=ZONES + 1)
    client.create_pods([pod(_NAMESPACE, _POD, labels=_WEB, spec={"topologySpreadConstraints": [spread]})])
    made = client.wait_for_decision(_NAMESPACE, _POD)
    with TemporaryDirectory() as folder:
        manifest = Path(folder) / "pod.json"
        manifest.write_text(json.dumps(unborn(made)))
        question = Question(namespace=_NAMESPACE, pod=_POD, pending=True, manifest=manifest, scheduler_config=None)
        commands = {f"`{' '.join(_READ_ALL)}`": _READ_ALL, **{tool.name: tool.command(question) for tool in tools}}
        return [*measure(commands, client.kubectl.environment())]

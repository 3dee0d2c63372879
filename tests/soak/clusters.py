"""Two real control planes side by side, one killed in the middle: it costs its rows, the other's are as if alone."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from tests.cli.test_clusters import without_context
from tests.controlplane.api import Object
from tests.controlplane.cluster import ControlPlane, control_plane
from tests.e2e.competing import OPTIONS
from tests.e2e.fixes_as_printed import settle, workload
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node, pod_spec

COMMANDS = ("audit", "show", "why-pending")
Ended: TypeAlias = tuple[Object, str, int]
"""The report, what was said on stderr, and the exit code."""


def wrong(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Yield what is wrong as the API server of the second is killed so often, each time while a command runs."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    with control_plane(OPTIONS) as living, control_plane(OPTIONS) as killed, TemporaryDirectory() as folder:
        config = _both(living, killed, Path(folder))
        for plane, replicas in ((living, 3), (killed, 5)):
            _set_up(plane, replicas)
        for number in range(count):
            command = COMMANDS[number % len(COMMANDS)]
            alone = _ended(_start(living, config, command, "a"))
            began = time.monotonic()
            whole = _ended(_start(living, config, command, "a,b"))
            took, silent = time.monotonic() - began, rng.random() < 0.3
            with killed.kube_apiserver.paused() if silent else nullcontext():
                process = _start(living, config, command, "a,b")
                time.sleep(took * rng.uniform(0.2, 1.0))
                killed.kube_apiserver.kill()
            found = {"in the middle": _ended(process), "after": _ended(_start(living, config, command, "a,b"))}
            killed.restart_kube_apiserver()
            for when, ended in found.items():
                complete = ended == whole and when == "in the middle" and not silent
                seen[f"{when}: {'complete' if complete else 'without b'}"] += 1
                if not complete:
                    yield from (f"{command}, {when}: {each}" for each in _wrong(alone, ended))


def _set_up(plane: ControlPlane, replicas: int) -> None:
    """Run a shop in which a Pod of ``full`` finds no node."""
    client = plane.client()
    client.create_namespaces(["shop"])
    client.create_nodes(node(f"{zone}1", labels={ZONE: zone}) for zone in "abc")
    client.apply([_web("web", ZONE, replicas), _web("full", HOSTNAME, 4, minDomains=5)])
    settle(client, "shop")


def _web(name: str, key: str, replicas: int, **fields: object) -> Object:
    spec = {**pod_spec(), "topologySpreadConstraints": [constraint(key, selector=match(app=name), **fields)]}
    template = {"metadata": {"labels": {"app": name}}, "spec": spec}
    return workload("Deployment", "shop", name=name, template=template, replicas=replicas)


def _both(living: ControlPlane, killed: ControlPlane, folder: Path) -> Path:
    """Return a kubeconfig with the contexts ``a`` and ``b``."""
    config, other = (json.loads(plane.kubeconfig.read_text()) for plane in (living, killed))
    (first,), (second,), user = config["clusters"], other["clusters"], config["users"][0]["name"]
    config["clusters"] = [{**first, "name": "a"}, {**second, "name": "b"}]
    config["contexts"] = [{"name": name, "context": {"cluster": name, "user": user}} for name in "ab"]
    (folder / "config").write_text(json.dumps({**config, "current-context": "a"}))
    return folder / "config"


def _start(plane: ControlPlane, config: Path, command: str, contexts: str) -> subprocess.Popen[str]:
    kubectl = plane.client().kubectl
    typed = (str(kubectl.binary), "spread", command, "-A", "-o", "json", "--context", contexts)
    environment = {**kubectl.environment(), "KUBECONFIG": str(config)}
    return subprocess.Popen(typed, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _ended(process: subprocess.Popen[str]) -> Ended:
    out, err = process.communicate(timeout=120)
    return _items(json.loads(out)), err, process.returncode


def _items(report: Object) -> Object:
    """Return context → its items; those of the only cluster as of ``a``."""
    items = report["items"]
    return {name: without_context([i for i in items if i.get("cluster", "a") == name], name) for name in "ab"}


def _wrong(alone: Ended, ended: Ended) -> Iterator[str]:
    """Yield in what an answer differs from that of the first cluster alone, beside the error of the second."""
    items, said, code = ended
    if not items["a"] or items["a"] != alone[0]["a"]:
        yield f"rows of a {items['a']}, alone {alone[0]['a']}"
    if items["b"]:
        yield f"rows of b {items['b']}"
    if not said.startswith("error: b: ") or len(said.splitlines()) > 2:
        yield f"on stderr {said}"
    if code != (alone[2] or 3):
        yield f"exit code {code}, alone {alone[2]}"

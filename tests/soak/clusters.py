"""Two real control planes side by side, one killed in the middle: it costs its rows, the other's are as if alone."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from tests.cli.test_clusters import without_context
from tests.controlplane.api import Object
from tests.controlplane.cluster import ControlPlane, control_plane
from tests.e2e.manifests import pod
from tests.e2e.simulated import OPTIONS, Playing
from tests.soak.suggestions import bring_about

COMMANDS = ("audit", "show", "why-pending")
Ended: TypeAlias = tuple[Object, str, int]  # Context → its items, what was said on stderr, and the exit code


def wrong(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Yield what is wrong as the API server of the second is killed so often, each time while a command runs."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    with control_plane(OPTIONS) as living, control_plane(OPTIONS) as killed, TemporaryDirectory() as folder:
        for client in (living.client(), killed.client()):
            client.create_namespaces(["shop"])
            bring_about(client, Playing(client, "shop"), rng)
            client.create_pods([pod("shop", "full", spec={"nodeSelector": {"no": "node"}})])
        start = partial(_start, living, _both(living, killed, Path(folder, "config")))
        for number in range(count):
            yield from _killed(killed, partial(start, COMMANDS[number % len(COMMANDS)]), rng, seen)


def _killed(
    killed: ControlPlane, start: Callable[[str], subprocess.Popen[str]], rng: random.Random, seen: Counter[str]
) -> Iterator[str]:
    alone, began = _ended(start("a")), time.monotonic()
    whole, took, silent = _ended(start("a,b")), time.monotonic() - began, rng.random() < 0.3
    with killed.kube_apiserver.paused() if silent else nullcontext():
        process = start("a,b")
        time.sleep(took * rng.uniform(0.2, 1.0))
        killed.kube_apiserver.kill()
    found = {"in the middle": _ended(process), "after": _ended(start("a,b"))}
    killed.restart_kube_apiserver()
    for when, (items, said, code) in found.items():
        complete = (items, said, code) == whole and when == "in the middle" and not silent
        seen[f"{when}: {'complete' if complete else 'without b'}"] += 1
        expected = ({"a": alone[0]["a"], "b": []}, alone[2] or 3)
        if not complete and ((items, code) != expected or not said.startswith("error: b: ") or not items["a"]):
            yield f"{process.args!r}, {when}: {(items, said, code)}, alone {alone}"


def _both(living: ControlPlane, killed: ControlPlane, path: Path) -> Path:
    """Return a kubeconfig with the contexts ``a`` and ``b``."""
    config, other = (json.loads(plane.kubeconfig.read_text()) for plane in (living, killed))
    (first,), (second,), user = config["clusters"], other["clusters"], config["users"][0]["name"]
    config["clusters"] = [{**first, "name": "a"}, {**second, "name": "b"}]
    config["contexts"] = [{"name": name, "context": {"cluster": name, "user": user}} for name in "ab"]
    path.write_text(json.dumps({**config, "current-context": "a"}))
    return path


def _start(plane: ControlPlane, config: Path, command: str, contexts: str) -> subprocess.Popen[str]:
    kubectl = plane.client().kubectl
    typed = (str(kubectl.binary), "spread", command, "-A", "-o", "json", "--context", contexts)
    environment = {**kubectl.environment(), "KUBECONFIG": str(config)}
    return subprocess.Popen(typed, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _ended(process: subprocess.Popen[str]) -> Ended:
    """Return how it ended; the items of the only cluster are those of ``a``."""
    out, err = process.communicate(timeout=120)
    items = json.loads(out)["items"]
    own = {name: without_context([i for i in items if i.get("cluster", "a") == name], name) for name in "ab"}
    return own, err, process.returncode

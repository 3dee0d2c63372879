"""The questions put to a running cluster, in turns with the bare read."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from tests.bench.large import contents
from tests.bench.large.contents import App
from tests.bench.large.pending import ON_FEW_NODES, pending_pods
from tests.bench.large.questions import ANSWERS, BARE_READ, DEPLOYMENT, IN_A_RACK, MANIFEST, QUESTIONS
from tests.bench.measuring import Measured, bare_read, measure
from tests.controlplane.api import Object


def ask(kubeconfig: Path, *, turns: int, only: str = "") -> Sequence[Measured]:
    """Return how the bare read and the questions go; they take turns.

    Args:
        kubeconfig: of the cluster.
        turns: how often each is asked.
        only: what the names of the questions contain that are asked.

    Raises:
        CalledProcessError: a question was not answered.
    """
    with TemporaryDirectory() as folder:
        manifests = _manifests(Path(folder))
        environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "HOME": folder}
        commands = {BARE_READ: _bare_read(kubeconfig), **_questions(manifests, only)}
        return [*measure(commands, environment, turns=turns, answers=ANSWERS)]


def _bare_read(kubeconfig: Path) -> Sequence[str]:
    """Return the command that the others are compared with."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    return bare_read(cluster["server"], user["token"], cluster["certificate-authority"], "/api/v1/pods")


def _manifests(folder: Path) -> Mapping[str, str]:
    """Return what stands for a file among the arguments → the file, which is written."""
    described = {MANIFEST: _new_deployment(), IN_A_RACK: _without_room()}
    for name, manifest in described.items():
        (folder / f"{name}.json").write_text(json.dumps(manifest))
    return {name: str(folder / f"{name}.json") for name in described}


def _questions(given: Mapping[str, str], only: str) -> Mapping[str, Sequence[str]]:
    """Return what is asked, by name.

    Args:
        given: what stands for a file among the arguments → the file.
        only: what the names of the questions contain that are asked.
    """
    return {
        question.name: (
            *(sys.executable, "-m", "kubectl_spread"),
            *(given.get(argument, argument) for argument in question.arguments),
            *("-v", "1"),
        )
        for question in QUESTIONS
        if only in question.name
    }


def _new_deployment() -> Object:
    """Return a Deployment of a team that it does not have yet."""
    described = contents.deployment(App(int(DEPLOYMENT.removeprefix("app-")), 20))
    text = json.dumps({field: value for field, value in described.items() if field != "status"})
    renamed: Object = json.loads(text.replace(DEPLOYMENT, "new"))
    return renamed


def _without_room() -> Object:
    """Return the same with Pods like the one that nodes of a rack alone may take, and that have no room for it."""
    manifest = _new_deployment()
    waiting = next(each for each in pending_pods() if each["metadata"]["name"] == ON_FEW_NODES)
    manifest["spec"]["template"]["spec"] = waiting["spec"]
    return manifest

"""The recipes of the README and of ``docs`` run as written, in the demo's shop on a real control plane."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.controlplane.binaries import Binaries
from tests.controlplane.cluster import ControlPlane, Options, control_plane
from tests.controlplane.loading import load
from tests.pages.consoles import PAGES, ROOT

pytestmark = pytest.mark.e2e

SHELL = re.compile(r"```sh\n(?P<lines>.*?)```", re.DOTALL)
TO_A_FILE = re.compile(r">| snapshot -o \S")  # What is written there is not on standard output
ENDLESS = re.compile(r" (-w|--watch)\b")
HELM = "helm() { cat examples/checkout.yaml; }\n"  # A chart that has been rendered
ENDED_BY_US = 124
WATCHED_S = 5
LONGEST_S = 60


def recipes(page: Path) -> list[str]:
    """Return the page's blocks of commands that have no output beside them."""
    return [block["lines"] for block in SHELL.finditer(page.read_text()) if "kubectl spread" in block["lines"]]


@pytest.fixture(scope="module")
def shop(binaries: Binaries) -> Iterator[ControlPlane]:
    """A control plane with the shop of ``examples/shop.yaml`` in it."""
    with control_plane(Options(), binaries=binaries) as plane:
        load(plane.client(), ROOT / "examples" / "shop.yaml")
        plane.client().mark_running()
        yield plane


@pytest.mark.parametrize(
    "page", [page for page in PAGES if recipes(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_recipes_run_as_written(page: Path, shop: ControlPlane, binaries: Binaries, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    path = os.pathsep.join([sysconfig.get_path("scripts"), str(binaries.kubectl.parent), os.defpath])
    environment = {"PATH": path, "HOME": str(tmp_path), "KUBECONFIG": str(shop.kubeconfig)}
    lines = [line for block in recipes(page) for line in block.replace("\\\n", " ").splitlines() if line]
    for line in lines:
        limit = f"timeout --signal=INT {WATCHED_S} " if ENDLESS.search(line) else ""
        ran = subprocess.run(
            ["/bin/bash", "-c", f"{HELM}{limit}{line}"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST_S,
        )
        assert ran.returncode in ({ENDED_BY_US} if limit else {0, 1}), f"{line}\n{ran.stderr}"
        assert "error" not in ran.stderr, line
        assert ran.stdout or TO_A_FILE.search(line), line

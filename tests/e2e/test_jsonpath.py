"""What kubectl itself makes of the templates; it needs no cluster for that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.controlplane.binaries import Binaries
from tests.controlplane.kubectl import Kubectl
from tests.render.jsonpath_templates import TEMPLATES, VALUES

pytestmark = pytest.mark.e2e


@pytest.fixture
def kubectl(binaries: Binaries, tmp_path: Path) -> Kubectl:
    """Return kubectl without any cluster."""
    return Kubectl(binary=binaries.kubectl, kubeconfig=tmp_path / "none", home=tmp_path)


def patched(kubectl: Kubectl, output: str) -> tuple[int, str]:
    """Return the exit code of kubectl and what it prints of the values."""
    manifest = json.dumps(VALUES)
    ended = kubectl.run("patch", "--local", "-f", "-", "--type", "merge", "-p", "{}", "-o", output, stdin=manifest)
    return ended.returncode, ended.stdout


@pytest.mark.parametrize("template", TEMPLATES)
def test_kubectl_prints_the_same(template: str, kubectl: Kubectl) -> None:
    assert patched(kubectl, f"jsonpath={template}") == (0, TEMPLATES[template])

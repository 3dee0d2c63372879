"""The workflows: what they may do, what they run, and that a release is built for every platform of the manifest."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from release.manifest import TEMPLATE
from release.tree import ROOT
from tests import gobuild

Workflow: TypeAlias = dict[str, Any]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yaml"))
LONELY = "tests/testdata/documentation/min_domains_not_reached/cluster.yaml"
PINNED = re.compile(r"^ +- uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", re.MULTILINE)


def loaded(path: Path) -> Workflow:
    """Return a workflow; YAML takes its key ``on`` for true."""
    document: Workflow = yaml.safe_load(path.read_text())
    return document


def steps(workflow: Workflow) -> Iterator[Workflow]:
    for job in workflow["jobs"].values():
        yield from job["steps"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_action_is_pinned_to_a_commit(path: Path) -> None:
    used = [step["uses"] for step in steps(loaded(path)) if "uses" in step]
    assert len(PINNED.findall(path.read_text())) == len(used) > 0


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_only_a_release_may_write_and_only_releases(path: Path) -> None:
    workflow = loaded(path)
    assert workflow["permissions"] == {"contents": "read"}
    more = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    assert more == ({"publish": {"contents": "write"}} if path.stem == "release" else {})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_step_keeps_credentials_and_every_job_ends(path: Path) -> None:
    workflow = loaded(path)
    checkouts = [step for step in steps(workflow) if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"] == {"persist-credentials": False} for step in checkouts)
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_targets_that_are_made_exist(path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"run: make (\S+)", path.read_text())
    assert targets
    assert all(f"\n{target}: " in makefile for target in targets)


def test_the_action_runs_as_its_steps_say(tmp_path: Path) -> None:
    action = loaded(ROOT / "action.yml")["runs"]["steps"]
    assert PINNED.search((ROOT / "action.yml").read_text())
    programs = tmp_path / "kubectl-spread" / "bin"
    programs.mkdir(parents=True)
    (programs / "kubectl-spread").symlink_to(Path(sys.executable).parent / "kubectl-spread")
    inputs = {"FILES": "examples/checkout.yaml\n", "FROM": "examples/shop.yaml", "NAMESPACE": "", "FAIL_ON": "error"}
    assert action[-1]["env"].keys() == inputs.keys()
    environment = {"PATH": os.defpath, "HOME": str(tmp_path), "RUNNER_TEMP": str(tmp_path), **inputs}
    command = ["bash", "-eo", "pipefail", "-c", action[-1]["run"]]

    def ended(**changed: str) -> subprocess.CompletedProcess[str]:
        given = environment | changed
        return subprocess.run(command, cwd=ROOT, env=given, check=False, capture_output=True, text=True)

    assert ended().returncode == 0
    refused = ended(
        FILES="tests/testdata/documentation/min_domains_not_reached/pod.yaml", NAMESPACE="default", FROM=LONELY
    )
    assert refused.returncode == 1
    assert refused.stdout.startswith("::error file=tests/testdata/documentation/min_domains_not_reached/pod.yaml")


def test_the_hook_for_commits_runs_check() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    given = ["-f", "examples/checkout.yaml", "--from", "examples/shop.yaml"]
    program = Path(sys.executable).parent / hook["entry"].partition(" ")[0]
    ended = subprocess.run(
        [program, hook["entry"].partition(" ")[2], *given], cwd=ROOT, check=False, capture_output=True
    )
    assert (hook["pass_filenames"], ended.returncode) == (False, 0)


def test_a_release_is_built_for_every_platform_of_the_manifest() -> None:
    build = loaded(ROOT / ".github" / "workflows" / "release.yaml")["jobs"]["build"]
    built = [entry["platform"] for entry in build["strategy"]["matrix"]["include"]]
    offered = re.findall(r"os: (\w+)\n +arch: (\w+)", TEMPLATE.read_text())
    assert sorted(built) == sorted("-".join(platform) for platform in offered)
    assert len(built) == 6


@pytest.mark.e2e
def test_actionlint_finds_nothing(pytestconfig: pytest.Config) -> None:
    if "e2e" not in pytestconfig.option.markexpr:
        pytest.skip("builds actionlint: make e2e")
    sources = Path(__file__).parent / "go" / "actionlint"
    packages = {"actionlint": "github.com/rhysd/actionlint/cmd/actionlint"}
    actionlint = gobuild.build(name="actionlint", sources=sources, release=None, packages=packages)["actionlint"]
    command: list[str | Path] = [actionlint, "-no-color", "-shellcheck=", "-pyflakes=", *FILES]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.returncode) == ("", 0)

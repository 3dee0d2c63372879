"""What a release is made of: every dependency, at a version that pyproject.toml allows."""

from __future__ import annotations

import tomllib

from packaging.requirements import Requirement

from release.tree import ROOT


def test_every_dependency_is_pinned_to_a_version_that_is_allowed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (ROOT / "release" / "requirements.txt").read_text().splitlines()
    pinned = dict(line.lower().split("==") for line in lines if "==" in line)
    wanted = [Requirement(text) for text in project["dependencies"]]
    assert [f"{need}" for need in wanted if pinned.get(need.name.lower(), "0") not in need.specifier] == []
    assert len(pinned) == len([line for line in lines if line and not line.startswith("#")])

"""Where a namespace enforces a Pod Security Standard, ``check`` and ``simulate`` say that it is not evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from kubectl_spread.commands import exit_codes
from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.view import SchedulerOptions
from tests.build import namespace, node
from tests.build_workloads import template, workload
from tests.commands.memory import Memory
from tests.diagnosis.judged import ABC
from tests.program import spread

_ENFORCE = "pod-security.kubernetes.io/enforce"


@pytest.mark.parametrize(
    ("level", "evaluated_as"),
    [("restricted", "restricted"), ("baseline", "baseline"), ("misspelt", "restricted"), ("privileged", ""), ("", "")],
)
@pytest.mark.parametrize("in_the_file", [False, True])
def test_a_standard_is_named_and_changes_no_verdict(
    level: str, evaluated_as: str, tmp_path: Path, *, in_the_file: bool
) -> None:
    enforcing = namespace(
        "default", **{"pod-security.kubernetes.io/warn": "restricted"} | ({_ENFORCE: level} if level else {})
    )
    manifest = workload("Deployment", "web", pods=template(hostNetwork=True), replicas=1)
    path = tmp_path / "manifest.yaml"
    path.write_text(yaml.safe_dump_all([enforcing, manifest] if in_the_file else [manifest]))
    options = CheckOptions(filenames=(str(path),), namespace="default")
    answer = check(Memory([*ABC, *([] if in_the_file else [enforcing])]), options, SchedulerOptions(), stdin=None)
    assert (answer.report.items[-1].verdict, exit_codes.of_check(answer.report)) == ("Schedulable", 0)
    enforces = f"Namespace default enforces the Pod Security Standard {evaluated_as}"
    note = f"{enforces}, which is not evaluated: check --dry-run=server asks the API server."
    assert [*answer.notes] == [note] * bool(evaluated_as)


def test_a_step_that_applies_says_so_too(tmp_path: Path) -> None:
    cluster, new = tmp_path / "cluster.yaml", tmp_path / "new.yaml"
    cluster.write_text(yaml.safe_dump_all([node("a1"), namespace("default", **{_ENFORCE: "baseline"})]))
    new.write_text(yaml.safe_dump(workload("Deployment", "web", pods=template(hostNetwork=True), replicas=1)))
    (step,) = spread("simulate", "--apply", new, "--from", cluster, "-o", "json").report["steps"]
    assert [note for note in step["notes"] if "Pod Security Standard baseline" in note]

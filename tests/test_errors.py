"""Errors carry what failed and what to do next."""

from __future__ import annotations

import pytest

from kubectl_spread.errors import ClusterError, ManifestError, SpreadError, UsageError
from kubectl_spread.exit_code import ExitCode
from kubectl_spread.manifest_problem import ManifestProblem


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (ManifestProblem("web.yaml", "does not exist"), "web.yaml: does not exist"),
        (ManifestProblem("web.yaml", "kind is missing", document=2), "web.yaml, document 2: kind is missing"),
        (
            ManifestProblem("web.yaml", "must be a string, not an integer", document=1, field="metadata.labels.tier"),
            "web.yaml, document 1, metadata.labels.tier: must be a string, not an integer",
        ),
    ],
)
def test_a_problem_is_one_line_most_general_place_first(problem: ManifestProblem, line: str) -> None:
    assert str(problem) == line


def test_a_manifest_error_lists_every_problem_in_order() -> None:
    first, second = ManifestProblem("b.yaml", "does not exist"), ManifestProblem("a.yaml", "is empty")
    error = ManifestError(iter((first, second)), hint="check the paths")
    assert error.problems == (first, second)
    assert error.message == str(error) == "b.yaml: does not exist\na.yaml: is empty"
    assert error.hint == "check the paths"


def test_a_cluster_error_says_what_was_read_and_what_was_answered() -> None:
    error = ClusterError("pods is forbidden", what="list pods", status=403, hint="grant the verb list on pods")
    assert (error.message, error.what, error.status) == ("pods is forbidden", "list pods", 403)
    assert error.hint == "grant the verb list on pods"
    bare = ClusterError("connection refused")
    assert (bare.what, bare.status, bare.hint) == ("", 0, "")


@pytest.mark.parametrize(
    "error", [UsageError("no such kind"), ClusterError("no answer"), ManifestError([ManifestProblem("a", "b")])]
)
def test_one_base_catches_every_error_raised_on_purpose(error: SpreadError) -> None:
    assert isinstance(error, SpreadError)
    assert str(error) == error.message
    assert error.hint == ""


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("no such flag"), 2),
        (ClusterError("connection refused"), 3),
        (ManifestError([ManifestProblem("web.yaml", "does not exist")]), 3),
    ],
)
def test_an_error_knows_its_exit_code(error: SpreadError, code: int) -> None:
    assert error.exit_code == code


@pytest.mark.parametrize(
    ("no", "incomplete", "code"), [(False, False, 0), (True, False, 1), (False, True, 3), (True, True, 1)]
)
def test_a_no_outweighs_an_answer_that_is_not_whole(*, no: bool, incomplete: bool, code: int) -> None:
    assert ExitCode.of_items(no=no, incomplete=incomplete) == code

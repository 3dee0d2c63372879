"""Objects as they are named on a command line."""

from __future__ import annotations

import pytest

from kubectl_spread.commands.arguments import parse_names
from kubectl_spread.errors import UsageError


@pytest.mark.parametrize(
    ("arguments", "parsed"),
    [
        ((), ("", ())),
        (("deploy",), ("deployment", ())),
        (("Deployments.apps",), ("deployment", ())),
        (("sts", "a", "b"), ("statefulset", (("statefulset", "a"), ("statefulset", "b")))),
        (("ro/a", "po/b"), ("", (("rollout", "a"), ("pod", "b")))),
    ],
)
def test_forms_of_naming(arguments: tuple[str, ...], parsed: tuple[str, tuple[tuple[str, str], ...]]) -> None:
    assert parse_names(arguments) == parsed


@pytest.mark.parametrize("arguments", [("svc",), ("deploy.batch",), ("deploy/",), ("a/b", "c"), ("x/y/z",), ("",)])
def test_forms_that_make_no_sense(arguments: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        parse_names(arguments)


def test_a_misspelt_type_is_asked_about() -> None:
    with pytest.raises(UsageError) as caught:
        parse_names(("deploymnt/web",))
    assert caught.value.hint == "did you mean deployment?"

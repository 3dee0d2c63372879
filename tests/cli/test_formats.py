"""The formats of ``-o``: what each command has is what it offers, lists, completes and names when asked for another."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest

from kubectl_spread.cli import application, formats
from kubectl_spread.cli.candidates import Completion, Directive, complete
from kubectl_spread.cli.formats import FORMATS, names_for
from tests.program import spread

pytestmark = pytest.mark.usefixtures("answers_kept")

ROOT = Path(__file__).parents[2]
SNAPSHOT = ROOT / "examples" / "shop.yaml"
TESTDATA = ROOT / "tests" / "testdata" / "cli"
MANIFESTS, WAREHOUSE = TESTDATA / "manifests.yaml", TESTDATA / "warehouse.yaml"
COMMANDS = {"show": formats.SHOW, "why-pending": formats.WHY_PENDING, "check": formats.CHECK}


def completed(words: Sequence[str]) -> Completion:
    """Return what may come next."""
    import typer

    return complete(typer.main.get_group(application()), words)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_lists_the_formats(command: str) -> None:
    shown = " ".join(spread(command, "--help").stdout.split())
    assert f"One of: {', '.join(names_for(COMMANDS[command]))}. (default table)" in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_completion_offers_the_formats(command: str) -> None:
    assert list(completed([command, "-o", ""]).candidates) == list(names_for(COMMANDS[command]))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("asked", ["xml", "json=1", "", *FORMATS])
def test_a_format_that_a_command_does_not_have_is_named_with_those_it_has(command: str, asked: str) -> None:
    names = names_for(COMMANDS[command])
    if asked in names or f"{asked}=" in names:
        return
    words = ("-f", "none.yaml") if command == "check" else ()
    ended = spread(command, *words, "-o", asked)
    assert ended.code == 2
    assert ended.error == f"error: invalid argument {asked!r} for --output; must be one of: {', '.join(names)}"


@pytest.mark.parametrize("name", FORMATS)
def test_what_prints_a_format_exists(name: str) -> None:
    found = FORMATS[name]
    assert found.reports
    assert found.reports <= formats.EVERY_REPORT
    assert callable(getattr(import_module(f"kubectl_spread.render.{found.module}"), found.function))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("jsonpath=", "error: template format specified but no template given: -o jsonpath=; want jsonpath=TEMPLATE"),
        ("jsonpath", "error: template format specified but no template given: -o jsonpath=; want jsonpath=TEMPLATE"),
        (
            "jsonpath={.items",
            "error: error parsing jsonpath: unclosed action {.items; a path is one of RFC 9535, such as .items[0].name",
        ),
    ],
)
def test_a_template_that_makes_no_sense_is_a_usage_error(asked: str, expected: str) -> None:
    ended = spread("show", "--from", "none.yaml", "-o", asked)
    assert (ended.code, ended.error) == (2, expected)


def test_a_template_goes_on_right_behind_its_format() -> None:
    found = completed(["show", "-o", "jsonp"])
    assert list(found.candidates) == ["jsonpath="]
    assert found.directive == Directive.NO_FILES | Directive.NO_SPACE


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("check", "-f", ROOT / "examples" / "checkout.yaml", "--from", SNAPSHOT), 0),
        (("check", "-f", MANIFESTS, "-n", "warehouse", "--fix-budget", "0", "--from", WAREHOUSE), 1),
        (("why-pending", "-n", "shop", "--fix-budget", "0", "--from", SNAPSHOT), 1),
        (("show", "-n", "shop", "--exit-code", "--from", SNAPSHOT), 1),
        (("show", "-n", "shop", "--from", SNAPSHOT), 0),
    ],
    ids=["schedules", "does not", "pending", "problems", "no matter"],
)
def test_the_exit_code_is_the_same_in_every_format(words: tuple[str | Path, ...], code: int) -> None:
    for name in names_for(COMMANDS[str(words[0])]):
        assert spread(*words, "-o", f"{name}{'{.kind}' * name.endswith('=')}").code == code, name

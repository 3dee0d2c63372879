"""Switches with a value, as kubectl takes them."""

import json

import pytest
from typer.testing import CliRunner

from kubectl_spread.cli import application


@pytest.mark.parametrize("words", [["-A=true"], ["--all-namespaces=1"], ["--all-namespaces=false", "-A"]])
def test_a_switch_may_be_given_what_it_means(words: list[str]) -> None:
    ended = CliRunner().invoke(application(), ["show", "pod/web", *words, "--from", "/no/such"])
    assert "cannot be retrieved by name across all namespaces" in ended.stderr


@pytest.mark.parametrize("words", [["-A=false"], ["--all-namespaces=F"], ["--no-headers=0"], []])
def test_a_switch_may_be_given_that_it_is_off(words: list[str]) -> None:
    ended = CliRunner().invoke(application(), ["show", "pod/web", *words, "--from", "/no/such"])
    assert "/no/such" in ended.stderr
    assert "across all namespaces" not in ended.stderr


def test_a_switch_is_on_or_off() -> None:
    ended = CliRunner().invoke(application(), ["show", "--all-namespaces=maybe"])
    assert ended.exit_code == 2
    assert 'invalid argument "maybe" for "--all-namespaces", want true or false' in ended.stderr


def test_only_switches_are_meant() -> None:
    ended = CliRunner().invoke(application(), ["show", "--from=false", "-l=x=true", "--", "-A=true"])
    assert ended.stderr == "error: false: does not exist\n"
    ended = CliRunner().invoke(application(), ["show", "--from=examples/shop.yaml", "--", "-A=true"])
    assert '"-A=true" not found' in ended.stderr


@pytest.mark.parametrize(
    ("words", "steps"),
    [
        (["--cordon", "node-a1", "--drain=node-b1"], ["cordon node-a1", "drain node-b1"]),
        (["--drain=node-b1", "--cordon", "node-a1"], ["drain node-b1", "cordon node-a1"]),
        (
            ["--cordon", "node-a1", "-A=true", "--uncordon", "node-a1", "--cordon=node-b1", "--drain", "node-a1"],
            ["cordon node-a1", "uncordon node-a1", "cordon node-b1", "drain node-a1"],
        ),
        (
            ["--lose", "topology.kubernetes.io/zone=c", "--add-node", "node-a1=2"],
            ["lose topology.kubernetes.io/zone=c", "add-node node-a1=2"],
        ),
        (["--drain", "node", "node-b1", "--cordon", "no", "node-a1", "-A"], ["drain node-b1", "cordon node-a1"]),
    ],
)
def test_steps_are_done_in_the_order_in_which_they_are_given(words: list[str], steps: list[str]) -> None:
    ended = CliRunner().invoke(application(), ["simulate", *words, "--from", "examples/shop.yaml", "-o", "json"])
    assert [step["step"] for step in json.loads(ended.stdout)["steps"]] == steps


@pytest.mark.parametrize("words", [["-n=shop"], ["-nshop"], ["-n", "shop"]])
def test_a_short_flag_may_have_its_value_after_an_equals_sign(words: list[str]) -> None:
    asked = ["show", *words, "-o=name", "-v=1", "--from", "examples/shop.yaml"]
    ended = CliRunner().invoke(application(), asked)
    assert (ended.exit_code, ended.stdout.splitlines()[0]) == (0, "deployment/web")

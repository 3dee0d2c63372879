"""Commands reach kubectl as they are meant, whatever the objects in them are called."""

from __future__ import annotations

import json
import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.diagnosis.fixes.change import PatchOperation
from kubectl_spread.diagnosis.fixes.conclusion import Command
from kubectl_spread.diagnosis.fixes.shell import command_line, kubectl, patch_text
from tests.hostile.poison import POISONS

NAMES = ("web-0", "$(touch forged)", "`touch forged`", "a;touch forged", "a b", "'", '"', "\\", "a\nb", "*", "~", "-")


def reaching(command: str) -> list[str]:
    """Return what a shell makes of the words of a command."""
    script = f"set -- {command}\nprintf '%s\\0' \"$@\""
    run = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True, cwd="/", env={"PATH": ""})
    return run.stdout.decode().split("\0")[:-1]


def test_sound_names_read_as_a_person_writes_them() -> None:
    assert kubectl("delete pod", "web-0", flags=("-n", "shop")) == "kubectl delete pod web-0 -n shop"
    assert kubectl("taint node", "n1", "key=v:NoSchedule-") == "kubectl taint node n1 key=v:NoSchedule-"
    assert kubectl("replace", flags=("--force", "-f", "-")) == "kubectl replace --force -f -"


@pytest.mark.parametrize("name", [*NAMES, *(poison for poison in POISONS if "\0" not in poison)], ids=repr)
def test_a_name_is_one_argument_whatever_is_in_it(name: str) -> None:
    words = reaching(kubectl("delete pod", f"x{name}", flags=("-n", name)))
    assert words == ["kubectl", "delete", "pod", f"x{name}", "-n", name]


@pytest.mark.parametrize("name", ["--all", "-A", "--", "-"])
def test_a_name_is_no_flag(name: str) -> None:
    words = reaching(kubectl("delete pod", name, flags=("-n", "shop")))
    assert words == ["kubectl", "delete", "pod", "-n", "shop", "--", name]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), max_size=3))
def test_any_text_is_one_argument(names: list[str]) -> None:
    words = shlex.split(kubectl("label node", *names, flags=("-n", "shop")))
    assert sorted(words) == sorted(
        ["kubectl", "label", "node", "-n", "shop", *names, *(["--"] if "--" in words and "--" not in names else [])]
    )


@given(st.text())
def test_a_patch_says_what_it_said_and_can_be_printed(value: str) -> None:
    value = value.encode("utf-8", "replace").decode()
    text = patch_text([PatchOperation(op="add", path="/metadata/labels/a", value=value)])
    assert json.loads(text)[0]["value"] == value
    assert text.isprintable()


@pytest.mark.parametrize(
    "command",
    [
        Command(verb="delete", kind="pod", namespace="shop", name="web-0"),
        Command(verb="uncordon", kind="node", name="-n1"),
        Command(verb="rollout undo", kind="deployment", namespace="shop", name="web", revision=3),
        Command(
            verb="replace",
            kind="job",
            namespace="shop",
            name="once",
            operations=(PatchOperation(op="remove", path="/spec"),),
        ),
    ],
    ids=lambda command: command.verb,
)
def test_each_kubectl_of_a_command_reaches_the_cluster_that_was_read(command: Command) -> None:
    flags = ("--context", "the other", "--as", "$(id)")
    for part in command_line(command, flags).split(" | "):
        words = shlex.split(part)
        options = words[: words.index("--")] if "--" in words else words
        at = options.index("--context")
        assert tuple(options[at : at + len(flags)]) == flags

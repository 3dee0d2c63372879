"""The README's commands run as written and print what it shows; ``--update-golden`` writes what they print."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
CONSOLE = re.compile(r"```console\n\$ (?P<command>[^\n]+)\n(?P<output>.*?)```\n", re.DOTALL)
NAME = re.compile(r"^kubectl spread ")


def printed(command: str) -> str:
    """Return what the command prints when it is run from the root of the project."""
    words = NAME.sub("", command).split()
    program = [sys.executable, "-m", "kubectl_spread", *words]
    return subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def test_commands_print_what_the_readme_shows(pytestconfig: pytest.Config) -> None:
    text = README.read_text()
    blocks = list(CONSOLE.finditer(text))
    assert len(blocks) >= 3

    def again(block: re.Match[str]) -> str:
        return f"```console\n$ {block['command']}\n{printed(block['command'])}```\n"

    actual = CONSOLE.sub(again, text)
    if pytestconfig.getoption("--update-golden"):
        README.write_text(actual)
    assert actual == text


def test_commands_of_the_readme_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:    |`)make ([a-z0-9-]+)", README.read_text()))
    assert {"demo", "test"} <= named <= targets

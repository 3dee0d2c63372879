"""What a page shows of a terminal: commands after ``$``, each with what it prints, run again as written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
CONSOLE = re.compile(r"```console\n(?P<lines>\$ .*?)```\n", re.DOTALL)
_COMMANDS = re.compile(r"^\$ ", re.MULTILINE)
_AS_PLUGIN = 'kubectl() { shift; "$PYTHON" -m kubectl_spread "$@"; }\n'  # kubectl, as far as it runs this plugin


def rerun(page: str) -> str:
    """Return the page with what its commands print now."""
    return CONSOLE.sub(lambda block: f"```console\n{_session(block['lines'])}```\n", page)


def _session(lines: str) -> str:
    """Return the commands of one block, each with what it prints."""
    shown = [part for part in _COMMANDS.split(lines) if part]
    return "".join(f"$ {command}\n{printed(command)}" for command in map(_command, shown))


def _command(shown: str) -> str:
    """Return the command that stands before its output: a line, and those it goes on with after a backslash."""
    lines = shown.splitlines()
    last = next(number for number, line in enumerate(lines) if not line.endswith("\\"))
    return "\n".join(lines[: last + 1])


@cache
def printed(command: str) -> str:
    """Return what a terminal shows when the command is run from the root of the project."""
    environment = {**os.environ, "PYTHON": sys.executable, "KUBECONFIG": os.devnull, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        ["bash", "-c", _AS_PLUGIN + command],  # noqa: S607 - whichever bash there is
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return ran.stdout

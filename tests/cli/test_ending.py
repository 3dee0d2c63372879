"""How the program ends: with its exit code and all that it had to say, and at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

HELD = """
import atexit, sys
from kubectl_spread.__main__ import main

class Held:
    def __del__(self):
        print("taken apart", file=sys.stderr)

held = Held()
atexit.register(print, "cleared up", file=sys.stderr)
sys.argv = {}
main()
"""


@pytest.mark.parametrize(
    ("words", "code"),
    [(["version"], 0), (["show", "--no-such-flag"], 2), (["show", "--from", "/nonexistent"], 3)],
    ids=str,
)
def test_what_is_held_is_not_taken_apart_first(words: list[str], code: int) -> None:
    script = HELD.format(["kubectl-spread", *words])
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == code
    assert ended.stderr.splitlines()[-1] == "cleared up"
    assert "taken apart" not in ended.stderr

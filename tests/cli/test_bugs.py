"""What nobody has thought of ends in one line and with the exit code of what could not be determined."""

from __future__ import annotations

import subprocess
import sys

BROKEN = """
import sys
from kubectl_spread.__main__ import main
from kubectl_spread.commands import show

def broken(*_):
    raise KeyError("\\x1b[31mred")

show.overview = broken
sys.argv = ["kubectl-spread", "show", "--from", "examples/shop.yaml"]
main()
"""


def test_a_bug_is_owned_up_to_in_one_line() -> None:
    ended = subprocess.run([sys.executable, "-c", BROKEN], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (3, "")
    (line,) = ended.stderr.splitlines()
    assert line.startswith("error: this is a bug in kubectl spread, please report it: KeyError in __main__, line 7: ")
    assert line.isprintable()

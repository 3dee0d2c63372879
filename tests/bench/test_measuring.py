"""What a command costs is its own: neither that of its parent nor that of its neighbours."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.bench.measuring import measure

MIB = 1 << 20
LARGE = f"held = bytearray({64 * MIB}); held[::4096] = b'x' * len(held[::4096])"


def test_memory_is_the_commands_own() -> None:
    ballast = bytearray(256 * MIB)
    ballast[::4096] = b"x" * len(ballast[::4096])
    small, large = measure({"small": (sys.executable, "-c", ""), "large": (sys.executable, "-c", LARGE)}, {})
    assert small.memory < 64 < large.memory < 256


def test_time_is_the_commands_own() -> None:
    fast, slow = measure({"fast": ("true",), "slow": ("sleep", "0.2")}, {"PATH": "/usr/bin:/bin"})
    assert fast.seconds < slow.seconds
    assert slow.seconds > 0.2


def test_the_processors_time_is_not_that_of_the_clock() -> None:
    busy = (sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass")
    idle, working = measure({"idle": ("sleep", "0.3"), "working": busy}, {"PATH": "/usr/bin:/bin"}, turns=1)
    assert idle.cpu_seconds < 0.1
    assert working.cpu_seconds >= 0.3


def test_what_a_command_says_beside_its_answer_is_kept() -> None:
    (said,) = measure({"says": ("sh", "-c", "echo answer; echo read >&2")}, {"PATH": "/usr/bin:/bin"}, turns=1)
    assert said.said == "read\n"


def test_a_command_may_answer_no_but_must_answer() -> None:
    (no,) = measure({"no": ("false",)}, {"PATH": "/usr/bin:/bin"})
    assert no.name == "no"
    with pytest.raises(subprocess.CalledProcessError):
        next(measure({"fails": ("sh", "-c", "exit 3")}, {"PATH": "/usr/bin:/bin"}))
    (incomplete,) = measure({"may": ("sh", "-c", "exit 3")}, {"PATH": "/usr/bin:/bin"}, answers=frozenset((3,)))
    assert incomplete.name == "may"

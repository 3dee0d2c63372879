"""What hostile files cost: ``python -m tests.hostile.measure`` prints a line for each bomb and flag.

Each runs in a process of its own, whose time and peak of resident memory are those that the kernel counted.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.bombs import BOMBS, MEGABYTE
from tests.hostile.poison import SHOP
from tests.program import INSTALLED

COUNTED = Path(__file__).with_name("counted.py")
PLACES: Mapping[str, Callable[[Path], tuple[str | Path, ...]]] = {
    "check -f": lambda path: ("check", "-f", path, "--from", SHOP),
    "--from": lambda path: ("show", "-A", "--from", path),
    "simulate -f": lambda path: ("simulate", "-f", path, "--from", SHOP),
    "simulate --apply": lambda path: ("simulate", "--apply", path, "--from", SHOP),
    "--scheduler-config": lambda path: ("show", "-A", "--from", SHOP, "--scheduler-config", path),
    "--kubeconfig": lambda path: ("show", "--kubeconfig", path),
}
"""Flag that names a file → the words of a command line with it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """How a run ended and what it took."""

    code: int  # its exit code
    said: str  # its last line on standard error, else its first on standard output
    seconds: float  # from start to end
    megabytes: float  # the most memory that was resident


def cost_of(words: Sequence[str | Path], program: Sequence[str | Path] = (INSTALLED,)) -> Cost:
    with tempfile.NamedTemporaryFile() as counts:
        command = [sys.executable, "-S", COUNTED, counts.name, *program, *words]
        run = subprocess.run(command, capture_output=True, check=True)
        code, seconds, kilobytes = counts.read().split()
    said = (run.stderr.splitlines() or run.stdout.splitlines() or [b""])[-1]
    return Cost(int(code), said.decode(), float(seconds), int(kilobytes) / 1024)


def main() -> None:
    """Print a line for each bomb and flag."""
    asked = _arguments()
    sys.stdout.write("| what | flag | exit | seconds | MB | said |\n|---|---|---|---|---|---|\n")
    for name, make in BOMBS.items():
        if asked.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "bomb.yaml")
            path.write_bytes(make(int(asked.megabytes * MEGABYTE)))
            for flag in asked.flag or PLACES:
                cost = cost_of(PLACES[flag](path))
                said = cost.said.replace(str(path), "FILE")[:120].replace("|", "\\|")
                row = f"| {name} | {flag} | {cost.code} | {cost.seconds:.1f} | {cost.megabytes:.0f} | {said} |\n"
                sys.stdout.write(row)
                sys.stdout.flush()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure what hostile files cost.")
    parser.add_argument("--megabytes", type=float, default=100, help="how large bombs of any size are")
    parser.add_argument("--only", default="", help="bombs with this in their name")
    parser.add_argument("--flag", action="append", choices=PLACES, help="one flag alone (repeatable)")
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""``python -m tests.fuzz --seconds 600``: look for inputs that break what reads them, each target for its share."""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from tests.fuzz.run import look_long, save
from tests.fuzz.targets import TARGETS


def main() -> int:
    """Print how many examples each target stood, and the first input that breaks one."""
    asked = _arguments()
    names = [asked.target] if asked.target else list(TARGETS)
    for name in names:
        began = time.monotonic()
        outcome = look_long(TARGETS[name], number=asked.seed, seconds=asked.seconds / len(names))
        passed = time.monotonic() - began
        sys.stdout.write(f"{name:<18} {outcome.examples:>9,} examples in {passed:>6.1f} s, seed {asked.seed}\n")
        sys.stdout.flush()
        if outcome.finding is not None:
            traceback.print_exception(outcome.finding.error)
            path = save(name, outcome.finding.value)
            sys.stdout.write(f"{name} breaks on {outcome.finding.value!r:.2000}\nkept in {path}\n")
            return 1
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Look for inputs that break what reads them.")
    parser.add_argument("--seconds", type=float, default=60, help="how long in all")
    parser.add_argument("--target", choices=TARGETS, help="one target alone")
    parser.add_argument("--seed", type=int, default=1, help="where to begin; another seed, other inputs")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

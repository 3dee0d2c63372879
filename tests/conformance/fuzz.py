"""Ask kube-scheduler and the engine the same fresh cases, and show the first on which they part.

python -m tests.conformance.fuzz --release 1.36 --seed 7 --count 20000
"""

import argparse
import json
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from tests.conformance.answer import answer
from tests.conformance.compare import Difference, differences
from tests.conformance.generate import SUITES, Case, cases
from tests.conformance.record import ask, oracle
from tests.gobuild import RELEASES, BuildError

_CHUNK = 250
_PROCESSES = 2


@dataclass(frozen=True, slots=True)
class Chunk:
    """Cases that one process draws and asks."""

    program: Path  # the oracle
    suite: str
    minor: int
    seed: int
    first: int  # the number of the first case
    count: int  # how many


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of some cases."""

    compared: int  # those both answered (count)
    unanswered: int  # those on which kube-scheduler itself gives up (count)
    differing: Sequence[Case] = field(default_factory=list)  # those answered differently


class _Asking:
    """Names the case in whatever is raised meanwhile."""

    def __init__(self, case: Case) -> None:
        self._name = case["id"]

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(
        self, _: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if error is not None:
            error.add_note(f"while answering {self._name}")


def chunks(program: Path, *, minor: int, seed: int, count: int) -> Iterator[Chunk]:
    """Yield that many cases in chunks, evenly from every suite."""
    for index, suite in enumerate(SUITES):
        share = count // len(SUITES) + (index < count % len(SUITES))
        for first in range(0, share, _CHUNK):
            yield Chunk(program, suite, minor, seed, first, min(_CHUNK, share - first))


def outcome(chunk: Chunk) -> Outcome:
    """Return what came of a chunk."""
    drawn = list(cases(suite=chunk.suite, minor=chunk.minor, seed=chunk.seed, first=chunk.first, count=chunk.count))
    found = parted(chunk.program, drawn)
    compared = sum(differing is not None for differing in found)
    differing = [case for case, parts in zip(drawn, found, strict=True) if parts]
    return Outcome(compared, len(drawn) - compared, differing)


def parted(program: Path, asked: Sequence[Case]) -> list[list[Difference] | None]:
    """Return where the engine departs from kube-scheduler, case by case; None where that gives no answer."""
    return [
        None if "error" in want else _differences(want, case)
        for case, want in zip(asked, ask(program, asked), strict=True)
    ]


def _differences(want: Case, case: Case) -> list[Difference]:
    """Return where the engine departs from the answer."""
    with _Asking(case):
        return differences(want, answer(case))


def told(program: Path, case: Case) -> str:
    """Return a case on which the two part, and where."""
    where = "\n".join(map(str, parted(program, [case])[0] or ()))
    return f"{case['id']}:\n{json.dumps(case, indent=1)}\n{where}\n"


def main() -> int:
    """Print how many cases were compared, and the first on which the two part, if any."""
    asked = _arguments()
    try:
        program = oracle(asked.release)
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    minor = int(asked.release.removeprefix("1."))
    with multiprocessing.Pool(_PROCESSES) as pool:
        found = pool.map(outcome, chunks(program, minor=minor, seed=asked.seed, count=asked.count), chunksize=1)
    differing = [case for one in found for case in one.differing]
    sys.stdout.write(
        f"v{asked.release}, seed {asked.seed}: {sum(one.compared for one in found)} cases compared,"
        f" {len(differing)} differ; kube-scheduler gives up on {sum(one.unanswered for one in found)} more\n"
    )
    if differing:
        sys.stdout.write(told(program, differing[0]))
    return 1 if differing else 0


def _arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(description="Compare the engine with kube-scheduler on fresh cases.")
    parser.add_argument("--release", choices=sorted(RELEASES), default="1.36")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

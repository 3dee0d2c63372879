"""Record what kube-scheduler decides: the oracle's path, its answers to cases, corpora of both.

python -m tests.conformance.record oracle --release 1.36
python -m tests.conformance.record corpus --suite spread --release 1.36 --seed 1 --count 600 --out FILE.jsonl.gz
"""

import argparse
import gzip
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.conformance.generate import SUITES, Case, cases
from tests.gobuild import RELEASES, BuildError, build

_SOURCES = Path(__file__).parent / "oracle"


class OracleError(Exception):
    """Cases the oracle could not answer, with its reasons."""


def oracle(release: str) -> Path:
    """Return the program that answers as kube-scheduler of a minor release does, built if it must be.

    Raises:
        BuildError: it could not be built.
    """
    binaries = build(name="oracle", sources=_SOURCES, release=release, packages={"oracle": "."}, ldflags="-s -w")
    return binaries["oracle"]


def ask(program: Path, asked: Iterable[Case]) -> list[Case]:
    """Return the oracle's answers, one a case and in their order; a case it cannot answer has an `error`."""
    lines = "".join(_line(case) for case in asked)
    run = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def recorded(program: Path, asked: Iterable[Case]) -> list[Case]:
    """Return the cases with what kube-scheduler decided as `want`.

    Raises:
        OracleError: a case is not one kube-scheduler can answer.
    """
    listed = list(asked)
    answers = ask(program, listed)
    if failed := [f"{answer['id']}: {answer['error']}" for answer in answers if "error" in answer]:
        raise OracleError("\n".join(failed))
    return [case | {"want": _without_id(answer)} for case, answer in zip(listed, answers, strict=True)]


def write(path: Path, corpus: Iterable[Case]) -> None:
    """Write a corpus: the same cases give the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(_line(case) for case in corpus)
    path.write_bytes(gzip.compress(lines.encode(), compresslevel=9, mtime=0))


def summary(corpus: Iterable[Case]) -> str:
    """Return how the decisions of a corpus are spread: Pods that fit somewhere, and those spread constraints reject."""
    wants = [case["want"] for case in corpus]
    feasible = sum(bool(want.get("scores")) for want in wants)
    rejected = sum("PodTopologySpread" in want.get("each", {}) for want in wants)
    return f"{len(wants)} cases: {feasible} feasible somewhere, {rejected} rejected by spread constraints somewhere"


def _without_id(answer: Case) -> Case:
    """Return an answer without the name of its case."""
    return {key: value for key, value in answer.items() if key != "id"}


def _line(case: Case) -> str:
    """Return a case as a line of JSON, always spelled the same."""
    return json.dumps(case, separators=(",", ":"), sort_keys=True) + "\n"


def main() -> int:
    """Print the oracle's path, or record a corpus and say what is in it."""
    asked = _arguments()
    try:
        program = oracle(asked.release)
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if asked.verb == "oracle":
        sys.stdout.write(f"{program}\n")
        return 0
    minor = int(asked.release.removeprefix("1."))
    corpus = recorded(program, cases(suite=asked.suite, minor=minor, seed=asked.seed, count=asked.count))
    write(asked.out, corpus)
    sys.stdout.write(f"{asked.out}: {summary(corpus)}\n")
    return 0


def _arguments() -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(description="Record what kube-scheduler decides.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    path = verbs.add_parser("oracle", help="print the path of the oracle of a release")
    corpus = verbs.add_parser("corpus", help="write cases with what kube-scheduler decides")
    for verb in (path, corpus):
        verb.add_argument("--release", choices=sorted(RELEASES), default="1.36")
    corpus.add_argument("--suite", choices=sorted(SUITES), required=True)
    corpus.add_argument("--seed", type=int, required=True)
    corpus.add_argument("--count", type=int, required=True)
    corpus.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

"""Karpenter's own scheduler, asked about generated clusters, and how its answers agree with ours.

``python -m tests.autoscalers.record --version 1.14.1 --seed 7 --count 2000`` builds the oracle of that release from
Karpenter's Go module into the cache (a minute), asks each question 32 times, for domains are picked at
random, and prints what contradicts us. ``--output FILE.jsonl.gz`` keeps the answers.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
from pathlib import Path

from kubectl_spread.autoscalers.karpenter.releases import nearest, release_of
from tests import gobuild
from tests.autoscalers.clusters import Object, decided
from tests.autoscalers.generate import Generator
from tests.autoscalers.test_corpus import contradictions

SOURCES = Path(__file__).parent / "oracle"


def oracle(version: str) -> Path:
    """Return the oracle of a release, built if the cache lacks it.

    Raises:
        gobuild.BuildError: it cannot be built, as where the release asks for a newer Go.
    """
    packages = {"oracle": "."}
    module = "sigs.k8s.io/karpenter"
    built = gobuild.build(name="karpenter-oracle", sources=SOURCES, release=version, packages=packages, module=module)
    return built["oracle"]


def ask(program: Path, questions: list[Object], runs: int) -> list[Object]:
    """Return the questions with what was seen in so many runs."""
    lines = "".join(json.dumps(each) + "\n" for each in questions)
    said = subprocess.run([program, f"-runs={runs}"], input=lines, capture_output=True, text=True, check=True).stdout
    return [case | {"want": json.loads(line)["want"]} for case, line in zip(questions, said.splitlines(), strict=True)]


def main() -> None:
    """Record, compare and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", default="1.14.1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--runs", type=int, default=32)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    generator = Generator(given.seed)
    questions = [generator.question(f"s{given.seed}-{number}") for number in range(given.count)]
    cases = ask(oracle(given.version), questions, given.runs)
    if given.output:
        with gzip.GzipFile(given.output, "wb", mtime=0) as file:
            file.writelines((json.dumps(case, separators=(",", ":")) + "\n").encode() for case in cases)
    release = nearest(release_of(given.version))
    wrong = [
        text
        for case in cases
        for text in contradictions(case, decided(case["objects"], case["instanceTypes"], release=release))
    ]
    sys.stdout.write(
        "\n".join([*wrong, f"{len(cases)} decisions of Karpenter {given.version}, {len(wrong)} wrong", ""])
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

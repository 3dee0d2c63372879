"""Write what kube-scheduler decides in the documentation's situations: ``python -m tests.documentation.record``."""

from __future__ import annotations

import json
import sys

from tests.conformance.record import ask, oracle
from tests.documentation.situations import RELEASE, situations, want_of


def main() -> None:
    """Ask the oracle about every situation and write its want.json."""
    found = situations()
    answers = ask(oracle(RELEASE), [situation.case for situation in found])
    for situation, answer in zip(found, answers, strict=True):
        text = json.dumps(want_of(answer), indent=2, sort_keys=True)
        (situation.folder / "want.json").write_text(f"{text}\n", encoding="utf-8")
    sys.stdout.write(f"{len(found)} situations recorded\n")


if __name__ == "__main__":
    main()

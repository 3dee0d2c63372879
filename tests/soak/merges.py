"""Objects merged as kubectl and the API server merge them: upstream's own functions are asked about triples.

``python -m tests.soak merges --count 20000 --seed 1``; ``--record`` keeps a few small triples with upstream's answers
for ``make test``.
"""

import argparse
import json
import sys

from kubectl_spread.commands.manifests import tables
from tests.merging.compare import RECORDED, differences, upstream
from tests.merging.triples import triples

_FEW, _SMALL = 200, 800


def main() -> int:
    """Merge triples; return 1 where we and upstream make other things of any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", action="store_true")
    asked = parser.parse_args()
    drawn = [*triples(asked.seed, asked.count, tables())]
    answers = upstream(drawn)
    found = [*differences(drawn, answers)]
    for triple, theirs, ours in found[:5]:
        sys.stdout.write(f"{json.dumps(triple)}\n  upstream {json.dumps(theirs)}\n  ours     {json.dumps(ours)}\n")
    refused = sum("error" in answer for answer in answers)
    sys.stdout.write(f"{len(drawn)} triples, of which upstream cannot merge {refused}: {len(found)} differences\n")
    if asked.record:
        small = [pair for pair in zip(drawn, answers, strict=True) if len(json.dumps(pair)) < _SMALL][:_FEW]
        RECORDED.write_text("".join(f"{json.dumps({**triple, 'answer': answer})}\n" for triple, answer in small))
    return int(bool(found))

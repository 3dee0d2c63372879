"""Triples merged by us and by upstream; ``python -m tests.merging.compare`` records upstream's answers to a few."""

import json
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kubectl_spread.apiserver.apply import json_patched, three_way_json_patch
from kubectl_spread.apiserver.strategic_merge import MergeError, Schema, patched, same, three_way_patch
from kubectl_spread.commands.manifests import tables
from tests import gobuild
from tests.merging.triples import Triple, triples

Answer = dict[str, Any]
RECORDED = Path(__file__).parent / "recorded.jsonl"  # Triples, with what upstream makes of them under `answer`
_FEW, _SMALL = 200, 800


def upstream(asked: Sequence[Triple], release: str = "1.36") -> list[Answer]:
    """Return what upstream makes of triples: its patch and the object, or an error."""
    sources = Path(__file__).parent / "oracle"
    built = gobuild.build(name="merger", sources=sources, release=release, packages={"merger": "."})
    text = "".join(f"{json.dumps(each)}\n" for each in asked)
    run = subprocess.run([built["merger"]], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def ours(triple: Triple) -> Answer:
    """Return what we make of a triple."""
    original, modified, current = (triple[name] for name in ("original", "modified", "current"))
    entry = tables().kinds.get(f"{triple['apiVersion']} {triple['kind']}")
    try:
        if entry is None:
            patch = three_way_json_patch(original, modified, current)
            return {"patch": patch, "result": json_patched(current, patch)}
        schema = Schema(tables(), entry if isinstance(entry, str) else entry[0])
        patch = three_way_patch(original, modified, current, schema)
        return {"patch": patch, "result": patched(current, patch, schema)}
    except MergeError as error:
        return {"error": str(error)}


def differences(asked: Sequence[Triple], answers: Iterable[Answer]) -> Iterator[tuple[Triple, Answer, Answer]]:
    """Yield the triples of which we and upstream make other things, and both; errors are equal, whatever they say."""
    for triple, answer in zip(asked, answers, strict=True):
        found = ours(triple)
        if ("error" in answer) != ("error" in found) or ("error" not in answer and not same(answer, found)):
            yield triple, answer, found


def main() -> None:
    """Record a few small triples with upstream's answers, for ``make test``."""
    drawn = [*triples(1, 20_000, tables())]
    pairs = [pair for pair in zip(drawn, upstream(drawn), strict=True) if len(json.dumps(pair)) < _SMALL][:_FEW]
    RECORDED.write_text("".join(f"{json.dumps({**triple, 'answer': answer})}\n" for triple, answer in pairs))


if __name__ == "__main__":
    main()

"""What others wrote reaches no output as anything but text, in any format."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_spread.cli.formats import AUDIT, CHECK, FORMATS, SHOW, SIMULATE, TEXT, WHY_PENDING
from tests.hostile.poison import COMBINED, FORGED, MANIFESTS, SHOP, WAREHOUSE, objects_in, poisoned, raw_characters
from tests.program import Ended, spread

COMMANDS = {
    SHOW: ("show", "-A", "--defaults"),
    WHY_PENDING: ("why-pending", "-A", "--fix-budget", "60", "--all-fixes"),
    CHECK: ("check", "--replicas", "4"),
    SIMULATE: ("simulate", "-A", "--defaults", "--force"),
    AUDIT: ("audit", "-A", "--all", "--suggest"),
}
STEPS = (("drain", "n02"), ("cordon", "n05"), ("lose", "n09"), ("add-node", "n13"), ("remove", "n01"))
"""What is simulated: the verb, and the node as it is called without poison."""
VALUES = ("json", "yaml")
"""Formats that a test of their own parses; how many lines they have depends on ties, which go by names."""
FILLED = "wide"
"""The format whose lines are broken where they are full: how many there are depends on how long names are."""
# A template prints what it is asked for, exactly: as kubectl's does, and scripts rely on it.
FORMATS_FOR_PEOPLE = [
    (report, name)
    for report in COMMANDS
    for name in (*TEXT, *(name for name, each in FORMATS.items() if report in each.reports and not each.templated))
    if name not in VALUES
]
CLUSTERS = {path: objects_in(path) for path in (SHOP, WAREHOUSE)}
pytestmark = pytest.mark.usefixtures("answers_kept")
each_poison = pytest.mark.parametrize("poison", COMBINED.values(), ids=COMBINED)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where files are: the same contents have one name, so that an answer about them is computed once."""
    return tmp_path_factory.mktemp("poisoned")


def written(folder: Path, values: Any) -> Path:  # noqa: ANN401 - whatever JSON holds
    """Return the file that the values were written to."""
    text = json.dumps(values)
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()}.json"
    path.write_text(text)
    return path


def run(report: str, *words: str, poison: str, folder: Path, cluster: Path = WAREHOUSE) -> Ended:
    """Return how the command of a report ends where everything is poisoned."""
    snapshot = written(folder, listed_all(poisoned(CLUSTERS[cluster], poison)))
    more: tuple[str | Path, ...] = ()
    if report == CHECK:
        more = ("-f", written(folder, listed_all(poisoned(objects_in(MANIFESTS), poison))))
    elif report == SIMULATE:
        steps = [{verb: f"{name}{poison}"} for verb, name in STEPS]
        values = {"apiVersion": "spread.kubectl.dev/v1alpha1", "kind": "Scenario", "steps": steps}
        more = ("-f", written(folder, values))
    return spread(*COMMANDS[report], *words, *more, "--from", snapshot)


def listed_all(objects: list[Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "List", "items": objects}


def only_text(ended: Ended) -> Ended:
    """Return how a command ended, which printed nothing that acts, and no line that others wrote."""
    assert ended.code in {0, 1, 3}
    assert ended.stdout
    assert raw_characters(ended.stdout) == set()
    assert raw_characters(ended.stderr) == set()
    assert not any(line.lstrip().startswith(FORGED) for line in ended.stdout.splitlines())
    return ended


def harmless(poison: str) -> str:
    """Return a string of the same length that no name may hold either, and that does nothing."""
    return re.sub(r"[^A-Za-z0-9/ ]", "!", poison)


@pytest.mark.parametrize(("report", "name"), FORMATS_FOR_PEOPLE, ids=str)
@each_poison
def test_what_others_wrote_neither_acts_nor_adds_a_line(report: str, name: str, poison: str, folder: Path) -> None:
    ended = only_text(run(report, "-o", name, poison=poison, folder=folder))
    # How long names are decides what is refused, which these two tell.
    like = poison if report in {CHECK, WHY_PENDING} else COMBINED["marking up"]
    sound = run(report, "-o", name, poison=harmless(like), folder=folder)
    assert name == FILLED or ended.stdout.count("\n") == sound.stdout.count("\n")


@pytest.mark.parametrize("words", [(), ("-o", "name")], ids=["table", "name"])
@each_poison
def test_a_table_has_the_rows_it_has_without(words: tuple[str, ...], poison: str, folder: Path) -> None:
    sound = spread("show", "-A", "--defaults", "--from", SHOP, *words).stdout
    ended = run(SHOW, *words, poison=poison, folder=folder, cluster=SHOP)
    assert ended.stdout.count("\n") == sound.count("\n") > 1


@pytest.mark.parametrize("report", COMMANDS)
@each_poison
def test_programs_get_every_string_as_it_was(report: str, poison: str, folder: Path) -> None:
    as_json, as_yaml = (only_text(run(report, "-o", name, poison=poison, folder=folder)) for name in VALUES)
    assert yaml.safe_load(as_yaml.stdout) == as_json.report
    items = (
        [item for step in as_json.report["steps"] for item in step["items"]] if report == SIMULATE else as_json.items
    )
    assert items
    assert all(item["namespace"].endswith(poison) for item in items if item["namespace"] != "default")


@each_poison
def test_a_snapshot_holds_every_string_as_it_was(poison: str, folder: Path) -> None:
    path = written(folder, listed_all(poisoned(CLUSTERS[WAREHOUSE], poison)))
    ended = spread("snapshot", "--from", path)
    assert raw_characters(ended.stdout) == set()
    _, *items = json.loads(ended.stdout)["items"]
    held = {each["metadata"]["name"] for each in items}
    assert {f"n01{poison}", f"picker{poison}"} <= held

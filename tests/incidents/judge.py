"""What is true of an incident, held against what ``why-pending`` reports; needs no scheduler.

Each folder has cluster.yaml, want.json, and scheduler-config.yaml where the
cluster has one. want.json holds:

* ``story`` and ``pod``;
* what kube-scheduler v1.36 decides: ``verdict``, ``message``, ``feasible``;
* ``counts`` of the hard constraints, and ``conflict``: every smallest set of requirements that leaves no node;
* ``fixes`` that must be offered, with the nodes they open; ``absent``: classes that must not be;
* ``findings`` that must be there, and what any good text ``says``;
* ``answers``: fix's summary → what kube-scheduler said of every fix that was offered when this was written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.core import Node
from tests.build import Object
from tests.diagnosis.fixes.claims import situation_of, with_changes
from tests.program import spread

FOLDER = Path(__file__).parent
RELEASE = "1.36"


@dataclass(frozen=True)
class Incident:
    """One folder."""

    folder: Path  # where it is

    @cached_property
    def want(self) -> Object:
        found: Object = json.loads((self.folder / "want.json").read_text())
        return found

    @cached_property
    def case(self) -> Object:
        """The cluster, as kube-scheduler is asked about it."""
        items = yaml.load((self.folder / "cluster.yaml").read_text(), yaml.CSafeLoader)["items"]
        asked = next(each for each in items if each["kind"] == "Pod" and each["metadata"]["name"] == self.want["pod"])
        case: Object = {"id": self.folder.name, "kubeVersion": f"v{RELEASE}", "pod": asked}
        case["objects"] = [each for each in items if each is not asked]
        for path in self.config:
            case["config"] = yaml.safe_load(path.read_text())
        return case

    @cached_property
    def config(self) -> Sequence[Path]:
        """The file of the scheduler's configuration, where there is one."""
        return [*self.folder.glob("scheduler-config.yaml")]

    @cached_property
    def item(self) -> Object:
        """What the program reports."""
        return spread(*self._words, "-o", "json").item

    @property
    def screen(self) -> str:
        """What the program shows, wherever the folder is."""
        return spread(*self._words, "--all-fixes").stdout.replace(f"{self.folder}/", "")

    @property
    def _words(self) -> Sequence[str | Path]:
        config = [word for path in self.config for word in ("--scheduler-config", path)]
        cluster = self.folder / "cluster.yaml"
        return ["why-pending", self.want["pod"], "--from", cluster, "--kube-version", f"v{RELEASE}", *config]


def incidents() -> Sequence[Incident]:
    """Return every folder, by name."""
    return [Incident(path.parent) for path in sorted(FOLDER.glob("*/want.json"))]


def complaints(incident: Incident) -> Iterator[str]:
    """Yield everything in which the report departs from what is true."""
    want, item = incident.want, incident.item
    for field in ("verdict", "message"):
        if item[field] != want[field]:
            yield f"{field}: {item[field]!r}, not {want[field]!r}"
    if sorted(item["feasible"]) != want["feasible"]:
        yield f"feasible: {item['feasible']}, not {want['feasible']}"
    if (counted := [*_counts(item)]) != want["counts"]:
        yield f"counts: {counted}, not {want['counts']}"
    conflict = [each.get("plugin", each.get("index")) for each in item["conflict"]]
    if sorted(conflict, key=str) not in [sorted(each, key=str) for each in want["conflict"]]:
        yield f"conflict: {conflict}, none of {want['conflict']}"
    yield from _about_fixes(incident)
    missing = {*want["findings"]} - {finding["id"] for finding in item["findings"]}
    yield from (f"no finding {name}" for name in sorted(missing))
    shown = incident.screen.lower()
    yield from (f"{text!r} is not said" for text in want["says"] if text.lower() not in shown)


def _counts(item: Object) -> Iterator[Object]:
    """Yield what the report says each hard constraint counts."""
    for each in item["constraints"]:
        if each["whenUnsatisfiable"] == "DoNotSchedule":
            yield {
                "index": each["index"],
                "minimum": each["globalMinimum"],
                "heldBy": each["minimumDomains"],
                "matching": {domain["value"]: domain["matching"] for domain in each["domains"] if domain["eligible"]},
                "selfMatch": each["selfMatch"],
            }


def _about_fixes(incident: Incident) -> Iterator[str]:
    """Yield fixes that are not offered, that must not be, and that kube-scheduler does not bear out."""
    want, fixes = incident.want, incident.item["fixes"]
    offered = [effect(incident.case, fix["changes"]) for fix in fixes]
    for wanted in want["fixes"]:
        if effect(incident.case, wanted["changes"]) not in offered:
            yield f"not offered: {wanted['why']}"
    for fix in fixes:
        if fix["id"] in want["absent"]:
            yield f"offered: {fix['id']}"
        if sorted(fix["feasible"]) != want["answers"].get(fix["summary"]):
            yield f"{fix['summary']}: {fix['feasible']}, kube-scheduler: {want['answers'].get(fix['summary'])}"


def effect(case: Object, changes: Sequence[Object]) -> tuple[Any, ...]:
    """Return what the scheduler reads once the changes are made: the Pod, the nodes, and who is on them."""
    after = situation_of(with_changes(case, changes))
    assert after is not None
    situation: Situation = after
    nodes = tuple(situation.handle.snapshot.all(Node))
    on_nodes = {name: frozenset(pod.key for pod in info.pods) for name, info in situation.handle.node_infos.items()}
    return situation.pod, nodes, on_nodes

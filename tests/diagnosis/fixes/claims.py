"""What a fix claims, made true on plain objects: with a patch of our own, so that nothing vouches for itself."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from kubectl_spread.apiserver.defaults import defaulted
from kubectl_spread.diagnosis.fixes.search import search_fixes
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.scheduler.framework import Handle
from tests.build import Object
from tests.conformance.answer import profile_of, snapshot_of
from tests.conformance.generate import Case, cases
from tests.diagnosis.fixes.clusters import JsonFix, Reported, reported

SUITES = ("spread", "filters")
MINOR = 36


@dataclass(frozen=True)
class Refused:
    """A generated case whose Pod cannot be scheduled, and what is offered for it."""

    case: Case
    situation: Situation
    found: Reported

    @property
    def claims(self) -> tuple[JsonFix, ...]:
        """Everything that is said to let the Pod in."""
        return (*self.found.fixes, *self.found.new_nodes)


def refused(*, seed: int, count: int) -> Iterator[Refused]:
    """Yield so many generated cases in which the Pod cannot be scheduled, in turn from each suite."""
    drawn = zip(*(cases(suite=suite, minor=MINOR, seed=seed, count=count * 10) for suite in SUITES), strict=True)
    left = count
    for case in (case for together in drawn for case in together):
        situation = situation_of(case)
        if left and situation is not None and not situation.evaluation.feasible:
            left -= 1
            yield Refused(case, situation, offered(situation))
        if not left:
            return


def offered(situation: Situation) -> Reported:
    return reported(search_fixes(situation, [situation.pod], lambda: False))


def situation_of(case: Mapping[str, Any]) -> Situation | None:
    """Return the case as it is judged; None where the Pod waits for another scheduler, or cannot be read."""
    profile = profile_of(case)
    pod = defaulted(convert(dict(case["pod"]), Pod), profile.release)
    if pod.spec.scheduler_name != profile.scheduler_name:
        return None
    return Situation(pod, Handle.build(snapshot_of(case["objects"], profile), profile))


def with_fix(case: Case, fix: JsonFix) -> Case:
    """Return the case with the changes of the fix made to its plain objects."""
    return with_changes(case, json.loads(msgspec.json.encode(fix.changes)))


def with_changes(case: Case, changes: Sequence[Object]) -> Case:
    """Return the case with the changes, as the report has them, made to its plain objects."""
    changed = copy.deepcopy(case)
    objects = {key_of(each): each for each in changed["objects"]}
    own = key_of(changed["pod"])
    for change in changes:
        target = change["target"]
        key = (target["kind"], target.get("namespace", ""), target["name"])
        if change.get("op") == "delete":
            del objects[key]
        elif change.get("op") == "create":
            assert key not in objects
            objects[key] = change["object"]
        else:
            patch(changed["pod"] if key == own else objects[key], change["jsonPatch"])
    return {**changed, "objects": [*objects.values()]}


def patch(document: Object, operations: list[Object]) -> None:
    """Apply a JSON patch (RFC 6902); a path that does not exist is an error."""
    for operation in operations:
        *steps, last = (step.replace("~1", "/").replace("~0", "~") for step in operation["path"][1:].split("/"))
        place: Any = document
        for step in steps:
            place = place[int(step)] if isinstance(place, list) else place[step]
        if operation["op"] == "remove":
            del place[int(last) if isinstance(place, list) else last]
        elif isinstance(place, list):
            place.insert(len(place) if last == "-" else int(last), operation["value"])
        else:
            place[last] = operation["value"]


def key_of(described: Object) -> tuple[str, str, str]:
    """Return kind, namespace and name."""
    metadata = described["metadata"]
    return described["kind"], metadata.get("namespace", ""), metadata["name"]

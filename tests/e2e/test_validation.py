"""What we say of a manifest is what the API server says: fields, reasons and messages, and nothing of a sound one.

Each manifest is created as a dry run: every situation of the tables by itself, those of Pods in a workload's template
too, and manifests drawn by a fixed seed: of any kind, with one to three faults, or with changes that leave them sound.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from random import Random

import pytest

from tests.apiserver.validation.situations import (
    Situation,
    changed,
    errors_of,
    in_template,
    kind_of,
    situations,
    sound,
)
from tests.controlplane.api import ApiError, Object
from tests.controlplane.client import Client

pytestmark = pytest.mark.e2e

_SEED = "validation"
_COUNT = 300
_WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController", "Job", "CronJob")
_KINDS = (*("Pod",) * len(_WORKLOADS), *_WORKLOADS)
_UNPROCESSABLE = 422

ASKED = [situation for situation in situations() if situation.default and not situation.offline]
OF_PODS = [situation for situation in ASKED if situation.kind == "Pod" and situation.fits_template]

Cause = tuple[str, str, str]  # A field, a reason and a message


@pytest.mark.parametrize("situation", ASKED, ids=str)
def test_situation(client: Client, situation: Situation) -> None:
    theirs, ours = _asked(client, situation.object), _said(situation.object)
    if situation.generated:
        theirs, ours = map(_without_messages, (theirs, ours))
    assert ours == theirs if not situation.any_order else set(ours) == set(theirs)


@pytest.mark.parametrize("kind", _WORKLOADS)
@pytest.mark.parametrize("situation", OF_PODS, ids=str)
def test_situation_in_a_template(client: Client, situation: Situation, kind: str) -> None:
    _compare(client, changed(sound(kind), in_template(situation, kind)))


@pytest.mark.parametrize("number", range(_COUNT))
def test_faulty_manifest(client: Client, number: int) -> None:
    assert any(_compare(client, made) for made in _random_manifests(number, faulty=True))


@pytest.mark.parametrize("number", range(_COUNT))
def test_sound_manifest(client: Client, number: int) -> None:
    assert not all(_compare(client, made) for made in _random_manifests(number, faulty=False))


def _asked(client: Client, made: Object) -> Sequence[Cause]:
    """Return what the API server refuses, in its order; each error once, as kubectl prints them."""
    try:
        client.api.request("POST", kind_of(made).path("default"), body=made, query={"dryRun": "All"})
    except ApiError as error:
        if error.status != _UNPROCESSABLE:
            raise
        causes = json.loads(str(error).partition(": ")[2])["details"]["causes"]
        return list(dict.fromkeys((cause["field"], cause["reason"], cause["message"]) for cause in causes))
    return []


def _said(made: Object) -> Sequence[Cause]:
    """Return what we refuse."""
    return [(error.field, str(error.reason), error.message) for error in errors_of(made)]


def _compare(client: Client, made: Object) -> Sequence[Cause]:
    """Return what the API server refuses, after we have refused the same; a name it makes is in its messages alone."""
    theirs, ours = _asked(client, made), _said(made)
    if "name" not in made["metadata"]:
        theirs, ours = map(_without_messages, (theirs, ours))
    assert set(ours) == set(theirs)
    return theirs


def _without_messages(causes: Sequence[Cause]) -> Sequence[Cause]:
    """Return fields and reasons alone."""
    return [(field, reason, "") for field, reason, _ in causes]


def _random_manifests(number: int, *, faulty: bool) -> Iterator[Object]:
    """Yield manifests of an endless series that depends on its number alone, all of them meant to be faulty or sound.

    Now and then one is not: two sound changes need not suit each other, and templates are forgiven what Pods are not.
    """
    rng = Random(f"{_SEED} {number} {faulty}")  # noqa: S311 - drawn to test with, not to keep a secret
    while True:
        kind = rng.choice(_KINDS)
        made = sound(kind)
        for changes in rng.sample(_changes(kind, faulty=faulty), k=rng.randint(1, 3)):
            # Of two changes in one place the second may have nothing left to change.
            with suppress(IndexError, KeyError):
                made = changed(made, changes)
        yield made


@cache
def _changes(kind: str, *, faulty: bool) -> Sequence[Mapping[str, object]]:
    """Return what can be done to an object of the kind."""
    fitting = [situation for situation in ASKED if bool(situation.errors) == faulty and not situation.generated]
    own = [situation.changes for situation in fitting if situation.kind == kind]
    if kind == "Pod":
        return own
    return own + [in_template(situation, kind) for situation in fitting if situation in OF_PODS]

"""Times as API servers write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kubectl_spread.objects.core import Event, Pod
from kubectl_spread.objects.times import last_told, moment, written
from tests.build import pod, typed_pod


@pytest.mark.parametrize("text", [None, "", "yesterday", "2026-11-20T03:02:11"])
def test_what_is_no_time_is_none(text: str | None) -> None:
    assert moment(text) is None


def test_a_time_is_written_as_it_was_read() -> None:
    read = moment("2026-11-20T03:02:11Z")
    assert read is not None
    assert read == datetime(2026, 11, 20, 3, 2, 11, tzinfo=UTC)
    assert written(read) == "2026-11-20T03:02:11Z"


def made(at: str, **status: object) -> Pod:
    """Return a Pod that was made at that time."""
    described = pod("web", status=status)
    return typed_pod({**described, "metadata": {**described["metadata"], "creationTimestamp": at}})


def test_the_last_time_that_pods_tell_of() -> None:
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T03:02:11Z"}
    told = last_told([made("2026-11-20T03:01:00Z", conditions=[ready]), made("2026-11-20T03:00:00Z")])
    assert told == moment("2026-11-20T03:02:11Z")
    assert last_told([]) is None
    event = Event(last_timestamp="2026-11-20T04:00:00Z")
    assert last_told([made("2026-11-20T03:01:00Z")], [event]) == moment("2026-11-20T04:00:00Z")

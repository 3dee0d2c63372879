"""Pods that nobody should delete to make room."""

from __future__ import annotations

import pytest

from kubectl_spread.controllers.do_not_evict import KEEPING_MARKS, kept_because
from tests.build import pod, typed_pod


@pytest.mark.parametrize(
    ("kind", "why"), [("Job", "count it as failed"), ("DaemonSet", "on the same node"), ("Node", "static Pod")]
)
def test_for_what_their_controller_would_do(kind: str, why: str) -> None:
    kept = pod("p", on="n", owner={"apiVersion": "v1", "kind": kind, "name": "x"})
    assert why in kept_because(typed_pod(kept))


@pytest.mark.parametrize("mark", KEEPING_MARKS)
def test_for_their_marks_and_no_other_value_of_them(mark: str) -> None:
    for value in ("true", "false", "1"):
        marked = pod("p", on="n", owner={"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x"})
        marked["metadata"]["annotations"] = {mark: value}
        wanted = KEEPING_MARKS[mark] is None or value in (KEEPING_MARKS[mark] or ())
        assert kept_because(typed_pod(marked)) == (f"it is marked {mark}: {value}" if wanted else "")


def test_a_pod_of_nobody_may_go() -> None:
    assert kept_because(typed_pod(pod("p", on="n"))) == ""

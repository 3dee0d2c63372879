"""Pods that nobody should delete to make room."""

from __future__ import annotations

import pytest

from kubectl_spread.controllers.do_not_evict import KEEPING_MARKS, KeptByController, KeptByMark, kept_because
from tests.build import pod, typed_pod


@pytest.mark.parametrize("kind", ["Job", "DaemonSet", "Node"])
def test_for_what_their_controller_would_do(kind: str) -> None:
    kept = pod("p", on="n", owner={"apiVersion": "v1", "kind": kind, "name": "x"})
    assert kept_because(typed_pod(kept)) == KeptByController(kind)


def test_for_the_mirror_of_a_static_pod() -> None:
    mirror = pod("p", on="n")
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    assert kept_because(typed_pod(mirror)) == KeptByController("Node")


@pytest.mark.parametrize("mark", KEEPING_MARKS)
def test_for_their_marks_and_no_other_value_of_them(mark: str) -> None:
    for value in ("true", "false", "1"):
        marked = pod("p", on="n", owner={"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x"})
        marked["metadata"]["annotations"] = {mark: value}
        wanted = KEEPING_MARKS[mark] is None or value in (KEEPING_MARKS[mark] or ())
        assert kept_because(typed_pod(marked)) == (KeptByMark(mark, value) if wanted else None)


def test_a_pod_of_nobody_may_go() -> None:
    assert kept_because(typed_pod(pod("p", on="n"))) is None

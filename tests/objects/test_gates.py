"""A gated Pod waits until its gates are gone."""

from __future__ import annotations

from tests.build import pod, typed_pod


def test_gates() -> None:
    assert typed_pod(pod("p")).spec.gates == ()
    gated = pod("p", schedulingGates=[{"name": "example.com/quota"}, {"name": "example.com/image"}])
    assert typed_pod(gated).spec.gates == ("example.com/quota", "example.com/image")

"""A gated Pod waits until its gates are gone."""

from __future__ import annotations

from kubectl_spread.scheduler.schedulinggates import gates
from tests.build import pod, typed_pod


def test_gates() -> None:
    assert gates(typed_pod(pod("p"))) == ()
    gated = pod("p", schedulingGates=[{"name": "example.com/quota"}, {"name": "example.com/image"}])
    assert gates(typed_pod(gated)) == ("example.com/quota", "example.com/image")

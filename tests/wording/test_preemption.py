"""What the scheduler evicts for a Pod, or waits for, in words."""

from __future__ import annotations

import pytest

from kubectl_spread.controllers.workloads import PodName
from kubectl_spread.diagnosis.preemption import AwaitedVolumes, Preemption
from kubectl_spread.wording.preemption import preempts, waits_for_volumes


@pytest.mark.parametrize(
    ("victims", "text"),
    [
        (("a",), "preempts ns/a on n1"),
        (("a", "b"), "preempts ns/a and ns/b on n1"),
        (("a", "b", "c", "d"), "preempts ns/a, ns/b and 2 more on n1"),
    ],
)
def test_who_is_evicted_is_named(victims: tuple[str, ...], text: str) -> None:
    assert preempts(Preemption(node="n1", victims=tuple(PodName(namespace="ns", name=n) for n in victims))) == text


def test_nothing_is_worded_where_nobody_is_evicted() -> None:
    assert preempts(None) == ""


@pytest.mark.parametrize(
    ("claims", "text"),
    [
        (("data",), "claim data, whose volume ebs.csi.aws.com is to make."),
        (("data", "logs"), "claims data, logs, whose volumes ebs.csi.aws.com is to make."),
    ],
)
def test_claims_are_named_with_who_makes_their_volumes(claims: tuple[str, ...], text: str) -> None:
    volumes = AwaitedVolumes(nodes=("b1",), claims=claims, provisioners=("ebs.csi.aws.com",))
    assert waits_for_volumes(volumes) == f"The scheduler has chosen b1 and waits for {text}"

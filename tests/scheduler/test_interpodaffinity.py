"""InterPodAffinity decides and scores as kube-scheduler does in every situation of tests/testdata/interpodaffinity."""

from __future__ import annotations

import pytest

from kubectl_spread.scheduler import interpodaffinity
from kubectl_spread.scheduler.framework import Code, Status
from tests.build import handle, node, pod, typed_pod
from tests.scheduler.situations import Situation, filtered, situations


@pytest.mark.parametrize("situation", filtered("interpodaffinity"), ids=str)
def test_situation(situation: Situation) -> None:
    assert situation.judged_by(interpodaffinity.pre_filter) == situation.verdict, situation.about


@pytest.mark.parametrize("situation", situations("interpodaffinity", having="scores"), ids=str)
def test_score(situation: Situation) -> None:
    assert situation.scored_by(interpodaffinity.pre_score) == situation.want["scores"], situation.about


def test_a_term_that_cannot_be_read_rejects_the_pod() -> None:
    selector = {"matchExpressions": [{"key": "app", "operator": "Like"}]}
    required = [{"topologyKey": "rack", "labelSelector": selector}]
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    status = interpodaffinity.pre_filter(typed_pod(pod("p", affinity=affinity)), handle([node("a")]))
    assert isinstance(status, Status)
    assert status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert status.reasons[0].startswith("parsing pod: ")

"""What both commands say in the situations of the Kubernetes documentation, against what kube-scheduler decides."""

from __future__ import annotations

import pytest

from tests.conformance.record import ask, oracle
from tests.documentation.situations import RELEASE, Object, Situation, situations, want_of
from tests.program import Ended, spread

SITUATIONS = pytest.mark.parametrize("situation", situations(), ids=str)


@SITUATIONS
def test_why_pending_says_what_kube_scheduler_decides(situation: Situation) -> None:
    files = ("--from", situation.cluster, "--from", situation.pod)
    ended = spread("why-pending", "mypod", *files, *situation.flags, "-o", "json")
    assert decided(ended) == wanted(situation)


@SITUATIONS
def test_check_says_what_kube_scheduler_decides(situation: Situation) -> None:
    ended = spread("check", "-f", situation.pod, "--from", situation.cluster, *situation.flags, "-o", "json")
    assert decided(ended) == wanted(situation)


@SITUATIONS
def test_check_puts_the_pod_on_the_best_node(situation: Situation) -> None:
    ended = spread("check", "-f", situation.pod, "--from", situation.cluster, *situation.flags, "-o", "json")
    want = situation.want
    if not want["feasible"]:
        assert ended.item["placements"] == []
        assert (ended.item["jam"]["replica"], ended.item["jam"]["message"]) == (1, want["message"])
        return
    best, *others = want["feasible"]
    total = want["scores"][best]["total"]
    ties = [node for node in others if want["scores"][node]["total"] == total]
    assert ended.item["placements"] == [{"replica": 1, "node": best, "ties": ties}]


@pytest.mark.e2e
def test_kube_scheduler_still_decides_so(pytestconfig: pytest.Config) -> None:
    if "e2e" not in pytestconfig.option.markexpr:
        pytest.skip("asks kube-scheduler itself, which takes Go: make e2e")
    asked = situations()
    answers = ask(oracle(RELEASE), [situation.case for situation in asked])
    assert {answer["id"]: want_of(answer) for answer in answers} == {str(s): s.want for s in asked}


def wanted(situation: Situation) -> Object:
    """Return what a report must say."""
    want = situation.want
    blocked = not want["feasible"]
    return {
        "code": 1 if blocked else 0,
        "verdict": "Unschedulable" if blocked else "Schedulable",
        "message": want["message"],
        "feasible": want["feasible"],
        "rejections": {node: said["plugin"] for node, said in want["nodes"].items()},
        "codes": {node: said["code"] for node, said in want["nodes"].items()},
        "reasons": {node: sorted(said["reasons"]) for node, said in want["nodes"].items()},
        "scores": {node: _two_scores(scores) for node, scores in want["scores"].items()},
    }


def decided(ended: Ended) -> Object:
    """Return the same of a report with one item."""
    item = ended.item
    rejected = {node["name"]: node for node in item["nodes"] if not node["feasible"]}
    return {
        "code": ended.code,
        "verdict": item["verdict"],
        "message": item["message"],
        "feasible": item["feasible"],
        "rejections": {name: node["plugin"] for name, node in rejected.items()},
        "codes": {name: node["code"] for name, node in rejected.items()},
        "reasons": {name: sorted(node["reasons"]) for name, node in rejected.items()},
        "scores": {node["name"]: _two_scores(node["scores"]) for node in item["nodes"] if node["feasible"]},
    }


def _two_scores(scores: Object) -> tuple[int | None, int]:
    """Return what PodTopologySpread gives, None where it gives nothing, and the total."""
    return scores.get("PodTopologySpread"), scores["total"]

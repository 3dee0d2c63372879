"""Nodes that stop answering, and what becomes of their Pods."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kubectl_spread.controllers.nodelifecycle import UNREACHABLE, added_names, evicted_after, lost
from kubectl_spread.objects.core import Node
from kubectl_spread.objects.decoding import convert
from kubectl_spread.scheduler.tainttoleration import NO_EXECUTE
from tests.build import Object, node, pod, typed_pod

ANY: Object = {"operator": "Exists"}
MINUTE: Object = {"key": UNREACHABLE, "operator": "Exists", "effect": NO_EXECUTE, "tolerationSeconds": 60}
HOUR: Object = {**MINUTE, "tolerationSeconds": 3600}


@pytest.mark.parametrize(
    ("tolerations", "seconds"),
    [
        pytest.param([ANY, MINUTE], None, id="one for ever before one for a minute"),
        pytest.param([MINUTE, ANY], 60, id="one for a minute before one for ever"),
        pytest.param([HOUR, MINUTE], 3600, id="the longer one before the shorter"),
        pytest.param([{**MINUTE, "tolerationSeconds": -1}], 0, id="for less than no time"),
        pytest.param([{**MINUTE, "key": "other"}], 0, id="of another taint"),
    ],
)
def test_the_first_toleration_of_a_taint_counts(tolerations: Sequence[Object], seconds: int | None) -> None:
    silent = lost(convert(node("n"), Node), NO_EXECUTE)
    assert evicted_after(typed_pod(pod("p", on="n", tolerations=[*tolerations])), silent) == seconds


def test_of_several_taints_the_one_tolerated_for_the_shortest_counts() -> None:
    tainted = convert(node("n", taints=["gpu:NoExecute", "old:NoExecute"]), Node)
    tolerations = [
        {"key": "gpu", "operator": "Exists", "tolerationSeconds": 90},
        {"key": "old", "operator": "Exists", "tolerationSeconds": 30},
    ]
    assert evicted_after(typed_pod(pod("p", on="n", tolerations=tolerations)), tainted) == 30


def test_a_node_that_is_added_has_a_name_of_the_same_domain() -> None:
    assert added_names("n1.example.com", 2, {"n1-new1.example.com"}) == ("n1-new2.example.com", "n1-new3.example.com")
    assert added_names("n1", 1, ()) == ("n1-new1",)

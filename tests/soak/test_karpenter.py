"""What was reported of Karpenter is compared with what it did: whatever is wrong is found."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from tests.controlplane.api import Object
from tests.controlplane.karpenter import VERSION
from tests.e2e.manifests import ZONE
from tests.soak.karpenter import Did, after_fix, differences
from tests.soak.karpenter_situations import SITUATIONS, one_of


def claim(pool: str = "default", *zones: str) -> Object:
    """Return a NodeClaim of a NodePool in these zones, a and b for none."""
    labels = {"karpenter.sh/nodepool": pool}
    return {"metadata": {"name": "new", "labels": labels}, "spec": {"requirements": [one_of(ZONE, *(zones or "ab"))]}}


REFUSED = Did(
    decision="Refused",
    message="Failed to schedule pod, did not tolerate taint (taint=gpu=true:NoSchedule); unsatisfiable topology"
    f" constraint for topology spread, key={ZONE} (counts = a: 1, b: 1, c: 0, podDomains = {ZONE} Exists,"
    f" nodeDomains = {ZONE} In [a b]",
)
CAME = Did(decision="NewNode", claim=claim())
EXISTS = Did(decision="ExistingNode", node="n1")
REPORTS: dict[str, Object] = {
    "Refused": {
        "pools": [
            {
                "name": "gpu",
                "verdict": "refused",
                "reasons": ["the Pod does not tolerate its taint gpu=true:NoSchedule"],
            },
            {"name": "default", "verdict": "refused", "reasons": ["zones a and b may take no more Pods"]},
            {"name": "lost", "verdict": "refused", "reasons": ["it is not Ready"]},
        ],
        "constraints": [{"domains": [{"value": z, "matching": int(z != "c")} for z in "abc"]}, {"domains": []}],
    },
    "NewNode": {"pools": [{"name": "default", "verdict": "chosen", "domains": {ZONE: ["a", "b"]}}]},
    "ExistingNode": {"node": "n1"},
}


def report(decision: str) -> Object:
    """Return what is reported of such a decision."""
    rest = copy.deepcopy(REPORTS[decision])
    version = VERSION.rpartition(".")[0]
    return {"kind": "karpenter", "decision": decision, "version": version, "summary": "", **rest}


@pytest.mark.parametrize(
    ("reported", "did", "count"),
    [
        ("default-x", Did(decision="ExistingNode", node="n1", claims={"n1": "default-x", "n2": "default-y"}), 0),
        ("n1", Did(decision="ExistingNode", node="default-x", claims={"n1": "default-x"}), 0),
        ("default-y", Did(decision="ExistingNode", node="n1", claims={"n1": "default-x", "n2": "default-y"}), 1),
        ("n2", Did(decision="ExistingNode", node="n1", claims={"n1": "default-x", "n2": "default-y"}), 1),
    ],
)
def test_a_node_that_registers_in_between_is_its_node_claim(reported: str, did: Did, count: int) -> None:
    assert len([*differences(report("ExistingNode") | {"node": reported}, did)]) == count


@pytest.mark.parametrize("did", [REFUSED, CAME, EXISTS], ids=lambda did: did.decision)
def test_what_karpenter_does_as_reported(did: Did) -> None:
    assert [*differences(report(did.decision), did)] == []


@pytest.mark.parametrize(
    ("did", "spoil"),
    [
        pytest.param(REFUSED, lambda said: said.update(decision="NewNode"), id="a node was to come"),
        pytest.param(REFUSED, lambda said: said.update(kind="cluster-autoscaler"), id="another autoscaler"),
        pytest.param(REFUSED, lambda said: said.update(version="1.13"), id="another release"),
        pytest.param(REFUSED, lambda said: said["constraints"][0]["domains"].pop(), id="a domain is missing"),
        pytest.param(
            REFUSED, lambda said: said["constraints"][0]["domains"][2].update(matching=1), id="a domain has a Pod more"
        ),
        pytest.param(REFUSED, lambda said: said["pools"].reverse(), id="another reason"),
        pytest.param(CAME, lambda said: said["pools"][0].update(name="other"), id="another NodePool"),
        pytest.param(CAME, lambda said: said["pools"][0].update(verdict="possible"), id="no NodePool is chosen"),
        pytest.param(CAME, lambda said: said["pools"][0]["domains"].update({ZONE: ["a"]}), id="a zone too few"),
        pytest.param(
            CAME, lambda said: said["pools"][0]["domains"].update({"rack": ["r"]}), id="a domain that is not set"
        ),
        pytest.param(EXISTS, lambda said: said.update(node="n2"), id="another node"),
    ],
)
def test_one_difference_is_found(did: Did, spoil: Callable[[Object], object]) -> None:
    said = report(did.decision)
    spoil(said)
    assert [*differences(said, did)] != []


@pytest.mark.parametrize(
    ("came", "wrong"),
    [([claim()], 0), ([], 1), ([claim("gpu")], 1), ([claim("default", "c")], 1), ([claim(), claim("default", "c")], 1)],
)
def test_what_comes_after_a_change(came: list[Object], wrong: int) -> None:
    then = "Karpenter: nothing that was read forbids a new node from NodePool default (zones a, b)."
    assert len([*after_fix(then, came)]) == wrong


def test_each_decision_has_situations() -> None:
    made = [each() for each in SITUATIONS]
    assert {each.decision for each in made} == {"NewNode", "ExistingNode", "Refused", "ByChance"}
    assert len({each.__name__ for each in SITUATIONS}) == len(SITUATIONS) >= 20

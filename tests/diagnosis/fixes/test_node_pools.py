"""Changes of NodePools after which Karpenter may add a node, and what people read of them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from kubectl_spread.autoscalers.karpenter.provisioner import new_scheduler
from kubectl_spread.autoscalers.karpenter.scheduler import solve
from kubectl_spread.diagnosis.fixes.node_pools import pool_changes
from kubectl_spread.objects.autoscaling import InstanceTypeSpec
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.profile import default_profile
from kubectl_spread.wording.autoscalers import added_by, advice_text
from tests.autoscalers.clusters import (
    ZONE,
    Object,
    instance_types,
    node,
    node_class,
    pod,
    pool,
    snapshot_of,
    spread,
)

GPU = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
TYPES = instance_types("abcd")
CLASS = node_class("abc")
WAITS = pod("pend", topologySpreadConstraints=spread())
WAITS_FOR_ZONES = pod("pend", topologySpreadConstraints=spread(minDomains=3, nodeTaintsPolicy="Honor"))
FULL = [each for zone in "ab" for each in (node(f"n-{zone}", zone, cpu="1"), pod(f"web-{zone}", f"n-{zone}"))]


def asked(objects: Sequence[Object], labels: dict[str, str], types: list[Object] | None) -> tuple[list[str], str]:
    """Return the advice, and whether a node with these labels may come."""
    snapshot = snapshot_of(objects)
    specs = None if types is None else tuple(msgspec.convert(types, list[InstanceTypeSpec]))
    waiting = next(each for each in snapshot.all(Pod) if each.metadata.name == "pend")
    scheduler = new_scheduler(snapshot, default_profile(36), specs=specs)
    decided = solve(waiting, scheduler)
    return advice_text(decided, pool_changes(waiting, scheduler, decided)), added_by(decided, labels)


@pytest.mark.parametrize(
    ("objects", "advice", "comes"),
    [
        pytest.param(
            [pool("p", "ab", limits={"cpu": "2"}), CLASS, *FULL, WAITS],
            ["Raise the cpu limit of NodePool p."],
            "Karpenter adds none now: NodePool p (its limit of 2 cpu leaves no room for a node: 0 are used)",
            id="limit",
        ),
        pytest.param(
            [pool("p", "ab", limits={"cpu": "3", "nodes": "0"}), CLASS, *FULL, WAITS],
            ["Raise the cpu and nodes limits of NodePool p."],
            "Karpenter adds none now: NodePool p (its limit of 3 cpu leaves no room for a node: 0 are used)",
            id="two limits",
        ),
        pytest.param(
            [pool("p", "ab", limits={"nodes": "0"}), CLASS, *FULL, WAITS],
            ["Raise the nodes limit of NodePool p."],
            "Karpenter adds none now: NodePool p (its nodes limit of 0 is reached)",
            id="nodes",
        ),
        pytest.param(
            [pool("p", "ab", limits={"cpu": "2"}, taints=[GPU]), CLASS, *FULL, WAITS],
            [],
            "Karpenter adds none now: NodePool p (the Pod does not tolerate its taint gpu=true:NoSchedule)",
            id="neither the limit nor the taint alone",
        ),
        pytest.param(
            [pool("p", "ab", taints=[GPU]), CLASS, *FULL, WAITS],
            [
                (
                    "If the Pod belongs there, let the Pod tolerate taint gpu=true:NoSchedule, or remove that taint"
                    " from NodePool p."
                )
            ],
            "Karpenter adds none now: NodePool p (the Pod does not tolerate its taint gpu=true:NoSchedule)",
            id="taint",
        ),
        pytest.param(
            [pool("p", "ab"), pool("q", "c", taints=[GPU]), CLASS, *FULL, WAITS],
            [
                "Add zone c to the requirements of NodePool p.",
            ],
            "Karpenter adds none now: NodePool p (zones a and b may take no more Pods while c has the fewest (0))",
            id="zone of another pool",
        ),
        pytest.param(
            [pool("p", "ab"), pool("q", "d", taints=[GPU], node_class="d"), CLASS, node_class("d", "d"), *FULL, WAITS],
            [
                "Add zone d to the requirements of NodePool p, and a subnet in zone d to EC2NodeClass all.",
            ],
            "Karpenter adds none now: NodePool p (zones a and b may take no more Pods while d has the fewest (0))",
            id="zone without a subnet",
        ),
        pytest.param(
            [pool("p", "ab"), pool("q", "abc", taints=[GPU]), CLASS, *FULL, WAITS_FOR_ZONES],
            ["Add zone c to the requirements of NodePool p."],
            "Karpenter adds none now: NodePool q (the Pod does not tolerate its taint gpu=true:NoSchedule); NodePool p"
            " (zones a and b may take no more Pods, because minDomains asks for 1 more domain)",
            id="zone that minDomains lacks",
        ),
        pytest.param(
            [pool("p", "ab"), node_class("ab"), *FULL, WAITS_FOR_ZONES],
            [],
            "Karpenter adds none now: NodePool p"
            " (zones a and b may take no more Pods, because minDomains asks for 1 more domain)",
            id="no zone is known that minDomains lacks",
        ),
        pytest.param(
            [pool("p", "abe"), CLASS, *FULL, WAITS],
            ["Remove zone e from the requirements of NodePool p."],
            "Karpenter adds none now: NodePool p (zone e is picked first, and the pool offers no node there)",
            id="zone that the pool names and cannot offer",
        ),
        pytest.param(
            [pool("p", "bc"), CLASS, pod("pend", nodeSelector={ZONE: "a"})],
            ["Add zone a to the requirements of NodePool p."],
            "Karpenter adds none now: no NodePool offers one there",
            id="zone of the Pod",
        ),
        pytest.param(
            [
                pool("p", requirements=[{"key": ZONE, "operator": "NotIn", "values": ["a"]}]),
                CLASS,
                pod("pend", nodeSelector={ZONE: "a"}),
            ],
            ["Add zone a to the requirements of NodePool p."],
            "Karpenter adds none now: no NodePool offers one there",
            id="zone that the pool excludes",
        ),
        pytest.param(
            [pool("p", "abc"), CLASS, *FULL, WAITS],
            [],
            "Karpenter adds its next node elsewhere, from NodePool p (zone c)",
            id="another zone comes first",
        ),
        pytest.param(
            [pool("p", "ab"), CLASS, *FULL, WAITS], [], "Karpenter may add one from NodePool p", id="that zone comes"
        ),
    ],
)
def test_what_to_change_in_node_pools(objects: list[Object], advice: list[str], comes: str) -> None:
    assert asked(objects, {ZONE: "a"}, TYPES) == (advice, comes)
    if not any("limits" in each.get("spec", {}) for each in objects):  # Limits need the sizes of machines.
        assert asked(objects, {ZONE: "a"}, None)[0] == advice


def test_of_several_pools_the_first_is_named() -> None:
    tainted = [pool(f"other-{number}", "ab", taints=[GPU]) for number in range(20)]
    pools = [pool("p", "ab"), pool("q", "ab"), *tainted, pool("gpu", "c", taints=[GPU])]
    advice, _ = asked([*pools, CLASS, *FULL, WAITS], {ZONE: "a"}, TYPES)
    assert advice == [
        "Add zone c to the requirements of NodePool q.",
    ]


def test_a_subnet_is_all_that_is_lacking() -> None:
    objects = [pool("p"), node_class("b"), pod("pend", nodeSelector={ZONE: "a"})]
    advice, _ = asked(objects, {ZONE: "a"}, TYPES)
    assert advice == ["Add a subnet in zone a to EC2NodeClass all, the node class of NodePool p."]

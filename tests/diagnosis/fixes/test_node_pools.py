"""Changes of NodePools after which Karpenter may add a node, and what people read of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import asdict

from kubectl_spread.autoscalers.karpenter.provisioner import new_scheduler
from kubectl_spread.autoscalers.karpenter.scheduler import solve
from kubectl_spread.diagnosis.autoscaler_answer import AutoscalerAnswer
from kubectl_spread.diagnosis.fixes.node_pools import pool_changes
from kubectl_spread.objects.autoscaling import InstanceTypeSpec
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.profile import default_profile
from kubectl_spread.wording.autoscalers import added_by, advice_text
from tests.autoscalers.clusters import ZONE, Object, instance_types, node, node_class, pod, pool, snapshot_of, spread

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
    return advice_text(
        AutoscalerAnswer(**asdict(decided), changes=tuple(pool_changes(waiting, scheduler, decided)))
    ), added_by(decided, labels)


CASES: dict[str, list[Object]] = {
    "limit": [pool("p", "ab", limits={"cpu": "2"}), CLASS, *FULL, WAITS],
    "two limits": [pool("p", "ab", limits={"cpu": "3", "nodes": "0"}), CLASS, *FULL, WAITS],
    "nodes": [pool("p", "ab", limits={"nodes": "0"}), CLASS, *FULL, WAITS],
    "neither the limit nor the taint alone": [pool("p", "ab", limits={"cpu": "2"}, taints=[GPU]), CLASS, *FULL, WAITS],
    "taint": [pool("p", "ab", taints=[GPU]), CLASS, *FULL, WAITS],
    "zone of another pool": [pool("p", "ab"), pool("q", "c", taints=[GPU]), CLASS, *FULL, WAITS],
    "zone without a subnet": [
        pool("p", "ab"),
        pool("q", "d", taints=[GPU], node_class="d"),
        CLASS,
        node_class("d", "d"),
        *FULL,
        WAITS,
    ],
    "zone that minDomains lacks": [pool("p", "ab"), pool("q", "abc", taints=[GPU]), CLASS, *FULL, WAITS_FOR_ZONES],
    "no zone is known that minDomains lacks": [pool("p", "ab"), node_class("ab"), *FULL, WAITS_FOR_ZONES],
    "zone that the pool names and cannot offer": [pool("p", "abe"), CLASS, *FULL, WAITS],
    "zone of the Pod": [pool("p", "bc"), CLASS, pod("pend", nodeSelector={ZONE: "a"})],
    "zone that the pool excludes": [
        pool("p", requirements=[{"key": ZONE, "operator": "NotIn", "values": ["a"]}]),
        CLASS,
        pod("pend", nodeSelector={ZONE: "a"}),
    ],
    "another zone comes first": [pool("p", "abc"), CLASS, *FULL, WAITS],
    "that zone comes": [pool("p", "ab"), CLASS, *FULL, WAITS],
}


def test_what_to_change_in_node_pools(same_as_golden: Callable[[str, str], None]) -> None:
    told = []
    for name, objects in CASES.items():
        advice, comes = asked(objects, {ZONE: "a"}, TYPES)
        told.append(f"{name}: {' '.join((*advice, comes))}\n")
        if not any("limits" in each.get("spec", {}) for each in objects):  # Limits need the sizes of machines.
            assert asked(objects, {ZONE: "a"}, None)[0] == advice
    same_as_golden("".join(told), "phrasebook/node-pools.txt")


def test_of_several_pools_the_first_is_named() -> None:
    tainted = [pool(f"other-{number}", "ab", taints=[GPU]) for number in range(20)]
    pools = [pool("p", "ab"), pool("q", "ab"), *tainted, pool("gpu", "c", taints=[GPU])]
    advice, _ = asked([*pools, CLASS, *FULL, WAITS], {ZONE: "a"}, TYPES)
    assert advice == ["Add zone c to the requirements of NodePool q."]


def test_a_subnet_is_all_that_is_lacking() -> None:
    objects = [pool("p"), node_class("b"), pod("pend", nodeSelector={ZONE: "a"})]
    advice, _ = asked(objects, {ZONE: "a"}, TYPES)
    assert advice == ["Add a subnet in zone a to EC2NodeClass all, the node class of NodePool p."]

"""Generated clusters whose Pods have owners and marks or are being deleted, and whose nodes have controllers' taints.

What must never be offered is told here from the plain objects, by lists of its own.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator

from tests.build import Object
from tests.conformance.generate import Case
from tests.diagnosis.fixes.claims import Refused, key_of, offered, refused, situation_of
from tests.diagnosis.fixes.clusters import JsonFix

OWNERS = (
    *(("apps/v1", "ReplicaSet"),) * 3,
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
    ("v1", "Node"),
)
MARKS = (
    {"karpenter.sh/do-not-disrupt": "true"},
    {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"},
    {"descheduler.alpha.kubernetes.io/prefer-no-eviction": ""},
)
TAINTS = (
    "node.kubernetes.io/memory-pressure",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "ToBeDeletedByClusterAutoscaler",
    "karpenter.sh/disrupted",
    "node.cilium.io/agent-not-ready",
    "ebs.csi.aws.com/agent-not-ready",
    "cloud.google.com/impending-node-termination",
    "node.cluster.x-k8s.io/uninitialized",
    "startup-taint.cluster-autoscaler.kubernetes.io/driver",
    "aws-node-termination-handler/spot-itn",
)
_NEVER_DELETED = frozenset(("DaemonSet", "Job", "Node"))
_SILENT = frozenset(("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"))
_ENDS = "2026-01-01T00:00:00Z"


def dressed(*, seed: int, count: int) -> Iterator[Refused]:
    """Yield so many generated cases in which the Pod cannot be scheduled, with what fixes must mind."""
    dice = random.Random(seed)  # noqa: S311 - the same each time
    for each in refused(seed=seed, count=count):
        case: Case = copy.deepcopy(each.case)
        for described in case["objects"]:
            _dress(described, dice)
        situation = situation_of(case)
        if situation is not None and not situation.evaluation.feasible:
            yield Refused(case, situation, offered(situation))


def _dress(described: Object, dice: random.Random) -> None:
    """Add what a fix must mind to a Pod or node."""
    metadata = described["metadata"]
    if described["kind"] == "Node" and dice.random() < 0.2:
        taint = {"key": dice.choice(TAINTS), "value": "x", "effect": "NoSchedule"}
        described.setdefault("spec", {}).setdefault("taints", []).append(taint)
    if described["kind"] != "Pod" or metadata.get("ownerReferences"):
        return
    version, kind = dice.choice(OWNERS)
    metadata["ownerReferences"] = [
        {"apiVersion": version, "kind": kind, "name": "kept", "uid": "kept", "controller": True}
    ]
    if dice.random() < 0.2:
        metadata["annotations"] = {**metadata.get("annotations", {}), **dice.choice(MARKS)}
    if dice.random() < 0.1 and "deletionTimestamp" not in metadata:
        metadata |= {"deletionTimestamp": _ENDS, "deletionGracePeriodSeconds": dice.choice((30, 300))}


def forbidden(case: Case, fix: JsonFix) -> str:
    """Return what of the fix must never be offered; empty where nothing."""
    objects = {key_of(each): each for each in case["objects"]}
    for change in fix.changes:
        if change.op == "delete":
            kept = objects["Pod", change.target.namespace or "", change.target.name]
            node = objects.get(("Node", "", kept["spec"]["nodeName"]), {})
            silent = any(taint["key"] in _SILENT for taint in node.get("spec", {}).get("taints", ()))
            if why := _forbidden_deletion(kept["metadata"], silent=silent):
                return why
        for operation in change.json_patch or ():
            if "oleration" in operation.path and any(key in str(operation.value) for key in TAINTS):
                return f"tolerates {operation.value}"
            if operation.op == "remove" and operation.path.startswith("/spec/taints/"):
                node = objects["Node", "", change.target.name]
                taint = node["spec"]["taints"][int(operation.path.rpartition("/")[2])]
                if taint["key"] in TAINTS:
                    return f"removes {taint['key']}"
    return ""


def _forbidden_deletion(metadata: Object, *, silent: bool) -> str:
    """Return why a Pod with such metadata must not be deleted; ``silent``: its node does not answer."""
    owners = {owner["kind"] for owner in metadata.get("ownerReferences", ())}
    if owners & _NEVER_DELETED:
        return f"deletes a Pod of a {owners.pop()}"
    if "deletionTimestamp" in metadata:
        ends = metadata.get("deletionGracePeriodSeconds") and not silent
        return "deletes a Pod that ends by itself" if ends else ""
    marks = {key for mark in MARKS for key in mark}.intersection(metadata.get("annotations", {}))
    return f"deletes a Pod that is marked {marks.pop()}" if marks else ""

"""Which Services, budgets, policies and controllers select a Pod by its labels, and which would after a change."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.labels import Selector, from_set
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod, ReplicationController, Service
from kubectl_spread.objects.meta import LabelSelector, parse_label_selector
from kubectl_spread.objects.policy import NetworkPolicy, PodDisruptionBudget
from kubectl_spread.objects.workloads import DaemonSet, Deployment, Job, ReplicaSet, StatefulSet
from kubectl_spread.snapshot import Snapshot

SELECTING_KINDS = (
    kinds.SERVICE,
    kinds.POD_DISRUPTION_BUDGET,
    kinds.NETWORK_POLICY,
    kinds.REPLICATION_CONTROLLER,
    kinds.DEPLOYMENT,
    kinds.REPLICA_SET,
    kinds.STATEFUL_SET,
    kinds.DAEMON_SET,
    kinds.JOB,
)


def is_newly_selected(before: Pod, after: Pod, snapshot: Snapshot) -> bool:
    """Whether anything selects the Pod that did not before, or may: some kind with a selector was not listed."""
    if not all(map(snapshot.inventory.has, SELECTING_KINDS)):
        return True
    old, new = before.metadata.labels, after.metadata.labels
    return any(
        selector.matches(new) and not selector.matches(old)
        for selector in _selectors(after.metadata.namespace, snapshot)
    )


def _selectors(namespace: str, snapshot: Snapshot) -> Iterator[Selector]:
    there = (obj for kind in SELECTING_KINDS for obj in snapshot.all(kind.struct))
    for obj in (obj for obj in there if obj.metadata.namespace == namespace):
        match obj:
            case Service() | ReplicationController():
                if obj.spec.selector is not None:
                    yield from_set(obj.spec.selector)
            case NetworkPolicy():
                yield careful_selector(obj.spec.pod_selector)
            case PodDisruptionBudget() | Deployment() | ReplicaSet() | StatefulSet() | DaemonSet() | Job():
                yield careful_selector(obj.spec.selector)


def careful_selector(selector: LabelSelector | None) -> Selector:
    """Return the selector. One that cannot be parsed selects everything, which is the safe assumption."""
    try:
        return parse_label_selector(selector)
    except ValueError:
        return Selector()

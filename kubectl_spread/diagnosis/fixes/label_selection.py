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

_WITH_LABEL_SELECTOR: tuple[
    type[PodDisruptionBudget | Deployment | ReplicaSet | StatefulSet | DaemonSet | Job], ...
] = (PodDisruptionBudget, Deployment, ReplicaSet, StatefulSet, DaemonSet, Job)


def newly_selected(before: Pod, after: Pod, snapshot: Snapshot) -> str | None:
    """Return what would take the Pod for its own that did not before, None where nothing does.

    Where a kind that selects Pods could not be listed, its plural is returned: it may.
    """
    for kind in SELECTING_KINDS:
        if not snapshot.inventory.has(kind):
            return kind.plural
    for name, selector in _selectors(after.metadata.namespace, snapshot):
        if selector.matches(after.metadata.labels) and not selector.matches(before.metadata.labels):
            return name
    return None


def _selectors(namespace: str, snapshot: Snapshot) -> Iterator[tuple[str, Selector]]:
    """Yield (what it is, its selector) for everything of the namespace that selects Pods."""
    for service in snapshot.all(Service):
        if service.metadata.namespace == namespace and service.spec.selector is not None:
            yield f"service/{service.metadata.name}", from_set(service.spec.selector)
    for controller in snapshot.all(ReplicationController):
        if controller.metadata.namespace == namespace:
            yield f"replicationcontroller/{controller.metadata.name}", from_set(controller.spec.selector)
    for policy in snapshot.all(NetworkPolicy):
        if policy.metadata.namespace == namespace:
            yield f"networkpolicy/{policy.metadata.name}", careful_selector(policy.spec.pod_selector)
    for kind in _WITH_LABEL_SELECTOR:
        for owner in snapshot.all(kind):
            if owner.metadata.namespace == namespace:
                yield f"{kind.__name__.lower()}/{owner.metadata.name}", careful_selector(owner.spec.selector)


def careful_selector(selector: LabelSelector | None) -> Selector:
    """Return the selector; one that cannot be read is taken to select everything, which is the careful reading."""
    try:
        return parse_label_selector(selector)
    except ValueError:
        return Selector()

"""The status of ResourceQuotas as Pods come and go.

The API server counts a Pod when it admits it. A controller no longer counts it once it has ended, is deleted, or is
terminating on a node that does not answer.

Source: apiserver pkg/admission/plugin/resourcequota, kube-controller-manager pkg/controller/resourcequota,
pkg/quota/v1/evaluator/core/pods.go QuotaV1Pod (v1.36).
"""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from msgspec.structs import replace

from kubectl_spread.apiserver.quantities import Amounts
from kubectl_spread.apiserver.resourcequotas import charge, quota_fault, with_usage
from kubectl_spread.objects.core import Pod, ResourceQuota, ResourceQuotaStatus
from kubectl_spread.simulation.cluster_state import ClusterState
from kubectl_spread.snapshot import PodKey, Snapshot

Charged: TypeAlias = Mapping[PodKey, tuple[Pod, bool]]  # Pod → (the Pod, whether it has ended for quotas)


class QuotaUsage:
    """Keeps the status of a cluster's quotas up to date with its Pods."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster
        self._charged: dict[str, Charged] = {namespace: self._now(namespace) for namespace in self._namespaces()}

    def fault(self, pod: Pod, sent: Snapshot, former: Snapshot) -> str:
        """Return why the quotas refuse the Pod; empty if they have room for it.

        ``sent`` is the cluster when the Pod is sent: quotas that it lacks come later. ``former`` has the limits that
        still hold, because the controller of quotas has not seen a change.
        """
        self.count(pod.metadata.namespace)
        snapshot = self._cluster.snapshot.without_others(
            quota for quota in self._quotas() if sent.get(ResourceQuota, *quota.key) is None
        )
        were = [(quota, former.get(ResourceQuota, *quota.key)) for quota in self._quotas()]
        changed = [(quota, was.spec.hard) for quota, was in were if was and was.spec.hard != quota.spec.hard]
        if changed:
            limited = (replace(quota, status=replace(quota.status, hard=hard)) for quota, hard in changed)
            snapshot = snapshot.with_others(limited)
        return quota_fault(pod, (), snapshot, self._cluster.handle.profile.release)

    def count(self, *namespaces: str) -> None:
        """Update the quotas of these namespaces, or of all."""
        for namespace in namespaces or self._namespaces():
            quotas = [*self._cluster.snapshot.within(ResourceQuota, namespace)]
            if not quotas:
                continue
            before, now = self._charged.get(namespace, {}), self._now(namespace)
            self._charged[namespace] = now
            changes = [*self._charges(now, before, 1), *self._charges(before, now, -1)]
            for quota in quotas:
                if not quota.status.used or quota.status.hard != (quota.spec.hard or quota.status.hard):
                    uncounted = replace(quota, status=ResourceQuotaStatus())
                    self._cluster.put(with_usage(uncounted, self._charges(now, {}, 1)))
                elif changes:
                    self._cluster.put(with_usage(quota, changes))

    def _charges(self, these: Charged, others: Charged, count: int) -> Iterator[tuple[Pod, Amounts, int]]:
        release = self._cluster.handle.profile.release
        for key, (pod, ended) in these.items():
            other = others.get(key)
            if other is None or (other[0].spec.containers, other[1]) != (pod.spec.containers, ended):
                yield pod, charge(pod, release, ended=ended), count

    def _quotas(self) -> Iterator[ResourceQuota]:
        yield from self._cluster.snapshot.all(ResourceQuota)

    def _namespaces(self) -> frozenset[str]:
        return frozenset(quota.metadata.namespace for quota in self._quotas())

    def _now(self, namespace: str) -> Charged:
        pods = (pod for key, pod in self._cluster.pods.items() if key[0] == namespace)
        return {pod.key: (pod, pod.finished or self._cluster.is_stuck(pod)) for pod in pods}

"""What is used of ResourceQuotas as Pods come and go.

The API server counts a Pod as it lets it in; a controller counts it no longer once it has ended, is gone, or was to be
gone and its node does not answer.

Source: apiserver pkg/admission/plugin/resourcequota, kube-controller-manager pkg/controller/resourcequota,
pkg/quota/v1/evaluator/core/pods.go QuotaV1Pod (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from msgspec.structs import replace

from kubectl_spread.apiserver.quantities import Amounts
from kubectl_spread.apiserver.resourcequotas import charge, quota_fault, with_usage
from kubectl_spread.objects.core import Pod, ResourceQuota, ResourceQuotaStatus
from kubectl_spread.simulation.cluster_state import ClusterState, PodKey

Charged: TypeAlias = Mapping[PodKey, tuple[Pod, bool]]
"""Pod → it, and whether it has ended as far as quotas go."""


class QuotaUsage:
    """The quotas of one cluster, whose status follows its Pods.

    Args:
        cluster: the cluster that the quotas' status counts.
    """

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster
        self._charged: dict[str, Charged] = {namespace: self._now(namespace) for namespace in self._namespaces()}

    def fault(self, pod: Pod) -> str:
        """Return why the quotas leave no room for the Pod now; empty where there is room."""
        self.count(pod.metadata.namespace)
        return quota_fault(pod, (), self._cluster.snapshot, self._cluster.handle.profile.release)

    def count(self, *namespaces: str) -> None:
        """Count the Pods that there are in the quotas of these namespaces, or of all."""
        for namespace in namespaces or self._namespaces():
            quotas = [quota for quota in self._quotas() if quota.metadata.namespace == namespace]
            if quotas:
                before, now = self._charged.get(namespace, {}), self._now(namespace)
                self._charged[namespace] = now
                self._count(quotas, before, now)

    def _count(self, quotas: Iterable[ResourceQuota], before: Charged, now: Charged) -> None:
        """Count what has changed, or everything in quotas that have counted nothing yet."""
        changes = [*self._charges(now, before, 1), *self._charges(before, now, -1)]
        for quota in quotas:
            if not quota.status.used or quota.status.hard != (quota.spec.hard or quota.status.hard):
                anew = replace(quota, status=ResourceQuotaStatus())
                self._cluster.put(with_usage(anew, self._charges(now, {}, 1)))
            elif changes:
                self._cluster.put(with_usage(quota, changes))

    def _charges(self, these: Charged, others: Charged, count: int) -> Iterator[tuple[Pod, Amounts, int]]:
        """Yield what is charged for these Pods and not for the others."""
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

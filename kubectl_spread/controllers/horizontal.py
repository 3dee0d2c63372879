"""HorizontalPodAutoscalers: which one decides the replicas of a workload, and the bound that it restores.

Source: kube-controller-manager pkg/controller/podautoscaler/horizontal.go reconcileAutoscaler (v1.36).
"""

import msgspec

from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.objects.autoscaling import HorizontalPodAutoscaler
from kubectl_spread.objects.kinds import BY_NAME, Scaled
from kubectl_spread.snapshot import Snapshot


class ReplicaBounds(msgspec.Struct, frozen=True):
    """The replicas that an autoscaler lets a workload have (counts)."""

    name: str  # the HorizontalPodAutoscaler, in the namespace of the workload
    ref: WorkloadRef
    least: int
    most: int

    def restored(self, replicas: int) -> int:
        """Return to how many replicas (count) it sets so many; it leaves a workload alone that is scaled to 0."""
        return min(max(replicas, self.least), self.most) if replicas else 0


def bounds_of(owner: Scaled, snapshot: Snapshot) -> ReplicaBounds | None:
    """Return the bounds of the only autoscaler of the workload; None where there is none, or where several compete."""
    kind, (namespace, name) = BY_NAME[type(owner).__name__], owner.key
    found = []
    for each in snapshot.within(HorizontalPodAutoscaler, namespace):
        target = each.spec.scale_target_ref
        group = target.api_version.rpartition("/")[0]
        if (group, target.kind, target.name) == (kind.group, kind.name, name):
            found.append(each)
    if len(found) != 1 or found[0].metadata.deletion_timestamp:
        return None
    ref, spec = WorkloadRef(kind=kind.name, name=name), found[0].spec
    return ReplicaBounds(found[0].metadata.name, ref, spec.least_replicas, spec.max_replicas)

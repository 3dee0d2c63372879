"""Workloads that have fewer Pods than they want, and the failures that their controllers report.

Source: kube-controller-manager pkg/controller/replicaset/replica_set_utils.go calculateStatus,
pkg/controller/daemon/daemon_controller.go updateDaemonSetStatus (v1.36).
"""

from collections.abc import Iterable

import msgspec

from kubectl_spread.controllers import deployment, job
from kubectl_spread.controllers.workloads import OwnedPods
from kubectl_spread.objects.core import Pod, ReplicationController
from kubectl_spread.objects.workloads import DaemonSet, Deployment, Job, ReplicaSet, StatefulSet
from kubectl_spread.snapshot import Snapshot

_REPLICA_FAILURE = "ReplicaFailure"  # The condition of a ReplicaSet that could not create or delete a Pod
_FAILED_DELETE = "FailedDelete"


class Shortage(msgspec.Struct, frozen=True):
    """A workload has fewer Pods than it wants."""

    wanted: int  # the Pods that it wants, for a Deployment of its newest revision (count)
    created: int  # those that exist (count)
    failure: str = ""  # why its controller could not create one, in the controller's words; empty if it reports nothing


def shortage_of(workload: OwnedPods, snapshot: Snapshot) -> Shortage | None:
    """Return what the workload lacks; None if it lacks nothing, or if the number that it wants is not known."""
    match workload.owner:
        case Deployment() | ReplicaSet() | ReplicationController() as owner:
            maker = deployment.newest_replica_set(owner, snapshot) if isinstance(owner, Deployment) else owner
            own = [pod for pod in workload.pods if not maker or pod.metadata.controller_key == maker.as_controller]
            found = Shortage((maker or owner).spec.replicas_wanted, _living(own), _failure(maker))
        case StatefulSet() as owner:
            found = Shortage(owner.spec.replicas_wanted, _living(workload.pods))
        case DaemonSet(status=status):
            # The status may be out of date.
            there = max(status.current_number_scheduled, _living(workload.pods))
            found = Shortage(status.desired_number_scheduled, there)
        case Job() as owner if job.wants_more(owner, workload.pods):
            found = Shortage(job.wanted_now(owner), _living(workload.pods))
        case _:
            return None
    return found if found.created < found.wanted else None


def failure_of(workload: OwnedPods, snapshot: Snapshot) -> str:
    """Return why a missing Pod could not be created, as the controller reports it; empty if it does not."""
    shortage = shortage_of(workload, snapshot)
    return shortage.failure if shortage else ""


def _living(pods: Iterable[Pod]) -> int:
    return sum(not pod.terminating for pod in pods)


def _failure(maker: ReplicaSet | ReplicationController | None) -> str:
    conditions = maker.status.conditions if maker else ()
    failures = (c for c in conditions if c.type == _REPLICA_FAILURE and c.status == "True")
    return next((failure.message for failure in failures if failure.reason != _FAILED_DELETE), "")

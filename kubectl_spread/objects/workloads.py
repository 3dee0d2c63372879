"""Deployment, ReplicaSet, StatefulSet, DaemonSet, Job and CronJob: the kinds that make Pods.

Source: api apps/v1/types.go and batch/v1/types.go (v1.36).
"""

from __future__ import annotations

from typing import Final

from kubectl_spread.objects.core import PodTemplateSpec, ReplicaSetStatus, ReplicatedSpec, ReplicatedStatus
from kubectl_spread.objects.meta import LabelSelector, ObjectMeta, ScaledMeta, Struct
from kubectl_spread.objects.storage import PersistentVolumeClaim

JOB_NAME_LABELS = ("job-name", "batch.kubernetes.io/job-name")
"""Labels that hold a Job's name, on it and on its Pods."""
JOB_UID_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")
"""Labels that hold a Job's UID, on its Pods and in its selector."""

ON_DELETE: Final = "OnDelete"
RECREATE: Final = "Recreate"
ROLLING_UPDATE: Final = "RollingUpdate"

_JOB_FAILS = frozenset(("Failed", "FailureTarget"))
_JOB_ENDS = frozenset(("Complete", "SuccessCriteriaMet", *_JOB_FAILS))


class RollingUpdate(Struct, frozen=True):
    """How far a rollout may go at once: in Pods, or in percent of the replicas."""

    max_surge: int | str | None = None
    max_unavailable: int | str | None = None
    partition: int = 0


class UpdateStrategy(Struct, frozen=True):
    """How a changed template reaches the Pods: RollingUpdate, OnDelete, Recreate; empty means RollingUpdate."""

    type: str = ""
    rolling_update: RollingUpdate | None = None


class WorkloadSpec(ReplicatedSpec, frozen=True):
    """What the apps kinds have in common."""

    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    update_strategy: UpdateStrategy = UpdateStrategy()


class DeploymentSpec(WorkloadSpec, frozen=True):
    """What a Deployment keeps; its update strategy has a name of its own."""

    strategy: UpdateStrategy = UpdateStrategy()
    paused: bool = False


class Deployment(Struct, frozen=True):
    """Keeps ReplicaSets, one a revision."""

    metadata: ScaledMeta = ScaledMeta()
    spec: DeploymentSpec = DeploymentSpec()
    status: ReplicatedStatus = ReplicatedStatus()


class ReplicaSet(Struct, frozen=True):
    """Keeps equal Pods; a Deployment's carries its revision in an annotation."""

    metadata: ScaledMeta = ScaledMeta()
    spec: WorkloadSpec = WorkloadSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


class StatefulSetStatus(ReplicatedStatus, frozen=True):
    """Which revisions a rollout moves between."""

    current_revision: str = ""
    update_revision: str = ""


class StatefulSetOrdinals(Struct, frozen=True):
    """How the Pods of a StatefulSet are numbered."""

    start: int = 0


class StatefulSetPersistentVolumeClaimRetentionPolicy(Struct, frozen=True):
    """What becomes of the claims of Pods that a StatefulSet wants no longer."""

    when_scaled: str = "Retain"


class StatefulSetSpec(WorkloadSpec, frozen=True):
    """What a StatefulSet keeps: Pods, and the claims of each."""

    volume_claim_templates: tuple[PersistentVolumeClaim, ...] = ()
    ordinals: StatefulSetOrdinals = StatefulSetOrdinals()
    persistent_volume_claim_retention_policy: StatefulSetPersistentVolumeClaimRetentionPolicy = (
        StatefulSetPersistentVolumeClaimRetentionPolicy()
    )
    pod_management_policy: str = "OrderedReady"
    service_name: str = ""


class StatefulSet(Struct, frozen=True):
    """Keeps Pods with an identity of their own."""

    metadata: ScaledMeta = ScaledMeta()
    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()


class DaemonSetStatus(Struct, frozen=True):
    """On how many nodes there is to be a Pod, and on how many of these there is one (counts)."""

    desired_number_scheduled: int = 0
    current_number_scheduled: int = 0


class DaemonSet(Struct, frozen=True):
    """Keeps one Pod on each node that takes it."""

    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()
    status: DaemonSetStatus = DaemonSetStatus()


class JobSchedulingConfiguration(Struct, frozen=True):
    """That a Job's Pods are scheduled as a group (from 1.37, alpha)."""


class PodFailurePolicyOnPodConditionsPattern(Struct, frozen=True):
    """A condition that a failed Pod may have."""

    type: str = ""
    status: str = "True"


class PodFailurePolicyRule(Struct, frozen=True):
    """What follows where a failed Pod has one of these conditions."""

    action: str = ""
    on_pod_conditions: tuple[PodFailurePolicyOnPodConditionsPattern, ...] = ()


class PodFailurePolicy(Struct, frozen=True):
    """What follows from a failed Pod: what the first rule says that covers it."""

    rules: tuple[PodFailurePolicyRule, ...] = ()


class JobSpec(Struct, frozen=True):
    """What a Job runs; ``parallelism`` and ``completions`` None mean 1, ``backoff_limit`` None means 6."""

    parallelism: int | None = None
    completions: int | None = None
    backoff_limit: int | None = None
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    completion_mode: str = "NonIndexed"
    suspend: bool = False
    pod_replacement_policy: str = ""
    managed_by: str = ""
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    scheduling: JobSchedulingConfiguration | None = None


class JobCondition(Struct, frozen=True):
    """One observation about a Job."""

    type: str = ""
    status: str = ""
    message: str = ""


class JobStatus(Struct, frozen=True):
    """What has become of a Job; indexes as in ``0,2-4``."""

    conditions: tuple[JobCondition, ...] = ()
    succeeded: int = 0
    failed: int = 0
    completed_indexes: str = ""
    failed_indexes: str = ""


class Job(Struct, frozen=True):
    """Runs Pods to completion."""

    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def finished(self) -> bool:
        """Whether it has completed or failed, or is about to, with Pods left to be removed: it makes no further ones.

        Source: kube-controller-manager pkg/controller/job/job_controller.go syncJob (v1.36).
        """
        return any(c.type in _JOB_ENDS and c.status == "True" for c in self.status.conditions)

    @property
    def failed(self) -> bool:
        """Whether it has failed, or is about to."""
        return any(c.type in _JOB_FAILS and c.status == "True" for c in self.status.conditions)


class JobTemplateSpec(Struct, frozen=True):
    """The Jobs a CronJob makes."""

    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()


class CronJobSpec(Struct, frozen=True):
    """What a CronJob runs."""

    suspend: bool = False
    job_template: JobTemplateSpec = JobTemplateSpec()


class CronJob(Struct, frozen=True):
    """Makes Jobs on a schedule."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CronJobSpec = CronJobSpec()

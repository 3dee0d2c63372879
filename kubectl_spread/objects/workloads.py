"""Deployment, ReplicaSet, StatefulSet, DaemonSet, Job and CronJob: the kinds that create Pods.

Source: api apps/v1/types.go and batch/v1/types.go (v1.36).
"""

from typing import Final

from kubectl_spread.objects.core import Condition, PodTemplateSpec, ReplicaSetStatus, ReplicatedSpec, ReplicatedStatus
from kubectl_spread.objects.meta import KubernetesObject, LabelSelector, ObjectMeta, ScaledMeta, Struct
from kubectl_spread.objects.storage import PersistentVolumeClaim

# The labels that hold a Job's name, on the Job and on its Pods.
JOB_NAME_LABELS = ("job-name", "batch.kubernetes.io/job-name")
# The labels that hold a Job's UID, on its Pods and in its selector.
JOB_UID_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")

ON_DELETE: Final = "OnDelete"
RECREATE: Final = "Recreate"
ROLLING_UPDATE: Final = "RollingUpdate"


class RollingUpdate(Struct, frozen=True):
    """The bounds of a rollout, in Pods or in percent of the replicas."""

    max_surge: int | str | None = None
    max_unavailable: int | str | None = None
    partition: int = 0


class UpdateStrategy(Struct, frozen=True):
    """How Pods are replaced after a template change: RollingUpdate (also if empty), OnDelete or Recreate."""

    type: str = ""
    rolling_update: RollingUpdate | None = None


class WorkloadSpec(ReplicatedSpec, frozen=True):
    """The fields that the apps kinds have in common."""

    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    update_strategy: UpdateStrategy = UpdateStrategy()


class DeploymentSpec(WorkloadSpec, frozen=True):
    """The desired state of a Deployment, whose update strategy has another name."""

    strategy: UpdateStrategy = UpdateStrategy()
    paused: bool = False


class Deployment(KubernetesObject, frozen=True):
    """Manages one ReplicaSet for each revision."""

    metadata: ScaledMeta = ScaledMeta()
    spec: DeploymentSpec = DeploymentSpec()
    status: ReplicatedStatus = ReplicatedStatus()


class ReplicaSet(KubernetesObject, frozen=True):
    """Manages identical Pods; that of a Deployment has its revision in an annotation."""

    metadata: ScaledMeta = ScaledMeta()
    spec: WorkloadSpec = WorkloadSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


class StatefulSetStatus(ReplicatedStatus, frozen=True):
    """The revisions before and after a rollout."""

    current_revision: str = ""
    update_revision: str = ""


class StatefulSetOrdinals(Struct, frozen=True):
    """The first ordinal of a StatefulSet's Pods."""

    start: int = 0


class StatefulSetPersistentVolumeClaimRetentionPolicy(Struct, frozen=True):
    """What happens to the claims of Pods that a StatefulSet deletes."""

    when_scaled: str = "Retain"


class StatefulSetSpec(WorkloadSpec, frozen=True):
    """The desired state of a StatefulSet: Pods, and the claims of each Pod."""

    volume_claim_templates: tuple[PersistentVolumeClaim, ...] = ()
    ordinals: StatefulSetOrdinals = StatefulSetOrdinals()
    persistent_volume_claim_retention_policy: StatefulSetPersistentVolumeClaimRetentionPolicy = (
        StatefulSetPersistentVolumeClaimRetentionPolicy()
    )
    pod_management_policy: str = "OrderedReady"
    service_name: str = ""


class StatefulSet(KubernetesObject, frozen=True):
    """Manages Pods with a stable identity."""

    metadata: ScaledMeta = ScaledMeta()
    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()


class RevisedSpec(Struct, frozen=True):
    """What of a workload's spec belongs to a revision."""

    template: PodTemplateSpec = PodTemplateSpec()


class RevisionData(Struct, frozen=True):
    """The workload as it was in a revision."""

    spec: RevisedSpec = RevisedSpec()


class ControllerRevision(KubernetesObject, frozen=True):
    """A revision of a StatefulSet or DaemonSet."""

    data: RevisionData = RevisionData()


class DaemonSetStatus(Struct, frozen=True):
    """The nodes that should have a Pod, and those of them that have one (counts)."""

    desired_number_scheduled: int = 0
    current_number_scheduled: int = 0


class DaemonSet(KubernetesObject, frozen=True):
    """Runs one Pod on each suitable node."""

    spec: WorkloadSpec = WorkloadSpec()
    status: DaemonSetStatus = DaemonSetStatus()


class JobSchedulingConfiguration(Struct, frozen=True):
    """Present where a Job's Pods are scheduled as a group (from 1.37, alpha)."""


class PodFailurePolicyOnPodConditionsPattern(Struct, frozen=True):
    """A condition that a failed Pod may have."""

    type: str = ""
    status: str = "True"


class PodFailurePolicyRule(Struct, frozen=True):
    """The action for a failed Pod that has one of these conditions."""

    action: str = ""
    on_pod_conditions: tuple[PodFailurePolicyOnPodConditionsPattern, ...] = ()


class PodFailurePolicy(Struct, frozen=True):
    """The rules for failed Pods; the first that matches decides."""

    rules: tuple[PodFailurePolicyRule, ...] = ()


class JobSpec(Struct, frozen=True):
    """The desired state of a Job; None means 1 in ``parallelism`` and ``completions``, and 6 in ``backoff_limit``."""

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


class JobStatus(Struct, frozen=True):
    """The observed state of a Job; indexes are text such as ``0,2-4``."""

    conditions: tuple[Condition, ...] = ()
    start_time: str = ""
    succeeded: int = 0
    failed: int = 0
    completed_indexes: str = ""
    failed_indexes: str = ""


class Job(KubernetesObject, frozen=True):
    """Runs Pods to completion."""

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def finished(self) -> bool:
        """Whether it has completed or failed, or is about to, so that it creates no more Pods.

        Source: kube-controller-manager pkg/controller/job/job_controller.go syncJob (v1.36).
        """
        return self.failed or self.has_one_of("Complete", "SuccessCriteriaMet")

    @property
    def failed(self) -> bool:
        """Whether it has failed, or is about to."""
        return self.has_one_of("Failed", "FailureTarget")

    def has_one_of(self, *conditions: str) -> bool:
        """Whether a condition of one of these types is true."""
        return any(c.type in conditions and c.status == "True" for c in self.status.conditions)


class JobTemplateSpec(Struct, frozen=True):
    """The Jobs that a CronJob creates."""

    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()


class CronJobSpec(Struct, frozen=True):
    """The desired state of a CronJob."""

    suspend: bool = False
    job_template: JobTemplateSpec = JobTemplateSpec()


class CronJob(KubernetesObject, frozen=True):
    """Creates Jobs on a schedule."""

    spec: CronJobSpec = CronJobSpec()

"""Jobs and CronJobs: whether they make one more Pod, and for which index.

Source: kube-controller-manager pkg/controller/job/job_controller.go manageJob, job/indexed_job_utils.go
firstPendingIndexes, pkg/controller/cronjob (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from kubectl_spread.apiserver.creation import job_as_stored
from kubectl_spread.controllers.templates import labelled, reference_to, renamed
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import ObjectMeta
from kubectl_spread.objects.workloads import CronJob, Job, JobSpec

COMPLETION_INDEX_LABEL = "batch.kubernetes.io/job-completion-index"

JOB_CONTROLLER = "kubernetes.io/job-controller"
"""What spec.managedBy says where it says nothing else than by default."""

_INDEXED = "Indexed"
_REPLACE_FAILED = "Failed"


def wants_more(job: Job, pods: Sequence[Pod]) -> bool:
    """Whether the Job makes one more Pod as things are.

    Args:
        job: the Job.
        pods: its Pods that have not finished.
    """
    if job.spec.suspend or job.metadata.deletion_timestamp or foreign_manager(job):
        return False
    return len(_taken(job, pods)) < wanted_now(job) and _has_index_left(job, pods)


def foreign_manager(owner: Job | CronJob) -> str:
    """Return who makes the Pods of such Jobs, maybe in another cluster; empty where kube-controller-manager does.

    Source: job/job_controller.go controllerName, addJob, syncJob; KEP-4368 (v1.36).
    """
    spec = owner.spec if isinstance(owner, Job) else owner.spec.job_template.spec
    return "" if spec.managed_by == JOB_CONTROLLER else spec.managed_by


def makes_runs(owner: CronJob) -> bool:
    """Whether there are Pods of the CronJob's next run."""
    return not (owner.spec.suspend or foreign_manager(owner)) and at_once(owner.spec.job_template.spec) > 0


def wanted_now(job: Job) -> int:
    """Return how many Pods the Job has run at once from now on, as much of it as is done (count)."""
    if job.finished:
        return 0
    if job.spec.completions is None:
        return 0 if job.status.succeeded else at_once(job.spec)
    return max(min(job.spec.completions - job.status.succeeded, at_once(job.spec)), 0)


def _has_index_left(job: Job, pods: Sequence[Pod]) -> bool:
    """Whether there is an index for one more Pod: those that failed for good get none again."""
    return not is_indexed(job.spec) or any(True for _ in free_indexes(job, pods))


def at_once(spec: JobSpec) -> int:
    """Return how many Pods of a Job run at once (count)."""
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    return parallelism if spec.completions is None else min(parallelism, spec.completions)


def is_indexed(spec: JobSpec) -> bool:
    """Whether each of the Job's Pods has an index of its own."""
    return spec.completion_mode == _INDEXED


def next_index(job: Job, pods: Sequence[Pod]) -> int:
    """Return the first completion index that has neither come to an end nor a Pod; 0 where there is none."""
    return next(free_indexes(job, pods), 0)


def free_indexes(job: Job, pods: Sequence[Pod]) -> Iterator[int]:
    """Yield the completion indexes that have neither come to an end nor a Pod, in order.

    Source: job/indexed_job_utils.go firstPendingIndexes.
    """
    taken = _taken(job, pods)
    done = {*_indexes(job.status.completed_indexes), *_indexes(job.status.failed_indexes)}
    done |= {int(text) for pod in taken if (text := pod.metadata.labels.get(COMPLETION_INDEX_LABEL, "")).isdecimal()}
    there_are = count() if job.spec.completions is None else range(job.spec.completions)
    return (number for number in there_are if number not in done)


def _taken(job: Job, pods: Sequence[Pod]) -> Sequence[Pod]:
    """Return the Pods that keep others from being made: being deleted they do where failed ones alone are replaced."""
    if job.spec.pod_replacement_policy == _REPLACE_FAILED:
        return pods
    return [pod for pod in pods if not pod.terminating]


def _indexes(text: str) -> Iterator[int]:
    """Yield the indexes of a list such as ``0,2-4``; what cannot be read names none."""
    for interval in text.split(","):
        first, _, last = interval.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            yield from range(int(first), int(last or first) + 1)


def indexed(pod: Pod, index: int, *, base: str) -> Pod:
    """Return the Pod of a completion index, under a name that begins with the base."""
    return labelled(renamed(pod, f"{base}-{index}-{index + 1:05d}"), {COMPLETION_INDEX_LABEL: str(index)})


def next_run(owner: CronJob) -> Job:
    """Return the CronJob's next Job; the real one is named for the minute in which it starts."""
    metadata = ObjectMeta(
        name=f"{owner.metadata.name}-00000000",
        namespace=owner.metadata.namespace,
        owner_references=(reference_to(owner),),
    )
    return job_as_stored(Job(metadata=metadata, spec=owner.spec.job_template.spec))

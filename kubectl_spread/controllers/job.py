"""Jobs and CronJobs: whether they create another Pod, for which index, and what happens when Pods fail.

Source: kube-controller-manager pkg/controller/job/job_controller.go manageJob, syncJob, job/indexed_job_utils.go
firstPendingIndexes, job/pod_failure_policy.go, pkg/controller/cronjob (v1.36). Not modelled: exit codes of
containers and the rules of a podFailurePolicy about them; deadlines.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import count
from math import inf

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.creation import job_as_stored
from kubectl_spread.controllers.replicaset import Victims, victims
from kubectl_spread.controllers.templates import labelled, reference_to, renamed
from kubectl_spread.objects.core import Condition, Pod
from kubectl_spread.objects.meta import JOB_INDEX_FAILURE_COUNT, ObjectMeta, grouped
from kubectl_spread.objects.workloads import CronJob, Job, JobSpec, PodFailurePolicy, PodFailurePolicyRule

COMPLETION_INDEX_LABEL = "batch.kubernetes.io/job-completion-index"

JOB_CONTROLLER = "kubernetes.io/job-controller"  # The default of spec.managedBy

# A Pod of a Job keeps this finalizer until the Job has counted how it ended.
TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"

_INDEXED = "Indexed"
_REPLACE_FAILED = "Failed"
_BACKOFF_LIMIT = 6
_IGNORE, _FAIL_INDEX, _FAIL_JOB = "Ignore", "FailIndex", "FailJob"


class FailureReason(StrEnum):
    """Why a Job fails. Source: api batch/v1/types.go (v1.36)."""

    POD_FAILURE_POLICY = "PodFailurePolicy"
    BACKOFF_LIMIT_EXCEEDED = "BackoffLimitExceeded"
    MAX_FAILED_INDEXES_EXCEEDED = "MaxFailedIndexesExceeded"
    FAILED_INDEXES = "FailedIndexes"  # All indexes have ended, and some have failed


class JobFailure(msgspec.Struct, frozen=True):
    """Why a Job fails."""

    reason: FailureReason
    failed: int = 0  # its failed Pods or indexes (count), if there is a limit
    limit: int = 0  # how many may fail (count)


def wants_more(job: Job, pods: Sequence[Pod]) -> bool:
    """Whether the Job creates another Pod now; ``pods`` are those that have not finished."""
    if job.spec.suspend or job.metadata.deletion_timestamp or foreign_manager(job):
        return False
    # An index that has failed gets no other Pod.
    has_index_left = not is_indexed(job.spec) or any(True for _ in free_indexes(job, pods))
    return len(_taken(job, pods)) < wanted_now(job) and has_index_left


def foreign_manager(owner: Job | CronJob) -> str:
    """Return the manager that creates the Pods of such Jobs; empty if kube-controller-manager does.

    Source: job/job_controller.go controllerName, addJob, syncJob; KEP-4368 (v1.36).
    """
    spec = spec_of(owner)
    return "" if spec.managed_by == JOB_CONTROLLER else spec.managed_by


def spec_of(owner: Job | CronJob) -> JobSpec:
    """Return the spec of the Job, or of the CronJob's Jobs."""
    return owner.spec.job_template.spec if isinstance(owner, CronJob) else owner.spec


def wanted_now(job: Job) -> int:
    """Return how many Pods the Job still runs at the same time (count)."""
    if job.finished:
        return 0
    if job.spec.completions is None:
        return 0 if job.status.succeeded else at_once(job.spec)
    return max(min(job.spec.completions - job.status.succeeded, at_once(job.spec)), 0)


def at_once(spec: JobSpec) -> int:
    """Return how many Pods of a Job run at the same time (count)."""
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    return parallelism if spec.completions is None else min(parallelism, spec.completions)


def is_indexed(spec: JobSpec) -> bool:
    """Whether each of the Job's Pods has an index of its own."""
    return spec.completion_mode == _INDEXED


def free_indexes(job: Job, pods: Sequence[Pod]) -> Iterator[int]:
    """Yield the completion indexes that have not ended and have no Pod, in order.

    Source: job/indexed_job_utils.go firstPendingIndexes.
    """
    taken = _taken(job, pods)
    done = {*_indexes(job.status.completed_indexes), *_indexes(job.status.failed_indexes)}
    done |= {_index(pod) for pod in taken}
    there_are = count() if job.spec.completions is None else range(job.spec.completions)
    return (number for number in there_are if number not in done)


def surplus(job: Job, pods: Sequence[Pod], *, moments: Sequence[datetime], order: Callable[[str], str]) -> Victims:
    """Return which active Pods the Job deletes; ``moments`` and ``order`` are as for ``victims``.

    Source: job_controller.go activePodsForRemoval, indexed_job_utils.go appendDuplicatedIndexPodsForRemoval.
    """
    if foreign_manager(job) or job.finished:
        return Victims((), free=False)
    going, left = by_range(job, pods)
    found = victims(left, (), number=count_surplus(job, len(left)), moments=moments, order=order)
    return replace(found, pods=(*going, *found.pods))


def by_range(job: Job, pods: Iterable[Pod]) -> tuple[Sequence[Pod], Sequence[Pod]]:
    """Return (the Pods whose index the Job no longer has, which it deletes before others; the others)."""
    most = (job.spec.completions or 0) if is_indexed(job.spec) and _deletes_pods(job) else inf
    found = grouped(pods, lambda pod: _index(pod) >= most)
    return found.get(True, ()), found.get(False, ())


def count_surplus(job: Job, active: int) -> int:
    """Return how many of this many active Pods (counts) the Job deletes: all if it is suspended or ends.

    Source: job_controller.go syncJob, manageJob.
    """
    if not _deletes_pods(job):
        return 0
    keeps = job.spec.completions is None and job.status.succeeded and not job.finished
    wanted = 0 if job.spec.suspend else active if keeps else wanted_now(job)
    return max(active - wanted, 0)


def _deletes_pods(job: Job) -> bool:
    """Whether kube-controller-manager still deletes Pods that the Job does not need."""
    leaves = job.metadata.deletion_timestamp and not job.finished
    return not (leaves or foreign_manager(job) or job.has_one_of("Complete", "Failed"))


def _taken(job: Job, pods: Sequence[Pod]) -> Sequence[Pod]:
    # A terminating Pod is replaced at once, unless only failed Pods are replaced.
    return pods if replaces_failed(job) else [pod for pod in pods if not pod.terminating]


def replaces_failed(job: Job) -> bool:
    """Whether a terminating Pod is replaced only once it has ended. Source: job_controller.go onlyReplaceFailedPods."""
    return job.spec.pod_replacement_policy == _REPLACE_FAILED or job.spec.pod_failure_policy is not None


def with_failed(job: Job, pods: Sequence[Pod]) -> tuple[Job, JobFailure | None]:
    """Return (the Job after these of its Pods have failed, why the Job fails; None if it does not).

    Source: job_controller.go syncJob, indexed_job_utils.go isIndexFailed.
    """
    if job.finished:
        return job, None
    policy, status = job.spec.pod_failure_policy or PodFailurePolicy(), job.status
    rules = [next((rule for rule in policy.rules if _covers(rule, pod)), PodFailurePolicyRule()) for pod in pods]
    counted = [pod for pod, rule in zip(pods, rules, strict=True) if rule.action != _IGNORE]
    if job.spec.backoff_limit_per_index is not None:
        lost = {_index(pod) for pod, rule in zip(pods, rules, strict=True) if rule.action == _FAIL_INDEX}
        lost |= _failed_indexes(counted, job.spec.backoff_limit_per_index)
        failed = ",".join(map(str, sorted({*_indexes(status.failed_indexes), *lost})))
        status = replace(status, failed_indexes=failed)
    after = replace(job, status=replace(status, failed=status.failed + len(counted)))
    by_policy = any(rule.action == _FAIL_JOB for rule in rules)
    failure = JobFailure(FailureReason.POD_FAILURE_POLICY) if by_policy else _failure_of(after)
    if failure is None:
        return after, None
    ended = Condition(type="FailureTarget", status="True")
    return replace(after, status=replace(after.status, conditions=(*status.conditions, ended))), failure


def _covers(rule: PodFailurePolicyRule, pod: Pod) -> bool:
    found = {(condition.type, condition.status) for condition in pod.status.conditions}
    return any((pattern.type, pattern.status) in found for pattern in rule.on_pod_conditions)


def _failed_indexes(pods: Sequence[Pod], limit: int) -> set[int]:
    earlier: dict[int, int] = {}
    for pod in pods:
        text = pod.metadata.annotations.get(JOB_INDEX_FAILURE_COUNT, "")
        earlier[_index(pod)] = max(earlier.get(_index(pod), 0), int(text) if text.isdecimal() else 0) + 1
    return {index for index, number in earlier.items() if number > limit}


def _failure_of(job: Job) -> JobFailure | None:
    spec, status = job.spec, job.status
    by_index = spec.backoff_limit_per_index is not None
    limit = _BACKOFF_LIMIT if spec.backoff_limit is None and not by_index else spec.backoff_limit
    if limit is not None and status.failed > limit:
        return JobFailure(FailureReason.BACKOFF_LIMIT_EXCEEDED, status.failed, limit)
    failed = len(set(_indexes(status.failed_indexes)))
    if by_index and spec.max_failed_indexes is not None and failed > spec.max_failed_indexes:
        return JobFailure(FailureReason.MAX_FAILED_INDEXES_EXCEEDED, failed, spec.max_failed_indexes)
    done = failed + len(set(_indexes(status.completed_indexes)))
    all_ended = by_index and failed and done >= (spec.completions or 0)
    return JobFailure(FailureReason.FAILED_INDEXES) if all_ended else None


def _index(pod: Pod) -> int:
    text = pod.metadata.labels.get(COMPLETION_INDEX_LABEL, "")
    return int(text) if text.isdecimal() else -1


def _indexes(text: str) -> Iterator[int]:
    """Yield the indexes of a list such as ``0,2-4``; invalid parts are ignored."""
    for interval in text.split(","):
        first, _, last = interval.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            yield from range(int(first), int(last or first) + 1)


def indexed(pod: Pod, index: int, *, base: str) -> Pod:
    """Return the Pod of a completion index; its name begins with ``base``."""
    return labelled(renamed(pod, f"{base}-{index}-{index + 1:05d}"), {COMPLETION_INDEX_LABEL: str(index)})


def next_run(owner: CronJob) -> Job:
    """Return the CronJob's next Job. The name of a real one has the minute in which it starts."""
    given, owners = owner.metadata, (reference_to(owner),)
    metadata = ObjectMeta(name=f"{given.name}-00000000", namespace=given.namespace, owner_references=owners)
    return job_as_stored(Job(metadata=metadata, spec=owner.spec.job_template.spec))

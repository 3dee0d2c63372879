"""Workloads that are spread together on purpose: each has a constraint on the key that counts the other's Pods."""

from collections.abc import Iterator, Mapping

from kubectl_spread.controllers.templates import REVISION_LABELS
from kubectl_spread.controllers.workloads import WorkloadRef, matching_by_owner, owner_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import Constraint, counting_selector, parsable_constraints


def spread_together(pod: Pod, constraint: Constraint, handle: Handle) -> frozenset[WorkloadRef]:
    """Return the other workloads that the Pod's constraint counts, and that count the Pod on the same topology key.

    Workloads that are counted and do not count back are not among them: those are counted by mistake.
    """
    return frozenset(_counting_each_other(pod, constraint, handle))


def _unrevised(pod: Pod) -> Mapping[str, str]:
    return {key: value for key, value in pod.metadata.labels.items() if key not in REVISION_LABELS}


def _counting_each_other(pod: Pod, constraint: Constraint, handle: Handle) -> Iterator[WorkloadRef]:
    own, counted = owner_of(pod, handle.snapshot), counting_selector(constraint, handle.profile)
    for owner, alike in matching_by_owner(pod.metadata.namespace, counted, handle.snapshot):
        same = owner == own or _unrevised(alike[0]) == _unrevised(pod)  # where no owner of revisions can be read
        if not same and any(
            each.topology_key == constraint.topology_key
            and not each.default
            and counting_selector(each, handle.profile).matches(pod.metadata.labels)
            for each in parsable_constraints(alike[0], handle)
        ):
            yield owner

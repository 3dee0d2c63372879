"""Workloads that are spread together on purpose: each has a constraint on the key that counts the other's Pods."""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.controllers.workloads import WorkloadRef, matching_by_owner, owner_of
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import Constraint, counting_selector, parsable_constraints


def spread_together(pod: Pod, constraint: Constraint, handle: Handle) -> frozenset[WorkloadRef]:
    """Return the other workloads that the Pod's constraint counts, and that count the Pod on the same topology key.

    Workloads that are counted and do not count back are not among them: those are counted by mistake.
    """
    return frozenset(_counting_each_other(pod, constraint, handle))


def _counting_each_other(pod: Pod, constraint: Constraint, handle: Handle) -> Iterator[WorkloadRef]:
    own, counted = owner_of(pod, handle.snapshot), counting_selector(constraint, handle.profile)
    for owner, alike in matching_by_owner(pod.metadata.namespace, counted, handle.snapshot):
        if owner != own and any(
            each.topology_key == constraint.topology_key
            and not each.default
            and counting_selector(each, handle.profile).matches(pod.metadata.labels)
            for each in parsable_constraints(alike[0], handle)
        ):
            yield owner

"""The cluster as each profile of the scheduler sees it, and which profile decides about a Pod."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from kubectl_spread.objects.configuration import DEFAULT_SCHEDULER
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.snapshot import Snapshot

NO_SCHEDULER = ""
"""The scheduler name of the default profile if the configuration has no default-scheduler: it serves no Pod."""


class Handles(msgspec.Struct, frozen=True):
    """The cluster as each profile sees it.

    Attributes:
        default: as the default profile sees it; also used for schedulers that no profile describes. Answers about their
            Pods are incomplete (``Profile.serves``).
        others: scheduler's name → as its profile sees it, without the default scheduler.
    """

    default: Handle
    others: Mapping[str, Handle] = {}

    @classmethod
    def build(cls, snapshot: Snapshot, profiles: Iterable[Profile]) -> Handles:
        """Return the snapshot as the profiles see it; one of them is for default-scheduler or NO_SCHEDULER."""
        found = {profile.scheduler_name: Handle.build(snapshot, profile) for profile in profiles}
        default = found.pop(DEFAULT_SCHEDULER if DEFAULT_SCHEDULER in found else NO_SCHEDULER)
        return cls(default, found)

    @property
    def snapshot(self) -> Snapshot:
        """The cluster."""
        return self.default.snapshot

    def named(self, scheduler_name: str) -> Handle:
        """Return the cluster as that scheduler sees it, or as the default profile does if no profile describes it."""
        return self.others.get(scheduler_name, self.default)

    def of(self, pod: Pod) -> Handle:
        """Return the cluster as the Pod's scheduler sees it, or the default profile's if no profile describes it.

        Source: kube-scheduler schedule_one.go frameworkForPod, eventhandlers.go responsibleForPod (v1.36): a Pod with a
        schedulerName that no profile has is ignored.
        """
        return self.named(pod.spec.scheduler_name)

    def each(self, change: Callable[[Handle], Handle]) -> Handles:
        """Return the result of the change for every profile."""
        return Handles(change(self.default), {name: change(handle) for name, handle in self.others.items()})

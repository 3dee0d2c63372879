"""The cluster as each profile of the scheduler sees it, and which of them is asked about a Pod."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from kubectl_spread.objects.configuration import DEFAULT_SCHEDULER
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import Profile
from kubectl_spread.snapshot import Snapshot

NO_SCHEDULER = ""
"""The scheduler name of the default profile where the configuration has no default-scheduler: it serves no Pod."""


class Handles(msgspec.Struct, frozen=True):
    """The cluster as each profile sees it.

    Attributes:
        default: as the default profile sees it. It also stands for schedulers whose rules are not known: they leave
            Pods alone that no profile serves (``Profile.serves``), and answers about these are incomplete.
        others: scheduler's name → as its profile sees it, without the default scheduler.
    """

    default: Handle
    others: Mapping[str, Handle] = {}

    @classmethod
    def build(cls, snapshot: Snapshot, profiles: Iterable[Profile]) -> Handles:
        """Return the snapshot as the profiles see it; one of them is that of default-scheduler or NO_SCHEDULER."""
        found = {profile.scheduler_name: Handle.build(snapshot, profile) for profile in profiles}
        default = found.pop(DEFAULT_SCHEDULER if DEFAULT_SCHEDULER in found else NO_SCHEDULER)
        return cls(default, found)

    @property
    def snapshot(self) -> Snapshot:
        """The cluster."""
        return self.default.snapshot

    def named(self, scheduler_name: str) -> Handle:
        """Return the cluster as the scheduler sees it, as the default profile does where its rules are not known."""
        return self.others.get(scheduler_name, self.default)

    def of(self, pod: Pod) -> Handle:
        """Return the cluster as the Pod's scheduler sees it, as the default profile does where its rules are unknown.

        Source: kube-scheduler schedule_one.go frameworkForPod, eventhandlers.go responsibleForPod (v1.36): a Pod whose
        schedulerName no profile has is left alone.
        """
        return self.named(pod.spec.scheduler_name)

    def each(self, change: Callable[[Handle], Handle]) -> Handles:
        """Return the cluster changed in the same way for every profile."""
        return Handles(change(self.default), {name: change(handle) for name, handle in self.others.items()})

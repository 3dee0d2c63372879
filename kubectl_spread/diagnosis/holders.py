"""Who else decides about a Pod, beside the filters that are modelled: that comes before what these say.

Source: kube-scheduler gangscheduling/gangscheduling.go PreEnqueue and Permit (v1.35 to v1.37).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubectl_spread.objects.configuration import DEFAULT_SCHEDULER
from kubectl_spread.objects.core import Pod
from kubectl_spread.report import Incomplete, Report
from kubectl_spread.scheduler.profile import Behaviour, Profile

MOST_NAMES = 2


class Holder(Report, frozen=True, kw_only=True):
    """Somebody whose decision about a Pod is not modelled.

    Attributes:
        lead: what it does, as the first half of a sentence.
        incomplete: what follows for the answer.
    """

    lead: str
    incomplete: Incomplete


def holders(pod: Pod, profile: Profile) -> Iterator[Holder]:
    """Yield who else decides about the Pod, the one that goes first first."""
    if not profile.serves(pod):
        yield _scheduler(pod.spec.scheduler_name or DEFAULT_SCHEDULER)
    if profile.does(Behaviour.SCHEDULING_GROUPS) and (group := _group(pod)):
        yield _scheduling_group(pod, group)


def headed(pod: Pod, profile: Profile, feasible: Sequence[str], blame: str) -> str:
    """Return the sentence on top: who else decides, then what kube-scheduler's filters say.

    Args:
        pod: the Pod.
        profile: the profile whose filters judged it.
        feasible: the nodes that none of them rejects.
        blame: why there are none; empty where there are.
    """
    first = next(holders(pod, profile), None)
    if first is None or (blame and profile.serves(pod)):
        return blame
    name = f"{pod.metadata.namespace}/{pod.metadata.name}"
    if feasible:
        return f"{first.lead}; kube-scheduler's filters would allow {name} on {_named(feasible)}."
    return f"{first.lead}; kube-scheduler's filters would reject {name}: {blame}"


def _scheduler(name: str) -> Holder:
    """Return the scheduler that no profile describes."""
    return Holder(
        lead=f"{name} decides this Pod",
        incomplete=Incomplete(
            what=f"schedulerName {name}", why="in no known profile", consequence=f"{name} decides, by rules of its own"
        ),
    )


def _scheduling_group(pod: Pod, group: str) -> Holder:
    """Return the group of Pods that are scheduled together or not at all."""
    return Holder(
        lead=f"{pod.metadata.namespace}/{pod.metadata.name} is held until its PodGroup is complete ({group})",
        incomplete=Incomplete(
            what=group, why="not evaluated", consequence="the Pod is held until its PodGroup is complete"
        ),
    )


def _group(pod: Pod) -> str:
    """Return the group that the Pod is scheduled with, in words; empty where it is scheduled alone."""
    if pod.spec.scheduling_group is not None:
        return f"PodGroup {pod.spec.scheduling_group.pod_group_name}"
    if (ref := pod.spec.workload_ref) is not None:
        return f"group {ref.pod_group} of Workload {ref.name}"
    return ""


def _named(names: Sequence[str]) -> str:
    """Return the first names and how many there are besides."""
    if len(names) > MOST_NAMES + 1:
        return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"
    return ", ".join(names)

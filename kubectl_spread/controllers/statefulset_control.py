"""What a StatefulSet's controller does next: the ordinals it creates and the Pods it deletes.

Source: kube-controller-manager pkg/controller/statefulset/stateful_set_control.go (v1.36, and what 1.37
changes). Not modelled: minReadySeconds, claims that change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kubectl_spread.controllers.rolling_update import unavailable_of
from kubectl_spread.controllers.statefulset import PARALLEL, first_updated_ordinal
from kubectl_spread.controllers.templates import REVISION_HASH_LABEL
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import ON_DELETE, StatefulSet
from kubectl_spread.release import MAX_UNAVAILABLE_STATEFUL_SET, Release

_RENEWS_UNREADY_SINCE = 37
"""The release since which a Parallel StatefulSet replaces all its unready Pods at once."""


class Work(msgspec.Struct, frozen=True):
    """What the controller does.

    Attributes:
        makes: the ordinals that it creates, in order.
        deletes: the Pods that it deletes, in order.
    """

    makes: tuple[int, ...] = ()
    deletes: tuple[Pod, ...] = ()


def work(owner: StatefulSet, pods: Sequence[Pod], release: Release) -> Work:
    """Return what the controller does next.

    ``pods`` are all Pods of the StatefulSet, including terminating ones.

    Raises:
        ValueError: maxUnavailable is neither a number nor a percentage.
    """
    by_ordinal = {number: pod for pod in pods if (number := _ordinal(owner, pod)) is not None}
    start = owner.spec.ordinals.start
    wanted = range(start, start + owner.spec.replicas_wanted)
    condemned = [by_ordinal[number] for number in sorted(by_ordinal.keys() - set(wanted), reverse=True)]
    if owner.spec.pod_management_policy == PARALLEL:
        makes = tuple(number for number in wanted if number not in by_ordinal)
        ended = [by_ordinal[number] for number in wanted if number in by_ordinal and by_ordinal[number].finished]
        deletes = tuple(pod for pod in (*ended, *condemned) if not pod.terminating)
        todo = Work(makes, deletes) if makes or deletes else None
    else:
        todo = _one_after_another(wanted, by_ordinal, condemned)
    return todo or _update(owner, [by_ordinal[number] for number in reversed(wanted)], release)


def _one_after_another(wanted: range, by_ordinal: Mapping[int, Pod], condemned: Sequence[Pod]) -> Work | None:
    """Return what is done if each Pod waits for those before it; None if none is missing and none is surplus."""
    for number in wanted:
        if number not in by_ordinal:
            return Work(makes=(number,))
        pod = by_ordinal[number]
        if pod.finished and not pod.terminating:
            return Work(deletes=(pod,))
        if not _is_well(pod):
            return Work()
    if not condemned:
        return None
    unwell = [pod for pod in condemned if not _is_well(pod)]
    # An unhealthy Pod is deleted only if it has the lowest ordinal of all unhealthy ones; others are waited for.
    may_go = not condemned[0].terminating and (not unwell or condemned[0] == unwell[-1] or condemned[0] not in unwell)
    return Work(deletes=(condemned[0],)) if may_go else Work()


def _update(owner: StatefulSet, pods: Sequence[Pod], release: Release) -> Work:
    """Return the Pods of older revisions that are replaced now.

    ``pods`` has one Pod for each ordinal, the highest first.

    Source: updateStatefulSet, updateStatefulSetAfterInvariantEstablished.
    """
    strategy, newest = owner.spec.update_strategy, owner.status.update_revision
    if strategy.type == ON_DELETE or not newest:
        return Work()
    kept = first_updated_ordinal(owner) - owner.spec.ordinals.start
    renewed = pods[: max(len(pods) - kept, 0)]
    old = [p for p in renewed if not p.terminating and p.metadata.labels.get(REVISION_HASH_LABEL) != newest]
    if release.enables(MAX_UNAVAILABLE_STATEFUL_SET):
        room = max(unavailable_of(owner, len(pods)) - sum(not _is_well(pod) for pod in pods), 0)
        if owner.spec.pod_management_policy != PARALLEL or release.minor < _RENEWS_UNREADY_SINCE:
            return Work(deletes=tuple(old[:room]))
        # Unready Pods are always deleted, ready ones within the limit.
        unready = (pod for pod in old if not pod.ready)
        return Work(deletes=(*unready, *[pod for pod in old if pod.ready][:room]))
    # One at a time: those above it are well, it may itself be unwell.
    first = next((pod for pod in renewed if pod in old or not _is_well(pod)), None)
    return Work(deletes=tuple(pod for pod in old[:1] if pod is first))


def held_up(owner: StatefulSet, pods: Sequence[Pod]) -> tuple[str, tuple[str, ...]]:
    """Return (the Pod that must be ready first, the names of those that are created after it); both empty for none.

    Source: stateful_set_control.go processReplica (v1.36).
    """
    by_ordinal = {number: pod for pod in pods if (number := _ordinal(owner, pod)) is not None}
    wanted = range(owner.spec.ordinals.start, owner.spec.ordinals.start + owner.spec.replicas_wanted)
    there = [by_ordinal[number] for number in wanted if number in by_ordinal]
    holding = next((pod.metadata.name for pod in there if not _is_well(pod)), "")
    missing = tuple(f"{owner.metadata.name}-{number}" for number in wanted if number not in by_ordinal)
    ordered = owner.spec.pod_management_policy != PARALLEL
    return (holding, missing) if ordered and holding and missing else ("", ())


def comes_after(owner: StatefulSet, pod: Pod, others: Iterable[Pod]) -> list[Pod]:
    """Return those of the other Pods that must be ready before this one is created again: those of lower ordinals.

    The list is empty if the StatefulSet creates all Pods in parallel.

    Source: stateful_set_control.go processReplica (v1.36).
    """
    own = _ordinal(owner, pod)
    if own is None or owner.spec.pod_management_policy == PARALLEL:
        return []
    return [other for other in others if (number := _ordinal(owner, other)) is not None and number < own]


def _is_well(pod: Pod) -> bool:
    return pod.ready and not pod.terminating


def _ordinal(owner: StatefulSet, pod: Pod) -> int | None:
    name, _, text = pod.metadata.name.rpartition("-")
    return int(text) if name == owner.metadata.name and text.isdecimal() else None

"""StatefulSets: the Pods of their ordinals and revisions, their claims, and which are created and deleted next.

Source: kube-controller-manager pkg/controller/statefulset/stateful_set_utils.go, stateful_set_control.go (v1.36, and
what 1.37 changes). Not modelled: minReadySeconds, claims that change.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.creation import unmerged
from kubectl_spread.controllers.revisions import template_of
from kubectl_spread.controllers.rolling_update import unavailable_of
from kubectl_spread.controllers.templates import REVISION_HASH_LABEL, labelled, pod_from_template, renamed
from kubectl_spread.gaps import UnreadRevision
from kubectl_spread.objects.core import PersistentVolumeClaimVolumeSource, Pod, Volume
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.objects.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_spread.objects.workloads import ON_DELETE, RollingUpdate, StatefulSet
from kubectl_spread.release import MAX_UNAVAILABLE_STATEFUL_SET, Release
from kubectl_spread.snapshot import Snapshot

POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"

PARALLEL = "Parallel"
DELETE = "Delete"


def pod_of(owner: StatefulSet) -> Pod:
    """Return the Pod of the newest revision, without an ordinal."""
    pod, revision = pod_from_template(owner), owner.status.update_revision
    return labelled(pod, {REVISION_HASH_LABEL: revision}) if revision else pod


def next_ordinal(owner: StatefulSet, pods: Sequence[Pod]) -> int:
    """Return the ordinal of the next Pod: the lowest missing one, otherwise the one that a scale-up adds.

    Unless the policy is Parallel, a Pod without a node blocks later ones, so it counts as missing.
    """
    parallel = owner.spec.pod_management_policy == PARALLEL
    here = {pod.metadata.name for pod in pods if not pod.terminating and (parallel or pod.spec.node_name)}
    return next(number for number in count(owner.spec.ordinals.start) if f"{owner.metadata.name}-{number}" not in here)


def ordinal_pod(owner: StatefulSet, pod: Pod, ordinal: int) -> Pod:
    """Return the StatefulSet's Pod of this ordinal, with volumes for its claims.

    Source: stateful_set_utils.go newStatefulSetPod, updateStorage.
    """
    name = f"{owner.metadata.name}-{ordinal}"
    templates = [claim.metadata.name for claim in owner.spec.volume_claim_templates]
    claimed = (
        Volume(name=t, persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=f"{t}-{name}"))
        for t in templates
    )
    others = (volume for volume in pod.spec.volumes if volume.name not in templates)
    named = renamed(pod, name)
    named = replace(named, spec=replace(pod.spec, volumes=(*claimed, *others)))
    return labelled(named, {POD_NAME_LABEL: name, POD_INDEX_LABEL: str(ordinal)})


def of_its_revision(owner: StatefulSet, pod: Pod, ordinal: int, pods: Sequence[Pod], snapshot: Snapshot) -> Pod:
    """Return the Pod of an ordinal's revision: below the partition that is the current one, above it the newest one.

    ``pod`` is of the newest revision; a living Pod or its ControllerRevision shows the current one.

    Source: stateful_set_utils.go newVersionedStatefulSetPod.
    """
    current = owner.status.current_revision
    if ordinal >= first_updated_ordinal(owner) or current in {"", owner.status.update_revision}:
        return pod
    living = next((each for each in pods if each.metadata.labels.get(REVISION_HASH_LABEL) == current), None)
    if living is None:
        held = template_of(owner, current, snapshot)
        made = pod_from_template(replace(owner, spec=replace(owner.spec, template=held))) if held else pod
        return labelled(made, {REVISION_HASH_LABEL: current})
    labels = {k: v for k, v in living.metadata.labels.items() if k not in {POD_NAME_LABEL, POD_INDEX_LABEL}}
    spec = replace(unmerged(living.spec), node_name="")
    return replace(pod, metadata=replace(pod.metadata, labels=labels), spec=spec)


def guessed(
    owner: StatefulSet, made: Pod, living: Iterable[Pod], snapshot: Snapshot, *, newest: str | None = None
) -> tuple[UnreadRevision, ...]:
    """Return what is not known about a Pod of an older revision, if neither its revision nor another Pod shows it.

    ``newest`` is the newest revision; None for that of the status.
    """
    newest = owner.status.update_revision if newest is None else newest
    revision = made.metadata.labels.get(REVISION_HASH_LABEL, "")
    known = template_of(owner, revision, snapshot) or revision in {"", newest}
    if known or any(pod.metadata.labels.get(REVISION_HASH_LABEL) == revision for pod in living):
        return ()
    return (UnreadRevision(revision=revision, pod=made.metadata.name),)


def made_again(owner: StatefulSet, pod: Pod, snapshot: Snapshot) -> Pod:
    """Return the replacement of a deleted Pod: of the same ordinal, of the revision that this ordinal gets."""
    number = _ordinal(owner, pod)
    ordinal = owner.spec.ordinals.start if number is None else number
    return ordinal_pod(owner, of_its_revision(owner, pod_of(owner), ordinal, [pod], snapshot), ordinal)


def first_updated_ordinal(owner: StatefulSet) -> int:
    """Return the first ordinal of the newest revision: those below the partition keep the current one.

    Source: stateful_set_utils.go newVersionedStatefulSetPod, stateful_set_control.go updateStatefulSet.
    """
    strategy = owner.spec.update_strategy
    if strategy.type == ON_DELETE and strategy.rolling_update is None:
        return owner.spec.ordinals.start
    return owner.spec.ordinals.start + (strategy.rolling_update or RollingUpdate()).partition


def claims_of(owner: StatefulSet, pod: Pod) -> Iterator[PersistentVolumeClaim]:
    """Yield the claims that are created with one of its Pods.

    Source: stateful_set_utils.go getPersistentVolumeClaims.
    """
    for template in owner.spec.volume_claim_templates:
        name = f"{template.metadata.name}-{pod.metadata.name}"
        yield replace(
            template, metadata=replace(template.metadata, name=name, namespace=pod.metadata.namespace, uid="")
        )


def deleted_with(owner: StatefulSet, pod: Pod, snapshot: Snapshot) -> tuple[KubernetesObject, ...]:
    """Return the claims that are deleted with a Pod after a scale-down, and their volumes.

    A retained volume is returned too: no other claim gets it until somebody makes it available by hand.

    Source: stateful_set_utils.go updateClaimOwnerRefForSetAndPod, podInOrdinalRange (v1.36).
    """
    start = owner.spec.ordinals.start
    wanted = {f"{owner.metadata.name}-{number}" for number in range(start, start + owner.spec.replicas_wanted)}
    if owner.spec.persistent_volume_claim_retention_policy.when_scaled != DELETE or pod.metadata.name in wanted:
        return ()
    made = (each.metadata for each in claims_of(owner, pod))
    claims = [snapshot.get(PersistentVolumeClaim, each.namespace, each.name) for each in made]
    volumes = [snapshot.get(PersistentVolume, "", claim.spec.volume_name) for claim in claims if claim]
    return tuple(filter(None, (*claims, *volumes)))


_RENEWS_UNREADY_SINCE = 37  # The release since which a Parallel StatefulSet replaces all its unready Pods at once


class Work(msgspec.Struct, frozen=True):
    """What the controller does."""

    makes: tuple[int, ...] = ()  # the ordinals that it creates, in order
    deletes: tuple[Pod, ...] = ()  # the Pods that it deletes, in order


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
    """Source: updateStatefulSet, updateStatefulSetAfterInvariantEstablished. ``pods``: the highest ordinal first."""
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


class HeldUp(msgspec.Struct, frozen=True):
    """The Pod that must be ready before the StatefulSet creates and replaces others."""

    first: str  # its name
    missing: tuple[str, ...] = ()  # the Pods that are created only then, by name
    old: tuple[str, ...] = ()  # the Pods that are replaced only then, by name
    stuck: bool = False  # whether it is Pending, and itself one of the old ones: until it is deleted, nothing changes


def held_up(owner: StatefulSet, pods: Sequence[Pod]) -> HeldUp | None:
    """Return what waits for a Pod that is not ready; None if nothing does, as in a Parallel StatefulSet.

    Source: stateful_set_control.go processReplica, updateStatefulSet (v1.36).
    """
    by_ordinal = {number: pod for pod in pods if (number := _ordinal(owner, pod)) is not None}
    wanted = range(owner.spec.ordinals.start, owner.spec.ordinals.start + owner.spec.replicas_wanted)
    there = [by_ordinal[number] for number in wanted if number in by_ordinal]
    first = next((pod for pod in there if not _is_well(pod)), None)
    missing = tuple(f"{owner.metadata.name}-{number}" for number in wanted if number not in by_ordinal)
    newest = owner.spec.update_strategy.type != ON_DELETE and owner.status.update_revision
    renewed = (
        by_ordinal[n] for n in reversed(wanted) if newest and n in by_ordinal and n >= first_updated_ordinal(owner)
    )
    old = tuple(pod.metadata.name for pod in renewed if pod.metadata.labels.get(REVISION_HASH_LABEL) != newest)
    ordered = owner.spec.pod_management_policy != PARALLEL
    if not (ordered and first and (missing or old)):
        return None
    name = first.metadata.name
    stuck = first.waits and name in old
    return HeldUp(name, missing, tuple(each for each in old if not stuck or each != name), stuck)


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


def with_partition(owner: StatefulSet, first: int) -> StatefulSet:
    """Return the StatefulSet with the partition from which this ordinal gets the newest revision."""
    strategy = owner.spec.update_strategy
    rolling = replace(strategy.rolling_update or RollingUpdate(), partition=max(first - owner.spec.ordinals.start, 0))
    return replace(owner, spec=replace(owner.spec, update_strategy=replace(strategy, rolling_update=rolling)))


def ordinal_of(pod: Pod) -> int:
    """Return the number at the end of a Pod's name; the largest 32-bit one if there is none."""
    number = pod.metadata.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else 2**31 - 1


def _ordinal(owner: StatefulSet, pod: Pod) -> int | None:
    name, _, text = pod.metadata.name.rpartition("-")
    return int(text) if name == owner.metadata.name and text.isdecimal() else None

"""Deployments on their way from one revision to the next: how many Pods each ReplicaSet is to have.

Source: kube-controller-manager pkg/controller/deployment/{rolling,recreate,sync}.go, util/deployment_util.go
NewRSNewReplicas (v1.36). Not modelled: minReadySeconds, progress deadlines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers.deployment import DESIRED_ANNOTATION, MAX_ANNOTATION
from kubectl_spread.controllers.rolling_update import fenceposts
from kubectl_spread.objects.workloads import RECREATE, Deployment, ReplicaSet
from kubectl_spread.scheduler.framework import go_round


class Revision(msgspec.Struct, frozen=True):
    """One ReplicaSet of a Deployment.

    Attributes:
        replicas: how many Pods it is to have (count).
        available: how many of them are ready (count).
        present: how many there are, those that are being deleted too (count).
        scaled_for: how many replicas the Deployment wanted as this one was scaled last (count); None where none says.
        most: how many Pods the Deployment might have had then, surge included (count); None where none says.
    """

    name: str
    replicas: int
    available: int
    present: int
    scaled_for: int | None = None
    most: int | None = None


def scaled(deployment: Deployment, newest: Revision, old: Sequence[Revision]) -> Mapping[str, int]:
    """Return ReplicaSet's name → how many Pods it is to have now (count), for those that are scaled.

    Old ReplicaSets are in order, the oldest first.
    """
    replicas = deployment.spec.replicas_wanted
    before = {revision.name: (revision.replicas, revision.scaled_for) for revision in (newest, *old)}
    if deployment.spec.paused or any(there and since not in {None, replicas} for there, since in before.values()):
        wanted = _in_proportion(deployment, newest, old)
        return {name: number for name, number in wanted.items() if before[name] != (number, replicas)}
    if deployment.spec.strategy.type == RECREATE:
        wanted = {revision.name: 0 for revision in old}
        if not any(revision.present for revision in old):
            wanted[newest.name] = replicas
    else:
        wanted = _rolled(deployment, replicas, newest, old)
    return {name: number for name, number in wanted.items() if before[name][0] != number}


def resized(replica_set: ReplicaSet, replicas: int, deployment: Deployment) -> ReplicaSet:
    """Return the ReplicaSet with so many replicas (count), and with what the Deployment wants meanwhile.

    Source: sync.go scaleReplicaSet, deployment_util.go SetReplicasAnnotations.
    """
    desired = deployment.spec.replicas_wanted
    annotations = {DESIRED_ANNOTATION: str(desired), MAX_ANNOTATION: str(desired + _surge(deployment))}
    metadata = replace(replica_set.metadata, annotations={**replica_set.metadata.annotations, **annotations})
    return replace(replica_set, metadata=metadata, spec=replace(replica_set.spec, replicas=replicas))


def _surge(deployment: Deployment) -> int:
    strategy = deployment.spec.strategy
    return 0 if strategy.type == RECREATE else fenceposts(strategy, deployment.spec.replicas_wanted)[0]


def _in_proportion(deployment: Deployment, newest: Revision, old: Sequence[Revision]) -> dict[str, int]:
    """Return how many Pods there are to be as another number is wanted: in a rollout each revision gets its share.

    Source: sync.go scale, deployment_util.go FindActiveOrLatest, IsSaturated, GetReplicaSetProportion.
    """
    replicas = deployment.spec.replicas_wanted
    active = [revision for revision in (*old, newest) if revision.replicas]
    if len(active) <= 1:
        return {(active or [newest])[0].name: replicas}
    if {newest.replicas, newest.available, newest.scaled_for} == {replicas}:
        return {revision.name: 0 for revision in old}
    if deployment.spec.strategy.type == RECREATE:
        return {}
    size = replicas + _surge(deployment) if replicas else 0
    more = left = size - sum(revision.replicas for revision in active)
    # The largest first; of equals the newer one where Pods come, the older one where they go.
    ranked = sorted(active[::-1] if more > 0 else active, key=lambda revision: -revision.replicas)
    wanted: dict[str, int] = {}
    for revision in ranked:
        share = _share(revision, size, sum(each.present for each in active)) if left else 0
        share = min(share, left) if more > 0 else max(share, left)
        wanted[revision.name] = revision.replicas + share
        left -= share
    return {**wanted, ranked[0].name: max(wanted[ranked[0].name] + left, 0)}


def _share(revision: Revision, size: int, present: int) -> int:
    """Return by how many Pods a revision grows or shrinks (count).

    ``size`` includes surge; ``present`` serves a revision of which nobody says how many there might have been.

    Source: deployment_util.go getReplicaSetFraction.
    """
    before = revision.most or present
    # its own Pods x all that there may be now / all that there might have been
    return go_round(revision.replicas * size / before) - revision.replicas if before else 0


def _rolled(deployment: Deployment, replicas: int, newest: Revision, old: Sequence[Revision]) -> dict[str, int]:
    """Return how many Pods there are to be: first the new ReplicaSet changes, and only if it need not, old ones."""
    surge, unavailable = fenceposts(deployment.spec.strategy, replicas)
    total = newest.replicas + sum(revision.replicas for revision in old)
    if newest.replicas > replicas:
        return {newest.name: replicas}
    # replicas + maxSurge - what there is, but no more than replicas
    room = min(replicas + surge - total, replicas - newest.replicas)
    if room > 0:
        return {newest.name: newest.replicas + room}
    least = replicas - unavailable
    return _scaled_down(newest, old, total=total, least=least)


def _scaled_down(newest: Revision, old: Sequence[Revision], *, total: int, least: int) -> dict[str, int]:
    """Return what is left to old ReplicaSets: Pods that are not available go first, then others down to the least.

    Source: rolling.go reconcileOldReplicaSets, cleanupUnhealthyReplicas, scaleDownOldReplicaSetsForRollingUpdate.
    """
    # all - the least that must be available - the new ones that are not
    may_go = total - least - (newest.replicas - newest.available)
    if may_go <= 0:
        return {}
    left = {revision.name: revision.replicas for revision in old}
    for revision in old:
        unhealthy = min(may_go, max(revision.replicas - revision.available, 0))
        left[revision.name] -= unhealthy
        may_go -= unhealthy
    spare = newest.available + sum(revision.available for revision in old) - least
    for revision in old:
        number = min(left[revision.name], max(spare, 0))
        left[revision.name] -= number
        spare -= number
    return left

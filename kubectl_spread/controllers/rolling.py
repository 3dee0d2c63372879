"""Deployments on their way from one revision to the next: how many Pods each ReplicaSet is to have.

Source: kube-controller-manager pkg/controller/deployment/{rolling,recreate,sync}.go, util/deployment_util.go
NewRSNewReplicas (v1.36). Not modelled: minReadySeconds, progress deadlines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from kubectl_spread.controllers.rollout import fenceposts
from kubectl_spread.objects.workloads import RECREATE, Deployment


class Revision(msgspec.Struct, frozen=True):
    """One ReplicaSet of a Deployment.

    Attributes:
        name: its name.
        replicas: how many Pods it is to have (count).
        available: how many of them are ready (count).
        present: how many there are, those that are being deleted too (count).
    """

    name: str
    replicas: int
    available: int
    present: int


def scaled(deployment: Deployment, newest: Revision, old: Sequence[Revision]) -> Mapping[str, int]:
    """Return ReplicaSet's name → how many Pods it is to have now (count), for those for which that changes.

    Args:
        deployment: what is wanted.
        newest: the ReplicaSet of its template.
        old: all others, the oldest first.
    """
    replicas = deployment.spec.replicas_wanted
    if deployment.spec.strategy.type == RECREATE:
        wanted = _recreated(replicas, newest, old)
    else:
        wanted = _rolled(deployment, replicas, newest, old)
    before = {revision.name: revision.replicas for revision in (newest, *old)}
    return {name: number for name, number in wanted.items() if before[name] != number}


def _recreated(replicas: int, newest: Revision, old: Sequence[Revision]) -> dict[str, int]:
    """Return how many Pods there are to be: new ones once all old ones are gone."""
    wanted = {revision.name: 0 for revision in old}
    gone = not any(revision.present for revision in old)
    return {**wanted, newest.name: replicas} if gone else wanted


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

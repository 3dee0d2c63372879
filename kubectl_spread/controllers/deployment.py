"""Deployments: which ReplicaSet creates their next Pod, and how many replicas each gets during a rollout.

Source: kube-controller-manager pkg/controller/deployment/{rolling,recreate,sync}.go, util/deployment_util.go
FindNewReplicaSet, NewRSNewReplicas (v1.36). Not modelled: minReadySeconds, progress deadlines.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from kubectl_spread.controllers import revisions, templates
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.rolling_update import fenceposts
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import ScaledMeta
from kubectl_spread.objects.workloads import RECREATE, ControllerRevision, Deployment, ReplicaSet
from kubectl_spread.scheduler.framework import go_round
from kubectl_spread.snapshot import Snapshot

REVISION_ANNOTATION = "deployment.kubernetes.io/revision"
DESIRED_ANNOTATION = "deployment.kubernetes.io/desired-replicas"
MAX_ANNOTATION = "deployment.kubernetes.io/max-replicas"


def pod_of(deployment: Deployment, snapshot: Snapshot) -> Pod:
    """Return the Pod of the Deployment's newest revision; while it is paused, of the ReplicaSet that is scaled up."""
    if newest_replica_set(deployment, snapshot) is None:
        return templates.pod_from_template(deployment)
    pod = templates.pod_from_template(maker_of(deployment, snapshot))
    return replace(pod, metadata=replace(pod.metadata, name=deployment.metadata.name))


def maker_of(deployment: Deployment, snapshot: Snapshot) -> ReplicaSet:
    """Return the ReplicaSet that creates the Deployment's next Pod; a paused Deployment must have one."""
    return (scaled_while_paused if deployment.spec.paused else replica_set_of)(deployment, snapshot)


def replica_set_of(deployment: Deployment, snapshot: Snapshot) -> ReplicaSet:
    """Return the ReplicaSet of the Deployment's template: an existing one with the same template, or a new one.

    A new one gets the hash of Pods without a controller that may have the template: it adopts them.
    """
    template = deployment.spec.template
    same = [
        found for found in replica_sets(deployment, snapshot) if templates.same_template(found.spec.template, template)
    ]
    if same:
        # Upstream takes the oldest. If only the fields that scheduling reads are known, several revisions may look
        # alike, and the latest is the most likely.
        known = template.rest and all(found.spec.template.rest for found in same)
        # Source: ReplicaSetsByCreationTimestamp.
        oldest = min(same, key=lambda each: (each.metadata.creation_timestamp or "", -revision_number(each)))
        return oldest if known else max(same, key=age)
    current = newest_replica_set(deployment, snapshot)
    revision = revision_number(current) + 1 if current else 1
    orphans = (pod.metadata.labels[templates.HASH_LABEL] for pod in revisions.orphans_of_template(deployment, snapshot))
    return made_for(deployment, next(orphans, templates.template_hash(template, revision)), revision=revision)


def newest_replica_set(deployment: Deployment, snapshot: Snapshot) -> ReplicaSet | None:
    """Return the ReplicaSet of the Deployment's last revision; None if none was read."""
    return max(replica_sets(deployment, snapshot), key=age, default=None)


def scaled_while_paused(deployment: Deployment, snapshot: Snapshot) -> ReplicaSet:
    """Return the ReplicaSet that creates the missing Pods of a paused Deployment.

    It is one that lacks Pods itself, otherwise the largest.

    Source: deployment/sync.go scale, util/deployment_util.go FindActiveOrLatest, ReplicaSetsBySizeNewer (v1.36).
    """
    found = replica_sets(deployment, snapshot)
    living = Counter(pod.metadata.controller_key for pod in active(snapshot.all(Pod)))
    lacking = [each for each in found if living[each.as_controller] < each.spec.replicas_wanted]
    return max(lacking or found, key=lambda each: (each.spec.replicas_wanted, *age(each)))


def replica_sets(deployment: Deployment, snapshot: Snapshot) -> tuple[ReplicaSet, ...]:
    """Return the ReplicaSets that the Deployment controls."""
    return snapshot.controlled_by(deployment.as_controller, ReplicaSet)


def revision_number(replica_set: ReplicaSet | ControllerRevision) -> int:
    """Return the number of its revision; 0 if it has none."""
    return annotated(replica_set, REVISION_ANNOTATION) or 0


def annotated(replica_set: ReplicaSet | ControllerRevision, annotation: str) -> int | None:
    """Return the number in an annotation; None if there is none."""
    text = replica_set.metadata.annotations.get(annotation, "")
    return int(text) if text.isascii() and text.isdecimal() else None


def age(revision: ReplicaSet | ControllerRevision) -> tuple[int, str]:
    """Return the sort key of revisions: the oldest first."""
    return revision_number(revision), revision.metadata.creation_timestamp or ""


def made_for(deployment: Deployment, name: str, *, revision: int) -> ReplicaSet:
    """Return a new ReplicaSet of the Deployment's template; ``name`` is the hash of the template."""
    template = deployment.spec.template
    labels = {**template.metadata.labels, templates.HASH_LABEL: name}
    selector = deployment.spec.selector
    if selector is not None:
        selector = replace(selector, match_labels={**selector.match_labels, templates.HASH_LABEL: name})
    metadata = ScaledMeta(
        name=f"{deployment.metadata.name}-{name}",
        namespace=deployment.metadata.namespace,
        labels=labels,
        annotations={REVISION_ANNOTATION: str(revision)},
        owner_references=(templates.reference_to(deployment),),
    )
    template = replace(template, metadata=replace(template.metadata, labels=labels))
    spec = replace(deployment.spec, selector=selector, template=template)
    return ReplicaSet(metadata=metadata, spec=spec)


class Revision(msgspec.Struct, frozen=True):
    """One ReplicaSet of a Deployment."""

    name: str
    replicas: int  # the Pods that it wants (count)
    available: int  # its ready Pods (count)
    present: int  # its Pods, including terminating ones (count)
    # the Deployment's replicas when this one was last scaled (count); None if not annotated
    scaled_for: int | None = None
    most: int | None = None  # the Deployment's replicas then, plus its surge (count); None if not annotated


def scaled(deployment: Deployment, newest: Revision, old: Sequence[Revision]) -> Mapping[str, int]:
    """Return ReplicaSet's name → its new number of replicas (count), for those that are scaled.

    ``old`` is sorted by age, the oldest first.
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
    """Return the ReplicaSet with this number of replicas (count), annotated with the Deployment's.

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
    """Source: sync.go scale, deployment_util.go FindActiveOrLatest, IsSaturated, GetReplicaSetProportion."""
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
        # replicas x (replicas + surge of the Deployment now) / (the same when it was last scaled)
        # Source: deployment_util.go getReplicaSetFraction; without the annotation all Pods of the Deployment count.
        base = revision.most or sum(each.present for each in active)
        share = go_round(revision.replicas * size / base) - revision.replicas if left and base else 0
        share = min(share, left) if more > 0 else max(share, left)
        wanted[revision.name] = revision.replicas + share
        left -= share
    return {**wanted, ranked[0].name: max(wanted[ranked[0].name] + left, 0)}


def _rolled(deployment: Deployment, replicas: int, newest: Revision, old: Sequence[Revision]) -> dict[str, int]:
    surge, unavailable = fenceposts(deployment.spec.strategy, replicas)
    total = newest.replicas + sum(revision.replicas for revision in old)
    if newest.replicas > replicas:
        return {newest.name: replicas}
    room = min(replicas + surge - total, replicas - newest.replicas)
    if room > 0:
        return {newest.name: newest.replicas + room}
    return _scaled_down(newest, old, total=total, least=replicas - unavailable)


def _scaled_down(newest: Revision, old: Sequence[Revision], *, total: int, least: int) -> dict[str, int]:
    """Return old ReplicaSet's name → replicas: first unavailable Pods are deleted, then others down to ``least``.

    Source: rolling.go reconcileOldReplicaSets, cleanupUnhealthyReplicas, scaleDownOldReplicaSetsForRollingUpdate.
    """
    # all Pods - those that must be available - new Pods that are not available yet
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

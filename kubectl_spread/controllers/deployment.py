"""Deployments: which ReplicaSet creates their next Pod.

Source: kube-controller-manager pkg/controller/deployment/util/deployment_util.go FindNewReplicaSet, deployment/sync.go
getNewReplicaSet (v1.36).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from kubectl_spread.controllers import templates
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.meta import ScaledMeta
from kubectl_spread.objects.workloads import Deployment, ReplicaSet
from kubectl_spread.snapshot import Snapshot

REVISION_ANNOTATION = "deployment.kubernetes.io/revision"
DESIRED_ANNOTATION = "deployment.kubernetes.io/desired-replicas"
MAX_ANNOTATION = "deployment.kubernetes.io/max-replicas"


def pod_of(deployment: Deployment, snapshot: Snapshot) -> Pod:
    """Return the Pod of the Deployment's newest revision; while it is paused, of the ReplicaSet that is scaled up."""
    if newest_replica_set(deployment, snapshot) is None:
        return templates.pod_from_template(deployment)
    maker = (scaled_while_paused if deployment.spec.paused else replica_set_of)(deployment, snapshot)
    pod = templates.pod_from_template(maker)
    return replace(pod, metadata=replace(pod.metadata, name=deployment.metadata.name))


def replica_set_of(deployment: Deployment, snapshot: Snapshot) -> ReplicaSet:
    """Return the ReplicaSet of the Deployment's template: an existing one with the same template, or a new one."""
    template = deployment.spec.template
    same = [
        found for found in replica_sets(deployment, snapshot) if templates.same_template(found.spec.template, template)
    ]
    if same:
        # Upstream takes the oldest. If only the fields that scheduling reads are known, several revisions may look
        # alike, and the latest is the most likely.
        known = template.rest and all(found.spec.template.rest for found in same)
        return min(same, key=_birth) if known else max(same, key=_age)
    current = newest_replica_set(deployment, snapshot)
    revision = revision_number(current) + 1 if current else 1
    return made_for(deployment, templates.template_hash(deployment.spec.template), revision=revision)


def newest_replica_set(deployment: Deployment, snapshot: Snapshot) -> ReplicaSet | None:
    """Return the ReplicaSet of the Deployment's last revision; None if none was read."""
    return max(replica_sets(deployment, snapshot), key=_age, default=None)


def lacks_pods(deployment: Deployment, pods: Sequence[Pod], snapshot: Snapshot) -> bool:
    """Whether a paused Deployment has fewer Pods than it wants. Its ReplicaSets are scaled; no new one is created.

    Source: deployment/sync.go sync, scale (v1.36).
    """
    living = sum(not pod.terminating for pod in pods)
    return living < deployment.spec.replicas_wanted and bool(replica_sets(deployment, snapshot))


def scaled_while_paused(deployment: Deployment, snapshot: Snapshot) -> ReplicaSet:
    """Return the ReplicaSet that creates the missing Pods of a paused Deployment.

    It is one that lacks Pods itself, otherwise the largest.

    Source: deployment/sync.go scale, util/deployment_util.go FindActiveOrLatest, ReplicaSetsBySizeNewer (v1.36).
    """
    found = replica_sets(deployment, snapshot)
    own = (pod for pod in snapshot.all(Pod) if pod.metadata.namespace == deployment.metadata.namespace)
    made_by = (pod.metadata.controller for pod in own if not (pod.finished or pod.terminating))
    living = Counter(each.name for each in made_by if each is not None and each.kind == ReplicaSet.__name__)
    lacking = [each for each in found if living[each.metadata.name] < each.spec.replicas_wanted]
    return max(lacking or found, key=lambda each: (each.spec.replicas_wanted, *_age(each)))


def replica_sets(deployment: Deployment, snapshot: Snapshot) -> tuple[ReplicaSet, ...]:
    """Return the ReplicaSets that the Deployment controls."""
    metadata = deployment.metadata
    return snapshot.controlled_by(("Deployment", metadata.namespace, metadata.name), ReplicaSet)


def revision_number(replica_set: ReplicaSet) -> int:
    """Return the number of its revision; 0 if it has none."""
    return annotated(replica_set, REVISION_ANNOTATION) or 0


def annotated(replica_set: ReplicaSet, annotation: str) -> int | None:
    """Return the number in an annotation; None if there is none."""
    text = replica_set.metadata.annotations.get(annotation, "")
    return int(text) if text.isascii() and text.isdecimal() else None


def _birth(replica_set: ReplicaSet) -> tuple[str, int]:
    # Source: ReplicaSetsByCreationTimestamp.
    return replica_set.metadata.creation_timestamp or "", -revision_number(replica_set)


def _age(replica_set: ReplicaSet) -> tuple[int, str]:
    return revision_number(replica_set), replica_set.metadata.creation_timestamp or ""


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

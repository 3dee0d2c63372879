"""Revisions of workloads: which existing Pods have the newest template.

Source: kube-controller-manager pkg/controller/statefulset/stateful_set_control.go getStatefulSetRevisions,
daemon/update.go constructHistory (v1.36).
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from kubectl_spread.controllers import daemonset
from kubectl_spread.controllers.daemonset import TEMPLATE_GENERATION_LABEL
from kubectl_spread.controllers.templates import (
    HASH_LABEL,
    may_be_of,
    pod_from_template,
    reference_to,
    same_template,
    template_hash,
)
from kubectl_spread.controllers.workloads import adopted, revision_of
from kubectl_spread.objects.core import Pod, PodTemplateSpec
from kubectl_spread.objects.meta import TEMPLATE_GENERATION, ObjectMeta
from kubectl_spread.objects.template_rest import same_rest
from kubectl_spread.objects.workloads import (
    ControllerRevision,
    DaemonSet,
    Deployment,
    RevisedSpec,
    RevisionData,
    StatefulSet,
)
from kubectl_spread.snapshot import Snapshot


def template_of(owner: StatefulSet | DaemonSet, revision: str, snapshot: Snapshot) -> PodTemplateSpec | None:
    """Return the template of a revision, by the label of its Pods; None if it was not read."""
    found = snapshot.get(ControllerRevision, owner.metadata.namespace, _name(owner, revision))
    return found.data.spec.template if found else None


def recorded(owner: StatefulSet | DaemonSet, pods: Iterable[Pod], snapshot: Snapshot) -> Iterator[ControllerRevision]:
    """Yield the revision of the owner's template, by the label of its Pods, if it was not read."""
    template, metadata = owner.spec.template, owner.metadata
    for revision in {revision_of(pod) for pod in pods if is_of_newest_revision(pod, owner)}:
        if revision and template_of(owner, revision, snapshot) is None:
            owners, name = (reference_to(owner),), _name(owner, revision)
            own = ObjectMeta(name=name, namespace=metadata.namespace, owner_references=owners)
            yield ControllerRevision(metadata=own, data=RevisionData(spec=RevisedSpec(template=template)))


def _name(owner: StatefulSet | DaemonSet, revision: str) -> str:
    return revision if isinstance(owner, StatefulSet) else f"{owner.metadata.name}-{revision}"


def of_older_revision(
    owner: StatefulSet | DaemonSet, snapshot: Snapshot, pods: Iterable[Pod]
) -> Iterator[tuple[Pod, bool]]:
    """Yield (Pod of an older revision with the same template as the owner, so that it stays; whether that is certain).

    A revision that was not read is known only by its Pods, which do not show all fields. The owner is merged, or new:
    it adopts Pods then. The snapshot is the cluster before the change.
    """
    live = snapshot.get(type(owner), owner.metadata.namespace, owner.metadata.name)
    template, made = owner.spec.template, pod_from_template(owner)
    if live is not None and same_template(live.spec.template, template):
        return
    there = [pod for pod in pods if pod.metadata.namespace == owner.metadata.namespace and not pod.finished]
    mine = [pod for pod in there if pod.metadata.controller_key == owner.as_controller]
    for pod in (*mine, *adopted(owner, [pod for pod in there if pod.metadata.controller is None])):
        revision = revision_of(pod)
        if not revision or is_of_newest_revision(pod, live or owner):
            continue
        held = template_of(owner, revision, snapshot)
        if held is None and may_be_of(made, pod):
            yield pod, False
        elif held is not None and same_template(held, template):
            yield pod, same_rest(held.rest, template.rest) is True


def orphans_of_template(owner: Deployment, snapshot: Snapshot) -> tuple[Pod, ...]:
    """Return the Pods that a new ReplicaSet of the Deployment may adopt: they may have its template, and so its hash.

    Source: deployment/sync.go getNewReplicaSet: the name, the labels and the selector have the hash (v1.36).
    """
    there = snapshot.within(Pod, owner.metadata.namespace)
    orphans = [pod for pod in there if pod.metadata.controller is None and not pod.finished]
    made = pod_from_template(owner)
    return tuple(pod for pod in adopted(owner, orphans) if HASH_LABEL in pod.metadata.labels and may_be_of(made, pod))


def is_of_newest_revision(pod: Pod, owner: StatefulSet | DaemonSet) -> bool:
    """Whether the workload takes the Pod for one of its newest template."""
    if isinstance(owner, DaemonSet):
        return daemonset.is_of_generation(pod, owner)
    return revision_of(pod) == owner.status.update_revision


def is_outdated(pod: Pod, owner: DaemonSet, snapshot: Snapshot) -> bool:
    """Whether the labels of the DaemonSet's Pod show that it has an older template.

    A Pod of an older generation is up to date if the template was taken back to that of its revision.

    Source: daemonset_util.go IsPodUpdated (v1.36).
    """
    labelled = TEMPLATE_GENERATION in owner.metadata.annotations and TEMPLATE_GENERATION_LABEL in pod.metadata.labels
    if not labelled or daemonset.is_of_generation(pod, owner):
        return False
    held = template_of(owner, revision_of(pod), snapshot)
    return held is None or not same_template(held, owner.spec.template)


def with_revision(owner: StatefulSet, snapshot: Snapshot) -> StatefulSet:
    """Return the StatefulSet with the name of its newest revision, which may be an older one with the same template."""
    live = snapshot.get(StatefulSet, owner.metadata.namespace, owner.metadata.name)
    if live is not None and live.status.update_revision and same_template(live.spec.template, owner.spec.template):
        newest = live.status.update_revision
    else:
        older = (revision_of(pod) for pod, _ in of_older_revision(owner, snapshot, snapshot.all(Pod)))
        newest = next(older, f"{owner.metadata.name}-{template_hash(owner.spec.template)}")
    return replace(owner, status=replace(owner.status, update_revision=newest))

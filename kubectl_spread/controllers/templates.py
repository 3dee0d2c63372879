"""Pods as controllers create them from a template, before the API server completes them.

Hashes and random endings of names differ from a real cluster's; they are equal for equal templates.

Source: kube-controller-manager pkg/controller/controller_utils.go GetPodFromTemplate (v1.36).
"""

import zlib
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.creation import unmerged
from kubectl_spread.apiserver.quantities import as_stored
from kubectl_spread.objects.core import Pod, PodSchedulingGroup, PodTemplateSpec, ReplicationController
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.meta import ObjectMeta, OwnerReference
from kubectl_spread.objects.template_rest import same_rest
from kubectl_spread.objects.workloads import CronJob, Job

HASH_LABEL = "pod-template-hash"
REVISION_HASH_LABEL = "controller-revision-hash"
# Source: argo-rollouts pkg/apis/rollouts/v1alpha1/types.go DefaultRolloutUniqueLabelKey (v1.8).
ROLLOUTS_HASH_LABEL = "rollouts-pod-template-hash"
REVISION_LABELS = (HASH_LABEL, REVISION_HASH_LABEL, ROLLOUTS_HASH_LABEL)


def template_of(owner: Workload) -> PodTemplateSpec:
    """Return the workload's Pod template."""
    if isinstance(owner, CronJob):
        return owner.spec.job_template.spec.template
    return owner.spec.template


def reference_to(owner: Workload) -> OwnerReference:
    """Return the owner reference of this owner's Pods."""
    api_version = {ReplicationController: "v1", Job: "batch/v1", CronJob: "batch/v1"}.get(type(owner), "apps/v1")
    return OwnerReference(api_version=api_version, kind=type(owner).__name__, name=owner.metadata.name, controller=True)


def pod_from_template(owner: Workload) -> Pod:
    """Return the Pod of the owner's template, under the owner's name.

    Source: for a Job's PodGroup, which has another name there, job/job_scheduling_manager.go (v1.37).
    """
    template, metadata = template_of(owner), owner.metadata
    spec = template.spec
    if isinstance(owner, Job) and owner.spec.scheduling is not None:
        spec = replace(spec, scheduling_group=PodSchedulingGroup(pod_group_name=metadata.name))
    labels, owners = dict(template.metadata.labels), (reference_to(owner),)
    own = ObjectMeta(name=metadata.name, namespace=metadata.namespace, labels=labels, owner_references=owners)
    return Pod(metadata=own, spec=spec)


def renamed(pod: Pod, name: str) -> Pod:
    """Return the Pod with this name, and a UID that is derived from it."""
    return replace(pod, metadata=replace(pod.metadata, name=name, uid=f"{pod.metadata.namespace}/{name}"))


def is_made_up(uid: str) -> bool:
    """Whether the UID is empty or one that ``renamed`` sets."""
    return not uid or "/" in uid


def labelled(pod: Pod, labels: Mapping[str, str]) -> Pod:
    """Return the Pod with these labels too."""
    return replace(pod, metadata=replace(pod.metadata, labels={**pod.metadata.labels, **labels}))


def same_template(first: PodTemplateSpec, second: PodTemplateSpec) -> bool:
    """Whether both create the same Pods. The hash label and unknown fields are not compared."""
    if same_rest(first.rest, second.rest) is False or _own_labels(first) != _own_labels(second):
        return False
    for name in first.spec.__struct_fields__:
        values = [{name: getattr(template.spec, name)} for template in (first, second)]
        if values[0] != values[1] and len({_spelled_alike(each) for each in values}) > 1:
            return False
    return True


def may_be_of(made: Pod, pod: Pod) -> bool:
    """Whether a Pod may come from the template of ``made``: it has all that the template has, images included."""
    wanted, spec = made.spec, unmerged(pod.spec)
    images = {container.name: container.image for container in spec.containers}
    return (
        all(images.get(container.name) == container.image for container in wanted.containers)
        and made.metadata.labels.items() <= pod.metadata.labels.items()
        and wanted.node_selector.items() <= spec.node_selector.items()
        and wanted.affinity in (None, spec.affinity)
        and all(each in spec.tolerations for each in wanted.tolerations)
        and all(each in spec.topology_spread_constraints for each in wanted.topology_spread_constraints)
    )


def _own_labels(template: PodTemplateSpec) -> dict[str, str]:
    return {key: value for key, value in sorted(template.metadata.labels.items()) if key != HASH_LABEL}


def _spelled_alike(value: object) -> bytes:
    """Return the value as JSON in which equal quantities are spelled alike."""
    return msgspec.json.encode(as_stored(value), order="sorted")


def template_hash(template: PodTemplateSpec, revision: int | None = None) -> str:
    """Return a hash of the template; a real cluster's is another.

    With the number of its ``revision``, it does not depend on the rest, whose digest differs between snapshots.
    """
    known = _spelled_alike((_own_labels(template), template.spec))
    rest = template.rest if revision is None else str(revision)
    return format(zlib.crc32(known + rest.encode()), "08x")

"""Pods as controllers make them from a template, before the API server sees them.

Names that a real cluster makes up (hashes, random endings) are made up here too: equal for equal templates.

Source: kube-controller-manager pkg/controller/controller_utils.go GetPodFromTemplate (v1.36).
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.creation import unmerged
from kubectl_spread.apiserver.quantities import canonical, with_defaults
from kubectl_spread.objects.core import Pod, PodSchedulingGroup, PodTemplateSpec, ReplicationController
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.meta import ObjectMeta, OwnerReference
from kubectl_spread.objects.template_rest import same_rest
from kubectl_spread.objects.workloads import CronJob, Job

HASH_LABEL = "pod-template-hash"
REVISION_HASH_LABEL = "controller-revision-hash"
REVISION_LABELS = (HASH_LABEL, REVISION_HASH_LABEL)


def template_of(owner: Workload) -> PodTemplateSpec:
    """Return the template of the Pods the workload makes."""
    if isinstance(owner, CronJob):
        return owner.spec.job_template.spec.template
    return owner.spec.template


def reference_to(owner: Workload) -> OwnerReference:
    """Return the reference a Pod of this owner carries."""
    api_version = {ReplicationController: "v1", Job: "batch/v1", CronJob: "batch/v1"}.get(type(owner), "apps/v1")
    return OwnerReference(api_version=api_version, kind=type(owner).__name__, name=owner.metadata.name, controller=True)


def pod_from_template(owner: Workload) -> Pod:
    """Return the Pod of the owner's template, under the owner's name: the real one is made up later.

    Source: job/job_scheduling_manager.go, whose PodGroup has a name of its own (v1.37).
    """
    template, metadata = template_of(owner), owner.metadata
    spec = template.spec
    if isinstance(owner, Job) and owner.spec.scheduling is not None:
        spec = replace(spec, scheduling_group=PodSchedulingGroup(pod_group_name=metadata.name))
    return Pod(
        metadata=ObjectMeta(
            name=metadata.name,
            namespace=metadata.namespace,
            labels=dict(template.metadata.labels),
            owner_references=(reference_to(owner),),
        ),
        spec=spec,
    )


def renamed(pod: Pod, name: str) -> Pod:
    """Return the Pod under this name, and with an identity of its own."""
    return replace(pod, metadata=replace(pod.metadata, name=name, uid=f"{pod.metadata.namespace}/{name}"))


def is_made_up(uid: str) -> bool:
    """Whether a Pod has no UID yet: none, or such as ``renamed`` gives."""
    return not uid or "/" in uid


def labelled(pod: Pod, labels: Mapping[str, str]) -> Pod:
    """Return the Pod with further labels."""
    return replace(pod, metadata=replace(pod.metadata, labels={**pod.metadata.labels, **labels}))


def same_template(first: PodTemplateSpec, second: PodTemplateSpec) -> bool:
    """Whether both make the same Pods; a release's own hash label does not count, nor what is not known of either."""
    if same_rest(first.rest, second.rest) is False:
        return False
    if first.spec == second.spec:  # as of almost all, which are as their Deployment has them
        return _own_labels(first) == _own_labels(second)
    return _kept(first) == _kept(second)


def may_be_of(made: Pod, pod: Pod) -> bool:
    """Whether the template that makes a Pod may have made this one too: it lacks nothing of it, images included."""
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
    """Return the labels that are not a release's own, by key."""
    return {key: value for key, value in sorted(template.metadata.labels.items()) if key != HASH_LABEL}


def _kept(template: PodTemplateSpec) -> bytes:
    spec = canonical(with_defaults(template.spec))
    return msgspec.json.encode((_own_labels(template), spec), order="sorted")


def template_hash(template: PodTemplateSpec) -> str:
    """Return a name for the template, the same for the same Pods; the real one is another."""
    return format(zlib.crc32(_kept(template) + template.rest.encode()), "08x")

"""Pods and Pod templates as a whole, and the metadata of any object.

Source: pkg/apis/core/validation/validation.go ValidatePodCreate, ValidatePodSpec, ValidatePodTemplateSpec, apimachinery
pkg/api/validation/objectmeta.go (v1.33 to v1.37).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kubectl_spread.apimachinery import as_json, dns_label_faults, dns_subdomain_faults, label_key_faults
from kubectl_spread.apiserver.creation import name_as_created, pod_as_created, template_as_created
from kubectl_spread.apiserver.validation.affinity import affinity_errors
from kubectl_spread.apiserver.validation.containers import (
    container_errors,
    ephemeral_container_errors,
    host_network_errors,
    image_blank_errors,
    init_container_errors,
)
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    choice_errors,
    duplicate,
    forbidden,
    invalid,
    items,
    required,
    text_errors,
)
from kubectl_spread.apiserver.validation.labelselectors import label_errors
from kubectl_spread.apiserver.validation.resources import overhead_errors, pod_resource_errors
from kubectl_spread.apiserver.validation.spread import constraint_errors
from kubectl_spread.apiserver.validation.tolerations import toleration_errors
from kubectl_spread.apiserver.validation.volumes import volume_errors
from kubectl_spread.objects.core import Pod, PodResourceClaim, PodSchedulingGate, PodSpec, PodTemplateSpec
from kubectl_spread.objects.meta import ObjectMeta
from kubectl_spread.release import USER_NAMESPACES_HOST_NETWORK, Release

_HOST_USERS_SHORT_SINCE = 34
_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_MAX_SECONDS = 2**31 - 1


def pod_errors(pod: Pod, release: Release) -> Errors:
    """Yield the errors of a Pod that is created."""
    spec = pod_as_created(pod, release).spec
    yield from metadata_errors(pod.metadata, dns_subdomain_faults)
    yield from _spec_errors("spec", spec, pod_name=name_as_created(pod.metadata), release=release)
    # upstream: a template with such an image is accepted, and its Pods are refused.
    for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for path, container in items(f"spec.{field}", containers):
            yield from image_blank_errors(path, container)
    if spec.ephemeral_containers:
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.node_name and spec.scheduling_gates:
        yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")


def template_errors(path: str, template: PodTemplateSpec, release: Release) -> Errors:
    """Yield the errors of a Pod template."""
    # upstream: labels are reported at ``template.labels``, not ``template.metadata.labels``.
    spec = template_as_created(template.spec, release)
    yield from label_errors(f"{path}.labels", template.metadata.labels)
    yield from _spec_errors(f"{path}.spec", spec, pod_name=None, release=release)
    if spec.ephemeral_containers:
        yield forbidden(f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def metadata_errors(
    metadata: ObjectMeta, name_faults: Callable[[str], Iterator[str]], *, check_generate_name: bool = True
) -> Errors:
    """Yield the errors of an object's name, namespace and labels; ``name_faults`` has the rule for its kind's names."""
    prefix = metadata.generate_name
    if prefix and check_generate_name:

        def prefix_faults(text: str) -> Iterator[str]:
            # upstream: a dash at the end stands for a letter, and the last two characters for that one letter.
            return name_faults(f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text)

        yield from text_errors("metadata.generateName", prefix, prefix_faults)
    name = name_as_created(metadata)
    if name:
        yield from text_errors("metadata.name", name, name_faults)
    else:
        yield required("metadata.name", "name or generateName is required")
    if metadata.namespace:
        yield from text_errors("metadata.namespace", metadata.namespace, dns_label_faults)
    yield from label_errors("metadata.labels", metadata.labels)


def _spec_errors(path: str, spec: PodSpec, *, pod_name: str | None, release: Release) -> Errors:
    yield from volume_errors(f"{path}.volumes", spec.volumes, pod_name=pod_name, release=release)
    yield from _resource_claim_errors(f"{path}.resourceClaims", spec.resource_claims)
    yield from container_errors(f"{path}.containers", spec.containers, release)
    yield from init_container_errors(f"{path}.initContainers", spec, release)
    yield from ephemeral_container_errors(f"{path}.ephemeralContainers", spec)
    yield from pod_resource_errors(f"{path}.resources", spec)
    yield from host_network_errors(f"{path}.containers", spec, in_template=pod_name is None)
    yield from choice_errors(f"{path}.restartPolicy", spec.restart_policy, _RESTART_POLICIES)
    yield from label_errors(f"{path}.nodeSelector", spec.node_selector)
    yield from affinity_errors(f"{path}.affinity", spec.affinity)
    yield from _gate_errors(f"{path}.schedulingGates", spec.scheduling_gates)
    yield from constraint_errors(f"{path}.topologySpreadConstraints", spec.topology_spread_constraints, release)
    if spec.host_users is False and spec.host_network and not release.enables(USER_NAMESPACES_HOST_NETWORK):
        field = "hostUsers" if release.minor >= _HOST_USERS_SHORT_SINCE else "pod.Spec.HostUsers"
        yield forbidden(f"{path}.hostNetwork", f"when `{field}` is false")
    if spec.node_name:
        yield from text_errors(f"{path}.nodeName", spec.node_name, dns_subdomain_faults)
    if spec.active_deadline_seconds is not None and not 1 <= spec.active_deadline_seconds <= _MAX_SECONDS:
        detail = f"must be between 1 and {_MAX_SECONDS}, inclusive"
        yield invalid(f"{path}.activeDeadlineSeconds", spec.active_deadline_seconds, detail)
    yield from toleration_errors(f"{path}.tolerations", spec.tolerations, release)
    yield from overhead_errors(f"{path}.overhead", spec.overhead)


def _resource_claim_errors(path: str, claims: Sequence[PodResourceClaim]) -> Errors:
    names: set[str] = set()
    for place, claim in items(path, claims):
        if not claim.name:
            yield required(f"{place}.name")
        elif claim.name in names:
            yield duplicate(f"{place}.name", claim.name)
        else:
            yield from text_errors(f"{place}.name", claim.name, dns_label_faults)
            names.add(claim.name)
        existing, template = claim.resource_claim_name, claim.resource_claim_template_name
        value = {
            "Name": claim.name,
            "ResourceClaimName": existing or None,
            "ResourceClaimTemplateName": template or None,
        }
        if existing and template:
            detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            yield invalid(place, as_json(value), detail)
        if not (existing or template):
            detail = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            yield invalid(place, as_json(value), detail)
        for field, name in (("resourceClaimName", existing), ("resourceClaimTemplateName", template)):
            if name:
                yield from text_errors(f"{place}.{field}", name, dns_subdomain_faults)


def _gate_errors(path: str, gates: Sequence[PodSchedulingGate]) -> Errors:
    names: set[str] = set()
    for place, gate in items(path, gates):
        yield from text_errors(place, gate.name, label_key_faults)
        if gate.name in names:
            yield duplicate(place, gate.name)
        names.add(gate.name)

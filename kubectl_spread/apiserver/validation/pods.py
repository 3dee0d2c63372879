"""Pods and Pod templates as a whole, and the metadata of any object.

Source: pkg/apis/core/validation/validation.go ValidatePodCreate, ValidatePodSpec, ValidatePodTemplateSpec, apimachinery
pkg/api/validation/objectmeta.go (v1.33 to v1.37).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from kubectl_spread.apimachinery import as_json, dns_subdomain_faults, quoted
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
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from kubectl_spread.apiserver.validation.labelselectors import label_errors
from kubectl_spread.apiserver.validation.names import dns_label_errors, dns_subdomain_errors, label_key_errors
from kubectl_spread.apiserver.validation.resources import overhead_errors, pod_resource_errors
from kubectl_spread.apiserver.validation.spread import constraint_errors
from kubectl_spread.apiserver.validation.tolerations import toleration_errors
from kubectl_spread.apiserver.validation.volumes import volume_errors
from kubectl_spread.objects.core import Pod, PodResourceClaim, PodSchedulingGate, PodSpec, PodTemplateSpec
from kubectl_spread.objects.meta import ObjectMeta
from kubectl_spread.release import USER_NAMESPACES_HOST_NETWORK, Release

NameFaults: TypeAlias = Callable[[str], Iterator[str]]
"""What is wrong with a name of a certain kind of object."""

_HOST_USERS_SHORT_SINCE = 34
_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_MAX_SECONDS = 2**31 - 1


def pod_errors(pod: Pod, release: Release) -> Errors:
    """Yield the errors of a Pod that is to be created."""
    created = pod_as_created(pod, release)
    spec = created.spec
    yield from metadata_errors(pod.metadata, dns_subdomain_faults)
    yield from _spec_errors("spec", spec, pod_name=name_as_created(pod.metadata), release=release)
    # upstream: of Pods alone; with such an image a template is taken, and then none of its Pods.
    for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            yield from image_blank_errors(f"spec.{field}[{index}]", container)
    if spec.ephemeral_containers:
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")
    # A gate keeps the Pod from the scheduler; one with a node has passed it by.
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


def metadata_errors(metadata: ObjectMeta, name_faults: NameFaults, *, check_generate_name: bool = True) -> Errors:
    """Yield the errors of an object's name, namespace and labels; an absent namespace is filled in."""
    prefix = metadata.generate_name
    if prefix and check_generate_name:
        # upstream: a dash at the end is as good as a letter, which takes the place of the last two characters.
        masked = f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        yield from (invalid("metadata.generateName", quoted(prefix), fault) for fault in name_faults(masked))
    name = name_as_created(metadata)
    if not name:
        yield required("metadata.name", "name or generateName is required")
    else:
        yield from (invalid("metadata.name", quoted(name), fault) for fault in name_faults(name))
    if metadata.namespace:
        yield from dns_label_errors("metadata.namespace", metadata.namespace)
    yield from label_errors("metadata.labels", metadata.labels)


def _spec_errors(path: str, spec: PodSpec, *, pod_name: str | None, release: Release) -> Errors:
    yield from volume_errors(f"{path}.volumes", spec.volumes, pod_name=pod_name, release=release)
    yield from _claim_errors(f"{path}.resourceClaims", spec.resource_claims)
    yield from container_errors(f"{path}.containers", spec.containers, release)
    yield from init_container_errors(f"{path}.initContainers", spec, release)
    yield from ephemeral_container_errors(f"{path}.ephemeralContainers", spec)
    yield from pod_resource_errors(f"{path}.resources", spec)
    yield from host_network_errors(f"{path}.containers", spec, in_template=pod_name is None)
    if spec.restart_policy not in _RESTART_POLICIES:
        yield not_supported(f"{path}.restartPolicy", spec.restart_policy, _RESTART_POLICIES)
    yield from label_errors(f"{path}.nodeSelector", spec.node_selector)
    yield from affinity_errors(f"{path}.affinity", spec.affinity)
    yield from _gate_errors(f"{path}.schedulingGates", spec.scheduling_gates)
    yield from constraint_errors(f"{path}.topologySpreadConstraints", spec.topology_spread_constraints, release)
    # The host's network in a namespace of other users fails in ways that nobody expects.
    if spec.host_users is False and spec.host_network and not release.enables(USER_NAMESPACES_HOST_NETWORK):
        field = "hostUsers" if release.minor >= _HOST_USERS_SHORT_SINCE else "pod.Spec.HostUsers"
        yield forbidden(f"{path}.hostNetwork", f"when `{field}` is false")
    if spec.node_name:
        yield from dns_subdomain_errors(f"{path}.nodeName", spec.node_name)
    if spec.active_deadline_seconds is not None and not 1 <= spec.active_deadline_seconds <= _MAX_SECONDS:
        detail = f"must be between 1 and {_MAX_SECONDS}, inclusive"
        yield invalid(f"{path}.activeDeadlineSeconds", spec.active_deadline_seconds, detail)
    yield from toleration_errors(f"{path}.tolerations", spec.tolerations, release)
    yield from overhead_errors(f"{path}.overhead", spec.overhead)


def _claim_errors(path: str, claims: Sequence[PodResourceClaim]) -> Errors:
    names: set[str] = set()
    for index, claim in enumerate(claims):
        place = f"{path}[{index}]"
        if not claim.name:
            yield required(f"{place}.name")
        elif claim.name in names:
            yield duplicate(f"{place}.name", claim.name)
        else:
            yield from dns_label_errors(f"{place}.name", claim.name)
            names.add(claim.name)
        yield from _claim_source_errors(place, claim)


def _claim_source_errors(path: str, claim: PodResourceClaim) -> Errors:
    existing, template = claim.resource_claim_name, claim.resource_claim_template_name
    names = {"Name": claim.name, "ResourceClaimName": existing or None, "ResourceClaimTemplateName": template or None}
    if existing and template:
        told = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
        yield invalid(path, as_json(names), told)
    if not (existing or template):
        yield invalid(path, as_json(names), "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
    for field, name in (("resourceClaimName", existing), ("resourceClaimTemplateName", template)):
        if name:
            yield from dns_subdomain_errors(f"{path}.{field}", name)


def _gate_errors(path: str, gates: Sequence[PodSchedulingGate]) -> Errors:
    names: set[str] = set()
    for index, gate in enumerate(gates):
        yield from label_key_errors(f"{path}[{index}]", gate.name)
        if gate.name in names:
            yield duplicate(f"{path}[{index}]", gate.name)
        names.add(gate.name)

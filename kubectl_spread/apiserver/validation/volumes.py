"""Volumes with the sources that the scheduler reads, and claims.

Source: pkg/apis/core/validation/validation.go ValidateVolumes, ValidatePersistentVolumeClaimSpec (v1.33 to v1.37).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubectl_spread.apimachinery import dns_label_faults, dns_subdomain_faults, quoted
from kubectl_spread.apiserver.quantities import read_amounts
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    choice_errors,
    duplicate,
    forbidden,
    invalid,
    items,
    name_errors,
    required,
    text_errors,
)
from kubectl_spread.objects.core import PersistentVolumeClaimSpec, Volume
from kubectl_spread.release import Release

_SOURCES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "emptyDir": ("empty_dir", {}),
    # upstream: pdName is reported at a path that does not exist.
    "gcePersistentDisk": ("gce_persistent_disk", {"persistentDisk.pdName": "pd_name"}),
    "awsElasticBlockStore": ("aws_elastic_block_store", {"awsElasticBlockStore.volumeID": "volume_id"}),
    "iscsi": ("iscsi", {"iscsi.iqn": "iqn"}),
    "persistentVolumeClaim": ("persistent_volume_claim", {"persistentVolumeClaim.claimName": "claim_name"}),
    "rbd": ("rbd", {"rbd.monitors": "monitors", "rbd.image": "image"}),
    "cinder": ("cinder", {"cinder.volumeID": "volume_id"}),
    "portworxVolume": ("portworx_volume", {"portworxVolume.volumeID": "volume_id"}),
    "azureDisk": ("azure_disk", {"azureDisk.diskURI": "disk_uri"}),
    "ephemeral": ("ephemeral", {}),
    "image": ("image", {}),
}
"""Source → (attribute of the volume, required field below the volume → attribute of the source).

In the order in which the API server reads them.
"""
_TEMPLATE_REFERENCE_SINCE = 37
_ALONE = "ReadWriteOncePod"
_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", _ALONE)
_VOLUME_MODES = ("Block", "Filesystem")


def volume_errors(path: str, volumes: Sequence[Volume], *, pod_name: str | None, release: Release) -> Errors:
    """Yield the errors of all volumes.

    ``pod_name`` begins the names of claims that are created for the Pod; None in a template.
    """
    created = {f"{pod_name}-{volume.name}" for volume in volumes if volume.ephemeral} if pod_name else set()
    names: set[str] = set()
    for place, volume in items(path, volumes):
        errors = [*_source_errors(place, volume, pod_name=pod_name, release=release)]
        errors += name_errors(f"{place}.name", volume.name, dns_label_faults)
        if volume.name in names:
            errors.append(duplicate(f"{place}.name", volume.name))
        yield from errors
        # upstream: a volume with an error does not take its name, so a second one of that name is no duplicate.
        if not errors:
            names.add(volume.name)
        claim = volume.persistent_volume_claim
        if claim is not None and claim.claim_name in created:
            detail = "must not reference a PVC that gets created for an ephemeral volume"
            yield invalid(f"{place}.persistentVolumeClaim.claimName", quoted(claim.claim_name), detail)


def claim_errors(path: str, spec: PersistentVolumeClaimSpec) -> Errors:
    """Yield the errors of a claim's spec; its selector and data sources are not validated."""
    if not spec.access_modes:
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    for mode in spec.access_modes:
        yield from choice_errors(f"{path}.accessModes", mode, _ACCESS_MODES)
    if _ALONE in spec.access_modes and len(set(spec.access_modes)) > 1:
        yield forbidden(f"{path}.accessModes", f"may not use {_ALONE} with other access modes")
    storage = read_amounts(spec.resources.requests).get("storage")
    if storage is None:
        yield required(f"{path}.resources[storage]")
    elif storage.value <= 0:
        yield invalid(f"{path}.resources[storage]", quoted(str(storage)), "must be greater than zero")
    if spec.storage_class_name:
        yield from text_errors(f"{path}.storageClassName", spec.storage_class_name, dns_subdomain_faults)
    yield from choice_errors(f"{path}.volumeMode", spec.volume_mode, _VOLUME_MODES)


def _source_errors(path: str, volume: Volume, *, pod_name: str | None, release: Release) -> Errors:
    """Yield the errors of a volume's sources: the first is validated, any other is forbidden."""
    first, *others = [name for name, (attribute, _) in _SOURCES.items() if getattr(volume, attribute) is not None] or [
        ""
    ]
    if first:
        attribute, needed = _SOURCES[first]
        yield from (
            required(f"{path}.{name}") for name, of in needed.items() if not getattr(getattr(volume, attribute), of)
        )
    if first == "ephemeral" and volume.ephemeral:
        claim_name = f"{pod_name}-{volume.name}"
        for fault in dns_subdomain_faults(claim_name) if pod_name and volume.name else ():
            yield invalid(f"{path}.name", quoted(volume.name), f"PVC name {quoted(claim_name)}: {fault}")
        yield from claim_errors(
            f"{path}.ephemeral.volumeClaimTemplate.spec", volume.ephemeral.volume_claim_template.spec
        )
    needs_reference = pod_name is not None or release.minor >= _TEMPLATE_REFERENCE_SINCE
    if first == "image" and volume.image and not volume.image.reference and needs_reference:
        yield required(f"{path}.image.reference")
    # upstream: its own order decides which source is the first, not the manifest's.
    yield from (forbidden(f"{path}.{name}", "may not specify more than 1 volume type") for name in others)

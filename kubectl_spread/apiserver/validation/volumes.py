"""Volumes with the sources that the scheduler reads, claims, and the parameters of StorageClasses.

Source: pkg/apis/core/validation/validation.go ValidateVolumes, ValidatePersistentVolumeClaimSpec;
pkg/apis/storage/validation/validation.go validateParameters (v1.33 to v1.37).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from kubectl_spread.apimachinery import dns_label_faults, dns_subdomain_faults, quoted
from kubectl_spread.apiserver.quantities import read_amounts
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    FieldError,
    choice_errors,
    duplicate,
    forbidden,
    invalid,
    items,
    name_errors,
    not_supported,
    required,
    text_errors,
    too_long,
)
from kubectl_spread.objects.core import AzureDiskVolumeSource, PersistentVolumeClaimSpec, Volume
from kubectl_spread.release import Release

_SOURCES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "emptyDir": ("empty_dir", {}),
    "hostPath": ("host_path", {"hostPath.path": "path"}),
    # upstream: pdName is reported at a path that does not exist.
    "gcePersistentDisk": ("gce_persistent_disk", {"persistentDisk.pdName": "pd_name"}),
    "awsElasticBlockStore": ("aws_elastic_block_store", {"awsElasticBlockStore.volumeID": "volume_id"}),
    "secret": ("secret", {"secret.secretName": "secret_name"}),
    "nfs": ("nfs", {"nfs.server": "server", "nfs.path": "path"}),
    "iscsi": ("iscsi", {"iscsi.iqn": "iqn"}),
    "persistentVolumeClaim": ("persistent_volume_claim", {"persistentVolumeClaim.claimName": "claim_name"}),
    "rbd": ("rbd", {"rbd.monitors": "monitors", "rbd.image": "image"}),
    "cinder": ("cinder", {"cinder.volumeID": "volume_id"}),
    "downwardAPI": ("downward_api", {}),
    "configMap": ("config_map", {"configMap.name": "name"}),
    "portworxVolume": ("portworx_volume", {"portworxVolume.volumeID": "volume_id"}),
    "azureDisk": ("azure_disk", {"azureDisk.diskURI": "disk_uri"}),
    "projected": ("projected", {}),
    "csi": ("csi", {}),
    "ephemeral": ("ephemeral", {}),
    "image": ("image", {}),
}
"""Source → (attribute of the volume, required field below the volume → attribute of the source).

In the order in which the API server reads them. Some sources are read from manifests only.
"""
_IQN_FORMS = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)", re.ASCII),
    "eui": re.compile(r"eui.[A-Za-z0-9]{16}", re.ASCII),
    "naa": re.compile(r"naa.[A-Za-z0-9]{32}", re.ASCII),
}
_HOST_PATH_TYPES = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
_TEMPLATE_REFERENCE_SINCE = 37
_ALONE = "ReadWriteOncePod"
_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", _ALONE)
_VOLUME_MODES = ("Block", "Filesystem")
_AZURE_MANAGED = "Managed"
_AZURE_KINDS = ("Dedicated", _AZURE_MANAGED, "Shared")
_AZURE_DISK = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_AZURE_BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
MOST_PARAMETERS = 512
LARGEST_PARAMETERS_BYTES = 256 * 1024
"""The limit for all names and values of a StorageClass's parameters together."""


SourceRule: TypeAlias = Callable[[str, str, object], Errors]
"""(source, path, plain values) → the errors of fields that only manifests have."""


def _no_errors(*_: object) -> Errors:
    return iter(())


def volume_errors(
    path: str, volumes: Sequence[Volume], *, pod_name: str | None, release: Release, more: SourceRule = _no_errors
) -> Errors:
    """Yield the errors of all volumes; ``more`` has further rules.

    ``pod_name`` begins the names of claims that are created for the Pod; None in a template.
    """
    created = {f"{pod_name}-{volume.name}" for volume in volumes if volume.ephemeral} if pod_name else set()
    each = _errors_of_each(path, volumes, pod_name=pod_name, release=release, more=more)
    for index, (volume, errors) in enumerate(each):
        yield from errors
        claim = volume.persistent_volume_claim
        if claim is not None and claim.claim_name in created:
            detail = "must not reference a PVC that gets created for an ephemeral volume"
            yield invalid(f"{path}[{index}].persistentVolumeClaim.claimName", quoted(claim.claim_name), detail)


def mountable(
    volumes: Sequence[Volume], *, pod_name: str | None, release: Release, more: SourceRule = _no_errors
) -> dict[str, Volume]:
    """Return the volumes that a container may mount, by name: those without errors."""
    each = _errors_of_each("", volumes, pod_name=pod_name, release=release, more=more)
    return {volume.name: volume for volume, errors in each if not errors}


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


def parameter_errors(parameters: Mapping[str, object]) -> Errors:
    """Yield the errors of a StorageClass's parameters; its other fields are not validated."""
    if len(parameters) > MOST_PARAMETERS:
        yield too_long("parameters", MOST_PARAMETERS)
        return
    if "" in parameters:
        yield invalid("parameters", quoted(""), "field can not be empty.")
    size = sum(len(text.encode()) for pair in parameters.items() for text in pair if isinstance(text, str))
    if size > LARGEST_PARAMETERS_BYTES:
        yield too_long("parameters", LARGEST_PARAMETERS_BYTES)


def _errors_of_each(
    path: str, volumes: Sequence[Volume], *, pod_name: str | None, release: Release, more: SourceRule
) -> Iterator[tuple[Volume, Sequence[FieldError]]]:
    names: set[str] = set()
    for place, volume in items(path, volumes):
        errors = [*_source_errors(place, volume, pod_name=pod_name, release=release, more=more)]
        errors += name_errors(f"{place}.name", volume.name, dns_label_faults)
        if volume.name in names:
            errors.append(duplicate(f"{place}.name", volume.name))
        yield volume, errors
        # upstream: a volume with an error does not take its name, so a second one of that name is no duplicate.
        if not errors:
            names.add(volume.name)


def _source_errors(path: str, volume: Volume, *, pod_name: str | None, release: Release, more: SourceRule) -> Errors:
    """Yield the errors of a volume's sources: the first is validated, any other is forbidden."""
    sources = {name: getattr(volume, attribute, None) for name, (attribute, _) in _SOURCES.items()}
    first, *others = [name for name, source in sources.items() if source is not None] or [""]
    for name, attribute in _SOURCES[first][1].items() if first else ():
        if not getattr(sources[first], attribute):
            yield required(f"{path}.{name}")
    source, place = sources.get(first), f"{path}.{first}"
    needs_reference = pod_name is not None or release.minor >= _TEMPLATE_REFERENCE_SINCE
    match first:
        case "hostPath" if source and source.path:
            yield from text_errors(f"{place}.path", source.path, parent_faults)
            yield from choice_errors(f"{place}.type", source.type, _HOST_PATH_TYPES)
        case "nfs" if source and not source.path.startswith("/"):
            yield invalid(f"{place}.path", quoted(source.path), "must be an absolute path")
        case "iscsi" if source and source.iqn:
            yield from text_errors(f"{place}.iqn", source.iqn, _iqn_faults)
        case "azureDisk" if source:
            yield from _azure_errors(place, source)
        case "ephemeral" if source:
            claim_name = f"{pod_name}-{volume.name}"
            for fault in dns_subdomain_faults(claim_name) if pod_name and volume.name else ():
                yield invalid(f"{path}.name", quoted(volume.name), f"PVC name {quoted(claim_name)}: {fault}")
            yield from claim_errors(f"{place}.volumeClaimTemplate.spec", source.volume_claim_template.spec)
        case "image" if source and not source.reference and needs_reference:
            yield required(f"{place}.reference")
    yield from more(first, place, msgspec.to_builtins(source))
    # upstream: its own order decides which source is the first, not the manifest's.
    yield from (forbidden(f"{path}.{name}", "may not specify more than 1 volume type") for name in others)


def _azure_errors(path: str, disk: AzureDiskVolumeSource) -> Errors:
    yield from choice_errors(f"{path}.kind", disk.kind, _AZURE_KINDS)
    # A managed disk is a resource of Azure, any other one is a blob at an address.
    start, form = ("/subscriptions/", _AZURE_DISK) if disk.kind == _AZURE_MANAGED else ("https://", _AZURE_BLOB)
    if not disk.disk_uri.startswith(start):
        yield not_supported(f"{path}.diskURI", disk.disk_uri, (form,))


def parent_faults(path: str) -> Iterator[str]:
    """Yield what is wrong with a path that must not lead upwards."""
    if ".." in path.split("/"):
        yield "must not contain '..'"


def _iqn_faults(iqn: str) -> Iterator[str]:
    form = _IQN_FORMS.get(iqn[:3])
    if form is None:
        yield "must be valid format starting with iqn, eui, or naa"
    elif not form.fullmatch(iqn):
        yield "must be valid format"

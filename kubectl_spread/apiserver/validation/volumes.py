"""Volumes: their names, and the sources that the scheduler reads.

Where it has another source than these, nothing is said of that.

Source: pkg/apis/core/validation/validation.go ValidateVolumes (v1.36).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from kubectl_spread.apimachinery import dns_subdomain_faults, quoted
from kubectl_spread.apiserver.quantities import read_amounts
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from kubectl_spread.apiserver.validation.names import dns_label_errors, dns_subdomain_errors
from kubectl_spread.objects.core import AzureDiskVolumeSource, PersistentVolumeClaimSpec, Volume
from kubectl_spread.release import Release

_SOURCES: Mapping[str, str] = {
    "emptyDir": "empty_dir",
    "hostPath": "host_path",
    "gcePersistentDisk": "gce_persistent_disk",
    "awsElasticBlockStore": "aws_elastic_block_store",
    "secret": "secret",
    "nfs": "nfs",
    "iscsi": "iscsi",
    "persistentVolumeClaim": "persistent_volume_claim",
    "rbd": "rbd",
    "cinder": "cinder",
    "configMap": "config_map",
    "portworxVolume": "portworx_volume",
    "azureDisk": "azure_disk",
    "ephemeral": "ephemeral",
    "image": "image",
}
"""Source → attribute, in the order in which the API server looks at them; some are there in a manifest alone."""

# Source → field below the volume → attribute of the source.
# upstream: pdName is reported at a path that does not exist.
_REQUIRED: Mapping[str, Mapping[str, str]] = {
    "hostPath": {"hostPath.path": "path"},
    "gcePersistentDisk": {"persistentDisk.pdName": "pd_name"},
    "awsElasticBlockStore": {"awsElasticBlockStore.volumeID": "volume_id"},
    "secret": {"secret.secretName": "secret_name"},
    "nfs": {"nfs.server": "server", "nfs.path": "path"},
    "iscsi": {"iscsi.iqn": "iqn"},
    "persistentVolumeClaim": {"persistentVolumeClaim.claimName": "claim_name"},
    "rbd": {"rbd.monitors": "monitors", "rbd.image": "image"},
    "cinder": {"cinder.volumeID": "volume_id"},
    "configMap": {"configMap.name": "name"},
    "portworxVolume": {"portworxVolume.volumeID": "volume_id"},
    "azureDisk": {"azureDisk.diskURI": "disk_uri"},
}

_IQN_FORMS = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)", re.ASCII),
    "eui": re.compile(r"eui.[A-Za-z0-9]{16}", re.ASCII),
    "naa": re.compile(r"naa.[A-Za-z0-9]{32}", re.ASCII),
}
_HOST_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_TEMPLATE_REFERENCE_SINCE = 37
_AZURE_MANAGED = "Managed"
_ALONE = "ReadWriteOncePod"
_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", _ALONE)
_VOLUME_MODES = ("Block", "Filesystem")
_AZURE_KINDS = ("Dedicated", _AZURE_MANAGED, "Shared")
_AZURE_DISK = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_AZURE_BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"


def volume_errors(path: str, volumes: Sequence[Volume], *, pod_name: str | None, release: Release) -> Errors:
    """Yield the errors of all volumes.

    ``pod_name`` is what the names of claims that are made for the Pod begin with; None in a template.
    """
    made = {f"{pod_name}-{volume.name}" for volume in volumes if volume.ephemeral} if pod_name else set()
    for index, (volume, errors) in enumerate(_errors_of_each(path, volumes, pod_name=pod_name, release=release)):
        yield from errors
        claim = volume.persistent_volume_claim
        if claim is not None and claim.claim_name in made:
            detail = "must not reference a PVC that gets created for an ephemeral volume"
            yield invalid(f"{path}[{index}].persistentVolumeClaim.claimName", quoted(claim.claim_name), detail)


def mountable(volumes: Sequence[Volume], *, pod_name: str | None, release: Release) -> frozenset[str]:
    """Return the names of the volumes that a container may mount: those free of errors."""
    each = _errors_of_each("", volumes, pod_name=pod_name, release=release)
    return frozenset(volume.name for volume, errors in each if not errors)


def _errors_of_each(
    path: str, volumes: Sequence[Volume], *, pod_name: str | None, release: Release
) -> Iterator[tuple[Volume, Sequence[FieldError]]]:
    """Yield each volume with its errors; what its claim may not be is none of them."""
    names: set[str] = set()
    for index, volume in enumerate(volumes):
        place = f"{path}[{index}]"
        errors = [*_source_errors(place, volume, pod_name=pod_name, release=release)]
        errors += _name_errors(f"{place}.name", volume.name, names)
        yield volume, errors
        # upstream: a volume with any error does not take its name, so a twin is not told of until that is mended.
        if not errors:
            names.add(volume.name)


def _name_errors(path: str, name: str, names: set[str]) -> Errors:
    if name:
        yield from dns_label_errors(path, name)
    else:
        yield required(path)
    if name in names:
        yield duplicate(path, name)


def _source_errors(path: str, volume: Volume, *, pod_name: str | None, release: Release) -> Errors:
    """Yield the errors of a volume's sources: the first is looked at, any other is forbidden."""
    sources = {name: getattr(volume, attribute, None) for name, attribute in _SOURCES.items()}
    first, *others = [name for name, source in sources.items() if source is not None] or [""]
    for name, attribute in _REQUIRED.get(first, {}).items():
        if not getattr(sources[first], attribute):
            yield required(f"{path}.{name}")
    source = sources.get(first)
    match first:
        case "hostPath" if source and source.path:
            yield from _host_path_errors(f"{path}.hostPath", source.path, source.type)
        case "nfs" if source and not source.path.startswith("/"):
            yield invalid(f"{path}.nfs.path", quoted(source.path), "must be an absolute path")
        case "iscsi" if volume.iscsi and volume.iscsi.iqn:
            yield from _iqn_errors(f"{path}.iscsi.iqn", volume.iscsi.iqn)
        case "azureDisk" if volume.azure_disk:
            yield from _azure_errors(f"{path}.azureDisk", volume.azure_disk)
        case "ephemeral" if volume.ephemeral:
            if pod_name and volume.name:
                yield from _made_claim_errors(f"{path}.name", volume.name, pod_name)
            made = volume.ephemeral.volume_claim_template.spec
            yield from claim_errors(f"{path}.ephemeral.volumeClaimTemplate.spec", made)
        case "image" if (
            volume.image
            and not volume.image.reference
            and (pod_name is not None or release.minor >= _TEMPLATE_REFERENCE_SINCE)
        ):
            yield required(f"{path}.image.reference")
    # upstream: the first source in its own order counts, not in the manifest's.
    yield from (forbidden(f"{path}.{name}", "may not specify more than 1 volume type") for name in others)


def claim_errors(path: str, spec: PersistentVolumeClaimSpec) -> Errors:
    """Yield the errors of what a claim asks for; its selector and data sources are not looked at.

    Source: ValidatePersistentVolumeClaimSpec (v1.33 to v1.37).
    """
    if not spec.access_modes:
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    for mode in spec.access_modes:
        if mode not in _ACCESS_MODES:
            yield not_supported(f"{path}.accessModes", mode, _ACCESS_MODES)
    if _ALONE in spec.access_modes and len(set(spec.access_modes)) > 1:
        told = f"may not use {_ALONE} with other access modes"
        yield forbidden(f"{path}.accessModes", told)
    storage = read_amounts(spec.resources.requests).get("storage")
    if storage is None:
        yield required(f"{path}.resources[storage]")
    elif storage.value <= 0:
        yield invalid(f"{path}.resources[storage]", quoted(str(storage)), "must be greater than zero")
    if spec.storage_class_name:
        yield from dns_subdomain_errors(f"{path}.storageClassName", spec.storage_class_name)
    if spec.volume_mode not in _VOLUME_MODES:
        yield not_supported(f"{path}.volumeMode", spec.volume_mode, _VOLUME_MODES)


def _host_path_errors(path: str, place: str, kind: str) -> Errors:
    if ".." in place.split("/"):
        yield invalid(f"{path}.path", quoted(place), "must not contain '..'")
    if kind not in _HOST_PATH_TYPES:
        yield not_supported(f"{path}.type", kind, _HOST_PATH_TYPES)


def _iqn_errors(path: str, iqn: str) -> Errors:
    form = _IQN_FORMS.get(iqn[:3])
    if form is None:
        yield invalid(path, quoted(iqn), "must be valid format starting with iqn, eui, or naa")
    elif not form.fullmatch(iqn):
        yield invalid(path, quoted(iqn), "must be valid format")


def _azure_errors(path: str, disk: AzureDiskVolumeSource) -> Errors:
    if disk.kind not in _AZURE_KINDS:
        yield not_supported(f"{path}.kind", disk.kind, _AZURE_KINDS)
    # A managed disk is a resource of Azure, any other a blob at an address.
    start, form = ("/subscriptions/", _AZURE_DISK) if disk.kind == _AZURE_MANAGED else ("https://", _AZURE_BLOB)
    if not disk.disk_uri.startswith(start):
        yield not_supported(f"{path}.diskURI", disk.disk_uri, (form,))


def _made_claim_errors(path: str, volume_name: str, pod_name: str) -> Errors:
    claim_name = f"{pod_name}-{volume_name}"
    for fault in dns_subdomain_faults(claim_name):
        yield invalid(path, quoted(volume_name), f"PVC name {quoted(claim_name)}: {fault}")

"""What environment variables and the files of volumes hold: keys of objects, fields and resources of the Pod.

Not validated: divisors, ``fileKeyRef``, and ``clusterTrustBundle`` and ``podCertificate`` sources.

Source: pkg/apis/core/validation/validation.go ValidateEnv, ValidateEnvFrom, validateConfigMapVolumeSource,
validateDownwardAPIVolumeSource, validateProjectedVolumeSource; pkg/apis/core/pods/helpers.go
ConvertDownwardAPIFieldLabel (v1.33 to v1.37).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from kubectl_spread.apimachinery import MAX_SUBDOMAIN, dns_subdomain_faults, label_key_faults, quoted
from kubectl_spread.apiserver.quantities import read_amounts
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    choice_errors,
    forbidden,
    invalid,
    items,
    name_errors,
    required,
    text_errors,
)
from kubectl_spread.apiserver.validation.tables import Rule, Rules, file_faults, mode_errors, table_errors, with_field
from kubectl_spread.objects.manifest_only_fields import Fields
from kubectl_spread.release import ENV_FILES, Release

_METADATA = ("metadata.name", "metadata.namespace", "metadata.uid")
_STATUS = ("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs")
_MAPS = ("metadata.annotations", "metadata.labels")
_OF_VARIABLES = (*_METADATA, "spec.nodeName", "spec.serviceAccountName", *_STATUS)
_OF_FILES = (*_MAPS, *_METADATA)
_OLD_HOST = "spec.host"
_CONVERTED = {*_OF_VARIABLES, *_OF_FILES, _OLD_HOST, "spec.restartPolicy", "spec.schedulerName", "status.phase"}
_RESOURCES = [f"{of}.{name}" for of in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory")]
_KEY = "[-._a-zA-Z0-9]+"
_KEY_RULE = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or"
    f" 'key-name', regex used for validation is '{_KEY}')"
)
_SHORTEST_SECONDS, _LONGEST_SECONDS = 600, 2**32


def variable_errors(release: Release, path: str, variable: Fields) -> Errors:
    """Yield the errors of a variable of a container."""
    yield from name_errors(f"{path}.name", variable.get("name", ""), _variable_faults)
    source, place = variable.get("valueFrom", {}), f"{path}.valueFrom"
    yield from table_errors(_VARIABLE_SOURCES, place, source)
    if "valueFrom" in variable and not source:
        files = "`, `secretKeyRef` or `fileKeyRef`" if release.enables(ENV_FILES) else "` or `secretKeyRef`"
        wanted = f"must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef{files}"
        yield invalid(place, quoted(""), wanted)
    elif source and variable.get("value"):
        yield invalid(place, quoted(""), "may not be specified when `value` is not empty")
    elif len(source) > 1:
        yield invalid(place, quoted(""), "may not have more than one field specified at a time")


def variable_source_errors(path: str, sources: Sequence[Fields]) -> Errors:
    """Yield the errors of the objects whose keys are variables of a container."""
    for place, source in items(path, sources):
        yield from text_errors(f"{place}.prefix", source.get("prefix", ""), _variable_faults)
        references = [field for field in ("configMapRef", "secretRef") if field in source]
        for field in references:
            yield from name_errors(f"{place}.{field}.name", source[field].get("name", ""), dns_subdomain_faults)
        # upstream: without the number of the source.
        if not references:
            yield invalid(path, quoted(""), "must specify one of: `configMapRef` or `secretRef`")
        elif len(references) > 1:
            yield invalid(path, quoted(""), "may not have more than one field specified at a time")


def volume_source_errors(name: str, path: str, source: object) -> Errors:
    """Yield the errors of fields of a volume's source that volumes.py does not read."""
    if name in _VOLUME_SOURCES:
        yield from _VOLUME_SOURCES[name](path, source)


def annotation_errors(path: str, annotations: Mapping[str, str]) -> Errors:
    """Yield the errors of the keys of annotations; their size is not validated."""
    for key in sorted(annotations):
        yield from (invalid(path, quoted(key), fault) for fault in label_key_faults(key.lower()))


def _field_errors(known: Collection[str], path: str, selector: Fields) -> Errors:
    """Yield the errors of a reference to a field of the Pod, which must be a ``known`` one."""
    name, version, place = selector.get("fieldPath", ""), selector.get("apiVersion") or "v1", f"{path}.fieldPath"
    subscript = re.fullmatch(r"(.+?)\['(.*)'\]", name, re.DOTALL)
    if not name:
        yield required(place)
    elif version != "v1":
        yield invalid(place, quoted(name), f"error converting fieldPath: unsupported pod version: {version}")
    elif subscript and subscript[1] in _MAPS:
        key = subscript[2].lower() if subscript[1] == _MAPS[0] else subscript[2]
        yield from text_errors(path, key, label_key_faults)
    elif subscript or name not in _CONVERTED:
        why = "does not support subscript" if subscript else "not supported"
        yield invalid(place, quoted(name), f"error converting fieldPath: field label {why}: {name}")
    else:
        yield from choice_errors(place, "spec.nodeName" if name == _OLD_HOST else name, known)


def _resource_errors(path: str, selector: Fields) -> Errors:
    resource = selector.get("resource", "")
    if not resource:
        yield required(f"{path}.resource")
    elif not resource.startswith(("limits.hugepages-", "requests.hugepages-")):
        yield from choice_errors(f"{path}.resource", resource, _RESOURCES)


def _container_resource_errors(path: str, selector: Fields) -> Errors:
    yield from (_resource_errors if selector.get("containerName") else with_field("containerName"))(path, selector)


def _key_errors(path: str, selector: Fields) -> Errors:
    yield from text_errors(f"{path}.name", selector.get("name", ""), dns_subdomain_faults)
    yield from name_errors(f"{path}.key", selector.get("key", ""), _key_faults)


def _variable_faults(name: str) -> Iterator[str]:
    if not re.fullmatch("[ -<>-~]*", name):
        yield "a valid environment variable name must consist only of printable ASCII characters other than '='"


def _key_faults(key: str) -> Iterator[str]:
    if len(key.encode()) > MAX_SUBDOMAIN:
        yield f"must be no more than {MAX_SUBDOMAIN} characters"
    if not re.fullmatch(_KEY, key):
        yield _KEY_RULE
    if key in {".", ".."}:
        yield f"must not be '{key}'"
    elif key.startswith(".."):
        yield "must not start with '..'"


def _key_file_errors(path: str, item: Fields) -> Errors:
    for field in ("key", "path"):
        yield from with_field(field)(path, item)
    yield from text_errors(f"{path}.path", item.get("path", ""), file_faults)
    yield from table_errors({"mode": mode_errors}, path, item)


def _field_file_errors(path: str, item: Fields) -> Errors:
    # upstream: reported at the volume, without the number of the file.
    path = path.rpartition(".items[")[0]
    yield from with_field("path")(path, item)
    yield from text_errors(f"{path}.path", item.get("path", ""), file_faults)
    references = [field for field in _FILE_REFERENCES if field in item]
    if not references:
        yield required(path, "one of fieldRef and resourceFieldRef is required")
    for field in references[:1]:
        yield from table_errors({field: _FILE_REFERENCES[field]}, path, item)
    if references[1:]:
        yield invalid(path, quoted("resource"), "fieldRef and resourceFieldRef can not be specified simultaneously")
    yield from table_errors({"mode": mode_errors}, path, item)


def _projected_errors(path: str, volume: Fields) -> Errors:
    yield from table_errors({"defaultMode": mode_errors}, path, volume)
    taken: set[str] = set()
    for place, source in items(f"{path}.sources", volume.get("sources", [])):
        for kind, rule in _PROJECTED.items():
            of_kind = source.get(kind, {})
            if kind in source and rule == _key_file_errors:
                yield from with_field("name")(f"{place}.{kind}", of_kind)
            for item_place, item in items(f"{place}.{kind}.items", of_kind.get("items", [])):
                yield from rule(item_place, item)
                file = item.get("path", "")
                if file and file in taken:
                    # upstream: reported with the name of the object, if there is one.
                    holder = of_kind.get("name", "") if rule == _key_file_errors else file
                    yield invalid(path, quoted(holder), "conflicting duplicate paths")
                taken.add(file)
        yield from table_errors({"serviceAccountToken": partial(_token_errors, path)}, place, source)
        if len(source) > 1:
            yield forbidden(place, "may not specify more than 1 volume type per source")


def _token_errors(volume_path: str, path: str, token: Fields) -> Errors:
    seconds, place = token.get("expirationSeconds", _SHORTEST_SECONDS), f"{path}.expirationSeconds"
    if seconds < _SHORTEST_SECONDS:
        yield invalid(place, seconds, "may not specify a duration less than 10 minutes")
    if seconds > _LONGEST_SECONDS:
        yield invalid(place, seconds, "may not specify a duration larger than 2^32 seconds")
    # upstream: reported at the volume, not at the token.
    yield from name_errors(f"{volume_path}.path", token.get("path", ""), file_faults)


def _size_errors(path: str, source: Fields) -> Errors:
    amounts = read_amounts({"": source.get("sizeLimit", 0)})
    if amounts and amounts[""].value < 0:
        yield forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


_VARIABLE_SOURCES: Rules = {
    "fieldRef": partial(_field_errors, _OF_VARIABLES),
    "resourceFieldRef": _resource_errors,
    **dict.fromkeys(("configMapKeyRef", "secretKeyRef"), _key_errors),
}
_FILE_REFERENCES: Rules = {
    "fieldRef": partial(_field_errors, _OF_FILES),
    "resourceFieldRef": _container_resource_errors,
}
_PROJECTED: Rules = {
    **dict.fromkeys(("secret", "configMap"), _key_file_errors),
    "downwardAPI": _field_file_errors,
}
_VOLUME_SOURCES: Mapping[str, Rule] = {
    "emptyDir": _size_errors,
    "projected": _projected_errors,
    **{
        name: partial(table_errors, {"defaultMode": mode_errors, "items[*]": rule}) for name, rule in _PROJECTED.items()
    },
}

"""Changes of a Pod that does not exist yet, made in the file that tells of it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import UNSET

from kubectl_spread.apiserver.updates import update_errors
from kubectl_spread.diagnosis.fixes.change import ManifestEdit, PatchOperation
from kubectl_spread.diagnosis.fixes.fragment import yaml_lines
from kubectl_spread.diagnosis.fixes.patch import field_of, value_at
from kubectl_spread.diagnosis.fixes.situation import Written
from kubectl_spread.objects.decoding import Plain, plain
from kubectl_spread.objects.kinds import KubernetesObject
from kubectl_spread.release import Release


def manifest_edits(operations: Iterable[PatchOperation], written: Written) -> tuple[ManifestEdit, ...]:
    """Return the operations on what a file says of a Pod as changes of its fields; in which file is not said."""
    return tuple(_edit(written.path + operation.path, operation, written.values) for operation in operations)


def _edit(path: str, operation: PatchOperation, values: Plain) -> ManifestEdit:
    """Return one operation as the field reads before and after it."""
    last = path.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
    before, after = value_at(path, values), None
    if operation.value is not UNSET:
        after = plain(msgspec.json.encode(operation.value))
    return ManifestEdit(path=field_of(path), before=_yaml(last, before), after=_yaml(last, after))


def _yaml(step: str, value: Plain) -> str:
    """Return a field of this name, or an item of a list, as YAML; empty where there is none."""
    if value is None:
        return ""
    is_item = step == "-" or step.isdecimal()
    return "\n".join(yaml_lines([value] if is_item else {step: value}))


def may_not_change(live: KubernetesObject, before: KubernetesObject, after: KubernetesObject, release: Release) -> bool:
    """Whether the API server refuses the change of an object that lives, and would take it without."""
    return bool({*update_errors(after, live, release)} - {*update_errors(before, live, release)})

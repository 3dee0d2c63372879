"""What ``kubectl apply`` does to an existing object, from the manifest applied last, the object and the new manifest.

Source: kubectl pkg/cmd/apply/patcher.go patchSimple, pkg/util/apply.go GetModifiedConfiguration; for objects of
other APIs apimachinery pkg/util/jsonmergepatch/patch.go CreateThreeWayJSONMergePatch, RFC 7386; for managed fields
structured-merge-diff merge/update.go prune, client-go util/csaupgrade/upgrade.go, kubectl pkg/cmd/apply/apply.go
migrateToSSAIfNecessary (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeGuard, cast

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.fields import Tables
from kubectl_spread.apiserver.quantities import as_stored
from kubectl_spread.apiserver.strategic_merge import (
    Map,
    MergeError,
    Schema,
    copied,
    patched,
    same,
    three_way_patch,
    without_nulls,
)
from kubectl_spread.objects.core import REST, UNKEPT, Pod
from kubectl_spread.objects.decoding import DecodeError, convert, plain
from kubectl_spread.objects.meta import LAST_APPLIED, KubernetesObject, Plain, Struct, walked
from kubectl_spread.objects.template_rest import (
    NOTHING,
    UNKNOWN,
    merged_rest,
    pod_digest,
    put_back,
    same_rest,
    template_digest,
    template_in,
    with_rest,
)
from kubectl_spread.objects.workloads import ROLLING_UPDATE, Job, RollingUpdate, UpdateStrategy

# The defaults of the API server. Source: pkg/apis/apps/v1/defaults.go (v1.36).
_DEFAULT_STRATEGIES = tuple(
    UpdateStrategy(type=ROLLING_UPDATE, rolling_update=at_once)
    for at_once in (
        None,
        RollingUpdate(),
        RollingUpdate(max_surge="25%", max_unavailable="25%"),
        RollingUpdate(max_surge=0, max_unavailable=1),
    )
)
_BLANK: tuple[Plain, ...] = ({}, [], None)


class Merged(msgspec.Struct, frozen=True):
    """An object after a manifest was applied."""

    obj: KubernetesObject
    # if the manifest applied last is not known, the fields that stay, but would be removed if it had them
    kept: tuple[str, ...] = ()
    # whether immutable fields of a Pod change that are not kept; None if that is not known, of a Pod or of a Job's
    # template
    changes_unkept: bool | None = False


class Application(msgspec.Struct, frozen=True):
    """A manifest that is applied."""

    obj: KubernetesObject  # the object that it creates if none exists
    values: Map
    schema: Schema

    @classmethod
    def of(cls, obj: KubernetesObject, api_version: str, values: Plain, tables: Tables) -> Application:
        """Return the manifest of an object; the tables have the schema of its kind."""
        definition = tables.kinds.get(f"{api_version} {type(obj).__name__}", "")
        name = definition if isinstance(definition, str) else definition[0]
        return cls(obj, mapping(values), Schema(tables, name))

    def over(self, live: KubernetesObject | None) -> KubernetesObject:
        """Return the object after the manifest is applied; ``live`` is None if there is none yet.

        Raises:
            MergeError: kubectl cannot apply it.
        """
        if live is not None:
            return self._applied(live, last_applied(live))
        metadata = self.obj.metadata
        annotations = {**metadata.annotations, LAST_APPLIED: self._text}
        return replace(self.obj, metadata=replace(metadata, annotations=annotations))

    def merged(self, live: KubernetesObject) -> Merged:
        """Return the same for an existing object, with what is not known about it.

        Raises:
            MergeError: kubectl cannot apply it.
        """
        original = last_applied(live)
        unkept = self._changes_unkept(original) if isinstance(live, Pod) else False
        found = self._applied(live, original)
        if isinstance(found, Job) and UNKNOWN in found.spec.template.rest:
            unkept = None
        # Pods and Jobs are nearly immutable.
        if original or isinstance(live, Pod | Job):
            return Merged(found, changes_unkept=unkept)
        others = self._applied(live, {"spec": _plain_object(live)[0].get("spec")})
        kept = tuple(_differences("spec", _spec(found), _spec(others)))
        return Merged(found, kept)

    def _changes_unkept(self, original: Map) -> bool | None:
        after = pod_digest(self.values)
        if not original and after == NOTHING:
            return False
        same = same_rest(pod_digest(original) if original else UNKNOWN, after)
        return None if same is None else not same

    def patch(self, live: KubernetesObject, whole: Map) -> Map:
        """Return the patch that kubectl sends for the live object, ``whole`` with all of its fields if these are known.

        Raises:
            MergeError: kubectl cannot create it.
        """
        return self._patch(whole or _plain_object(live)[0], last_applied(live))

    @property
    def sent(self) -> Map:
        """The manifest as kubectl sends it, without its status, which the API server ignores."""
        metadata = {"namespace": self.obj.metadata.namespace} if self.obj.metadata.namespace else {}
        sent: Map = {**self.values, "metadata": {**mapping(self.values.get("metadata")), **metadata}}
        sent.pop("status", None)
        return sent

    @property
    def _text(self) -> str:
        """The annotation that kubectl writes."""
        return msgspec.json.encode(self.sent).decode()

    def _patch(self, live: Map, original: Map) -> Map:
        for values in (original, template_in(original)):
            values.pop(REST, None)
        manifest = self.sent
        known = {name: manifest.get(name) for name in ("apiVersion", "kind")}
        if not self.schema.definition:
            return three_way_json_patch(original, manifest, {**known, **live})
        return three_way_patch(original, manifest, {**known, **live}, self.schema)

    def _applied(self, live: KubernetesObject, original: Map) -> KubernetesObject:
        values, rest = _plain_object(live)
        template = template_in(original)
        written = template.get(REST)
        applied_rest = written if isinstance(written, str) else template_digest(template) if template else None
        patch = self._patch(values, original)
        merged = patched(values, patch, self.schema) if self.schema.definition else json_patched(values, patch)
        metadata = mapping(merged.get("metadata"))
        annotations = {**mapping(metadata.get("annotations")), LAST_APPLIED: self._text}
        merged["metadata"] = {**metadata, "annotations": annotations}
        try:
            found = convert(merged, type(self.obj))
        except DecodeError as error:
            raise MergeError(str(error)) from error
        if rest is None or rest == NOTHING:
            return found
        return with_rest(found, merged_rest(rest, applied_rest, template_digest(template_in(self.sent))))


def last_applied(live: KubernetesObject) -> Map:
    """Return the manifest applied last, from the annotation; empty if there is none.

    Raises:
        MergeError: the annotation is not a JSON object.
    """
    text = live.metadata.annotations.get(LAST_APPLIED)
    try:
        found = plain(text.encode()) if text else {}
    except DecodeError as error:
        raise MergeError("invalid JSON document") from error
    if not isinstance(found, dict):
        raise MergeError("invalid JSON document")
    return _without_partial_mounts({key: value for key, value in found.items() if key != "status"})


def _plain_object(live: KubernetesObject) -> tuple[Map, str | None]:
    """Return (the object as plain values, the digest of its template's other fields; None if there are none)."""
    # The API server stores a protocol for each port. Several ports may have one number, which is the merge key: a patch
    # that sets a protocol again spoils the others.
    stored = plain(msgspec.json.encode(live))
    stored = walked(stored, lambda found: {"protocol": "TCP", **found} if "containerPort" in found else found)
    values = cast("Map", stored)
    template = template_in(values)
    rest, unkept = template.pop(REST, ""), template.pop(UNKEPT, "")
    if isinstance(unkept, str) and unkept:
        template |= cast("Map", put_back(template, plain(unkept.encode())))
        return values, None
    return _without_partial_mounts(values), rest if isinstance(rest, str) else None


def _without_partial_mounts(values: Map) -> Map:
    """Drop mounts without their path, the merge key, because it was not kept."""

    def without_mounts(found: Map) -> Map:
        mounts = found.get("volumeMounts")
        whole = not isinstance(mounts, list) or all("mountPath" in mapping(each) for each in mounts)
        return found if whole else {key: value for key, value in found.items() if key != "volumeMounts"}

    return cast("Map", walked(values, without_mounts))


def _spec(obj: KubernetesObject) -> Plain:
    spec: Struct | None = getattr(obj, "spec", None)
    if spec is None:
        return None
    for name in ("strategy", "update_strategy"):
        if getattr(spec, name, None) in _DEFAULT_STRATEGIES:
            spec = replace(spec, **{name: UpdateStrategy()})
    return as_stored(spec, as_json=True)


def _differences(path: str, one: Plain, other: Plain) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict) and one and other:
        for key in dict.fromkeys((*one, *other)):
            if key not in {REST, UNKEPT}:
                yield from _differences(f"{path}.{key}", one.get(key), other.get(key))
    elif _is_list_of_objects(one) and _is_list_of_objects(other) and len(one) == len(other):
        for number, (each, its_other) in enumerate(zip(one, other, strict=True)):
            yield from _differences(f"{path}[{number}]", each, its_other)
    elif not same(one, other) and not (one in _BLANK and other in _BLANK):
        yield path


def _is_list_of_objects(value: Plain) -> TypeGuard[list[Map]]:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def three_way_json_patch(original: Map, modified: Map, current: Map) -> Map:
    """Return the patch that applies a manifest; ``original`` is empty if the manifest applied last is not known."""
    changes = _only(_difference(current, modified), nulls=False)
    deletions = _only(_difference(original, modified), nulls=True)
    return json_patched(deletions, changes)


def json_patched(current: Map, patch: Map) -> Map:
    """Return the object after the patch is applied."""
    merged = {**current}
    for key, value in patch.items():
        was = merged.get(key)
        if value is None:
            merged.pop(key, None)
        elif isinstance(was, dict) and isinstance(value, dict):
            merged[key] = json_patched(was, value)
        else:
            merged[key] = without_nulls(value)
    return merged


def _difference(old: Map, new: Map) -> Map:
    found: Map = dict.fromkeys(key for key in old if key not in new)
    for key, value in new.items():
        was = old.get(key)
        if isinstance(was, dict) and isinstance(value, dict):
            found |= {key: inner} if (inner := _difference(was, value)) else {}
        elif key not in old or not same(was, value):
            found[key] = value
    return found


def _only(patch: Map, *, nulls: bool) -> Map:
    found: Map = {}
    for key, value in patch.items():
        if isinstance(value, dict) and value:
            found |= {key: inner} if (inner := _only(value, nulls=nulls)) else {}
        elif (value is None) == nulls:
            found[key] = value
    return found


def without_left_fields(applied: Map) -> Map:
    """Return an object after a first server-side apply, without fields that only client-side apply had set.

    kubectl moves the fields of its client-side apply to its server-side apply, and applies again: that removes the
    fields that the manifest no longer has. A dry run lacks this second apply.
    """
    entries = mapping(applied.get("metadata")).get("managedFields")
    before: list[Map] = []
    others: list[Map] = []
    for entry in entries if isinstance(entries, list) else ():
        fields = mapping(mapping(entry).get("fieldsV1"))
        annotations = mapping(mapping(fields.get("f:metadata")).get("f:annotations"))
        updated = mapping(entry).get("operation") == "Update"
        (before if updated and f"f:{LAST_APPLIED}" in annotations else others).append(fields)
    left = copied(applied)
    for fields in before:
        _remove_fields(left, fields, others)
    return left


def _remove_fields(value: Map | list[Plain], fields: Map, others: Sequence[Map]) -> None:
    """Remove the fields from a value that no other manager has."""
    for name, inner in fields.items():
        place = _find_entry(value, name)
        if place is None:
            continue
        within = cast("dict[str | int, Plain]", value)
        managed, has = mapping(inner), [mapping(each[name]) for each in others if name in each]
        child = within[place]
        # A manager has an item of a list only if it manages the item itself; it has a field if it manages any part.
        others_have = any(name.startswith("f:") or not each or "." in each for each in has)
        if others_have or (managed and "." not in managed):
            if isinstance(child, dict | list):
                _remove_fields(child, managed, has)
            if others_have or within[place]:
                continue
        del within[place]


def _find_entry(value: Map | list[Plain], name: str) -> str | int | None:
    """Source: structured-merge-diff fieldpath/serialize-pe.go."""
    kind, _, text = name.partition(":")
    if isinstance(value, dict):
        return text if kind == "f" and text in value else None
    if kind not in {"k", "v"}:
        return None
    wanted: Plain = msgspec.json.decode(text)
    keys = mapping(wanted) if kind == "k" else {}
    for index, each in enumerate(value):
        if same(each, wanted) or (keys and all(same(mapping(each).get(key), held) for key, held in keys.items())):
            return index
    return None


def mapping(values: Plain) -> Map:
    """Return the values; an empty mapping if they are none."""
    return values if isinstance(values, dict) else {}

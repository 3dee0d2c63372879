"""The rest of a Pod template, beyond the fields that are kept: as values, and as a digest to compare templates.

Controllers compare all fields of a template: a change of environment or probe rolls out too. So each template keeps a
digest of all fields that are not read, after defaulting.

Source: pkg/apis/core/v1/defaults.go; deployment/util/deployment_util.go EqualIgnoreHash (v1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from hashlib import blake2b
from typing import TypeVar, get_args

import msgspec
from msgspec.structs import fields, replace

from kubectl_spread import quantity
from kubectl_spread.objects.core import REST, PodSpec, PodTemplateSpec, ReplicationController
from kubectl_spread.objects.meta import Plain, Struct
from kubectl_spread.objects.workloads import (
    ControllerRevision,
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    JobTemplateSpec,
    ReplicaSet,
    RevisionData,
    StatefulSet,
)

T = TypeVar("T")

_Templated = Deployment | ReplicaSet | StatefulSet | DaemonSet | Job | ReplicationController
Templated = _Templated | CronJob | ControllerRevision  # The kinds that have a Pod template

_METADATA = "."
NOTHING, UNKNOWN = "=", "?"  # The digest of a template without a rest, and an unknown part of a digest
_DIGEST_BYTES = 8
_PROBE: Mapping[str, tuple[Plain, ...]] = {
    "initialDelaySeconds": (0,),
    "timeoutSeconds": (0, 1),
    "periodSeconds": (0, 10),
    "successThreshold": (0, 1),
    "failureThreshold": (0, 3),
}
_FILES: Mapping[str, tuple[Plain, ...]] = {"defaultMode": (420,)}
# Parent field → field → the values that mean the same as an absent field.
_DEFAULTS: Mapping[str, Mapping[str, tuple[Plain, ...]]] = {
    "spec": {"dnsPolicy": ("ClusterFirst",), "terminationGracePeriodSeconds": (30,), "securityContext": ({},)},
    **dict.fromkeys(("livenessProbe", "readinessProbe", "startupProbe"), _PROBE),
    "httpGet": {"path": ("/",), "scheme": ("HTTP",)},
    **dict.fromkeys(("secret", "configMap", "downwardAPI", "projected"), _FILES),
    "serviceAccountToken": {"expirationSeconds": (3600,)},
    "fieldRef": {"apiVersion": ("v1",)},
    "resourceFieldRef": {"divisor": ("0",)},
    "iscsi": {"iscsiInterface": ("default",)},
    "rbd": {"user": ("admin",), "keyring": ("/etc/ceph/keyring",)},
    "azureDisk": {"cachingMode": ("ReadWrite",), "fsType": ("ext4",), "kind": ("Shared",), "readOnly": (False,)},
    "metadata": {"creationTimestamp": (None,)},
}
# The same for fields that mean the same under any parent.
_ANYWHERE: Mapping[str, tuple[Plain, ...]] = {
    "terminationMessagePath": ("/dev/termination-log",),
    "terminationMessagePolicy": ("File",),
    **dict.fromkeys(("hostPID", "hostIPC", "readOnly", "stdin", "stdinOnce", "tty"), (False,)),
    **dict.fromkeys(("annotations", "metadata", "resources", "limits", "requests", "matchLabels"), ({},)),
}
# The fields for which an empty string differs from an absent field.
_EMPTY_COUNTS = frozenset(("storageClassName", "volumeAttributesClassName"))
_QUANTITIES = frozenset(("sizeLimit", "divisor"))


def template_digest(template: Plain) -> str:
    """Return a digest of the rest of the template; equal rests have equal digests.

    It has a part for each container that says more than what is kept, under its name, one, first, for the rest of the
    spec, and one for the metadata, which no container can be named like.
    """
    rest = rest_of(template)
    found: dict[str, Plain] = {}
    for field in ("initContainers", "containers"):
        containers = _items(field_of(field_of(template, "spec"), field))
        rests = _items(rest["spec"].pop(field, []))
        found |= {str(field_of(each, "name")): of_it for each, of_it in zip(containers, rests, strict=False) if of_it}
    parts: Mapping[str, Plain] = {"": rest["spec"], _METADATA: rest["metadata"], **found}
    digests = {
        name: _hashed(msgspec.json.encode(of_it, order="sorted")) if of_it else "" for name, of_it in parts.items()
    }
    return _joined(digests)


def pod_digest(pod: Mapping[str, Plain]) -> str:
    """Return the digest of a Pod's spec, or what a snapshot holds of it; of the metadata all may change.

    All of its mounts counts, because not all is read of the mounts of Pods.
    """
    spec = pod.get("spec")
    if "kind" not in pod or not isinstance(spec, dict):
        return str(pod.get(REST, UNKNOWN))
    mounted: dict[str, Plain] = {
        field: [{**each, "mounts": each.get("volumeMounts")} for each in _items(spec[field]) if isinstance(each, dict)]
        for field in ("initContainers", "containers")
        if field in spec
    }
    return template_digest({"spec": {**spec, **mounted}})


def keyed(digest: str, key: bytes) -> str:
    """Return the digest under a key of 16 bytes, which it contains: without the key nobody can guess the values.

    One that has a key already, as in an earlier snapshot, stays.
    """
    own, parts = _parts(digest)
    if own:
        return digest
    key = key if key.endswith(_form()) else key + _form()
    hashed = {name: part if part in {"", UNKNOWN} else _hashed(part.encode(), key) for name, part in parts.items()}
    return _joined(hashed, key)


@cache
def _form() -> bytes:
    """Return the end of all keys (4 bytes): digests that other releases take may be of other fields."""
    return blake2b(repr((_tree(PodSpec), _DEFAULTS, _ANYWHERE)).encode(), digest_size=4).digest()


def _tree(struct: type[Struct]) -> dict[str, object]:
    return {name: inner and _tree(inner) for name, inner in _kept(struct).items()}


def same_rest(first: str, second: str, *, metadata: bool = True) -> bool | None:
    """Whether two digests are of equal rests, with or without ``metadata``; None if that is not known."""
    if not first or not second:
        return None
    one, other = _with_one_key(first, second)
    if {"": UNKNOWN} in (one, other):
        return None
    names = {name: (one.get(name, ""), other.get(name, "")) for name in (*one, *other)}
    if not metadata:
        names.pop(_METADATA, None)
    if any(UNKNOWN not in pair and pair[0] != pair[1] for pair in names.values()):
        return False
    return None if any(UNKNOWN in pair for pair in names.values()) else True


def merged_rest(live: str, applied: str | None, manifest: str) -> str:
    """Return the digest after ``kubectl apply``; a part that is not known is UNKNOWN.

    The digests are of the templates: ``live`` is empty if it is not known, ``applied`` None if there is none.
    """
    key, lives = _parts(live)
    if not live or lives[""] == UNKNOWN:
        return _joined({"": UNKNOWN})
    wanted = _with_one_key(live, manifest)[1]
    before = _with_one_key(live, applied)[1] if applied is not None else {}
    merged: dict[str, str] = {}
    for name in dict.fromkeys((*lives, *wanted, *before)):
        held, old, new = (parts.get(name, "") for parts in (lives, before, wanted))
        # What was neither applied nor is wanted stays. Of what was changed by hand, the manifest sets its fields again.
        stays = new == held or not (new or old)
        merged[name] = held if stays else new if held in {"", old} else UNKNOWN
    return _joined(merged, key)


def _with_one_key(first: str, second: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the parts of two digests, under the key of one of them; of two keys nothing is known."""
    (key, one), (other_key, other) = _parts(first), _parts(second)
    if key == other_key:
        return one, other
    if key and other_key:
        return {"": UNKNOWN}, {"": UNKNOWN}
    return (one, _parts(keyed(second, key))[1]) if key else (_parts(keyed(first, other_key))[1], other)


def _joined(parts: Mapping[str, str], key: bytes = b"") -> str:
    parts = {"": "", **parts}
    listed = ",".join(f"{name}={parts[name]}" for name in sorted(parts) if parts[name] or not name)
    return f"{key.hex()}/{listed}" if key else listed


def _parts(digest: str) -> tuple[bytes, Mapping[str, str]]:
    """Return (key, name of a container, or nothing for all else → digest).

    Of what is no digest, or one of another form, nothing is known.
    """
    key, _, listed = digest.rpartition("/")
    found = {name: part for name, _, part in (each.rpartition("=") for each in listed.split(","))}
    try:
        decoded = bytes.fromhex(key)[:64]
    except ValueError:
        decoded = key.encode()
    if decoded and not decoded.endswith(_form()):
        return b"", {"": UNKNOWN}
    return decoded, {"": UNKNOWN, **found}


def _hashed(content: bytes, key: bytes = b"") -> str:
    return blake2b(content, digest_size=_DIGEST_BYTES, key=key).hexdigest()


def _items(values: Plain) -> list[Plain]:
    return values if isinstance(values, list) else []


def field_of(values: Plain, name: str) -> Plain:
    """Return a field of a mapping; None if it is absent, or the values are no mapping."""
    return values.get(name) if isinstance(values, dict) else None


def template_in(owner: Plain) -> dict[str, Plain]:
    """Return the Pod template in an object's values, also to change it; a new mapping if there is none."""
    spec = field_of(field_of(owner, "data") or owner, "spec")
    inner = field_of(field_of(spec, "jobTemplate"), "spec") or spec
    template = field_of(inner, "template")
    return template if isinstance(template, dict) else {}


def put_back(kept: Plain, rest: Plain) -> Plain:
    """Return the kept values merged with their rest."""
    if isinstance(kept, dict) and isinstance(rest, dict):
        return {**kept, **{key: put_back(kept[key], value) if key in kept else value for key, value in rest.items()}}
    if isinstance(kept, list) and isinstance(rest, list) and len(kept) == len(rest):
        return [put_back(*pair) for pair in zip(kept, rest, strict=True)]
    return rest


def kept_of(values: Plain, struct: type[Struct]) -> Plain:
    """Return the part of an object's values that its type keeps, unchanged."""
    if isinstance(values, list):
        return [kept_of(each, struct) for each in values]
    if not isinstance(values, dict):
        return values
    kept = _kept(struct)
    return {
        key: value if (inner := kept[key]) is None else kept_of(value, inner)
        for key, value in values.items()
        if key in kept
    }


def rest_of(template: Plain) -> dict[str, dict[str, Plain]]:
    """Return the part of a template that is not kept, without fields that have the API server's defaults."""
    metadata = field_of(template, "metadata")
    own = {key: value for key, value in metadata.items() if key != "labels"} if isinstance(metadata, dict) else {}
    return {"metadata": _entries(own, "metadata"), "spec": _rest(field_of(template, "spec"), PodSpec, "spec")}


def with_rests(found: T, templates: Iterator[Plain]) -> T:
    """Return what was decoded, an object or a list of them, with the digests of its templates, which are in order."""
    if isinstance(found, Templated):
        values = next(templates)
        idle = isinstance(found, ReplicaSet) and found.spec.replicas == 0 and found.metadata.controller is not None
        # Nobody applies the old ReplicaSets of a Deployment, and no Pods are made of them.
        return with_template(found, lambda template: _digested(template, values, applied=not idle))
    items = getattr(found, "items", ())
    if items and isinstance(items[0], Templated):
        return replace(found, items=tuple(with_rests(each, templates) for each in items))  # type: ignore[type-var] # a list
    return found


def has_templates(into: object) -> bool:
    """Whether the type has a Pod template, or is a list of a type that has one."""
    return any(each in get_args(Templated) for each in (into, *get_args(into)))


def with_rest(owner: T, rest: str) -> T:
    """Return the object with another digest of its template's rest; the rest itself is kept if it has that digest."""

    def digested(template: PodTemplateSpec) -> PodTemplateSpec:
        return replace(template, rest=rest, unkept=template.unkept if same_rest(template.rest, rest) else "")

    return with_template(owner, digested)


def may_roll_out(owner: object) -> bool:
    """Whether the rest of its template is not known, and a change of it would roll out."""
    return isinstance(owner, Deployment | StatefulSet | DaemonSet) and UNKNOWN in owner.spec.template.rest


def with_template(owner: T, change: Callable[[PodTemplateSpec], PodTemplateSpec]) -> T:
    """Return the object with its template changed; an object without a template stays as it is."""
    if isinstance(owner, ControllerRevision):
        return replace(owner, data=with_template(owner.data, change))
    if isinstance(owner, CronJob):
        job = owner.spec.job_template
        return replace(owner, spec=replace(owner.spec, job_template=with_template(job, change)))
    if isinstance(owner, _Templated | JobTemplateSpec | RevisionData):
        return replace(owner, spec=replace(owner.spec, template=change(owner.spec.template)))
    return owner


def _digested(template: PodTemplateSpec, values: Plain, *, applied: bool) -> PodTemplateSpec:
    # What was written as a snapshot has its digest, and no longer what that is of.
    if template.rest or not isinstance(values, dict):
        return template
    rest = template_digest(values)
    unkept = msgspec.json.encode(rest_of(values)).decode() if applied and rest != NOTHING else ""
    return replace(template, rest=rest, unkept=unkept)


def _rest(values: Plain, struct: type[Struct], within: str) -> dict[str, Plain]:
    if not isinstance(values, dict):
        return {}
    kept = _kept(struct)
    found: dict[str, Plain] = {}
    for key, value in values.items():
        inner = kept.get(key)
        if key not in kept:
            found |= _entry(key, value, within, values)
        elif inner is not None and isinstance(value, list):
            rests: list[Plain] = [_rest(each, inner, key) for each in value]
            found |= {key: rests} if any(rests) else {}
        elif inner is not None and (rest := _rest(value, inner, key)):
            found[key] = rest
    return found


@cache
def _kept(struct: type[Struct]) -> Mapping[str, type[Struct] | None]:
    """Return the field names of a type → the type of the Struct in them; None for plain values."""
    return {each.encode_name: next(structs_in(each.type), None) for each in fields(struct)}


def structs_in(annotation: object) -> Iterator[type[Struct]]:
    """Yield the Structs of a field's type, such as those in a tuple."""
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        yield annotation
    for each in get_args(annotation):
        yield from structs_in(each)


def _normal(values: Plain, within: str) -> Plain:
    if isinstance(values, list):
        return [_normal(each, within) for each in values]
    return _entries(values, within) if isinstance(values, dict) else values


def _entries(values: Mapping[str, Plain], within: str) -> dict[str, Plain]:
    found: dict[str, Plain] = {}
    for key, value in values.items():
        found |= _entry(key, value, within, values)
    return found


def _entry(key: str, value: Plain, within: str, beside: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return one field, or nothing if it means the same as an absent one."""
    if value is None or value == [] or (value == "" and key not in _EMPTY_COUNTS):
        return {}
    if key == "imagePullPolicy" and value == _pull_policy(str(beside.get("image"))):
        return {}
    normal = _normal(value, key)
    if key in _QUANTITIES and isinstance(value, str | int | float):
        normal = quantity.in_one_spelling(value)
    # In Python 0 is False, and to the API it is not.
    absent = (*_DEFAULTS.get(within, {}).get(key, ()), *_ANYWHERE.get(key, ()))
    return {} if any(type(each) is type(normal) and each == normal for each in absent) else {key: normal}


def _pull_policy(image: str) -> str:
    """Source: SetDefaults_Container, pkg/util/parsers/parsers.go ParseImageName (v1.36)."""
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"

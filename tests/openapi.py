"""The fields of the Kubernetes API, release by release, as the package carries them in ``schema/fields.json``.

``python -m tests.openapi`` writes the file anew from the OpenAPI document that the module k8s.io/kubernetes holds for
each release of `tests/gobuild.py`. One file has all releases, one definition a line::

    {"releases": [33, ..., 37],
     "kinds": {"apps/v1 Deployment": "apps.v1.Deployment", ...},
     "definitions": {"core.v1.PodSpec": {"containers": "[]core.v1.Container", "nodeSelector": "{}string", ...}, ...},
     "merges": {"core.v1.PodSpec": {"containers": "merge:name", "volumes": "merge,retainKeys:name", ...}, ...}}

The type of a field is a definition, or one of string, boolean, int32, int64, double, byte, date-time, quantity,
int-or-string and any; ``[]`` before it makes a list, ``{}`` a map. What not all releases have is a list: type, first
and last minor release. How a strategic merge patch is merged into a field is the same in all releases that have it; the
status of objects, which apply does not change, is left out.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from tests.controlplane.api import Object
from tests.gobuild import RELEASES

DATA = Path(__file__).parent.parent / "kubectl_spread" / "schema" / "fields.json"

Entry: TypeAlias = str | list[str | int]  # What all releases have, or [what, first minor release, last]
Fields: TypeAlias = Mapping[str, str]  # Field → its type

_JSON_SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
_SCALARS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "date-time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "date-time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "any",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Patch": "any",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "any",
    f"{_JSON_SCHEMA}.JSON": "any",
    f"{_JSON_SCHEMA}.JSONSchemaPropsOrArray": "any",
    f"{_JSON_SCHEMA}.JSONSchemaPropsOrBool": "any",
    f"{_JSON_SCHEMA}.JSONSchemaPropsOrStringArray": "any",
}
# Where the definitions of a package are told from those of others by its last words alone.
_PREFIXES = (
    "io.k8s.api.",
    "io.k8s.apimachinery.pkg.apis.",
    "io.k8s.apiextensions-apiserver.pkg.apis.",
    "io.k8s.kube-aggregator.pkg.apis.",
    "io.k8s.apimachinery.pkg.",
)


def documents() -> dict[int, Object]:
    """Return minor release → its OpenAPI document, out of Go's module cache, where it is put first if need be."""
    found = {}
    for release, version in RELEASES.items():
        command = ["go", "mod", "download", "-json", f"k8s.io/kubernetes@v{version}"]
        module = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        document = Path(module["Dir"], "api", "openapi-spec", "swagger.json")
        found[int(release.partition(".")[2])] = json.loads(document.read_text())
    return found


def text_of(releases: Mapping[int, Object]) -> str:
    """Return the file for OpenAPI documents, by minor release."""
    minors = sorted(releases)
    kinds = {minor: dict(_kinds(releases[minor])) for minor in minors}
    fields = {minor: dict(_definitions(releases[minor])) for minor in minors}
    definitions = {
        name: _merged({minor: fields[minor].get(name, {}) for minor in minors})
        for name in sorted({name for of_release in fields.values() for name in of_release})
    }
    lines = ",\n".join(f"{_compact(name)}:{_compact(each)}" for name, each in definitions.items())
    of_kinds = ",\n".join(f"{_compact(name)}:{_compact(each)}" for name, each in _merged(kinds).items())
    merges: dict[str, dict[str, str]] = {}
    for minor in minors:
        for name, field, how in _merges(releases[minor]):
            assert merges.setdefault(name, {}).setdefault(field, how) == how, f"{name}.{field} changes how it is merged"
    of_merges = ",\n".join(f"{_compact(name)}:{_compact(each)}" for name, each in sorted(merges.items()))
    return (
        f'{{"releases":{_compact(minors)},"kinds":{{\n{of_kinds}}},\n"definitions":{{\n{lines}}},\n'
        f'"merges":{{\n{of_merges}}}}}\n'
    )


def _kinds(document: Object) -> Iterator[tuple[str, str]]:
    """Yield (apiVersion and kind, definition) of each object that can be applied."""
    for name, definition in document["definitions"].items():
        known = definition.get("x-kubernetes-group-version-kind", ())
        # What every group has, such as DeleteOptions, is no object of any; lists are taken apart before.
        if len(known) == 1 and not name.endswith("List"):
            (each,) = known
            yield f"{'/'.join(filter(None, (each['group'], each['version'])))} {each['kind']}", _short(name)


def _definitions(document: Object) -> Iterator[tuple[str, Fields]]:
    """Yield (definition, its fields) of each that is an object with fields of its own."""
    for name, definition in document["definitions"].items():
        if name not in _SCALARS and definition.get("type") == "object":
            yield _short(name), {field: _type(of) for field, of in definition.get("properties", {}).items()}


def _merges(document: Object) -> Iterator[tuple[str, str, str]]:
    """Yield (definition, field, how a patch is merged into it) where its type does not say so."""
    for name, definition in document["definitions"].items():
        for field, of in definition.get("properties", {}).items():
            strategy = of.get("x-kubernetes-patch-strategy")
            if strategy and not name.endswith("Status"):
                yield _short(name), field, f"{strategy}:{of.get('x-kubernetes-patch-merge-key', '')}"


def _type(schema: Object) -> str:
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        return _SCALARS.get(name) or _short(name)
    kind = schema.get("type", "any")
    if kind == "array":
        return f"[]{_type(schema['items'])}"
    if kind == "object":
        return f"{{}}{_type(schema['additionalProperties'])}" if "additionalProperties" in schema else "any"
    return str(schema.get("format") if kind in {"integer", "number"} else schema.get("format", kind))


def _short(name: str) -> str:
    """Return a definition's name without what tells packages apart that need no telling."""
    return next((name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix)), name)


def _merged(releases: Mapping[int, Fields]) -> dict[str, Entry]:
    """Return name → what it stands for, with the releases that have it unless all do."""
    first, last = min(releases), max(releases)
    merged: dict[str, Entry] = {}
    for name in sorted({name for fields in releases.values() for name in fields}):
        minors = [minor for minor in releases if name in releases[minor]]
        what = {releases[minor][name] for minor in minors}
        assert len(what) == 1, f"{name} changes its type: {what}"
        whole = (minors[0], minors[-1]) == (first, last)
        merged[name] = what.pop() if whole else [what.pop(), minors[0], minors[-1]]
    return merged


def _compact(value: object) -> str:
    """Return JSON without blanks."""
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    DATA.write_text(text_of(documents()))

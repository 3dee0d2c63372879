"""What an API server cannot decode: kinds it does not serve, fields it does not know, values of the wrong type.

These are the errors of strict validation, which ``kubectl apply`` asks for by default. All errors are reported at once;
the server stops at the first value of a wrong type.

Source: apimachinery pkg/runtime/serializer/json Decode, sigs.k8s.io/json strict decoding, pkg/api/meta/errors.go
NoKindMatchError (v1.33 to v1.37); the fields themselves are those of each release's OpenAPI document.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from kubectl_spread.apimachinery import quoted
from kubectl_spread.apiserver.quantities import unreadable
from kubectl_spread.apiserver.validation.field_errors import Errors, FieldError, Reason, items
from kubectl_spread.objects.decoding import type_name
from kubectl_spread.objects.meta import Plain

POD_TEMPLATE = "core.v1.PodTemplateSpec"

Entry: TypeAlias = str | tuple[str, int, int]  # What every release has, or (what, first minor release, last)

# The group of Kubernetes' own that no known release serves. Source: kubernetes.io deprecation guide.
_FORMER_GROUP = "extensions"
_LIKENESS = 0.75
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)


class Tables(msgspec.Struct, frozen=True):
    """The API's fields as in ``schema/fields.json``; tests/openapi.py describes the format."""

    releases: tuple[int, ...]  # the known minor releases, in order
    kinds: Mapping[str, Entry]  # apiVersion and kind, separated by a blank → definition
    definitions: Mapping[str, Mapping[str, Entry]]  # definition → field → type
    # definition → field → how a patch is merged into it: strategies, a colon, the merge key of a list
    merges: Mapping[str, Mapping[str, str]] = {}

    def has_group(self, api_version: str) -> bool:
        """Whether the group is Kubernetes' own: all its kinds are known."""
        groups = {_FORMER_GROUP, *(known.partition(" ")[0].rpartition("/")[0] for known in self.kinds)}
        return api_version.rpartition("/")[0] in groups

    def lacks(self, api_version: str) -> bool:
        """Whether the group is Kubernetes' own, and no known release serves this version of it."""
        return self.has_group(api_version) and all(known.partition(" ")[0] != api_version for known in self.kinds)


@dataclass(frozen=True, slots=True)
class Api:
    """What the API server of one release can decode."""

    tables: Tables
    minor: int  # the minor release. An unknown one counts as the nearest known one.

    @property
    def known_minor(self) -> int:
        """The release whose tables are used."""
        return min(max(self.minor, self.tables.releases[0]), self.tables.releases[-1])

    def object_errors(self, api_version: str, kind: str, values: Plain) -> Errors:
        """Yield the errors of an object: of its kind if that is not served, else of its fields.

        Kinds of other APIs have no errors, because their fields are not known.
        """
        definition = self._in_release(self.tables.kinds.get(f"{api_version} {kind}"))
        if definition is not None:
            if isinstance(values, dict):
                values = {name: value for name, value in values.items() if name not in {"apiVersion", "kind"}}
            yield from self._errors("", definition, values)
            return
        if self.tables.has_group(api_version):
            yield self._not_served(api_version, kind)

    def template_errors(self, path: str, values: Plain) -> Errors:
        """Yield the errors of a Pod template in an object of another API.

        It may have fields of its own: an unknown field is an error only if it resembles one of Kubernetes.
        """
        for error in self._errors(path, POD_TEMPLATE, values):
            if error.reason is not Reason.UNKNOWN_FIELD or "did you mean" in error.message:
                yield error

    def _errors(self, path: str, kind: str, values: Plain) -> Errors:
        if values is None or kind == "any":
            return
        inner = kind[2:]
        if kind in _SCALARS:
            wanted, is_valid = _SCALARS[kind]
            if not is_valid(values):
                yield _wrong_type(path, wanted, values)
        elif kind.startswith("[]"):
            if isinstance(values, list):
                for place, value in items(path, values):
                    yield from self._errors(place, inner, value)
            else:
                yield _wrong_type(path, "a list", values)
        elif not isinstance(values, dict):
            yield _wrong_type(path, "a mapping", values)
        elif kind.startswith("{}"):
            for key in sorted(values):
                yield from self._errors(f"{path}[{key}]", inner, values[key])
        else:
            yield from self._field_errors(path, self.tables.definitions[kind], values)

    def _field_errors(self, path: str, fields: Mapping[str, Entry], values: Mapping[str, Plain]) -> Errors:
        # kubectl sends the fields in the order of their names.
        for name in sorted(values):
            place = f"{path}.{name}" if path else name
            kind = self._in_release(fields.get(name))
            if kind is not None:
                yield from self._errors(place, kind, values[name])
            elif values[name] is not None:
                hint = self._hint(name, fields)
                yield FieldError(place, Reason.UNKNOWN_FIELD, f"unknown field {quoted(place)}{hint}")

    def _hint(self, name: str, fields: Mapping[str, Entry]) -> str:
        entry = fields.get(name)
        if isinstance(entry, tuple):
            _, first, last = entry
            since = f"from v1.{first} on" if first > self.known_minor else f"up to v1.{last}"
            return f": v1.{self.minor} does not know it, it is there {since}"
        near = _nearest(name, [field for field in fields if self._in_release(fields[field])])
        return f", did you mean {quoted(near)}?" if near else ""

    def _in_release(self, entry: Entry | None) -> str | None:
        if not isinstance(entry, tuple):
            return entry
        what, first, last = entry
        return what if first <= self.known_minor <= last else None

    def _not_served(self, api_version: str, kind: str) -> FieldError:
        served = [known.split(" ") for known, entry in self.tables.kinds.items() if self._in_release(entry)]
        versions = [version for version, name in served if name == kind]
        if versions:
            stable = [version for version in versions if "alpha" not in version and "beta" not in version]
            return no_kind_match(api_version, kind, f"v1.{self.minor} serves it in {' and '.join(stable or versions)}")
        near = [name for version, name in served if version == api_version]
        return no_kind_match(api_version, kind, f"v1.{self.minor} serves no {kind}", near=near)


def no_kind_match(api_version: str, kind: str, hint: str, *, near: Iterable[str] = ()) -> FieldError:
    """Return kubectl's error about a kind that is not served, with a hint or the nearest kind that is served."""
    nearest = _nearest(kind, near)
    hint = f", did you mean {quoted(nearest)}?" if nearest else f": {hint}"
    message = f"no matches for kind {quoted(kind)} in version {quoted(api_version)}{hint}"
    return FieldError("apiVersion", Reason.NO_KIND_MATCH, message)


def _nearest(name: str, known: Iterable[str]) -> str | None:
    from difflib import get_close_matches

    by_lower = {each.lower(): each for each in known}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=_LIKENESS)
    return by_lower[near[0]] if near else None


def _fits(value: Plain, bits: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**bits) <= value < 2**bits


def _is_quantity(value: Plain) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and not unreadable(value)


# Type → (its name in messages, whether a value is of it).
_SCALARS: Mapping[str, tuple[str, Callable[[Plain], bool]]] = {
    **dict.fromkeys(("string", "byte"), ("a string", lambda value: isinstance(value, str))),
    "date-time": (
        "a time such as 2026-01-31T12:00:00Z",
        lambda value: isinstance(value, str) and bool(_TIME.fullmatch(value)),
    ),
    "boolean": ("a boolean", lambda value: isinstance(value, bool)),
    "int32": ("an integer of 32 bits", lambda value: _fits(value, 31)),
    "int64": ("an integer of 64 bits", lambda value: _fits(value, 63)),
    "double": ("a number", lambda value: isinstance(value, int | float) and not isinstance(value, bool)),
    "int-or-string": ("an integer or a string", lambda value: isinstance(value, str) or _fits(value, 31)),
    "quantity": ("a quantity such as 500m or 2Gi", _is_quantity),
}


def _wrong_type(path: str, wanted: str, value: Plain) -> FieldError:
    hint = " (quote it)" if wanted == "a string" and isinstance(value, bool | int | float) else ""
    named = type_name(value) in wanted or (isinstance(value, str) and "such as" in wanted)
    found = "" if named else f", not {type_name(value)}"
    return FieldError(path, Reason.TYPE_INVALID, f"must be {wanted}{found}{hint}")

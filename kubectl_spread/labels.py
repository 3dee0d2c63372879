"""Label and node selectors: parsed once, then matched against label sets.

Source: apimachinery pkg/labels/selector.go and pkg/apis/meta/v1/helpers.go (v1.36).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import lru_cache

import msgspec

from kubectl_spread.apimachinery import as_json, label_key_faults, label_value_faults, quoted
from kubectl_spread.errors import UsageError

# Python parses at most 4,300 digits; no label has so many zeros.
_INTEGER = re.compile(r"[+-]?0{0,4000}[0-9]{1,19}", re.ASCII)

# Keys and values that are validated once: most Pods have the same few.
_KEPT = 1024

# One term of a selector and its end: "in" and "notin" are also valid keys and values.
_BLANKS = re.compile(r"[ \t\r\n]*+")
_WORD = r"[^ \t\r\n=!<>(),]"
_TERM = re.compile(
    rf"""
    {_BLANKS.pattern}
    (?: ! {_BLANKS.pattern} (?P<absent>{_WORD}++)
      | (?P<set_key>{_WORD}++) [ \t\r\n]++ (?P<set_operator>in|notin) {_BLANKS.pattern} \( (?P<values>[^()]*+) \)
      | (?P<key>{_WORD}++) {_BLANKS.pattern} (?: (?P<operator>==|!=|[=<>]) {_BLANKS.pattern} (?P<value>{_WORD}*+) )?
    ) {_BLANKS.pattern} (?P<end>,|\Z)
    """,
    re.VERBOSE,
)
_SYNTAX = "want key=value, key!=value, key in (a,b), key notin (a,b), key or !key, separated by commas"
_VALUE_SYNTAX = "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends"
_KEY_SYNTAX = f"a name of {_VALUE_SYNTAX}; optionally after a DNS subdomain and '/', such as example.com/"


class Operator(StrEnum):
    """The operator of a requirement, spelled as in the API."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GT = "Gt"
    LT = "Lt"


# In Python 3.11 the access to a member of an Enum takes longer than the rest of a comparison.
_IN, _NOT_IN, _EXISTS, _DOES_NOT_EXIST, _GT, _ = Operator


class SelectorRequirement(msgspec.Struct, frozen=True):
    """A requirement on one label; Exists and DoesNotExist have no values, Gt and Lt have one decimal integer."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the label set meets the requirement.

        Source: labels/selector.go Requirement.Matches (v1.36): NotIn also matches a label set without the key.
        """
        operator, actual = self.operator, labels.get(self.key)
        if operator is _IN:
            return actual in self.values
        if operator is _NOT_IN:
            return actual not in self.values
        if operator is _EXISTS:
            return actual is not None
        if operator is _DOES_NOT_EXIST:
            return actual is None
        return actual is not None and self._compares(actual)

    def _compares(self, actual: str) -> bool:
        """Whether the label's value is greater or less than the bound; never, if one is no int64."""
        bound = next(iter(self.values), "")
        if not (is_int64(actual) and is_int64(bound)):
            return False
        return int(actual) > int(bound) if self.operator is _GT else int(actual) < int(bound)

    def __str__(self) -> str:
        values = ",".join(sorted(self.values))
        one, several = _SYNTAX_OF[self.operator]
        return (one if len(self.values) == 1 or not several else several).format(self.key, values)


# Operator → the syntax of ``kubectl -l`` for one value, and for another number of values where that differs.
_SYNTAX_OF: Mapping[Operator, tuple[str, str]] = {
    Operator.IN: ("{0}={1}", "{0} in ({1})"),
    Operator.NOT_IN: ("{0}!={1}", "{0} notin ({1})"),
    Operator.EXISTS: ("{0}", ""),
    Operator.DOES_NOT_EXIST: ("!{0}", ""),
    Operator.GT: ("{0}>{1}", ""),
    Operator.LT: ("{0}<{1}", ""),
}


class Selector(msgspec.Struct, frozen=True):
    """Requirements that a label set must all meet."""

    requirements: tuple[SelectorRequirement, ...] = ()
    nothing: bool = False  # True for an absent labelSelector, which matches no label set

    @property
    def empty(self) -> bool:
        """Whether it selects everything, as it has no requirement."""
        return not self.requirements and not self.nothing

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the label set meets all requirements."""
        if self.nothing:
            return False
        for requirement in self.requirements:  # noqa: SIM110 - all() takes twice as long, and this is the hottest loop
            if not requirement.matches(labels):
                return False
        return True

    def and_also(self, requirements: Iterable[SelectorRequirement]) -> Selector:
        """Return this selector with further requirements; NOTHING stays NOTHING."""
        if self.nothing:
            return self
        return Selector(tuple(dict.fromkeys((*self.requirements, *requirements))))

    def __str__(self) -> str:
        """Return the selector in the syntax of ``kubectl -l``; ``<none>`` for nothing, ``<all>`` for everything."""
        if self.nothing:
            return "<none>"
        return ",".join(map(str, self.requirements)) or "<all>"


NOTHING = Selector(nothing=True)
EVERYTHING = Selector()


def from_set(labels: Mapping[str, str]) -> Selector:
    """Return the selector of a map of labels, as in Services and ReplicationControllers."""
    return Selector(tuple(equals(key, value) for key, value in sorted(labels.items())))


def equals(key: str, value: str) -> SelectorRequirement:
    """Return the requirement that a label has exactly this value."""
    return SelectorRequirement(key, Operator.IN, frozenset((value,)))


def new_requirement(key: str, operator: Operator, values: Collection[str], *, path: str = "") -> SelectorRequirement:
    """Return the requirement of an expression.

    ``path``: its field; empty for a label selector, whose errors name no field.

    Raises:
        ValueError: the key or a value is invalid, or the values do not fit the operator; the text is upstream's.
    """
    fits = _wrong_values(operator, values) is None and all(map(is_label_value, values))
    if not (fits and is_label_key(key)):
        raise ValueError(aggregate(_requirement_faults(key, operator, values, f"{path}." if path else "")))
    return SelectorRequirement(key, operator, frozenset(values))


def aggregate(errors: Iterable[str]) -> str:
    """Return several errors as one. Source: apimachinery pkg/util/errors/errors.go aggregate.Error (v1.36)."""
    different = tuple(dict.fromkeys(errors))
    return different[0] if len(different) == 1 else f"[{', '.join(different)}]"


_VALUES_WANTED = "for 'in', 'notin' operators, values set can't be empty"
_NO_VALUES_WANTED = "values set must be empty for exists and does not exist"
_ONE_VALUE_WANTED = "for 'Gt', 'Lt' operators, exactly one value is required"
_INTEGER_WANTED = "for 'Gt', 'Lt' operators, the value must be an integer"


def _wrong_values(operator: Operator, values: Collection[str]) -> str | None:
    if operator in {Operator.IN, Operator.NOT_IN}:
        return None if values else _VALUES_WANTED
    if operator in {Operator.EXISTS, Operator.DOES_NOT_EXIST}:
        return _NO_VALUES_WANTED if values else None
    if len(values) != 1:
        return _ONE_VALUE_WANTED
    return None if all(map(is_int64, values)) else _INTEGER_WANTED


def _requirement_faults(key: str, operator: Operator, values: Collection[str], path: str) -> Iterator[str]:
    if faults := "; ".join(label_key_faults(key)):
        yield f"{path}key: Invalid value: {quoted(key)}: {faults}"
    wanted = _wrong_values(operator, values)
    if wanted is not None and wanted != _INTEGER_WANTED:
        # An absent list is nil in Go, and null in JSON.
        # differs: v1.33 prints the list in Go's syntax, []string(nil) or []string{"a", "b"}.
        yield f"{path}values: Invalid value: {as_json(list(values)) if values else 'null'}: {wanted}"
    if operator in {Operator.GT, Operator.LT}:
        for index, value in enumerate(values):
            if not is_int64(value):
                yield f"{path}values[{index}]: Invalid value: {quoted(value)}: {_INTEGER_WANTED}"
    for index, value in enumerate(values):
        if faults := "; ".join(label_value_faults(value)):
            yield f"{path}values[{index}][{key}]: Invalid value: {quoted(value)}: {faults}"


def is_int64(text: str) -> bool:
    """Whether Go's strconv.ParseInt(text, 10, 64) accepts it."""
    return _INTEGER.fullmatch(text) is not None and -(2**63) <= int(text) < 2**63


@lru_cache(_KEPT)
def is_label_key(text: str) -> bool:
    """Whether the text is a valid label key."""
    return next(label_key_faults(text), None) is None


@lru_cache(_KEPT)
def is_label_value(text: str) -> bool:
    """Whether the text is a valid label value."""
    return next(label_value_faults(text), None) is None


_SYMBOLS = {"=": Operator.IN, "==": Operator.IN, "!=": Operator.NOT_IN, ">": Operator.GT, "<": Operator.LT}


def parse_selector(text: str) -> Selector:
    """Return the selector of text in the syntax of ``kubectl -l``; blank text selects everything.

    Raises:
        UsageError: the text is not a selector.

    Source: labels/selector.go Parse and NewRequirement (v1.36).
    """
    requirements = []
    position, more = 0, not _BLANKS.fullmatch(text)
    while more:
        match = _TERM.match(text, position)
        if match is None:
            raise UsageError(f"unable to parse the label selector {text!r} at {text[position:]!r}", hint=_SYNTAX)
        requirements.append(_validate(_to_requirement(match), text))
        position, more = match.end(), match["end"] == ","
    return Selector(tuple(requirements))


def _to_requirement(match: re.Match[str]) -> SelectorRequirement:
    if match["absent"]:
        return SelectorRequirement(match["absent"], Operator.DOES_NOT_EXIST)
    if match["set_key"]:
        operator = Operator.IN if match["set_operator"] == "in" else Operator.NOT_IN
        return SelectorRequirement(
            match["set_key"], operator, frozenset(v.strip(" \t\r\n") for v in match["values"].split(","))
        )
    if match["operator"] is None:
        return SelectorRequirement(match["key"], Operator.EXISTS)
    return SelectorRequirement(match["key"], _SYMBOLS[match["operator"]], frozenset((match["value"],)))


def _validate(requirement: SelectorRequirement, text: str) -> SelectorRequirement:
    if not is_label_key(requirement.key):
        raise UsageError(f"{requirement.key!r} is not a label key, in the label selector {text!r}", hint=_KEY_SYNTAX)
    for value in sorted(requirement.values):
        if not is_label_value(value):
            raise UsageError(f"{value!r} is not a label value, in the label selector {text!r}", hint=_VALUE_SYNTAX)
        if requirement.operator in {Operator.GT, Operator.LT} and not is_int64(value):
            raise UsageError(f"{value!r} is not an integer, in the label selector {text!r}")
    return requirement

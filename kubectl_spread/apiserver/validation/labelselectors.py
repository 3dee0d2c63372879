"""Labels, label selectors, and the label keys that are merged into them.

Source: apimachinery pkg/apis/meta/v1/validation/validation.go, pkg/apis/core/validation/validation.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubectl_spread.apimachinery import as_json, quoted
from kubectl_spread.apiserver.validation.field_errors import Errors, forbidden, invalid, required
from kubectl_spread.apiserver.validation.names import label_key_errors, label_value_errors
from kubectl_spread.objects.meta import LabelSelector

UNKNOWN_OPERATOR = "not a valid selector operator"
_VALUES_REQUIRED = "must be specified when `operator` is 'In' or 'NotIn'"
_VALUES_FORBIDDEN = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
IN_SELECTOR_TOO = "exists in both matchLabelKeys and labelSelector"
NO_SELECTOR = "must not be specified when labelSelector is not set"
_IN_BOTH_KEYS = "exists in both matchLabelKeys and mismatchLabelKeys"


def label_errors(path: str, labels: Mapping[str, str]) -> Errors:
    """Yield the errors of a map of labels, all of them at the map itself."""
    # upstream: in any order, for Go's maps have none; here by key.
    for key, value in sorted(labels.items()):
        yield from label_key_errors(path, key)
        yield from label_value_errors(path, value)


def label_selector_errors(path: str, selector: LabelSelector | None) -> Errors:
    """Yield the errors of a label selector; an absent one has none."""
    if selector is None:
        return
    yield from label_errors(f"{path}.matchLabels", selector.match_labels)
    for index, expression in enumerate(selector.match_expressions):
        place = f"{path}.matchExpressions[{index}]"
        yield from operator_errors(place, expression.operator, expression.values)
        yield from label_key_errors(f"{place}.key", expression.key)
        for number, value in enumerate(expression.values):
            yield from label_value_errors(f"{place}.values[{number}]", value)


def operator_errors(path: str, operator: str, values: Sequence[str]) -> Errors:
    """Yield the errors of an expression whose operator is unknown or does not suit its values."""
    match operator:
        case "In" | "NotIn":
            if not values:
                yield required(f"{path}.values", _VALUES_REQUIRED)
        case "Exists" | "DoesNotExist":
            if values:
                yield forbidden(f"{path}.values", _VALUES_FORBIDDEN)
        case _:
            yield invalid(f"{path}.operator", as_json(operator), UNKNOWN_OPERATOR)


def merged_key_errors(
    path: str, selector: LabelSelector | None, *, match_keys: Sequence[str], mismatch_keys: Sequence[str] = ()
) -> Errors:
    """Yield the errors of matchLabelKeys and mismatchLabelKeys, once they are merged into the selector.

    Source: ValidateMatchLabelKeysAndMismatchLabelKeys (v1.34).
    """
    # upstream: a key that the selector has already is reported at ``path[index]``, without ``.matchLabelKeys``. In a
    # template, where nothing is merged yet, only a key that the selector itself repeats is found; the Pods are refused
    # later.
    yield from _key_errors(f"{path}.matchLabelKeys", selector, match_keys)
    yield from _key_errors(f"{path}.mismatchLabelKeys", selector, mismatch_keys)
    if selector is not None:
        yield from _repeated_key_errors(path, selector, match_keys)
    for index, key in enumerate(match_keys):
        # mismatchLabelKeys may share a key with the selector: NotIn leaves something for it to say.
        if key in mismatch_keys:
            yield invalid(f"{path}.matchLabelKeys[{index}]", quoted(key), _IN_BOTH_KEYS)


def _key_errors(path: str, selector: LabelSelector | None, keys: Sequence[str]) -> Errors:
    if keys and selector is None:
        yield forbidden(path, NO_SELECTOR)
        return
    for index, key in enumerate(keys):
        yield from label_key_errors(f"{path}[{index}]", key)


def _repeated_key_errors(path: str, selector: LabelSelector, match_keys: Sequence[str]) -> Errors:
    # By now the keys stand at the end of the selector: the second time one is seen, it was the user's before.
    places = {key: index for index, key in enumerate(match_keys)}
    seen = set(selector.match_labels)
    for expression in selector.match_expressions:
        if expression.key in places and expression.key in seen:
            yield invalid(f"{path}[{places[expression.key]}]", quoted(expression.key), IN_SELECTOR_TOO)
        seen.add(expression.key)


def selector_as_json(selector: LabelSelector) -> str:
    """Return a selector as Go prints it: fields in the order of the struct, without those that hold nothing."""
    expressions = [
        {"key": e.key, "operator": e.operator, **({"values": e.values} if e.values else {})}
        for e in selector.match_expressions
    ]
    fields = {"matchLabels": dict(sorted(selector.match_labels.items())), "matchExpressions": expressions}
    return as_json({name: entries for name, entries in fields.items() if entries})

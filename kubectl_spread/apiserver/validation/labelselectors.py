"""Labels, label selectors, and the label keys that are merged into them.

Source: apimachinery pkg/apis/meta/v1/validation/validation.go, pkg/apis/core/validation/validation.go (v1.36).
"""

from collections.abc import Mapping, Sequence

from kubectl_spread.apimachinery import as_json, label_key_faults, label_value_faults, quoted
from kubectl_spread.apiserver.validation.field_errors import Errors, forbidden, invalid, items, required, text_errors
from kubectl_spread.objects.meta import LabelSelector

UNKNOWN_OPERATOR = "not a valid selector operator"
IN_SELECTOR_TOO = "exists in both matchLabelKeys and labelSelector"
NO_SELECTOR = "must not be specified when labelSelector is not set"


def label_errors(path: str, labels: Mapping[str, str]) -> Errors:
    """Yield the errors of labels, by key. All of them are reported at the path of the map."""
    for key, value in sorted(labels.items()):
        yield from text_errors(path, key, label_key_faults)
        yield from text_errors(path, value, label_value_faults)


def label_selector_errors(path: str, selector: LabelSelector | None) -> Errors:
    """Yield the errors of a label selector; an absent one has none."""
    if selector is None:
        return
    yield from label_errors(f"{path}.matchLabels", selector.match_labels)
    for place, expression in items(f"{path}.matchExpressions", selector.match_expressions):
        yield from operator_errors(place, expression.operator, expression.values)
        yield from text_errors(f"{place}.key", expression.key, label_key_faults)
        for field, value in items(f"{place}.values", expression.values):
            yield from text_errors(field, value, label_value_faults)


def operator_errors(path: str, operator: str, values: Sequence[str]) -> Errors:
    """Yield the errors of an expression whose operator is unknown or does not suit its values."""
    match operator:
        case "In" | "NotIn":
            if not values:
                yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
        case "Exists" | "DoesNotExist":
            if values:
                detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                yield forbidden(f"{path}.values", detail)
        case _:
            yield invalid(f"{path}.operator", as_json(operator), UNKNOWN_OPERATOR)


def merged_key_errors(
    path: str, selector: LabelSelector | None, *, match_keys: Sequence[str], mismatch_keys: Sequence[str] = ()
) -> Errors:
    """Yield the errors of matchLabelKeys and mismatchLabelKeys that are merged into the selector already.

    Source: ValidateMatchLabelKeysAndMismatchLabelKeys (v1.34).
    """
    for field, keys in (("matchLabelKeys", match_keys), ("mismatchLabelKeys", mismatch_keys)):
        if keys and selector is None:
            yield forbidden(f"{path}.{field}", NO_SELECTOR)
            continue
        for place, key in items(f"{path}.{field}", keys):
            yield from text_errors(place, key, label_key_faults)
    # upstream: a key that the selector has too is reported at ``path[index]``, without ``.matchLabelKeys``. Nothing is
    # merged into a template, so there only keys that the selector itself repeats are found, and its Pods are refused.
    places = {key: index for index, key in enumerate(match_keys)} if selector else {}
    seen = set(selector.match_labels) if selector else set()
    # The merged keys are at the end of the selector: a key seen before is the user's.
    for expression in selector.match_expressions if selector else ():
        if expression.key in places and expression.key in seen:
            yield invalid(f"{path}[{places[expression.key]}]", quoted(expression.key), IN_SELECTOR_TOO)
        seen.add(expression.key)
    # A key of mismatchLabelKeys may be in the selector too.
    for place, key in items(f"{path}.matchLabelKeys", match_keys):
        if key in mismatch_keys:
            yield invalid(place, quoted(key), "exists in both matchLabelKeys and mismatchLabelKeys")


def selector_as_json(selector: LabelSelector) -> str:
    """Return a selector as Go prints it: fields in the order of the struct, without empty ones."""
    asked = selector.match_expressions
    expressions = [{"key": e.key, "operator": e.operator} | ({"values": e.values} if e.values else {}) for e in asked]
    fields = {"matchLabels": dict(sorted(selector.match_labels.items())), "matchExpressions": expressions}
    return as_json({name: entries for name, entries in fields.items() if entries})

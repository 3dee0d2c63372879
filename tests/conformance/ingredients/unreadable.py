"""What no API server takes but files can hold: selectors that the scheduler cannot parse, and labels to match them."""

from collections.abc import Callable, Iterator

from tests.conformance.ingredients.draft import Dice, Draft, Object

_VALUES = ("{{.bad-value.}}", "invalid value: ___@#$%^", "-", "ü", '"<&>"\n')
_LONG = "a" * 64
_KEYS = ("-key-", "UPPER.example.com/key", "/key", "a/b/c", "")
_REWORDED = 35  # Since then keys and lengths are refused in the words that we know


def label(draft: Draft, labelled: Object) -> None:
    """Give a node or a Pod a label with a value that none may have."""
    labelled["metadata"]["labels"][draft.dice.choice(("app", "disk"))] = draft.dice.choice(_VALUES)


def selector(draft: Draft, pod: Object) -> None:
    """Spoil some of the Pod's selectors; of its constraints only hard ones: a soft one breaks the scheduler."""
    found = [*_terms(pod), *_hard_constraints(pod)]
    for holder in draft.dice.some(found, least=1, most=2):
        name = draft.dice.choice(("labelSelector", "labelSelector", "namespaceSelector"))
        _spoil(draft, holder.setdefault(name if "whenUnsatisfiable" not in holder else "labelSelector", {}))


def selector_of_another(draft: Draft, _pod: Object) -> None:
    """Spoil the selectors of the Pod's owner and of budgets."""
    for other in draft.others:
        if other["kind"] in {"ReplicaSet", "StatefulSet", "PodDisruptionBudget"} and draft.dice.chance(0.7):
            _spoil(draft, other["spec"].setdefault("selector", {}))


def node_selector(draft: Draft, pod: Object) -> None:
    """Ask for a label with a value that none may have: the scheduler looks for it all the same."""
    pod["spec"].setdefault("nodeSelector", {})["disk"] = draft.dice.choice(_VALUES)


def node_affinity(draft: Draft, pod: Object) -> None:
    """Spoil some terms of the node affinity that is required."""
    affinity = pod["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {})
    terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", [])
    for term in draft.dice.some(terms, least=1):
        term.setdefault("matchExpressions", []).append(_expression(draft))


def _terms(pod: Object) -> Iterator[Object]:
    """Yield every term of Pod affinity and anti-affinity."""
    affinity = pod["spec"].get("affinity", {})
    for kind in ("podAffinity", "podAntiAffinity"):
        of_kind = affinity.get(kind, {})
        yield from of_kind.get("requiredDuringSchedulingIgnoredDuringExecution", ())
        weighted = of_kind.get("preferredDuringSchedulingIgnoredDuringExecution", ())
        yield from (each["podAffinityTerm"] for each in weighted)


def _hard_constraints(pod: Object) -> Iterator[Object]:
    """Yield the constraints that keep Pods off nodes."""
    for constraint in pod["spec"].get("topologySpreadConstraints", ()):
        if constraint["whenUnsatisfiable"] == "DoNotSchedule":
            yield constraint


def _spoil(draft: Draft, label_selector: Object) -> None:
    """Make a label selector such that it cannot be parsed; of its labels only one, for Go takes any of them first."""
    if draft.dice.chance(0.5):
        label_selector.setdefault("matchLabels", {})["app"] = draft.dice.choice(_VALUES)
    else:
        label_selector.setdefault("matchExpressions", []).append(_expression(draft))


def _expression(draft: Draft) -> Object:
    """Return an expression that cannot be parsed."""
    ways = _WAYS if draft.minor >= _REWORDED else _WAYS[:-1]
    return draft.dice.choice(ways)(draft.dice)


def _bad_values(dice: Dice) -> Object:
    return {"key": "app", "operator": dice.choice(("In", "NotIn")), "values": ["web", *dice.some(_VALUES, least=1)]}


def _no_values(dice: Dice) -> Object:
    return {"key": "app", "operator": dice.choice(("In", "NotIn"))}


def _values_too_many(dice: Dice) -> Object:
    return {"key": "app", "operator": dice.choice(("Exists", "DoesNotExist")), "values": ["<web>"]}


def _unknown_operator(dice: Dice) -> Object:
    return {"key": "app", "operator": dice.choice(("Like", "in", "")), "values": ["web"]}


def _bad_key(dice: Dice) -> Object:
    return {"key": dice.choice(_KEYS), "operator": "In", "values": [dice.choice(("web", _LONG))]}


_WAYS: tuple[Callable[[Dice], Object], ...] = (_bad_values, _no_values, _values_too_many, _unknown_operator, _bad_key)

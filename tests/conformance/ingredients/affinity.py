"""Node affinity: selectors, required and preferred terms, every operator, fields, and numbers that are none."""

from collections.abc import Sequence

from tests.conformance.ingredients.draft import HOSTNAME, RACK, ZONE, Dice, Draft, Object

_VALUES = {
    ZONE: ("zone-a", "zone-b", "zone-c"),
    RACK: ("rack-1", "rack-2", "rack-3", ""),
    HOSTNAME: ("node-0", "node-1", "node-2", "node-3"),
    "disk": ("ssd", "hdd", ""),
    "gen": ("1", "3", "7"),
}
_INTEGERS = ("2", "3", "0", "6", "007")
_MALFORMED = ("1.5", "abc", "9223372036854775808")
_OPERATORS = {"In": 5, "NotIn": 3, "Exists": 2, "DoesNotExist": 1, "Gt": 1.5, "Lt": 1.5}


def node_selector(draft: Draft, pod: Object) -> None:
    """Ask for one or two labels."""
    keys = draft.dice.some((ZONE, "disk"), least=1)
    pod["spec"]["nodeSelector"] = {key: draft.dice.choice(_VALUES[key]) for key in keys}


def required_node_affinity(draft: Draft, pod: Object) -> None:
    """Require one of one to three terms; one that compares with what is no number matches nothing."""
    terms = [node_term(draft.dice, numbers=_INTEGERS + _MALFORMED) for _ in range(draft.dice.choice((1, 1, 2, 3)))]
    _node_affinity(pod)["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}


def one_node(draft: Draft, pod: Object) -> None:
    """Require one node by its name field, as a DaemonSet's Pods do."""
    names = [*draft.node_names(), "node-gone"]
    terms = [{"matchFields": [_field("In", name)]} for name in draft.dice.some(names, least=1, most=2)]
    _node_affinity(pod)["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}


def preferred_node_affinity(draft: Draft, pod: Object) -> None:
    """Prefer one to three terms."""
    dice = draft.dice
    _node_affinity(pod)["preferredDuringSchedulingIgnoredDuringExecution"] = [
        {"weight": dice.choice((1, 2, 10, 50, 100)), "preference": node_term(dice)}
        for _ in range(dice.choice((1, 2, 3)))
    ]


def node_term(dice: Dice, *, numbers: Sequence[str] = _INTEGERS) -> Object:
    """Return a term of node affinity; rarely an empty one, which matches nothing.

    Only where it is required may it compare with what is no number: everywhere else the scheduler gives up.
    """
    if dice.chance(0.04):
        return {}
    term: Object = {}
    if dice.chance(0.9):
        term["matchExpressions"] = [_requirement(dice, numbers) for _ in range(dice.choice((1, 1, 1, 2)))]
    if not term or dice.chance(0.06):
        term["matchFields"] = [_field(dice.choice(("In", "NotIn")), f"node-{dice.randint(0, 5)}")]
    return term


def _requirement(dice: Dice, numbers: Sequence[str]) -> Object:
    """Return one requirement on a label."""
    operator = dice.weighted(_OPERATORS)
    if operator in ("Gt", "Lt"):
        return {"key": dice.choice(("gen", "gen", "disk")), "operator": operator, "values": [dice.choice(numbers)]}
    key = dice.choice(list(_VALUES))
    if operator in ("Exists", "DoesNotExist"):
        return {"key": key, "operator": operator}
    return {"key": key, "operator": operator, "values": dice.some(_VALUES[key], least=1)}


def _field(operator: str, name: str) -> Object:
    """Return a requirement on the node's name, the only field there is."""
    return {"key": "metadata.name", "operator": operator, "values": [name]}


def _node_affinity(pod: Object) -> Object:
    """Return the Pod's node affinity, which is there from now on."""
    affinity: Object = pod["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {})
    return affinity

"""Tolerations of every form."""

from tests.conformance.ingredients.draft import Draft, Object

_TOLERATIONS: tuple[Object, ...] = (
    {"operator": "Exists"},
    {"operator": "Exists", "effect": "NoSchedule"},
    {"operator": "Exists", "effect": "PreferNoSchedule"},
    {"key": "dedicated", "operator": "Exists"},
    {"key": "dedicated", "operator": "Equal", "value": "db"},
    {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    {"key": "dedicated", "operator": "Equal", "value": "db", "effect": "PreferNoSchedule"},
    {"key": "maintenance", "value": "true", "effect": "NoExecute", "tolerationSeconds": 30},
    {"key": "maintenance", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},
    {"key": "empty"},
    {"key": "empty", "operator": "Equal", "value": "x"},
    {"key": "level", "value": "3"},
    {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
)
_COMPARISONS = ("2", "3", "5", "-1")


def tolerations(draft: Draft, pod: Object) -> None:
    """Tolerate one to four things."""
    chosen = draft.dice.some(_TOLERATIONS, least=1, most=4)
    pod["spec"].setdefault("tolerations", []).extend(dict(one) for one in chosen)


def comparing_toleration(draft: Draft, pod: Object) -> None:
    """Tolerate taints by the size of their value, with the feature gate of 1.35 on or, for an older Pod, off again."""
    draft.gates["TaintTolerationComparisonOperators"] = draft.dice.chance(0.75)
    one = {"key": "level", "operator": draft.dice.choice(("Gt", "Lt")), "value": draft.dice.choice(_COMPARISONS)}
    pod["spec"].setdefault("tolerations", []).append(one)

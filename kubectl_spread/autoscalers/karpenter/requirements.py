"""Requirements on the labels of a node to come: what they allow, and whether two of them can hold at once.

Source: karpenter pkg/scheduling/requirement.go, requirements.go and taints.go, pkg/apis/v1/labels.go (v1.14.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import msgspec

from kubectl_spread.labels import is_int64
from kubectl_spread.objects.autoscaling import NodeSelectorRequirementWithMinValues
from kubectl_spread.objects.core import NodeSelectorRequirement, NodeSelectorTerm, Pod, Taint, Toleration
from kubectl_spread.objects.well_known_labels import INSTANCE_TYPE, REGION, SUCCESSORS, ZONE
from kubectl_spread.scheduler.tainttoleration import tolerated

NODE_POOL = "karpenter.sh/nodepool"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
ARCH = "kubernetes.io/arch"
OS = "kubernetes.io/os"
# Labels that a node may have though nothing names them; providers add their own.
WELL_KNOWN = frozenset(
    (NODE_POOL, ZONE, REGION, INSTANCE_TYPE, ARCH, OS, CAPACITY_TYPE, "node.kubernetes.io/windows-build")
)


Expression: TypeAlias = NodeSelectorRequirement | NodeSelectorRequirementWithMinValues


class Requirement(msgspec.Struct, frozen=True):
    """Which values one label may have."""

    key: str
    values: frozenset[str] = frozenset()  # the values that are allowed, or with ``complement`` all that are not
    complement: bool = False
    least: int | None = None  # the least integer that is allowed; None for no bound
    most: int | None = None  # the greatest; None for no bound

    @property
    def is_in(self) -> bool:
        """Whether it names the values that are allowed, at least one."""
        return not self.complement and bool(self.values)

    @property
    def excludes(self) -> bool:
        """Whether it only excludes values, or the label itself."""
        return bool(self.values) if self.complement else not self.values

    def allows(self, value: str) -> bool:
        """Whether the label may have the value."""
        return (value in self.values) != self.complement and self._within(value)

    def _within(self, value: str) -> bool:
        if self.least is None and self.most is None:
            return True
        if not is_int64(value):
            return False
        return (self.least is None or int(value) >= self.least) and (self.most is None or int(value) <= self.most)

    def intersection(self, other: Requirement) -> Requirement:
        """Return what both allow."""
        least = max((bound for bound in (self.least, other.least) if bound is not None), default=None)
        most = min((bound for bound in (self.most, other.most) if bound is not None), default=None)
        if least is not None and most is not None and least > most:
            return Requirement(self.key)
        bounds = Requirement(self.key, least=least, most=most)
        if self.complement and other.complement:
            values = frozenset(filter(bounds._within, self.values | other.values))
            return Requirement(self.key, values, complement=True, least=least, most=most)
        concrete, rest = (other, self) if self.complement else (self, other)
        allowed = (value for value in concrete.values if (value in rest.values) != rest.complement)
        return Requirement(self.key, frozenset(filter(bounds._within, allowed)))

    def __str__(self) -> str:
        """Return the requirement as ``kubectl -l`` would have it."""
        values = ",".join(sorted(self.values))
        if self.least is not None or self.most is not None:
            bounds = (self.least is not None and f">={self.least}", self.most is not None and f"<={self.most}")
            return " and ".join(f"{self.key} {bound}" for bound in bounds if bound)
        if self.complement:
            return f"{self.key} notin ({values})" if values else self.key
        if not values:
            return f"!{self.key}"
        return f"{self.key}={values}" if len(self.values) == 1 else f"{self.key} in ({values})"


Requirements: TypeAlias = Mapping[str, Requirement]  # Label → which values it may have


class Conflict(msgspec.Struct, frozen=True):
    """A label on which two sides cannot agree."""

    wanted: Requirement  # what is asked of the label
    offered: Requirement | None  # what the other side allows; None where it does not have the label at all


def requirement(expression: Expression) -> Requirement:
    """Return the requirement of an expression on labels; old names of labels mean the current ones."""
    key = SUCCESSORS.get(expression.key, expression.key)
    bound = int(expression.values[0]) if expression.values and is_int64(expression.values[0]) else 0
    match expression.operator:
        case "In":
            return Requirement(key, frozenset(expression.values))
        case "NotIn":
            return Requirement(key, frozenset(expression.values), complement=True)
        case "DoesNotExist":
            return Requirement(key)
        case "Gt" | "Gte":
            return Requirement(key, complement=True, least=bound + (expression.operator == "Gt"))
        case "Lt" | "Lte":
            return Requirement(key, complement=True, most=bound - (expression.operator == "Lt"))
        case _:
            return Requirement(key, complement=True)


def asked_of(requirements: Requirements, key: str) -> Requirement:
    """Return what is asked of one label; a label that is not named may have any value."""
    return requirements.get(key, Requirement(key, complement=True))


def label_requirements(labels: Mapping[str, str]) -> dict[str, Requirement]:
    """Return the requirements that labels have exactly these values."""
    return added({}, (one_of(SUCCESSORS.get(key, key), (value,)) for key, value in labels.items()))


_OLDER = {newer: older for older, newer in SUCCESSORS.items()}


def has_labels(labels: Mapping[str, str], wanted: Requirements) -> bool:
    """Whether a node with exactly these labels has what is wanted."""
    for key, each in wanted.items():
        value = labels.get(key, labels.get(_OLDER.get(key, "")))
        if not (each.excludes if value is None else each.allows(value)):
            return False
    return True


def one_of(key: str, values: Iterable[str]) -> Requirement:
    """Return the requirement that the label has one of the values."""
    return Requirement(key, frozenset(values))


def added(first: Requirements, more: Iterable[Requirement]) -> dict[str, Requirement]:
    """Return the requirements and further ones; of one label what all of them allow."""
    found = dict(first)
    for each in more:
        known = found.get(each.key)
        found[each.key] = each.intersection(known) if known else each
    return found


class KnownLabels(msgspec.Struct, frozen=True):
    """Labels that a node may have though nothing names them, by name or prefix."""

    names: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()

    def __contains__(self, key: str) -> bool:
        return key in self.names or key.startswith(self.prefixes)


NONE_KNOWN = KnownLabels()


def incompatible(
    first: Requirements, wanted: Requirements, *, allow_undefined: KnownLabels = NONE_KNOWN
) -> Conflict | None:
    """Return the first label for which a node with the first requirements cannot meet the wanted ones, None for none.

    ``allow_undefined``: labels that the node may have though its requirements do not name them.

    Source: requirements.go Compatible.
    """
    for key, each in wanted.items():
        if key not in allow_undefined and key not in first and not each.excludes:
            return Conflict(each, None)
    return disjoint(first, wanted)


def disjoint(first: Requirements, wanted: Requirements) -> Conflict | None:
    """Return the first label that both name without a common value, None for none.

    Source: requirements.go Intersects.
    """
    for key, each in wanted.items():
        if (known := first.get(key)) is not None:
            both = known.intersection(each)
            if not (both.complement or both.values or (each.excludes and known.excludes)):
                return Conflict(each, known)
    return None


def node_requirements(selector: Mapping[str, str], *terms: NodeSelectorTerm) -> dict[str, Requirement]:
    """Return what a node selector and terms of node affinity ask of a node's labels, all together."""
    return added(label_requirements(selector), (requirement(each) for term in terms for each in term.match_expressions))


def strict_pod_requirements(pod: Pod) -> dict[str, Requirement]:
    """Return what the Pod asks of a node's labels without preferences.

    upstream: of its required node affinity only the first term, until that is dropped.
    """
    return node_requirements(pod.spec.node_selector, *pod.spec.required_terms[:1])


def untolerated(taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> Taint | None:
    """Return the first taint, of any effect, that is not tolerated; None for none."""
    return next((taint for taint in taints if not tolerated(taint, tolerations, numeric=True)), None)

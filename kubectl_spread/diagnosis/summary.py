"""The one sentence at the top: what is to blame, in words a tired operator understands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import partial

from kubectl_spread.diagnosis import reasons
from kubectl_spread.diagnosis.domains import SpreadDiagnosis
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, FilterRequirement, Requirement
from kubectl_spread.report import ConstraintReport, Domain
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.words import count_of, enumerated

MOST_NAMES = 3
_names = partial(enumerated, most=MOST_NAMES)


def blame(handle: Handle, spread: SpreadDiagnosis, core: Sequence[Requirement]) -> str:
    """Return why no node is left; empty where one is.

    Args:
        handle: the cluster.
        spread: the Pod's constraints, and what each requirement rejects.
        core: the smallest set of requirements that together leave no node.
    """
    if not handle.node_infos:
        return "The cluster has no nodes."
    involved = [constraint for constraint in spread.constraints if ConstraintRequirement(constraint.index) in core]
    filters = [requirement for requirement in core if isinstance(requirement, FilterRequirement)]
    if not core:
        return ""
    if not involved:
        return _filters_alone(handle, spread, filters)
    if len(core) == 1:
        return _constraint_alone(involved[0], len(handle.node_infos))
    pinned = next((constraint for constraint in involved if _pinned_by_filters(constraint)), None)
    return _pinned(pinned) if pinned else _together(core, handle, spread)


def _pinned_by_filters(constraint: ConstraintReport) -> bool:
    """Whether other filters than spread keep the Pod from every domain that holds the minimum."""
    held = [domain for domain in constraint.domains if domain.value in constraint.minimum_domains]
    return bool(held) and all(
        domain.pinned and all(pin.requirement.kind == "filter" for pin in domain.pinned_by) for domain in held
    )


def _filters_alone(handle: Handle, spread: SpreadDiagnosis, filters: Iterable[FilterRequirement]) -> str:
    """Return what the filters say, each with its nodes; no constraint is to blame."""
    seen: set[str] = set()
    parts = []
    for requirement in filters:
        names = sorted(spread.rejected[requirement] - seen)
        seen |= spread.rejected[requirement]
        parts += _grouped(requirement, names, handle, spread)
    return f"No constraint is to blame: {'; '.join(parts)}."


def _grouped(
    requirement: FilterRequirement, names: Iterable[str], handle: Handle, spread: SpreadDiagnosis
) -> list[str]:
    """Return the nodes a filter rejects, those with the same reason together."""
    by_detail: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_detail[spread.explainer.of(requirement, handle.node_infos[name])].append(name)
    if len(by_detail) > MOST_NAMES:
        everyone = [name for found in by_detail.values() for name in found]
        return [f"{requirement.plugin} rejects {_names(everyone)}"]
    return [
        f"{_names(found)} ({requirement.plugin}: {detail})" if detail else f"{_names(found)} ({requirement.plugin})"
        for detail, found in by_detail.items()
    ]


def _constraint_alone(constraint: ConstraintReport, nodes: int) -> str:
    """Return why one constraint rejects every node by itself."""
    key = constraint.topology_key
    eligible = [domain for domain in constraint.domains if domain.eligible]
    if not constraint.domains:
        return f"No node carries the label {key} that the constraint names."
    if not eligible:
        return (
            f"The constraint on {key} counts none of the {nodes} nodes, and maxSkew {constraint.max_skew} allows none."
        )
    if len(eligible) < constraint.min_domains:
        return (
            f"There are {len(eligible)} domains of {key} ({_names([d.value for d in eligible])}) where minDomains asks"
            f" for {constraint.min_domains}, so the minimum counts as 0 and none may exceed maxSkew"
            f" {constraint.max_skew}."
        )
    holders = _names(list(constraint.minimum_domains))
    return (
        f"Every domain of {key} where this Pod could go would exceed maxSkew {constraint.max_skew} over the minimum of"
        f" {constraint.global_minimum}, held by {holders}, where no node can be used."
    )


def _pinned(constraint: ConstraintReport) -> str:
    """Return who holds the minimum, and why the Pod cannot go there."""
    held = [domain for domain in constraint.domains if domain.value in constraint.minimum_domains]
    pins = [pin for domain in held for pin in domain.pinned_by]
    by_reason: dict[str, list[str]] = defaultdict(list)
    for pin in pins:
        by_reason[pin.detail or reasons.name_of(pin.requirement)].append(pin.node)
    why = "; ".join(f"{_names(nodes)}: {reason}" for reason, nodes in list(by_reason.items())[:MOST_NAMES])
    verb = "hold" if len(held) > 1 else "holds"
    return (
        f"{constraint.topology_key} {_names([d.value for d in held])} {verb} the minimum"
        f" ({count_of(constraint.global_minimum, 'Pod')}) but this Pod cannot land there: {why}."
        f"{_full_domains(constraint.domains, constraint.max_skew)}"
    )


def _full_domains(domains: Iterable[Domain], max_skew: int) -> str:
    """Return how full the domains are that the constraint closes."""
    by_count: dict[int, list[str]] = defaultdict(list)
    for domain in domains:
        if domain.eligible and not domain.allowed:
            by_count[domain.matching].append(domain.value)
    if not by_count:
        return ""
    parts = [f"{_names(values)} {'are' if len(values) > 1 else 'is'} at {n}" for n, values in sorted(by_count.items())]
    return f" {', '.join(parts)}, maxSkew {max_skew}."


def _together(core: Collection[Requirement], handle: Handle, spread: SpreadDiagnosis) -> str:
    """Return what each requirement leaves, where each leaves room and all together leave none."""
    parts = []
    for requirement in core:
        left = sorted(set(handle.node_infos) - spread.rejected[requirement])
        parts.append(f"{_described(requirement, spread)} leaves {_names(left) if left else 'no node'}")
    return f"Each leaves room, together they leave none: {'; '.join(parts)}."


def _described(requirement: Requirement, spread: SpreadDiagnosis) -> str:
    """Return the requirement by its topology key, or by its plugin's name."""
    if isinstance(requirement, FilterRequirement):
        return requirement.plugin
    return f"the constraint on {spread.topology_key(requirement)}"

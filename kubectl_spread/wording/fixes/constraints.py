"""Changes of the constraints, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kubectl_spread.diagnosis.fixes import constraints
from kubectl_spread.diagnosis.fixes.proposals import Proposal
from kubectl_spread.wording.words import count_of, enumerated, first_and_more


def constraints_on(keys: Sequence[str]) -> str:
    """Return ``the constraint on zone``, or ``the constraints on zone and rack``."""
    return f"the constraint{'s' * bool(keys[1:])} on {enumerated(keys)}"


def _fix_selector(fix: constraints.FixSelector, keys: Sequence[str]) -> str:
    others = f", no longer {count_of(fix.others, 'Pod')} of {first_and_more(fix.workloads)}" if fix.workloads else ""
    return f"count only Pods with {fix.selector} in {constraints_on(keys)}{others}"


def _add_pod_label(fix: constraints.AddPodLabel) -> str:
    return f"label the Pod {', '.join(f'{key}={value}' for key, value in fix.labels)}"


def _fix_topology_key(fix: constraints.FixTopologyKey, keys: Sequence[str]) -> str:
    former = " and an older revision uses" if fix.former else ""
    return f"use the topologyKey {fix.meant}, which nodes carry{former}, instead of {enumerated(keys)}"


def _add_match_label_keys(fix: constraints.AddMatchLabelKeys, keys: Sequence[str]) -> str:
    they_count = "they count" if keys[1:] else "it counts"
    added = f"add matchLabelKeys [{fix.label}] to {constraints_on(keys)}"
    return f"{added}, so that {they_count} only Pods of the same revision"


def _honor_taints(_: constraints.HonorTaints, keys: Sequence[str]) -> str:
    policy = f"nodeTaintsPolicy Honor in {constraints_on(keys)}"
    return f"set {policy}, so that cordoned nodes and nodes with untolerated taints do not count"


def _ignore_affinity(_: constraints.IgnoreAffinity, keys: Sequence[str]) -> str:
    policy = f"nodeAffinityPolicy Ignore in {constraints_on(keys)}"
    return f"set {policy}, so that nodes outside the Pod's node affinity count"


def _honor_affinity(_: constraints.HonorAffinity, keys: Sequence[str]) -> str:
    policy = f"nodeAffinityPolicy Honor in {constraints_on(keys)}"
    return f"set {policy}, so that nodes outside the Pod's node affinity do not count"


def _lower_min_domains(fix: constraints.LowerMinDomains, keys: Sequence[str]) -> str:
    few = f"no more than {count_of(fix.min_domains, 'domain')} count{'s' if fix.min_domains == 1 else ''}"
    return f"lower minDomains to {fix.min_domains} in {constraints_on(keys)}, because {few}"


def _raise_max_skew(fix: constraints.RaiseMaxSkew, keys: Sequence[str]) -> str:
    return f"raise maxSkew to {fix.max_skew} in {constraints_on(keys)}"


def _make_soft(_: constraints.MakeSoft, keys: Sequence[str]) -> str:
    policy = f"whenUnsatisfiable ScheduleAnyway in {constraints_on(keys)}"
    return f"set {policy}, so that it is only a preference"


TEXTS: Mapping[type[Proposal], Callable[..., str]] = {
    constraints.FixSelector: _fix_selector,
    constraints.AddPodLabel: _add_pod_label,
    constraints.FixTopologyKey: _fix_topology_key,
    constraints.AddMatchLabelKeys: _add_match_label_keys,
    constraints.HonorTaints: _honor_taints,
    constraints.IgnoreAffinity: _ignore_affinity,
    constraints.HonorAffinity: _honor_affinity,
    constraints.LowerMinDomains: _lower_min_domains,
    constraints.RaiseMaxSkew: _raise_max_skew,
    constraints.MakeSoft: _make_soft,
}
"""Change → its text; of changes of constraints also by their topology keys."""
CAUTIONS: Mapping[type[Proposal], str] = {}

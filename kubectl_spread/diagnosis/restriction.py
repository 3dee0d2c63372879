"""Which nodes the Pod's volumes, or its node affinity, leave to it, and what keeps it off these."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from kubectl_spread.diagnosis import reasons
from kubectl_spread.diagnosis.causes import PinnedNodes, Restriction
from kubectl_spread.diagnosis.domains import SpreadDiagnosis
from kubectl_spread.diagnosis.explainer import Explainer, place_of
from kubectl_spread.diagnosis.requirements import FilterRequirement, Rejected, Requirement
from kubectl_spread.objects.core import Taint
from kubectl_spread.objects.meta import grouped
from kubectl_spread.objects.storage import PersistentVolume
from kubectl_spread.scheduler import dynamicresources, nodeaffinity, nodename, tainttoleration
from kubectl_spread.scheduler.volumebinding import OF_VOLUMES

# Filter → how lasting its reasons are, where they are more so than a cordon or the Pods on a node.
_LASTING: Mapping[str, int] = {
    tainttoleration.NAME: 1,
    **dict.fromkeys((nodename.NAME, nodeaffinity.NAME, *OF_VOLUMES, dynamicresources.NAME), 2),
}


def lasts(plugin: str, reason: reasons.AnyReason | None) -> int:
    """Return how lasting the filter's reason is; taints of controllers pass."""
    from kubectl_spread.controllers.taints import is_passing  # Most Pods find a node.

    taints = reason.taints if isinstance(reason, reasons.UntoleratedTaints) else ()
    passes = bool(taints) and all(is_passing(Taint(key=re.split("[=:]", each)[0])) for each in taints)
    return 0 if passes else _LASTING.get(plugin, 0)


def restriction(blamed: Iterable[str], rejected: Rejected, spread: SpreadDiagnosis) -> Restriction | None:
    """Return what leaves the Pod the fewest nodes, of its volumes and its node affinity; None if neither is blamed.

    ``blamed``: filters, by name. ``rejected``: what the filters reject, which is every node.
    """
    found = [_restricting(each, rejected[FilterRequirement(each)], spread.explainer) for each in blamed]
    fewest = min(filter(None, found), key=lambda each: len(each.nodes), default=None)
    if fewest is None:
        return None
    against = {each: names.intersection(fewest.nodes) for each, names in rejected.items()}
    return replace(fewest, pins=pinned_nodes(against, spread))


def _restricting(plugin: str, others: frozenset[str], explainer: Explainer) -> Restriction | None:
    """Return what the filter leaves of the nodes; None if it leaves none, or what is left has no common name."""
    pod, handle = explainer.evaluation.pod, explainer.handle
    left = handle.index.names - others
    if not left:
        return None
    nodes = tuple(sorted(left))
    if plugin == nodeaffinity.NAME and left == handle.index.matching(nodeaffinity.RequiredNodeAffinity.of(pod)):
        labels = tuple(f"{key}={value}" for key, value in sorted(pod.spec.node_selector.items()))
        return Restriction(labels=labels, terms=pod.spec.required_terms, nodes=nodes, others=len(others))
    if plugin not in OF_VOLUMES:
        return None
    first, *more = explainer.shared(plugin, others)
    claims = first.reason.claims if isinstance(first.reason, reasons.UnusableClaims) and not more else ()
    volumes = (handle.snapshot.get(PersistentVolume, "", each.volume) for each in claims)
    places = {volume and place_of(volume, left, handle.index) for volume in volumes}
    key, values = (places.pop() if len(places) == 1 else None) or ("", ())
    if not key:
        return None
    return Restriction(claims=claims, topology_key=key, values=values, nodes=nodes, others=len(others))


def pinned_nodes(against: Mapping[Requirement, Iterable[str]], spread: SpreadDiagnosis) -> tuple[PinnedNodes, ...]:
    """Return the nodes with what keeps the Pod off them: each node once, and first those that may soonest take it.

    ``against``: requirement → the nodes that it rejects.
    """
    having = defaultdict[str, list[tuple[Requirement, int]]](list)
    for requirement, names in against.items():
        shared = (
            spread.explainer.shared(requirement.plugin, names) if isinstance(requirement, FilterRequirement) else ()
        )
        for index, group in enumerate([each.nodes for each in shared] or [names]):
            for name in group:
                having[name].append((requirement, index))
    found = []
    for same, nodes in grouped(sorted(having), lambda name: tuple(having[name])).items():
        every = tuple(spread.reason_of(requirement, nodes) for requirement, _ in same)
        last = max(lasts(getattr(each, "plugin", ""), why) for (each, _), why in zip(same, every, strict=True))
        order = last, len(every), -len(nodes), [*against].index(same[0][0])
        found.append((order, PinnedNodes(nodes=tuple(nodes), reasons=every)))
    return tuple(pin for _, pin in sorted(found, key=lambda each: each[0]))

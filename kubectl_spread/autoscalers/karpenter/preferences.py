"""What Karpenter drops of a Pod's preferences, one after another, while nothing takes the Pod.

Source: karpenter scheduling/preferences.go (v1.14.1).
"""

from collections.abc import Callable

from msgspec.structs import replace

from kubectl_spread.autoscalers.karpenter import requirements as scheduling
from kubectl_spread.objects.core import Affinity, Pod, PreferredSchedulingTerm, Toleration
from kubectl_spread.scheduler.podtopologyspread import WhenUnsatisfiable
from kubectl_spread.scheduler.tainttoleration import PREFER_NO_SCHEDULE


def relax(pod: Pod, *, tolerates_preferences: bool) -> Pod | None:
    """Return the Pod without the next of its preferences, None where it has none left.

    ``tolerates_preferences``: whether some NodePool has a PreferNoSchedule taint, which counts as one too.
    """
    for step in _STEPS:
        if (found := step(pod)) is not None:
            return found
    return tolerate_prefer_no_schedule_taints(pod) if tolerates_preferences else None


def pod_requirements(pod: Pod) -> dict[str, scheduling.Requirement]:
    """Return what the Pod asks of a node's labels, with its heaviest preference."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    preferred = affinity.preferred if affinity else ()
    heaviest = max(preferred, key=lambda term: term.weight, default=PreferredSchedulingTerm())
    preference = map(scheduling.requirement, heaviest.preference.match_expressions)
    return scheduling.added(scheduling.strict_pod_requirements(pod), preference)


def remove_required_node_affinity_term(pod: Pod) -> Pod | None:
    """Return the Pod without the first term of its required node affinity, where another one is left."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None or not pod.spec.required_terms[1:]:
        return None
    required = affinity.node_affinity.required
    left = required and replace(required, node_selector_terms=required.node_selector_terms[1:])
    changed = replace(affinity.node_affinity, required=left)
    return _with_affinity(pod, replace(affinity, node_affinity=changed))


def _remove_preferred_term(pod: Pod, name: str) -> Pod | None:
    affinity = getattr(pod.spec.affinity, name, None)
    if pod.spec.affinity is None or not (affinity and affinity.preferred):
        return None
    _, *left = sorted(affinity.preferred, key=lambda term: -term.weight)
    changed = replace(affinity, preferred=tuple(left))
    return _with_affinity(pod, replace(pod.spec.affinity, **{name: changed}))


def _remove_topology_spread_schedule_anyway(pod: Pod) -> Pod | None:
    constraints = list(pod.spec.topology_spread_constraints)
    for index, constraint in enumerate(constraints):
        if constraint.when_unsatisfiable == WhenUnsatisfiable.SCHEDULE_ANYWAY:
            # The last one takes its place.
            constraints[index] = constraints[-1]
            return replace(pod, spec=replace(pod.spec, topology_spread_constraints=tuple(constraints[:-1])))
    return None


def tolerate_prefer_no_schedule_taints(pod: Pod) -> Pod | None:
    """Return the Pod with a toleration of PreferNoSchedule taints, None where it has that."""
    toleration = Toleration(operator="Exists", effect=PREFER_NO_SCHEDULE)
    if any(replace(each, toleration_seconds=None) == toleration for each in pod.spec.tolerations):
        return None
    return replace(pod, spec=replace(pod.spec, tolerations=(*pod.spec.tolerations, toleration)))


def _with_affinity(pod: Pod, affinity: Affinity) -> Pod:
    return replace(pod, spec=replace(pod.spec, affinity=affinity))


_STEPS: tuple[Callable[[Pod], Pod | None], ...] = (
    remove_required_node_affinity_term,
    lambda pod: _remove_preferred_term(pod, "pod_affinity"),
    lambda pod: _remove_preferred_term(pod, "pod_anti_affinity"),
    lambda pod: _remove_preferred_term(pod, "node_affinity"),
    _remove_topology_spread_schedule_anyway,
)

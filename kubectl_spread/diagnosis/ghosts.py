"""Ghost Pods: Pods that carry a constraint whose selector does not match them.

Placing one changes no count, so any number of them may pile into one domain, and the constraint never notices.
"""

from __future__ import annotations

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import Constraint, parsable_constraints


def is_ghost(pod: Pod, constraint: Constraint) -> bool:
    """Whether the constraint selects Pods, and this Pod, which carries it, is none of them."""
    selector = constraint.selector
    return not selector.nothing and not selector.empty and not selector.matches(pod.metadata.labels)


def ghosts(pods: tuple[Pod, ...], index: int, handle: Handle) -> tuple[str, ...]:
    """Return the names of the Pods that their own constraint of that index does not match, by name."""
    return tuple(
        sorted(
            pod.metadata.name
            for pod in pods
            for constraint in parsable_constraints(pod, handle)
            if constraint.index == index and is_ghost(pod, constraint)
        )
    )

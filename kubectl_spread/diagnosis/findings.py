"""What is worth knowing about a Pod's constraints beyond the verdict, each with what to do."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_spread.diagnosis import reasons
from kubectl_spread.diagnosis.domains import SpreadDiagnosis
from kubectl_spread.diagnosis.ghosts import is_ghost
from kubectl_spread.objects.core import Pod
from kubectl_spread.report import ConstraintReport, Finding, Severity
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.podtopologyspread import constraints_of

SHOWN_PINS = 3


def of_pod(pod: Pod, handle: Handle, spread: SpreadDiagnosis) -> tuple[Finding, ...]:
    """Return the findings of one Pod, in the order of its constraints."""
    found = [*_ghost(pod, handle)]
    for constraint in spread.constraints:
        found += _missing_key(constraint)
        found += _pinned_minimum(constraint)
    return tuple(found)


def path_of(index: int, field: str = "") -> str:
    """Return the path of a constraint, or of one of its fields."""
    return f"spec.topologySpreadConstraints[{index}]" + (f".{field}" if field else "")


def _ghost(pod: Pod, handle: Handle) -> Iterable[Finding]:
    """Yield the constraints that do not count the Pod that carries them."""
    for constraint in constraints_of(pod, handle):
        if is_ghost(pod, constraint):
            yield Finding(
                id="GhostPod",
                severity=Severity.WARNING,
                path=path_of(constraint.index, "labelSelector"),
                message=f"{pod.metadata.name} does not match the selector {constraint.selector} of its own constraint:"
                " it is not counted, and neither are Pods like it. Make the selector match the Pod's labels.",
            )


def _missing_key(constraint: ConstraintReport) -> Iterable[Finding]:
    """Yield what there is to say of nodes that lack a hard constraint's key, and of keys that may be meant."""
    lacking = [node for node in constraint.bypassed_nodes if node.key == constraint.topology_key]
    if constraint.when_unsatisfiable != "DoNotSchedule" or not lacking:
        return
    nowhere = not constraint.domains
    names = f"{len(lacking)} node(s)" if len(lacking) > 1 else lacking[0].name
    yield Finding(
        id="MissingTopologyKey",
        severity=Severity.ERROR if nowhere else Severity.WARNING,
        path=path_of(constraint.index, "topologyKey"),
        message=f"no node carries the label {constraint.topology_key}: no Pod with this constraint can be scheduled."
        if nowhere
        else f"{names} lack the label {constraint.topology_key} and can take no Pod with this constraint.",
    )
    similar = sorted({key for node in lacking for key in node.similar_keys or ()})
    if similar:
        yield Finding(
            id="SimilarTopologyKey",
            severity=Severity.WARNING,
            path=path_of(constraint.index, "topologyKey"),
            message=f"nodes without {constraint.topology_key} carry {', '.join(similar)}: is that the key you mean?",
        )


def _pinned_minimum(constraint: ConstraintReport) -> Iterable[Finding]:
    """Yield the minimum that no Pod can raise, where the constraint rejects nodes because of it."""
    held = [domain for domain in constraint.domains if domain.eligible and domain.value in constraint.minimum_domains]
    rejects = any(domain.eligible and not domain.allowed for domain in constraint.domains)
    pins = [pin for domain in held for pin in domain.pinned_by]
    pinned = all(domain.pinned for domain in held) and all(pin.requirement.kind == "filter" for pin in pins)
    if not held or not rejects or not pinned:
        return
    shown = [f"{pin.node} ({pin.detail or reasons.name_of(pin.requirement)})" for pin in pins[:SHOWN_PINS]]
    more = [f"{len(pins) - SHOWN_PINS} more"] if len(pins) > SHOWN_PINS else []
    yield Finding(
        id="PinnedMinimum",
        severity=Severity.ERROR,
        path=path_of(constraint.index),
        message=f"the minimum ({constraint.global_minimum}) is held by {', '.join(d.value for d in held)}, where"
        f" this Pod cannot go: {', '.join([*shown, *more])}. Until that changes, every other domain stops at"
        f" {constraint.global_minimum + constraint.max_skew}.",
    )

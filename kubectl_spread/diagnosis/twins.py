"""The judgement of a Pod, made from that of its twin: a Pod that differs only in its name.

The name is also in objects created for each Pod: the claims of ephemeral volumes are named after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

import msgspec
from msgspec.structs import replace

from kubectl_spread.diagnosis.evaluation import Judgement, judge
from kubectl_spread.diagnosis.findings import Finding, GhostPod
from kubectl_spread.diagnosis.reasons import ClaimHolder, ClaimState
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import cycle

T = TypeVar("T")


def judgement_for(pod: Pod, twin: Judgement) -> Judgement:
    """Return the scheduler's decision about the Pod, given its decision about the Pod's twin."""
    evaluation, blame = twin.evaluation, twin.blame
    claims = {
        f"{evaluation.pod.metadata.name}-{volume.name}": f"{pod.metadata.name}-{volume.name}"
        for volume in pod.spec.volumes
        if volume.ephemeral is not None
    }
    # The scheduler's message may name the claims: in PreFilter, or in a filter without VolumeBinding.
    if evaluation.pre_filter is not None or any(name in evaluation.message for name in claims):
        return judge(cycle.evaluate(pod, twin.handle), twin.handle)
    if blame is not None:
        blame = replace(blame, known=_with_claims(blame.cause, claims) if claims else blame.cause)
    return replace(twin, evaluation=replace(evaluation, pod=pod), blame=blame)


def findings_for(pod: Pod, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings about the Pod, given those about its twin."""
    name = pod.metadata.name
    return tuple(replace(each, pod=name) if isinstance(each, GhostPod) else each for each in findings)


def _with_claims(conclusion: T, claims: Mapping[str, str]) -> T:
    """Return the conclusion, or a part of one, with each of the twin's own claims replaced by the Pod's."""
    changed: object = conclusion
    if isinstance(conclusion, tuple):
        changed = tuple(_with_claims(each, claims) for each in cast("tuple[object, ...]", conclusion))
    elif isinstance(conclusion, ClaimState):
        changed = replace(conclusion, name=claims.get(conclusion.name, conclusion.name))
    elif isinstance(conclusion, ClaimHolder):
        changed = replace(conclusion, claim=claims.get(conclusion.claim, conclusion.claim))
    elif isinstance(conclusion, msgspec.Struct):
        parts = {name: getattr(conclusion, name) for name in conclusion.__struct_fields__}
        changed = replace(conclusion, **{name: _with_claims(part, claims) for name, part in parts.items()})
    return cast("T", changed)

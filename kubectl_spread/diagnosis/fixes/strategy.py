"""A change of the strategy of a stuck rollout: its surge Pod gets the room of an older Pod that ends first."""

from collections.abc import Sequence
from functools import reduce

from msgspec.structs import replace

from kubectl_spread.controllers.next_pod import older_pods
from kubectl_spread.controllers.workloads import owner_of
from kubectl_spread.diagnosis.fixes.candidate import ChangeOwner
from kubectl_spread.diagnosis.fixes.change import Override
from kubectl_spread.diagnosis.fixes.patch import set_to
from kubectl_spread.diagnosis.fixes.proposals import Proposal
from kubectl_spread.diagnosis.fixes.situation import Situation
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.workloads import ROLLING_UPDATE, Deployment, RollingUpdate, UpdateStrategy
from kubectl_spread.scheduler.framework import Handle

NONE = frozenset((0, "0", "0%"))  # Values of maxUnavailable with which somebody decided that no Pod less may run
MOST_PODS = 100  # A Deployment with more replicas (count) is not tried


class ChangeStrategy(Proposal, frozen=True, kw_only=True):
    """The Deployment replaces its Pods without surge; so many of its ``replicas`` (counts) may be unavailable."""

    owner: str
    max_unavailable: int
    replicas: int


def candidates(situation: Situation) -> Sequence[ChangeOwner]:
    """Return the strategies without surge, those that keep most Pods running first; empty if no rollout waits."""
    owner = situation.patchable_owner
    older = () if situation.written or situation.bound_for else older_pods(situation.pod, situation.handle.snapshot)
    if not older or not isinstance(owner, Deployment) or owner.spec.replicas_wanted > MOST_PODS:
        return ()
    alone = (pod for pod in older if replace(situation, handle=situation.handle.without_pod(pod)).feasible)
    first = next(alone, None)
    gone = (first,) if first else tuple(older)
    if not replace(situation, handle=reduce(Handle.without_pod, gone, situation.handle)).feasible:
        return ()
    return [_without_surge(owner, most, gone, situation) for most in range(1, owner.spec.replicas_wanted + 1)]


def _without_surge(owner: Deployment, most: int, gone: tuple[Pod, ...], situation: Situation) -> ChangeOwner:
    bounds = owner.spec.strategy.rolling_update
    decided = bounds is not None and bounds.max_unavailable in NONE
    strategy = UpdateStrategy(type=ROLLING_UPDATE, rolling_update=RollingUpdate(max_surge=0, max_unavailable=most))
    value = {"type": ROLLING_UPDATE, "rollingUpdate": {"maxSurge": 0, "maxUnavailable": most}}
    return ChangeOwner(
        proposal=ChangeStrategy(
            owner=str(owner_of(situation.pod, situation.handle.snapshot)),
            max_unavailable=most,
            replicas=owner.spec.replicas_wanted,
            overrides=Override.DECISION if decided else Override.NOTHING,
        ),
        obj=situation.pod,
        group=situation.pod.key,
        changed=replace(owner, spec=replace(owner.spec, strategy=strategy)),
        operations=(set_to("/spec/strategy", value),),
        gone=gone,
    )

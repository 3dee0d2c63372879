"""DynamicResources: devices that Pods claim. Not modelled, save the score of a Pod without claims.

Source: kube-scheduler dynamicresources/dynamicresources.go (v1.36).
"""

from __future__ import annotations

from collections.abc import Sequence

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import Handle, NodeInfo
from kubectl_spread.scheduler.profile import Behaviour

NAME = "DynamicResources"


def pre_score(_pod: Pod, handle: Handle, nodes: Sequence[NodeInfo]) -> dict[str, int] | None:
    """Return 0 for every feasible node, None in the releases that do not score devices."""
    if not handle.profile.does(Behaviour.DEVICES_SCORE):
        return None
    return {info.name: 0 for info in nodes}

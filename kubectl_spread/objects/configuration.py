"""The scheduler's configuration file.

Source: kube-scheduler config/v1 types.go (kubescheduler.config.k8s.io/v1, v1.36).
"""

from __future__ import annotations

from typing import Any

from kubectl_spread.objects.core import NodeAffinity, TopologySpreadConstraint
from kubectl_spread.objects.meta import Struct


class PluginConfig(Struct, frozen=True):
    """The arguments of one plugin, still as plain values: their type depends on the plugin."""

    name: str = ""
    args: dict[str, Any] = {}


class SchedulerProfile(Struct, frozen=True):
    """One entry of ``profiles``."""

    scheduler_name: str = "default-scheduler"
    plugin_config: tuple[PluginConfig, ...] = ()


class KubeSchedulerConfiguration(Struct, frozen=True):
    """All profiles of one scheduler."""

    api_version: str = ""
    kind: str = ""
    profiles: tuple[SchedulerProfile, ...] = (SchedulerProfile(),)


class PodTopologySpreadArgs(Struct, frozen=True):
    """Arguments of PodTopologySpread; defaultingType is System unless it says List."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = "System"


class NodeAffinityArgs(Struct, frozen=True):
    """Arguments of NodeAffinity."""

    added_affinity: NodeAffinity | None = None

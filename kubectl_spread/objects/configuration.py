"""The scheduler's configuration file.

Source: kube-scheduler config/v1 types.go (kubescheduler.config.k8s.io/v1, v1.36).
"""

from typing import Any

from kubectl_spread.objects.core import NodeAffinity, TopologySpreadConstraint
from kubectl_spread.objects.meta import Struct

DEFAULT_SCHEDULER = "default-scheduler"


class Plugin(Struct, frozen=True):
    """A plugin, and its weight if it scores."""

    name: str = ""
    weight: int = 0


class PluginSet(Struct, frozen=True):
    """Plugins in addition to the defaults, and disabled ones; ``*`` disables all defaults."""

    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[Plugin, ...] = ()


class Plugins(Struct, frozen=True):
    """Plugins of the extension points that filter or score nodes, or preempt Pods."""

    multi_point: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()


class PluginConfig(Struct, frozen=True):
    """The arguments of one plugin as plain values, since their type depends on the plugin."""

    name: str = ""
    args: dict[str, Any] = {}


class SchedulerProfile(Struct, frozen=True):
    """One entry of ``profiles``."""

    scheduler_name: str = DEFAULT_SCHEDULER
    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfig, ...] = ()
    percentage_of_nodes_to_score: int | None = None


class KubeSchedulerConfiguration(Struct, frozen=True):
    """All profiles of one scheduler."""

    api_version: str = ""
    kind: str = ""
    profiles: tuple[SchedulerProfile, ...] = (SchedulerProfile(),)
    percentage_of_nodes_to_score: int = 0


class PodTopologySpreadArgs(Struct, frozen=True):
    """Arguments of PodTopologySpread; the defaulting type is System or List."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = "System"


class NodeAffinityArgs(Struct, frozen=True):
    """Arguments of NodeAffinity."""

    added_affinity: NodeAffinity | None = None


class InterPodAffinityArgs(Struct, frozen=True):
    """Arguments of InterPodAffinity."""

    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class ResourceSpec(Struct, frozen=True):
    """A resource that counts in a score; weight 0 means 1."""

    name: str = ""
    weight: int = 1


DEFAULT_RESOURCES = (ResourceSpec(name="cpu"), ResourceSpec(name="memory"))


class UtilizationShapePoint(Struct, frozen=True):
    """The score (0..10) of a utilization (percent)."""

    utilization: int = 0
    score: int = 0


class UtilizationShape(Struct, frozen=True):
    """A function of the utilization: straight lines between the points.

    VolumeBinding has it as its arguments: without points, nodes with more free storage score higher.
    """

    shape: tuple[UtilizationShapePoint, ...] = ()


class ScoringStrategy(Struct, frozen=True):
    """How NodeResourcesFit scores: LeastAllocated, MostAllocated or RequestedToCapacityRatio."""

    type: str = "LeastAllocated"
    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES
    requested_to_capacity_ratio: UtilizationShape = UtilizationShape()


class NodeResourcesFitArgs(Struct, frozen=True):
    """Arguments of NodeResourcesFit."""

    ignored_resources: frozenset[str] = frozenset()
    ignored_resource_groups: frozenset[str] = frozenset()
    scoring_strategy: ScoringStrategy = ScoringStrategy()


class NodeResourcesBalancedAllocationArgs(Struct, frozen=True):
    """Arguments of NodeResourcesBalancedAllocation."""

    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES

"""Which plugins run, in which order and with which weights, and what differs between releases.

Source: kube-scheduler pkg/scheduler/apis/config/v1/default_plugins.go mergePlugins, framework/runtime/
framework.go expandMultiPointPlugins (v1.36); each Switch names its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, unique
from typing import TypeVar

import msgspec

from kubectl_spread import release
from kubectl_spread.objects.configuration import (
    DEFAULT_SCHEDULER,
    InterPodAffinityArgs,
    KubeSchedulerConfiguration,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    Plugin,
    Plugins,
    PluginSet,
    PodTopologySpreadArgs,
    SchedulerProfile,
    UtilizationShape,
)
from kubectl_spread.objects.core import NodeAffinity, Pod, TopologySpreadConstraint
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.meta import Plain
from kubectl_spread.objects.well_known_labels import HOSTNAME, ZONE
from kubectl_spread.release import NEWEST_MINOR, OLDEST_MINOR, REFERENCE_MINOR, Gate, Release

ALL = "*"
SCORES_ONLY = frozenset(("NodeResourcesBalancedAllocation", "ImageLocality"))
# Score plugin → weight.
DEFAULT_WEIGHTS: Mapping[str, int] = {
    "TaintToleration": 3,
    **dict.fromkeys(("NodeAffinity", "PodTopologySpread", "InterPodAffinity", "DynamicResources"), 2),
    **dict.fromkeys(("NodeResourcesFit", "VolumeBinding", *SCORES_ONLY), 1),
}
# Default plugins that neither filter nor score nodes.
NEITHER = frozenset(("SchedulingGates", "PrioritySort", "DefaultPreemption", "DefaultBinder", "GangScheduling"))
PREEMPTION = Plugin(name="DefaultPreemption")


def filters(defaults: Sequence[Plugin], custom: Plugins) -> tuple[str, ...]:
    """Return the filter plugins in the order in which they run; third-party plugins count as filters."""
    everywhere = _merge_plugin_set(defaults, custom.multi_point)
    named = [plugin for plugin in everywhere if plugin.name not in SCORES_ONLY | NEITHER]
    return tuple(plugin.name for plugin in _expand(named, custom.filter))


def weights(defaults: Sequence[Plugin], custom: Plugins) -> Mapping[str, int]:
    """Return score plugin → weight; a weight of 0 means 1."""
    everywhere = _merge_plugin_set(defaults, custom.multi_point)
    named = [plugin for plugin in everywhere if plugin.name in DEFAULT_WEIGHTS]
    return {plugin.name: plugin.weight or 1 for plugin in _expand(named, custom.score)}


def preempts(custom: Plugins) -> bool:
    """Whether the profile runs DefaultPreemption, as the default profile does."""
    everywhere = _merge_plugin_set([PREEMPTION], custom.multi_point)
    return PREEMPTION.name in {plugin.name for plugin in _expand(everywhere, custom.post_filter)}


def _without_disabled(plugins: Iterable[Plugin], custom: PluginSet) -> list[Plugin]:
    disabled = {plugin.name for plugin in custom.disabled}
    return [plugin for plugin in plugins if not disabled & {ALL, plugin.name}]


def _merge_plugin_set(defaults: Sequence[Plugin], custom: PluginSet) -> list[Plugin]:
    """Return the default plugins without the disabled ones; enabled plugins replace those of their name or follow them.

    Source: apis/config/v1/default_plugins.go mergePluginSet (v1.36).
    """
    enabled = {plugin.name: plugin for plugin in custom.enabled}
    kept = _without_disabled(defaults, custom)
    names = {plugin.name for plugin in kept}
    added = [plugin for plugin in custom.enabled if plugin.name not in names]
    return [*(enabled.get(plugin.name, plugin) for plugin in kept), *added]


def _expand(everywhere: Sequence[Plugin], here: PluginSet) -> list[Plugin]:
    """Return the plugins of one extension point: first those that replace others, then the rest, then added ones.

    Source: framework/runtime/framework.go expandMultiPointPlugins (v1.36).
    """
    enabled = {plugin.name for plugin in here.enabled}
    kept = _without_disabled(everywhere, here)
    names = {plugin.name for plugin in kept}
    replacing = [plugin for plugin in here.enabled if plugin.name in names]
    added = [plugin for plugin in here.enabled if plugin.name not in names]
    return [*replacing, *(plugin for plugin in kept if plugin.name not in enabled), *added]


ArgsT = TypeVar("ArgsT")


class Switch(msgspec.Struct, frozen=True):
    """The releases in which kube-scheduler behaves in a certain way."""

    source: str  # the upstream file, below pkg/scheduler/framework/plugins unless it says otherwise
    since: int = 0  # the first minor release of Kubernetes 1
    until: int = NEWEST_MINOR  # the last minor release
    gate: Gate | None = None  # the feature gate that enables it in those releases; None for none

    def holds(self, release: Release) -> bool:
        """Whether the release has the behaviour."""
        return self.since <= release.minor <= self.until and (self.gate is None or release.enables(self.gate))


@unique
class Behaviour(Enum):
    """A behaviour that some releases have and others do not."""

    EMPTY_SELECTOR_COUNTS = Switch("podtopologyspread/common.go countPodsMatchSelector", until=26)
    MATCH_LABEL_KEYS = Switch("podtopologyspread/common.go", gate=release.MATCH_LABEL_KEYS)
    MIN_DOMAINS = Switch("podtopologyspread/filtering.go minMatchNum", gate=release.MIN_DOMAINS)
    NODE_INCLUSION_POLICIES = Switch(
        "podtopologyspread/common.go matchNodeInclusionPolicies", gate=release.NODE_INCLUSION_POLICIES
    )
    NODE_NAME_NARROWS = Switch("nodename/node_name.go PreFilter", since=37)
    TAINT_IN_REASON = Switch("tainttoleration/taint_toleration.go Filter", until=33)
    NAMESPACE_SELECTOR_STAYS = Switch(
        "interpodaffinity/plugin.go mergeAffinityTermNamespacesIfNotEmpty", since=34, until=36
    )
    FIT_UNRESOLVABLE = Switch("noderesources/fit.go Filter", since=34)
    POD_LEVEL_RESOURCES = Switch("component-helpers resource/helpers.go PodRequests", gate=release.POD_LEVEL_RESOURCES)
    POD_LEVEL_RESIZE = Switch("component-helpers resource/helpers.go PodRequests", gate=release.POD_LEVEL_RESIZE)
    IN_PLACE_RESIZE = Switch(
        "component-helpers resource/helpers.go AggregateContainerRequests", since=33, gate=release.IN_PLACE_RESIZE
    )
    RESIZE_BY_POD = Switch("component-helpers resource/helpers.go AggregateContainerRequests", since=37)
    RESIZE_PREEMPTION = Switch("deferredpodscheduling/deferred_pod_scheduling.go", gate=release.RESIZE_PREEMPTION)
    BALANCE_BY_IMPROVEMENT = Switch("noderesources/balanced_allocation.go balancedResourceScorer", since=36)
    IMAGE_VOLUMES_SCORE = Switch("imagelocality/image_locality.go sumImageScores", since=36)
    IMAGE_VOLUMES_IN_THRESHOLD = Switch("imagelocality/image_locality.go Score", since=37)
    DYNAMIC_RESOURCES = Switch("dynamicresources/dynamicresources.go", gate=release.DYNAMIC_RESOURCES)
    EXTENDED_RESOURCES_BY_DEVICES = Switch(
        "noderesources/fit.go shouldDelegateResourceToDRA", gate=release.EXTENDED_RESOURCES_BY_DEVICES
    )
    BINDING_CONDITIONS = Switch(
        "dynamicresources/dynamicresources.go isClaimReadyForBinding", gate=release.DEVICE_BINDING_CONDITIONS
    )
    PRIORITIZED_LIST = Switch("dynamicresources/dynamicresources.go PreFilter", gate=release.PRIORITIZED_LIST)
    CLAIM_OWNER_REASON = Switch("dynamic-resource-allocation resourceclaim/resourceclaim.go IsForPod", since=36)
    DEVICES_SCORE = Switch("dynamicresources/dynamicresources.go Score", since=35)
    DECLARED_FEATURES = Switch("nodedeclaredfeatures/nodedeclaredfeatures.go", gate=release.NODE_DECLARED_FEATURES)
    DECLARED_USER_NAMESPACES = Switch(
        "component-helpers nodedeclaredfeatures/features/usernamespaceshostnetwork",
        since=36,
        gate=release.NODE_DECLARED_FEATURES,
    )
    DECLARED_BIND_MOUNT_OPTIONS = Switch(
        "component-helpers nodedeclaredfeatures/features/volumebindmountoptions",
        since=37,
        gate=release.NODE_DECLARED_FEATURES,
    )
    FEATURES_IN_REASON = Switch("nodedeclaredfeatures/nodedeclaredfeatures.go Filter", until=35)
    NUMERIC_TOLERATIONS = Switch("api core/v1/toleration.go ToleratesTaint", gate=release.NUMERIC_TOLERATIONS)
    SAME_CLAIM_REASON = Switch("volumerestrictions/volume_restrictions.go Filter", until=33)
    PORTWORX_ANNOTATED = Switch("nodevolumelimits/utils.go isCSIMigrationOn", until=35)
    VOLUME_LIMIT_SCALING = Switch("nodevolumelimits/csi.go Filter", gate=release.VOLUME_LIMIT_SCALING)
    DRIVER_OPTS_IN = Switch("nodevolumelimits/csi.go checkCSIDriverOnNode", since=36)
    STORAGE_CAPACITY_SCORING = Switch("volumebinding/volume_binding.go PreScore", gate=release.STORAGE_CAPACITY_SCORING)
    SCHEDULING_GROUPS = Switch("gangscheduling/gangscheduling.go PreEnqueue, Permit", gate=release.GENERIC_WORKLOAD)
    GATED_NOMINATED = Switch("pkg/scheduler/backend/queue/scheduling_queue.go addPod", since=37)
    FIRST_BUDGET_DECIDES = Switch(
        "pkg/scheduler/framework/preemption/preemption.go FilterVictimsWithPDBViolation", since=37
    )
    VOLUME_ATTRIBUTES_CLASS = Switch(
        "component-helpers storage/volume/pv_helpers.go FindMatchingVolume", gate=release.VOLUME_ATTRIBUTES_CLASS
    )


def behaviours(release: Release) -> frozenset[Behaviour]:
    """Return the behaviours of the release; an unknown release counts as the nearest known one."""
    nearest = Release(max(OLDEST_MINOR, min(release.minor, NEWEST_MINOR)), release.gates)
    return frozenset(behaviour for behaviour in Behaviour if behaviour.value.holds(nearest))


def known_gates() -> frozenset[str]:
    """Return the names of the feature gates that change an answer."""
    return frozenset(behaviour.value.gate.name for behaviour in Behaviour if behaviour.value.gate)


# Source: podtopologyspread/plugin.go systemDefaultConstraints (v1.36).
SYSTEM_CONSTRAINTS = (
    TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, when_unsatisfiable="ScheduleAnyway"),
    TopologySpreadConstraint(max_skew=5, topology_key=ZONE, when_unsatisfiable="ScheduleAnyway"),
)

# The least number of feasible nodes to score, and the least percentage. Source: schedule_one.go (v1.36).
MIN_NODES_TO_SCORE, MIN_PERCENTAGE_TO_SCORE = 100, 5


def default_plugins(behaviours: frozenset[Behaviour]) -> tuple[Plugin, ...]:
    """Return the filter and score plugins of the default profile, in order.

    Source: apis/config/v1/default_plugins.go getDefaultPlugins, applyFeatureGates (v1.36, v1.37).
    """
    names = ["NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts"]
    if Behaviour.NODE_NAME_NARROWS in behaviours:
        names[:2] = ["NodeName", "NodeUnschedulable"]
    if Behaviour.RESIZE_PREEMPTION in behaviours:
        names.append("DeferredPodScheduling")
    names += ["NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"]
    names += ["PodTopologySpread", "InterPodAffinity"]
    if Behaviour.DYNAMIC_RESOURCES in behaviours:
        names.append("DynamicResources")
    names += ["NodeResourcesBalancedAllocation", "ImageLocality"]
    if Behaviour.DECLARED_FEATURES in behaviours:
        names.append("NodeDeclaredFeatures")
    return tuple(Plugin(name=name, weight=DEFAULT_WEIGHTS.get(name, 1)) for name in names)


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One profile of a scheduler."""

    release: Release
    behaviours: frozenset[Behaviour]  # the behaviours of the release with its feature gates
    filters: tuple[str, ...]  # the filter plugins, in the order in which they run
    weights: Mapping[str, int]  # score plugin → weight
    scheduler_name: str
    default_constraints: tuple[TopologySpreadConstraint, ...]
    system_defaulted: bool  # whether the default constraints are the built-in ones (defaultingType System)
    added_affinity: NodeAffinity | None  # the affinity that NodeAffinityArgs adds to every Pod
    inter_pod_affinity: InterPodAffinityArgs
    fit: NodeResourcesFitArgs
    balanced_allocation: NodeResourcesBalancedAllocationArgs
    volume_binding: UtilizationShape
    preempts: bool  # whether it preempts Pods
    percentage_of_nodes_to_score: int = 0  # 0 where the number of nodes decides

    def does(self, behaviour: Behaviour) -> bool:
        """Whether the release has the behaviour."""
        return behaviour in self.behaviours

    def serves(self, pod: Pod) -> bool:
        """Whether the Pod names this profile's scheduler."""
        return (pod.spec.scheduler_name or DEFAULT_SCHEDULER) == self.scheduler_name

    def nodes_to_score(self, nodes: int) -> int:
        """Return after how many feasible nodes (count) the scheduler stops looking for more.

        Source: schedule_one.go numFeasibleNodesToFind, findNodesThatPassFilters (the same from v1.33 to v1.37).
        """
        if not self.weights:
            return 1
        percentage = self.percentage_of_nodes_to_score or max(50 - nodes // 125, MIN_PERCENTAGE_TO_SCORE)
        return max(nodes * percentage // 100, MIN_NODES_TO_SCORE)


def default_profile(minor: int = REFERENCE_MINOR, *, gates: Mapping[str, bool] | None = None) -> Profile:
    """Return the profile of a kube-scheduler of the release without a configuration."""
    return _build_profile(SchedulerProfile(), Release(minor, gates or {}))


def configured_profiles(
    configuration: Plain, *, minor: int = REFERENCE_MINOR, gates: Mapping[str, bool] | None = None
) -> tuple[Profile, ...]:
    """Return the profiles of the configuration (plain values), at least one.

    Raises:
        DecodeError: a field has the wrong type.
    """
    configured = convert(configuration, KubeSchedulerConfiguration)
    release, percentage = Release(minor, gates or {}), configured.percentage_of_nodes_to_score
    return tuple(_build_profile(each, release, percentage) for each in configured.profiles or (SchedulerProfile(),))


def _build_profile(configured: SchedulerProfile, release: Release, percentage_of_all: int = 0) -> Profile:
    does = behaviours(release)
    defaults = default_plugins(does)
    configs = {config.name: config.args for config in configured.plugin_config}

    def arguments(plugin: str, kind: type[ArgsT]) -> ArgsT:
        return convert(configs.get(plugin, {}), kind)

    spread = arguments("PodTopologySpread", PodTopologySpreadArgs)
    system = spread.defaulting_type == "System"
    percentage = configured.percentage_of_nodes_to_score
    return Profile(
        release=release,
        behaviours=does,
        scheduler_name=configured.scheduler_name,
        filters=filters(defaults, configured.plugins),
        weights=weights(defaults, configured.plugins),
        default_constraints=SYSTEM_CONSTRAINTS if system else spread.default_constraints,
        system_defaulted=system,
        added_affinity=arguments("NodeAffinity", NodeAffinityArgs).added_affinity,
        inter_pod_affinity=arguments("InterPodAffinity", InterPodAffinityArgs),
        fit=arguments("NodeResourcesFit", NodeResourcesFitArgs),
        balanced_allocation=arguments("NodeResourcesBalancedAllocation", NodeResourcesBalancedAllocationArgs),
        volume_binding=arguments("VolumeBinding", UtilizationShape),
        preempts=preempts(configured.plugins),
        percentage_of_nodes_to_score=percentage_of_all if percentage is None else percentage,
    )

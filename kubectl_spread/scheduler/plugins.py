"""Which filters and scores a profile runs where its configuration enables and disables plugins.

Source: kube-scheduler pkg/scheduler/apis/config/v1/default_plugins.go mergePlugins, framework/runtime/framework.go
expandMultiPointPlugins (v1.36).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubectl_spread.objects.configuration import Plugin, Plugins, PluginSet

ALL = "*"
SCORES_ONLY = frozenset(("NodeResourcesBalancedAllocation", "ImageLocality"))
SCORES = SCORES_ONLY | {
    "TaintToleration",
    "NodeAffinity",
    "NodeResourcesFit",
    "VolumeBinding",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
}
NEITHER = frozenset(("SchedulingGates", "PrioritySort", "DefaultPreemption", "DefaultBinder", "GangScheduling"))
"""Default plugins that say nothing about nodes."""
PREEMPTION = Plugin(name="DefaultPreemption")


def filters(defaults: Sequence[Plugin], custom: Plugins) -> tuple[str, ...]:
    """Return the filter plugins in the order they run; plugins that are not Kubernetes' own are taken for filters."""
    everywhere = _merged(defaults, custom.multi_point)
    named = [plugin for plugin in everywhere if plugin.name not in SCORES_ONLY | NEITHER]
    return tuple(plugin.name for plugin in _expanded(named, custom.filter))


def weights(defaults: Sequence[Plugin], custom: Plugins) -> Mapping[str, int]:
    """Return score plugin → weight; a weight of 0 means 1."""
    everywhere = _merged(defaults, custom.multi_point)
    named = [plugin for plugin in everywhere if plugin.name in SCORES]
    return {plugin.name: plugin.weight or 1 for plugin in _expanded(named, custom.score)}


def preempts(custom: Plugins) -> bool:
    """Whether the profile runs DefaultPreemption, which the default one does."""
    everywhere = _merged([PREEMPTION], custom.multi_point)
    return PREEMPTION.name in {plugin.name for plugin in _expanded(everywhere, custom.post_filter)}


def _merged(defaults: Sequence[Plugin], custom: PluginSet) -> list[Plugin]:
    """Return the defaults without what is disabled, with what is enabled in their place or behind them.

    Source: apis/config/v1/default_plugins.go mergePluginSet (v1.36).
    """
    disabled = {plugin.name for plugin in custom.disabled}
    enabled = {plugin.name: plugin for plugin in custom.enabled}
    kept = [] if ALL in disabled else [plugin for plugin in defaults if plugin.name not in disabled]
    names = {plugin.name for plugin in kept}
    added = [plugin for plugin in custom.enabled if plugin.name not in names]
    return [*(enabled.get(plugin.name, plugin) for plugin in kept), *added]


def _expanded(everywhere: Sequence[Plugin], here: PluginSet) -> list[Plugin]:
    """Return the plugins of one extension point: those that replace others first, then the rest, then what is added.

    Source: framework/runtime/framework.go expandMultiPointPlugins (v1.36).
    """
    disabled = {plugin.name for plugin in here.disabled}
    enabled = {plugin.name for plugin in here.enabled}
    kept = [] if ALL in disabled else [plugin for plugin in everywhere if plugin.name not in disabled]
    names = {plugin.name for plugin in kept}
    replacing = [plugin for plugin in here.enabled if plugin.name in names]
    added = [plugin for plugin in here.enabled if plugin.name not in names]
    return [*replacing, *(plugin for plugin in kept if plugin.name not in enabled), *added]

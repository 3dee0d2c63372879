"""Which filters and scores a profile runs where its configuration enables and disables plugins.

Source: kube-scheduler pkg/scheduler/apis/config/v1/default_plugins.go mergePlugins, framework/runtime/framework.go
expandMultiPointPlugins (v1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
"""Default plugins that neither filter nor score nodes."""
PREEMPTION = Plugin(name="DefaultPreemption")


def filters(defaults: Sequence[Plugin], custom: Plugins) -> tuple[str, ...]:
    """Return the filter plugins in the order in which they run; third-party plugins count as filters."""
    everywhere = _merge_plugin_set(defaults, custom.multi_point)
    named = [plugin for plugin in everywhere if plugin.name not in SCORES_ONLY | NEITHER]
    return tuple(plugin.name for plugin in _expand(named, custom.filter))


def weights(defaults: Sequence[Plugin], custom: Plugins) -> Mapping[str, int]:
    """Return score plugin → weight; a weight of 0 means 1."""
    everywhere = _merge_plugin_set(defaults, custom.multi_point)
    named = [plugin for plugin in everywhere if plugin.name in SCORES]
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

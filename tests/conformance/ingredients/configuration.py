"""How the scheduler is set up: default constraints, added affinity, plugins and their weights, scoring strategies."""

from tests.conformance.ingredients.affinity import node_term
from tests.conformance.ingredients.draft import Draft, Object
from tests.conformance.ingredients.spread import bare_constraint

_SHAPE = ({"utilization": 0, "score": 0}, {"utilization": 40, "score": 7}, {"utilization": 100, "score": 10})
_STRATEGIES: tuple[Object, ...] = (
    {"type": "LeastAllocated", "resources": [{"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}]},
    {"type": "LeastAllocated", "resources": [{"name": "example.com/gpu", "weight": 5}, {"name": "cpu", "weight": 1}]},
    {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]},
    {
        "type": "RequestedToCapacityRatio",
        "resources": [{"name": "cpu", "weight": 2}, {"name": "memory", "weight": 1}],
        "requestedToCapacityRatio": {"shape": list(_SHAPE)},
    },
)
_FILTERS = ("PodTopologySpread", "TaintToleration", "NodeAffinity", "NodeResourcesFit", "NodeUnschedulable")
_SCORES = ("PodTopologySpread", "TaintToleration", "NodeAffinity", "NodeResourcesFit", "ImageLocality")


def default_constraints(draft: Draft, _pod: Object) -> None:
    """List the cluster's own default constraints, or name the built-in ones."""
    dice = draft.dice
    if dice.chance(0.15):
        _configure(draft, "PodTopologySpread", {"defaultingType": "System"})
        return
    drawn = [bare_constraint(dice) for _ in range(dice.choice((0, 1, 1, 2, 2)))]
    unique = {(one["topologyKey"], one["whenUnsatisfiable"]): one for one in drawn}
    _configure(draft, "PodTopologySpread", {"defaultingType": "List", "defaultConstraints": list(unique.values())})


def added_affinity(draft: Draft, _pod: Object) -> None:
    """Require or prefer nodes for every Pod of the profile, or both."""
    dice = draft.dice
    required = {"nodeSelectorTerms": [node_term(dice)]}
    preferred = [{"weight": 10, "preference": node_term(dice)}]
    both = {
        "requiredDuringSchedulingIgnoredDuringExecution": required,
        "preferredDuringSchedulingIgnoredDuringExecution": preferred,
    }
    _configure(draft, "NodeAffinity", {"addedAffinity": dict(dice.some(list(both.items()), least=1))})


def scoring_strategy(draft: Draft, _pod: Object) -> None:
    """Let NodeResourcesFit score by another rule."""
    _configure(draft, "NodeResourcesFit", {"scoringStrategy": draft.dice.choice(_STRATEGIES)})


def ignored_resources(draft: Draft, _pod: Object) -> None:
    """Let NodeResourcesFit pass over extended resources, one by one or a whole domain of them."""
    ignored = draft.dice.choice(({"ignoredResources": ["example.com/gpu"]}, {"ignoredResourceGroups": ["example.com"]}))
    _configure(draft, "NodeResourcesFit", ignored)


def balanced_resources(draft: Draft, _pod: Object) -> None:
    """Let other resources than cpu and memory be balanced."""
    names = draft.dice.some(("cpu", "memory", "ephemeral-storage", "example.com/gpu"), least=1)
    resources = [{"name": name, "weight": 1} for name in names]
    _configure(draft, "NodeResourcesBalancedAllocation", {"resources": resources})


def pod_affinity_arguments(draft: Draft, _pod: Object) -> None:
    """Weigh required affinity of the Pods that are there, or pass over what they prefer."""
    arguments = {"hardPodAffinityWeight": draft.dice.choice((0, 1, 50)), "ignorePreferredTermsOfExistingPods": True}
    _configure(draft, "InterPodAffinity", dict(draft.dice.some(list(arguments.items()), least=1)))


def disabled_filter(draft: Draft, _pod: Object) -> None:
    """Switch one filter off, everywhere it stands."""
    _plugins(draft)["multiPoint"] = {"disabled": [{"name": draft.dice.choice(_FILTERS)}]}


def disabled_preemption(draft: Draft, _pod: Object) -> None:
    """Let nobody be evicted."""
    point = draft.dice.choice(("multiPoint", "postFilter"))
    _plugins(draft)[point] = {
        "disabled": [
            {"name": draft.dice.choice(("DefaultPreemption", "*")) if point == "postFilter" else "DefaultPreemption"}
        ]
    }


def disabled_score(draft: Draft, _pod: Object) -> None:
    """Switch one score off, or all of them but one."""
    name = draft.dice.choice(_SCORES)
    only = {"disabled": [{"name": "*"}], "enabled": [{"name": name, "weight": 2}]}
    _plugins(draft)["score"] = draft.dice.choice(({"disabled": [{"name": name}]}, only))


def other_weight(draft: Draft, _pod: Object) -> None:
    """Give one score another weight."""
    name, weight = draft.dice.choice(_SCORES), draft.dice.choice((1, 4, 10))
    _plugins(draft)["score"] = {"disabled": [{"name": name}], "enabled": [{"name": name, "weight": weight}]}


def _configure(draft: Draft, plugin: str, arguments: Object) -> None:
    """Give a plugin arguments."""
    _profile(draft).setdefault("pluginConfig", []).append({"name": plugin, "args": arguments})


def _plugins(draft: Draft) -> Object:
    """Return which plugins the profile switches on and off."""
    plugins: Object = _profile(draft).setdefault("plugins", {})
    return plugins


def _profile(draft: Draft) -> Object:
    """Return the profile of the default scheduler, which the case has from now on."""
    if draft.config is None:
        draft.config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"schedulerName": "default-scheduler"}],
        }
    profile: Object = draft.config["profiles"][0]
    return profile

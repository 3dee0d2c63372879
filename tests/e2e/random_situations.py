"""Situations nobody thought of: constraints, labels, taints, affinities and Pods drawn by a fixed seed."""

from collections.abc import Sequence
from random import Random

from tests.controlplane.api import Object
from tests.e2e.manifests import HOSTNAME, ZONE
from tests.e2e.situations import DISK, RACK, Situation, nodes, situation

_SEED = "pod topology spread"
_HASHES = ("r1", "r2")
_SELECTORS: Sequence[Object] = (
    {"matchLabels": {"app": "web"}},
    {"matchLabels": {"app": "web"}},
    {"matchLabels": {"app": "web"}},
    {"matchLabels": {"app": "other"}},
    {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
    {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["other"]}]},
    {},
)
_TOLERATIONS: Sequence[Object] = (
    {"key": "dedicated", "operator": "Exists"},
    {"key": "dedicated", "value": "batch", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "other", "effect": "NoSchedule"},
    {"key": "example.com/maintenance", "operator": "Exists"},
    {"operator": "Exists", "effect": "NoSchedule"},
    {"operator": "Exists"},
)
_NODE_EXPRESSIONS: Sequence[Object] = (
    {"key": ZONE, "operator": "In", "values": ["a", "b"]},
    {"key": ZONE, "operator": "NotIn", "values": ["c"]},
    {"key": ZONE, "operator": "Exists"},
    {"key": RACK, "operator": "DoesNotExist"},
    {"key": DISK, "operator": "In", "values": ["ssd"]},
    {"key": HOSTNAME, "operator": "NotIn", "values": ["a1", "c1"]},
)
_CPU = (3, 3, 3, 20000)  # More than b3 has, and more than any Node has
_LAYOUTS: Sequence[Sequence[str]] = (
    (),
    ("a1", "b1", "c1"),
    ("a1", "b1", "b3", "c1", "c2"),
    ("a1", "a2", "b1", "b3", "c1", "c2", "e1"),
)
"""Where Pods lie that constraints have spread well: the more of the open Nodes hold one, the fewer suit the next."""


def random_situations(count: int) -> Sequence[Situation]:
    """Return the first situations of an endless fixed series."""
    return [_random_situation(number) for number in range(count)]


def _random_situation(number: int) -> Situation:
    """Return a situation that depends on its number alone."""
    rng = Random(f"{_SEED} {number}")  # noqa: S311 - drawn to test with, not to keep a secret
    return situation(
        f"random-{number}",
        labels={"app": "web", "pod-template-hash": rng.choice(_HASHES)},
        beside=[{"nodes": rng.choice(_LAYOUTS)}, *(_group(rng) for _ in range(rng.randint(0, 2)))],
        container=_container(rng),
        spec={
            "topologySpreadConstraints": _constraints(rng),
            "tolerations": _some(rng, _TOLERATIONS, chance=0.3),
            "affinity": {"nodeAffinity": _node_affinity(rng)},
        },
    )


def _group(rng: Random) -> Object:
    """Return Pods of one kind, anywhere."""
    names = [node["metadata"]["name"] for node in nodes()]
    return {
        "nodes": rng.choices(names, k=rng.randint(1, 3)),
        "labels": {"app": rng.choice(("web", "web", "other")), "pod-template-hash": rng.choice(_HASHES)},
        "state": rng.choice(("Running",) * 8 + ("Terminating", "Succeeded")),
    }


def _constraints(rng: Random) -> Sequence[Object]:
    """Return one to three constraints on different keys."""
    keys = rng.sample((ZONE, ZONE, HOSTNAME, RACK, DISK), k=rng.choice((1, 2, 2, 3)))
    return [_constraint(rng, key) for key in dict.fromkeys(keys)]


def _constraint(rng: Random, key: str) -> Object:
    """Return a constraint on a key, mostly a hard one."""
    selector = rng.choice(_SELECTORS)
    hard = rng.random() < 0.9
    optional: Object = {
        "minDomains": rng.choice((None, None, None, 2, 4, 6)) if hard else None,
        "nodeTaintsPolicy": rng.choice((None, "Honor", "Ignore")),
        "nodeAffinityPolicy": rng.choice((None, "Honor", "Ignore")),
        "matchLabelKeys": rng.choice((None, None, ["pod-template-hash"])),
    }
    return {
        "topologyKey": key,
        "maxSkew": rng.choice((1, 1, 1, 2)),
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": selector,
        **{name: value for name, value in optional.items() if value},
    }


def _node_affinity(rng: Random) -> Object:
    """Return a node affinity of one term or none."""
    expressions = _some(rng, _NODE_EXPRESSIONS, chance=0.3)
    if not expressions:
        return {}
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    }


def _container(rng: Random) -> Object:
    """Return a container's request, mostly none."""
    return {"resources": {"requests": {"cpu": rng.choice(_CPU)}}} if rng.random() < 0.2 else {}


def _some(rng: Random, values: Sequence[Object], *, chance: float) -> Sequence[Object]:
    """Return, by chance, one or two of the values."""
    return rng.sample(values, k=rng.randint(1, 2)) if rng.random() < chance else []

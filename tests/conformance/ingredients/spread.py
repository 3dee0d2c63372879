"""Topology spread: constraints with every field, and what the cluster defaults are derived from."""

from tests.build import object_of
from tests.conformance.ingredients.draft import (
    HOSTNAME,
    RACK,
    REGION,
    ZONE,
    Dice,
    Draft,
    Object,
    selector,
    with_match_label_keys,
)

_KEYS = {ZONE: 6, HOSTNAME: 5, RACK: 3, REGION: 0.5, "disk": 0.4, "example.com/nowhere": 0.1}
_OWNERS = {
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "ReplicationController": "v1",
    "DaemonSet": "apps/v1",
    "Job": "batch/v1",
}


def constraints(draft: Draft, pod: Object) -> None:
    """Give the Pod one to three constraints; a pair of key and action stands there only once."""
    chosen: dict[tuple[str, str], Object] = {}
    for _ in range(draft.dice.choice((1, 1, 2, 2, 3))):
        one = bare_constraint(draft.dice)
        _select(draft, one, pod)
        chosen[one["topologyKey"], one["whenUnsatisfiable"]] = one
    pod["spec"]["topologySpreadConstraints"] = list(chosen.values())


def soft_constraints(draft: Draft, pod: Object) -> None:
    """Give the Pod constraints that only score."""
    constraints(draft, pod)
    softened = {one["topologyKey"]: one for one in pod["spec"]["topologySpreadConstraints"]}
    for one in softened.values():
        one["whenUnsatisfiable"] = "ScheduleAnyway"
        one.pop("minDomains", None)
    pod["spec"]["topologySpreadConstraints"] = list(softened.values())


def bare_constraint(dice: Dice) -> Object:
    """Return a constraint without a selector."""
    one: Object = {
        "topologyKey": dice.weighted(_KEYS),
        "maxSkew": dice.choice((1, 1, 1, 1, 2, 4)),
        "whenUnsatisfiable": dice.choice(("DoNotSchedule", "DoNotSchedule", "DoNotSchedule", "ScheduleAnyway")),
    }
    if one["whenUnsatisfiable"] == "DoNotSchedule" and dice.chance(0.25):
        one["minDomains"] = dice.randint(1, 5)
    for policy in dice.some(("nodeAffinityPolicy", "nodeTaintsPolicy")):
        one[policy] = dice.choice(("Honor", "Ignore"))
    return one


def _select(draft: Draft, constraint: Object, pod: Object) -> None:
    """Give a constraint its selector, which may be nil, and matchLabelKeys."""
    if draft.dice.chance(0.95):
        constraint["labelSelector"] = selector(draft.dice)
    with_match_label_keys(draft, constraint, pod=pod, chance=0.2)


def services(draft: Draft, pod: Object) -> None:
    """Put Services beside the Pod: some select it, some do not, some select nothing or live elsewhere."""
    labels = pod["metadata"]["labels"]
    for i in range(draft.dice.choice((1, 1, 2))):
        chosen = draft.dice.choice((dict(draft.dice.some(list(labels.items()))), {"app": "db"}, None))
        home = pod["metadata"]["namespace"] if draft.dice.chance(0.85) else "third"
        spec = {} if chosen is None else {"selector": chosen}
        draft.others.append(object_of("Service", f"svc-{i}", namespace=home, spec=spec))


def owner(draft: Draft, pod: Object) -> None:
    """Let a controller own the Pod; it may be gone, and of a kind no default constraint is derived from."""
    kind = draft.dice.choice(list(_OWNERS))
    reference = {"apiVersion": _OWNERS[kind], "kind": kind, "name": "owner", "uid": "owner", "controller": True}
    pod["metadata"]["ownerReferences"] = [reference]
    if draft.dice.chance(0.85):
        labels = dict(draft.dice.some(list(pod["metadata"]["labels"].items()), least=1))
        namespace = pod["metadata"]["namespace"]
        draft.others.append(
            {
                "apiVersion": _OWNERS[kind],
                "kind": kind,
                "metadata": {"name": "owner", "namespace": namespace, "uid": "owner"},
                "spec": {"selector": labels if kind == "ReplicationController" else {"matchLabels": labels}},
            }
        )

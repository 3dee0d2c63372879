"""Triples to merge: what was applied last, what lives, and a manifest, drawn by a seed.

The fields are those of the API's tables. Each triple is one object, changed at random for each of the three: fields and
items deleted, added, moved, repeated, set to null or to another type, and with directives. Values are drawn from few,
so that merge keys meet. Left out is what upstream leaves to the order of a Go map: directives on a list that changes.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from random import Random
from typing import Any, TypeAlias

from kubectl_spread.apiserver.fields import Tables

Triple: TypeAlias = dict[str, Any]

KINDS: Mapping[str, str] = {
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "ReplicaSet": "apps/v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "Pod": "v1",
    "Node": "v1",
    "Service": "v1",
    "ServiceAccount": "v1",
    "PersistentVolumeClaim": "v1",
    "PodDisruptionBudget": "policy/v1",
    "Rollout": "argoproj.io/v1alpha1",
}
SCALARS: Mapping[str, Sequence[Any]] = {
    "boolean": (True, False),
    "int32": (0, 1, 2),
    "int64": (0, 1, 30),
    "double": (0.5, 1.5),
    "quantity": ("1", "500m"),
    "int-or-string": (1, "25%"),
    "any": ("a", 1),
}
WORDS = ("a", "b", "c", "zone", "host")
# What is merged in a way of its own comes often; what else there is seldom.
OFTEN = frozenset(
    (
        "spec",
        "template",
        "jobTemplate",
        "metadata",
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
        "containers",
        "initContainers",
        "volumes",
        "env",
        "ports",
        "volumeMounts",
        "topologySpreadConstraints",
        "tolerations",
        "strategy",
        "rollingUpdate",
        "updateStrategy",
        "selector",
        "hostAliases",
        "matchLabels",
        "imagePullSecrets",
        "resourceClaims",
        "schedulingGates",
        "nodeSelector",
        "resources",
        "requests",
        "taints",
        "secrets",
        "emptyDir",
        "secret",
        "configMap",
        "persistentVolumeClaim",
        "type",
        "podCIDRs",
        "affinity",
    )
)
DEEPEST = 9
RELEASE = 36


def triples(seed: int, count: int, tables: Tables) -> Iterator[Triple]:
    for number in range(count):
        yield Drawing(Random(f"{seed}/{number}"), tables).triple()  # noqa: S311 - chance, not secrets


class Drawing:
    """One triple.

    Args:
        random: where its choices come from.
        tables: the API's fields.
    """

    def __init__(self, random: Random, tables: Tables) -> None:
        self.random = random
        self.tables = tables

    def triple(self) -> Triple:
        kind = self.random.choice([*KINDS])
        # Kinds of other APIs look like those of Kubernetes, and are merged as JSON.
        like = "Deployment" if kind == "Rollout" else kind
        entry = self.tables.kinds[f"{'apps/v1' if kind == 'Rollout' else KINDS[kind]} {like}"]
        definition = entry if isinstance(entry, str) else entry[0]
        drawn = {"apiVersion": KINDS[kind], "kind": kind, **self.struct(definition, 0)}
        drawn.pop("status", None)
        changes = self.random.choice([1, 2, 4, 8, 16])
        made = {name: self.changed(drawn, changes) for name in ("original", "current", "modified")}
        if self.random.random() < 0.2:
            made["original"] = {}
        if kind != "Rollout" and self.random.random() < 0.15:
            self.direct(made["modified"])
        return {"apiVersion": KINDS[kind], "kind": kind, **made}

    def value(self, kind: str, depth: int) -> Any:  # noqa: ANN401 - JSON
        if kind.startswith("[]"):
            return self.items(kind[2:], depth)
        if kind.startswith("{}"):
            return {
                word: self.value(kind[2:], depth + 1) for word in self.random.sample(WORDS, self.random.randint(0, 3))
            }
        if kind in self.tables.definitions:
            return self.struct(kind, depth + 1)
        return self.random.choice(SCALARS.get(kind, WORDS))

    def items(self, kind: str, depth: int) -> list[Any]:
        """Return a list, of structs mostly with other merge keys."""
        return [self.value(kind, depth) for _ in range(self.random.choice([0, 1, 2, 2, 3, 4]))]

    def struct(self, definition: str, depth: int) -> Triple:
        """Return a struct with some of its fields, those by which lists are merged nearly always."""
        fields = self.tables.definitions.get(definition, {})
        found: Triple = {}
        for name, entry in fields.items():
            kind, first, last = (entry, 0, RELEASE) if isinstance(entry, str) else entry
            if not first <= RELEASE <= last:
                continue
            is_key = name in {"name", "topologyKey", "containerPort", "mountPath", "devicePath", "ip", "uid", "port"}
            chance = 0.97 if is_key else 0.6 if name in OFTEN else 0.12
            deep = depth > DEEPEST and (kind in self.tables.definitions or kind.startswith("[]"))
            if name not in {"apiVersion", "kind", "managedFields"} and not deep and self.random.random() < chance:
                found[name] = self.value(kind, depth)
        return found

    def changed(self, drawn: Triple, most: int) -> Triple:
        """Return the object with some changes."""
        changed = deepcopy(drawn)
        for _ in range(self.random.randint(0, most)):
            places = [place for place in places_of(changed) if place]
            if places:
                self.change(self.random.choice(places))
        return changed

    def change(self, place: dict[str, Any] | list[Any]) -> None:
        if isinstance(place, list):
            self.change_list(place)
            return
        key = self.random.choice([*place])
        if key in {"apiVersion", "kind"}:
            return
        match self.random.randrange(5):
            case 0 | 1:
                del place[key]
            case 2:
                place[key] = None
            case 3:
                place[key] = self.other(place[key])
            case _:
                alike = [other for other in place if type(place[other]) is type(place[key]) and other != "kind"]
                place[self.random.choice(alike)] = deepcopy(place[key])

    def change_list(self, place: list[Any]) -> None:
        """Change a list: its order, or one of its items."""
        at = self.random.randrange(len(place))
        match self.random.randrange(5):
            case 0:
                self.random.shuffle(place)
            case 1:
                del place[at]
            case 2:
                place.insert(self.random.randrange(len(place) + 1), deepcopy(place[at]))
            case 3:
                place[at] = self.other(place[at])
            case _:
                place.reverse()

    def other(self, value: Any) -> Any:  # noqa: ANN401 - JSON
        """Return another value, mostly of the same type."""
        if isinstance(value, dict):
            return {**value, self.random.choice(WORDS): self.random.choice(WORDS)} if self.random.random() < 0.8 else {}
        if isinstance(value, list):
            return [] if self.random.random() < 0.5 else [*value, *deepcopy(value)]
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return self.random.choice((0, 1, 2, 80))
        return self.random.choice(WORDS) if self.random.random() < 0.95 else self.random.choice((1, None))

    def direct(self, manifest: Triple) -> None:
        """Let a map or an item of the manifest say what to do with it."""
        maps = [place for place in places_of(manifest) if isinstance(place, dict)]
        place = self.random.choice(maps)
        match self.random.randrange(4):
            case 0 | 1 | 2:
                place["$patch"] = self.random.choice(("delete", "replace", "merge"))
            case _:
                place["$retainKeys"] = [*place]


def places_of(value: Any) -> Iterator[dict[str, Any] | list[Any]]:  # noqa: ANN401 - JSON
    if isinstance(value, dict | list):
        yield value
        for each in value.values() if isinstance(value, dict) else value:
            yield from places_of(each)

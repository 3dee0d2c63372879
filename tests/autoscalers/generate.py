"""Random clusters with NodePools and one Pending Pod, as questions for Karpenter's own scheduler.

``python -m tests.autoscalers.generate --seed 1 --count 2000`` prints a question a line.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
from collections.abc import Iterator
from typing import Any

from tests.autoscalers.clusters import POOL, ZONE, Object

HOST = "kubernetes.io/hostname"
CAPACITY = "karpenter.sh/capacity-type"
ARCH = "kubernetes.io/arch"
RACK = "example.com/rack"
GENERATION = "example.com/generation"
TYPE = "node.kubernetes.io/instance-type"
TEAM = "team"
SELDOM = (
    {"key": POOL, "operator": "DoesNotExist"},
    {"key": POOL, "operator": "NotIn", "values": ["p0"]},
    {"key": GENERATION, "operator": "Gt", "values": ["-1"]},
)
"""Expressions about which Karpenter has rules of its own."""
GPU = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
SOFT = {"key": "spot", "value": "true", "effect": "PreferNoSchedule"}
DISRUPTED = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}
REBOOTING = {"key": "karpenter.sh/rebooting", "effect": "NoSchedule"}
EVICTING = {"key": "gpu", "value": "true", "effect": "NoExecute"}
ZONES = "abcd"
TIME = "2026-11-23T00:00:00Z"
LABELS = ({"app": "web"}, {"app": "web", "rev": "1"}, {"app": "web", "rev": "2"}, {"app": "other"})


class Generator:
    """Draws questions; the same seed draws the same ones."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def _maybe(self, chance: float) -> bool:
        return self._draw.random() < chance

    def _some(self, of: str, least: int = 1) -> list[str]:
        return sorted(self._draw.sample(of, self._draw.randint(least, len(of))))

    def question(self, name: str) -> Object:
        """Return one question."""
        pools = [f"p{number}" for number in range(self._draw.randint(1, 4))]
        objects: list[Object] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}]
        for each in pools:
            objects += [self._pool(each), self._node_class(each)]
        nodes = [f"n{number}" for number in range(self._draw.randint(0, 5))]
        for each in nodes:
            objects += self._node(each, pools)
        for number in range(self._draw.choice([0, 0, 0, 0, 1, 1, 2])):
            daemons = self._daemon_set(f"ds{number}")
            objects += [daemons, *self._daemons(daemons, nodes)]
        if nodes and self._maybe(0.2):
            objects += [self._namespace("shop"), self._elsewhere("n0")]
        objects.append(self._pod("pend", pending=True))
        return {"name": name, "objects": objects, "instanceTypes": self._types()}

    def _requirements(self) -> list[Object]:
        wanted: list[Object] = []
        if self._maybe(0.6):
            wanted.append(
                {"key": ZONE, "operator": self._draw.choice(["In", "In", "NotIn"]), "values": self._some(ZONES)}
            )
        if self._maybe(0.6):
            sold = self._draw.choice([["on-demand"], ["spot"], ["on-demand", "spot"]])
            wanted.append({"key": CAPACITY, "operator": "In", "values": sold})
        if self._maybe(0.15):
            wanted.append({"key": GENERATION, **self._bound()})
        if self._maybe(0.1):
            wanted.append({"key": TYPE, "operator": "NotIn", "values": [self._draw.choice(["m.xlarge", "m.large"])]})
        if self._maybe(0.15):
            wanted.append({"key": RACK, "operator": self._draw.choice(["In", "NotIn", "Exists"]), "values": []})
            if wanted[-1]["operator"] != "Exists":
                wanted[-1]["values"] = self._some("rs")
        if wanted and self._maybe(0.12):
            self._draw.choice(wanted)["minValues"] = self._draw.randint(1, 3)
        elif self._maybe(0.08):
            wanted.append({"key": TYPE, "operator": "Exists", "minValues": self._draw.randint(1, 3)})
        if self._maybe(0.1):
            wanted.append({"key": ARCH, "operator": "In", "values": [self._draw.choice(["amd64", "arm64"])]})
        return wanted

    def _pool(self, name: str) -> Object:
        spec: Object = {
            "weight": self._draw.choice([None, 10, 20]),
            "disruption": {"consolidateAfter": "Never"},
            "template": {
                "metadata": {"labels": self._labels()},
                "spec": {
                    "taints": [
                        each for each, chance in ((GPU, 0.3), (SOFT, 0.1), (EVICTING, 0.05)) if self._maybe(chance)
                    ],
                    "startupTaints": [{"key": "start", "effect": "NoSchedule"}] if self._maybe(0.1) else [],
                    "expireAfter": "Never",
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": f"cls-{name}"},
                    "requirements": self._requirements(),
                },
            },
        }
        if self._maybe(0.3):
            spec["limits"] = self._draw.choice(
                [
                    {"cpu": "2"},
                    {"cpu": "8"},
                    {"cpu": "20"},
                    {"memory": "40Gi"},
                    {"nodes": "1"},
                    {"nodes": "3", "cpu": "16"},
                    {"cpu": "0"},
                    {"example.com/gpu": "2"},
                ]
            )
        if self._maybe(0.03):
            spec["replicas"] = 2
        ready = "False" if self._maybe(0.05) else "True"
        conditions = [{"type": "Ready", "status": ready, "reason": "Ready", "message": "", "lastTransitionTime": TIME}]
        metadata: Object = {"name": name}
        if self._maybe(0.03):
            metadata |= {"deletionTimestamp": TIME, "finalizers": ["karpenter.sh/termination"]}
        return {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": metadata,
            "spec": spec,
            "status": {"conditions": conditions},
        }

    def _labels(self) -> dict[str, str]:
        """Return labels of a template or node: few that Pods ask for."""
        found = {TEAM: self._draw.choice(["web", "x"])} if self._maybe(0.4) else {}
        return found | ({GENERATION: str(self._draw.randint(1, 4))} if self._maybe(0.1) else {})

    def _bound(self) -> Object:
        return {"operator": self._draw.choice(["Gt", "Lt"]), "values": [str(self._draw.randint(0, 4))]}

    def _namespace(self, name: str) -> Object:
        return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"tier": "b"}}}

    def _elsewhere(self, node: str) -> Object:
        """Return a Pod of another namespace."""
        found = self._pod("elsewhere", on=node)
        found["metadata"]["namespace"] = "shop"
        return found

    def _node_class(self, of_pool: str) -> Object:
        zones = list(ZONES) if self._maybe(0.4) else self._some(ZONES)
        return {
            "apiVersion": "karpenter.k8s.aws/v1",
            "kind": "EC2NodeClass",
            "metadata": {"name": f"cls-{of_pool}"},
            "status": {"subnets": [{"id": f"subnet-{zone}", "zone": zone} for zone in zones]},
        }

    def _node(self, name: str, pools: list[str]) -> Iterator[Object]:
        """Yield a node with its Pods, and mostly with the claim that it comes from."""
        of_pool = self._draw.choice([*pools, *pools, ""])
        labels = {
            HOST: name,
            ZONE: self._draw.choice(ZONES),
            CAPACITY: "on-demand",
            ARCH: "amd64",
            "kubernetes.io/os": "linux",
            "node.kubernetes.io/instance-type": "m.xlarge",
        }
        labels |= self._labels()
        labels |= {RACK: self._draw.choice("rs")} if self._maybe(0.3) else {}
        taints = [GPU] if self._maybe(0.3) else [SOFT] if self._maybe(0.1) else []
        taints += [DISRUPTED] if self._maybe(0.07) else []
        claimed = dict(labels)
        if of_pool:
            ready = self._maybe(0.85)
            labels |= {POOL: of_pool}
            claimed |= {POOL: of_pool}
            labels |= {"karpenter.sh/registered": "true"} if ready or self._maybe(0.5) else {}
            labels |= {"karpenter.sh/initialized": "true"} if ready else {}
            if not ready:
                taints = [
                    *taints,
                    {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
                    *([{"key": "start", "effect": "NoSchedule"}] if self._maybe(0.5) else []),
                ]
        elif self._maybe(0.1):
            del labels[ZONE]
        reboots = bool(of_pool) and self._maybe(0.07)
        taints += [REBOOTING] if reboots else []
        free = self._draw.choice(["3900m", "3900m", "1"])
        offers = {"cpu": free, "memory": "16Gi", "pods": "110"}
        capacity = {"cpu": "4", "memory": "16Gi", "pods": "110"}
        going = {"deletionTimestamp": TIME, "finalizers": ["karpenter.sh/termination"]} if self._maybe(0.07) else {}
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels, **going},
            "spec": {"providerID": f"aws:///{name}", "taints": taints},
            "status": {
                "capacity": capacity,
                "allocatable": offers,
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }
        if of_pool and self._maybe(0.95):
            yield {
                "apiVersion": "karpenter.sh/v1",
                "kind": "NodeClaim",
                "metadata": {"name": f"claim-{name}", "labels": claimed, **(going if self._maybe(0.8) else {})},
                "spec": {
                    "nodeClassRef": {"group": "g", "kind": "K", "name": "n"},
                    "requirements": [],
                    "taints": [t for t in taints if t == GPU],
                    "startupTaints": [{"key": "start", "effect": "NoSchedule"}],
                },
                "status": {
                    "providerID": f"aws:///{name}",
                    "nodeName": name,
                    "capacity": capacity,
                    "allocatable": offers,
                    "conditions": [
                        {"type": name, "status": "True", "reason": "x", "message": "", "lastTransitionTime": TIME}
                        for name in ("Launched", *(["Rebooting"] if reboots else []))
                    ],
                },
            }
        for number in range(self._draw.randint(0, 3)):
            yield self._pod(f"{name}-{number}", on=name)
        if self._maybe(0.5):
            filler = self._pod(f"{name}-fill", on=name, plain=True)
            filler["spec"]["containers"][0]["resources"] = {"requests": {"cpu": free}}
            filler["metadata"]["labels"] = {"app": "filler"}
            yield filler

    def _pod(self, name: str, *, on: str = "", pending: bool = False, plain: bool = False) -> Object:
        spec: Object = {
            "containers": [
                {
                    "name": "c",
                    "image": "x",
                    "resources": {"requests": {"cpu": "1" if on else self._draw.choice("1135")}},
                }
            ]
        }
        metadata: Object = {"name": name, "namespace": "default", "labels": dict(self._draw.choice(LABELS))}
        if not plain and self._maybe(0.1):
            self._more_requests(spec)
        if on:
            spec["nodeName"] = on
            if self._maybe(0.07):
                metadata |= {"deletionTimestamp": TIME, "finalizers": ["kept/alive"]}
        if on and not plain and self._maybe(0.1):
            spec["affinity"] = {"podAntiAffinity": self._terms(soft=False)}
        if self._maybe(0.05):
            spec["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]
        if pending:
            self._wants(spec)
        over = on and not plain and self._maybe(0.05)
        status: Object = {"phase": "Succeeded" if over else "Running" if on else "Pending"}
        if on and self._maybe(0.1):
            # A resize is in progress.
            given = {"cpu": self._draw.choice(["100m", "1", "3"])}
            status["containerStatuses"] = [{"name": "c", "resources": {"requests": given}, "allocatedResources": given}]
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": spec,
            "status": status,
        }

    def _more_requests(self, spec: Object) -> None:
        requests = spec["containers"][0]["resources"]["requests"]
        match self._draw.randint(0, 4):
            case 0:
                requests["memory"] = self._draw.choice(["1Gi", "12Gi", "20Gi"])
            case 1:
                spec["overhead"] = {"cpu": "500m"}
            case 2:
                begins = {"name": "i", "image": "x", "resources": {"requests": {"cpu": self._draw.choice("25")}}}
                spec["initContainers"] = [begins | ({"restartPolicy": "Always"} if self._maybe(0.5) else {})]
            case 3:
                requests["example.com/gpu"] = "1"
            case _:
                spec["containers"][0]["resources"] = {}

    def _wants(self, spec: Object) -> None:
        keys = [
            ZONE,
            *([HOST] if self._maybe(0.25) else []),
            *([RACK] if self._maybe(0.1) else []),
            *([CAPACITY] if self._maybe(0.08) else []),
            *([TEAM] if self._maybe(0.05) else []),
            *([TYPE] if self._maybe(0.03) else []),
            *([GENERATION] if self._maybe(0.03) else []),
        ]
        spec["topologySpreadConstraints"] = [self._constraint(key) for key in keys if self._maybe(0.95)]
        if self._maybe(0.1):
            hard = self._constraint(ZONE, when="DoNotSchedule")
            soft = self._constraint(ZONE, when="ScheduleAnyway")
            spec["topologySpreadConstraints"] = [hard, soft]
        if self._maybe(0.05):
            # Two constraints on one key, each with its own selector.
            other = self._constraint(ZONE, when="DoNotSchedule") | {"labelSelector": {"matchLabels": {"app": "other"}}}
            spec["topologySpreadConstraints"].append(other)
        if self._maybe(0.25):
            spec["tolerations"] = [
                self._draw.choice(
                    [
                        {"key": "gpu", "operator": "Exists"},
                        {"key": "gpu", "operator": "Exists"},
                        {"key": "gpu", "value": "true", "effect": "NoSchedule"},
                        {"key": "gpu", "value": "no"},
                        {"operator": "Exists"},
                    ]
                )
            ]
        if self._maybe(0.25):
            spec["nodeSelector"] = self._draw.choice(
                [
                    {"team": "web"},
                    {"team": "web"},
                    {ZONE: "a"},
                    {CAPACITY: "on-demand"},
                    {POOL: "p0"},
                    {"node.kubernetes.io/instance-type": "m.xlarge"},
                    {HOST: "n0"},
                    {GENERATION: "2"},
                    {TYPE: "m.large"},
                ]
            )
        affinity: Object = {}
        if self._maybe(0.35):
            affinity["nodeAffinity"] = self._node_affinity()
        if self._maybe(0.08):
            affinity["podAffinity"] = self._terms(soft=self._maybe(0.5))
        if self._maybe(0.12):
            affinity["podAntiAffinity"] = self._terms(soft=self._maybe(0.5))
        if affinity:
            spec["affinity"] = affinity

    def _node_affinity(self) -> Object:
        terms = [{"matchExpressions": [self._expression()]} for _ in range(self._draw.choice([1, 1, 1, 2, 3]))]
        found: Object = {}
        if self._maybe(0.8):
            found["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
        if self._maybe(0.35):
            found["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": weight, "preference": {"matchExpressions": [self._expression()]}}
                for weight in self._draw.sample(range(1, 100), self._draw.randint(1, 2))
            ]
        return found

    def _expression(self) -> Object:
        if self._maybe(0.05):
            return self._draw.choice(SELDOM)
        key = self._draw.choice([ZONE, ZONE, ZONE, TEAM, RACK, ARCH, GENERATION, CAPACITY])
        if key == GENERATION and self._maybe(0.7):
            return {"key": key, **self._bound()}
        values = {ZONE: ZONES, RACK: "rs", GENERATION: "1234"}.get(key)
        operator = self._draw.choice(["In", "In", "NotIn", "NotIn", "Exists", "DoesNotExist"])
        if operator in {"Exists", "DoesNotExist"}:
            return {"key": key, "operator": operator if key != ZONE else "Exists"}
        names = {TEAM: ["web", "x"], ARCH: ["amd64", "arm64"], CAPACITY: ["on-demand", "spot"]}
        chosen = self._some(values) if values else [self._draw.choice(names[key])]
        return {"key": key, "operator": operator, "values": chosen}

    def _terms(self, *, soft: bool) -> Object:
        key = self._draw.choice([ZONE, HOST, ZONE, RACK])
        term: Object = {
            "topologyKey": key,
            "labelSelector": {"matchLabels": {"app": self._draw.choice(["web", "other"])}},
        }
        if self._maybe(0.2):
            term |= self._draw.choice(
                [
                    {"namespaces": ["shop"]},
                    {"namespaceSelector": {}},
                    {"namespaceSelector": {"matchLabels": {"tier": "b"}}},
                ]
            )
        if soft:
            return {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "podAffinityTerm": term}]}
        return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}

    def _constraint(self, key: str, when: str = "") -> Object:
        found: Object = {
            "maxSkew": self._draw.choice([1, 1, 1, 2]),
            "topologyKey": key,
            "whenUnsatisfiable": when or self._draw.choice(["DoNotSchedule"] * 4 + ["ScheduleAnyway"]),
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
        if self._maybe(0.1):
            found["labelSelector"] = {
                "matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "other"]}]
            }
        elif self._maybe(0.02):
            del found["labelSelector"]
        if "labelSelector" in found and self._maybe(0.12):
            found["matchLabelKeys"] = ["rev"]
        if found["whenUnsatisfiable"] == "DoNotSchedule" and self._maybe(0.2):
            found["minDomains"] = self._draw.randint(2, 4)
        for policy in ("nodeTaintsPolicy", "nodeAffinityPolicy"):
            if self._maybe(0.3):
                found[policy] = self._draw.choice(["Honor", "Ignore"])
        return found

    def _daemon_set(self, name: str) -> Object:
        template: Object = {
            "metadata": {"labels": {"app": "ds"}},
            "spec": {
                "containers": [
                    {"name": "c", "image": "x", "resources": {"requests": {"cpu": self._draw.choice(["500m", "1"])}}}
                ],
                **({"nodeSelector": self._draw.choice([{TEAM: "web"}, {TYPE: "m.large"}])} if self._maybe(0.3) else {}),
            },
        }
        if self._maybe(0.15):
            required = {"nodeSelectorTerms": [{"matchExpressions": [self._expression()]} for _ in "ab"]}
            affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
            template["spec"]["affinity"] = affinity
        if self._maybe(0.2):
            template["spec"]["tolerations"] = [{"operator": "Exists"}]
        if self._maybe(0.15):
            template["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]
        return {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "ds"}}, "template": template},
        }

    def _daemons(self, owner: Object, nodes: list[str]) -> Iterator[Object]:
        """Yield Pods of a DaemonSet: of its template, or of an older one, or changed by admission."""
        name = owner["metadata"]["name"]
        for second, node in enumerate(nodes):
            if self._maybe(0.4):
                spec = copy.deepcopy(owner["spec"]["template"]["spec"])
                if self._maybe(0.5):
                    spec["containers"][0]["resources"]["requests"]["cpu"] = self._draw.choice(["100m", "1500m", "3"])
                if self._maybe(0.2):
                    spec["tolerations"] = [{"operator": "Exists"}]
                if self._maybe(0.2):
                    spec["nodeSelector"] = {TEAM: "web"}
                controller = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": name, "uid": name}
                yield {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {
                        "name": f"{name}-{node}",
                        "namespace": "default",
                        "labels": {"app": "ds"},
                        "creationTimestamp": TIME.replace("00Z", f"{second:02}Z"),
                        "ownerReferences": [controller | {"controller": True}],
                    },
                    "spec": {**spec, "nodeName": node},
                    "status": {"phase": "Running"},
                }

    def _types(self) -> list[Any]:
        def sold(name: str, cpu: str, capacity: list[str], arch: str = "amd64") -> Object:
            offerings = [
                {
                    "Requirements": [
                        {"key": CAPACITY, "operator": "In", "values": [each]},
                        {"key": ZONE, "operator": "In", "values": [zone]},
                    ]
                }
                for each in capacity
                for zone in ZONES
                if self._maybe(0.9)
            ]
            return {
                "name": name,
                "architecture": arch,
                "operatingSystems": ["linux"],
                "resources": {"cpu": cpu, "memory": "16Gi"} | ({"example.com/gpu": "1"} if self._maybe(0.1) else {}),
                "offerings": offerings,
            }

        capacity = ["on-demand", "spot"] if self._maybe(0.5) else ["on-demand"]
        found = [sold("m.xlarge", "4", capacity)]
        found += [sold("m.large", "2", capacity)] if self._maybe(0.3) else []
        return found + ([sold("a.xlarge", "8", ["on-demand"], "arm64")] if self._maybe(0.15) else [])


def main() -> None:
    """Print questions, a line each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    given = parser.parse_args()
    generator = Generator(given.seed)
    for number in range(given.count):
        sys.stdout.write(json.dumps(generator.question(f"s{given.seed}-{number}")) + "\n")


if __name__ == "__main__":
    main()

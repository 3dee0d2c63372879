"""A fix may not break the spread that it claims to keep: of Pods that several workloads count together."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from kubectl_spread.diagnosis.fixes.change import Override
from kubectl_spread.diagnosis.fixes.choice import nodes_come_first
from kubectl_spread.diagnosis.fixes.conclusion import Fix, FixSearch
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.objects.workloads import Deployment
from kubectl_spread.scheduler.framework import Handles
from kubectl_spread.simulation.cluster_state import ClusterState
from kubectl_spread.simulation.outcomes import simulate
from kubectl_spread.simulation.steps import Step, Verb
from kubectl_spread.wording.fixes import company, summary
from tests import build
from tests.build import HOSTNAME, ZONE, Object, app, node, spread
from tests.build_workloads import owned, revision, template, workload
from tests.diagnosis.fixes.clusters import conclusion

SEEDS = range(24)
BOTH = {"matchLabels": {"release": "shop"}}
ONE_BY_ONE: Object = {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}
OF_COUNTS = ("AddMatchLabelKeys", "FixSelector", "HonorTaints")  # Changes of what a constraint counts


class Setup:
    """Two workloads under one label: web, a Pod of which is Pending, and another one that counts back, or does not."""

    def __init__(self, seed: int) -> None:
        drawn = random.Random(seed)  # noqa: S311 - drawn to test with
        self.mutual, self.key = drawn.random() < 0.5, drawn.choice([ZONE, HOSTNAME])
        self.constraint = spread(self.key, selector=BOTH)
        closed: Object = drawn.choice([{"unschedulable": True}, {"taints": ["gpu=a100:NoSchedule"]}])
        names = [f"{zone}{number}" for zone in "ab" for number in range(drawn.randint(1, 2))]
        nodes = [*(node(name, zone=name[0]) for name in names), node("c1", zone="c", **closed)]
        hashes = [drawn.choice(["old", "new"]) for _ in range(drawn.randint(1, 4))]
        web = [self.made("web", i, drawn.choice(names), hash_) for i, hash_ in enumerate(hashes)]
        others = [drawn.choice(names) for _ in range(drawn.randint(1, 3))]
        if not self.mutual:
            # Of node a0, which has the fewest Pods, the only core is in use.
            nodes = [node("a0", zone="a", allocatable={"cpu": "1"}), node("b0", zone="b")]
            web, others = [self.made("web", 0, "a0", hashes[0])], ["b0"] * drawn.randint(2, 4)
        other = [self.made("other", i, name, "only") for i, name in enumerate(others)]
        self.pending = self.made("web", 9, "", "new")
        kind = "Deployment" if self.mutual else "DaemonSet"
        owners = [
            self.owner("Deployment", "web", replicas=len(web) + 1, **({} if self.mutual else ONE_BY_ONE)),
            *(self.replica_set("web", hash_, web) for hash_ in ("old", "new")),
            *([self.owner(kind, "other", replicas=len(other))] if self.mutual else [self.owner(kind, "other")]),
            *([self.replica_set("other", "only", other)] if self.mutual else ()),
        ]
        self.objects: list[Object] = [*nodes, *owners, *web, *other]

    def template(self, name: str) -> Object:
        """Return the template of the workload, with the constraint if its Pods have it."""
        constraints = [self.constraint] if name == "web" or self.mutual else []
        requests = {"cpu": "1"} if name == "web" else {}
        return template(*constraints, labels={"release": "shop", "app": name}, requests=requests)

    def made(self, name: str, number: int, on: str, hash_: str) -> Object:
        labels = {"release": "shop", "app": name, "pod-template-hash": hash_}
        kind, by = ("ReplicaSet", f"{name}-{hash_}") if name == "web" or self.mutual else ("DaemonSet", name)
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]} if on else {}
        spec = self.template(name)["spec"]
        return owned(f"{name}-{number}", kind, by, on=on, labels=labels, status=status, **spec)

    def owner(self, kind: str, name: str, **spec: Any) -> Object:  # noqa: ANN401 - as for a workload
        made = workload(kind, name, pods=self.template(name), **spec)
        return {**made, "spec": {**made["spec"], "selector": app(name)}}

    def replica_set(self, name: str, hash_: str, pods: list[Object]) -> Object:
        number = {"old": 1, "new": 2, "only": 1}[hash_]
        by = revision(name, number, pods=self.template(name), hash_=hash_)
        mine = sum(each["metadata"]["labels"]["pod-template-hash"] == hash_ for each in pods)
        selector = {"matchLabels": {"app": name, "pod-template-hash": hash_}}
        return {**by, "spec": {**by["spec"], "selector": selector, "replicas": mine + (hash_ == "new")}}

    def found(self, *, together: bool = False) -> FixSearch:
        """Return what is offered for the Pod; ``together``: with the whole cluster simulated."""
        return conclusion(self.objects, self.pending, together=together)

    def skew_after(self, fix: Fix | None) -> int:
        """Return the skew (Pods) of all that count each other, over the domains with nodes that take Pods.

        It is the least of all orders: Pods of the old revision, which are counted until they are gone, may add to it.
        """
        handle = build.handle([*self.objects, self.pending])
        steps = [Step(Verb.APPLY, "", merged=(_patched(fix, self.objects),) if fix else ())]
        seen = simulate(Handles(handle), steps, lambda cluster, _: self._skew(cluster)).after(-1)
        return min(each.seen for each in seen)

    def _skew(self, cluster: ClusterState) -> int:
        names = {"web", "other"} if self.mutual else {"web"}
        pods = (pod for pod in cluster.pods.values() if pod.metadata.labels["app"] in names and pod.spec.node_name)
        there: Counter[str] = Counter(_domain(pod, cluster, self.key) for pod in pods)
        domains = {each.metadata.labels[self.key] for each in cluster.nodes.values()} - {"c", "c1"}
        return max(there[each] for each in domains) - min(there[each] for each in domains)


def _domain(pod: Pod, cluster: ClusterState, key: str) -> str:
    return cluster.nodes[pod.spec.node_name].metadata.labels[key]


def _patched(fix: Fix, objects: list[Object]) -> KubernetesObject:
    """Return deployment/web as the first command of the fix leaves it."""
    web = next(each for each in objects if (each["kind"], each["metadata"]["name"]) == ("Deployment", "web"))
    spec: Object = {**web["spec"]["template"]["spec"]}
    constraint = {**spec["topologySpreadConstraints"][0]}
    for operation in fix.commands[0].operations:
        field = operation.path.split("/")[-1]
        if field == "matchLabels":
            constraint["labelSelector"] = {field: operation.value}
        else:
            constraint[field] = operation.value
    made = {**web["spec"]["template"], "spec": {**spec, "topologySpreadConstraints": [constraint]}}
    return convert({**web, "spec": {**web["spec"], "template": made}}, Deployment)


@pytest.fixture(scope="module")
def setups() -> Mapping[int, tuple[Setup, FixSearch]]:
    """Return the set-ups in which something is offered."""
    each = {seed: Setup(seed) for seed in SEEDS}
    return {seed: (setup, search) for seed, setup in each.items() if (search := setup.found()).fixes}


def test_there_are_enough_of_each(setups: Mapping[int, tuple[Setup, FixSearch]]) -> None:
    kinds = Counter((setup.mutual, search.fixes[0].id in OF_COUNTS) for setup, search in setups.values())
    assert len(setups) >= 20
    assert kinds[True, True] >= 5
    assert kinds[False, True] >= 5


def test_after_the_first_fix_the_spread_of_all_that_were_counted_is_no_worse(
    setups: Mapping[int, tuple[Setup, FixSearch]],
) -> None:
    for seed, (setup, search) in setups.items():
        if search.fixes[0].id in OF_COUNTS:
            allowed = max(setup.skew_after(None), setup.constraint["maxSkew"])
            assert setup.skew_after(search.fixes[0]) <= allowed, (seed, search.fixes[0].id)


def test_what_parts_workloads_that_count_each_other_comes_last(setups: Mapping[int, tuple[Setup, FixSearch]]) -> None:
    parting = 0
    for setup, search in setups.values():
        parts = [each for each in search.fixes if each.id in {"AddMatchLabelKeys", "FixSelector"}]
        if setup.mutual and parts:
            parting += 1
            assert {each.overrides for each in parts} == {Override.DECISION}
            assert list(search.fixes[-len(parts) :]) == parts
            assert all("deployment/other counts these Pods too" in summary(each) for each in parts)
        elif parts and any(each.id == "FixSelector" and each.admits for each in parts):
            assert search.fixes[0].id == "FixSelector"
            assert search.fixes[0].overrides is Override.NOTHING
    assert parting >= 3


@pytest.mark.parametrize("seed", [107, 108])
def test_what_breaks_the_constraint_in_the_end_comes_after_what_keeps_it_and_after_a_node(seed: int) -> None:
    """The rollout that the change sets off counts Pods of the old revision until they are gone."""
    found = Setup(seed).found(together=True)
    breaks = [each.breaks_spread for each in found.fixes if each.future]
    assert breaks == sorted(breaks)
    assert {each.id for each in found.fixes if each.breaks_spread} == {"HonorTaints"}
    broken = next(each for each in found.fixes if each.breaks_spread)
    assert nodes_come_first([broken])
    assert any("is violated then (skew 2, maxSkew 1)" in each for each in company(broken))


def test_what_breaks_the_constraint_only_by_chance_keeps_its_place_and_says_so() -> None:
    found = Setup(137).found(together=True)
    assert not any(each.breaks_spread for each in found.fixes)
    (honoring,) = (each for each in found.fixes if each.id == "HonorTaints")
    assert any("may be violated then (skew 2, maxSkew 1)" in each for each in company(honoring))

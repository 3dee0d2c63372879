"""What must be true between the evictions of a plan, for a controller that executes it, and its waves.

These are counts, Ready Pods and unchanged nodes. After each eviction, or those made together, replacements must be
Ready. Before the next wave all evicted Pods must be gone too.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go (v1.36): each eviction uses one of disruptionsAllowed,
which is restored once the budget's Pods are healthy again; pkg/controller/statefulset/stateful_set_control.go: one Pod
after another; pkg/scheduler/backend/cache/cache.go: a Pod that is being deleted takes room until it is gone;
interpodaffinity/filtering.go, scoring.go: it counts for affinity and anti-affinity until then, too.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby

import msgspec

from kubectl_spread.apiserver.eviction import budgets_of, ignores_budgets
from kubectl_spread.controllers.replicaset import active
from kubectl_spread.controllers.statefulset import comes_after
from kubectl_spread.controllers.workloads import controller_of
from kubectl_spread.labels import Selector
from kubectl_spread.objects.core import Node, Pod
from kubectl_spread.objects.meta import ControllerKey, grouped
from kubectl_spread.objects.workloads import StatefulSet
from kubectl_spread.rebalance.goals import Goal
from kubectl_spread.rebalance.plan import EvictionPlan
from kubectl_spread.rebalance.search import Eviction
from kubectl_spread.scheduler.affinityterm import readable_terms
from kubectl_spread.snapshot import Snapshot


class CountedDomains(msgspec.Struct, frozen=True):
    """The domains in which a constraint counts Pods."""

    namespace: str
    topology_key: str
    selector: Selector
    place: Mapping[str, str]  # counted node's name → its domain
    start: Mapping[str, int]  # domain → Pods (count) before the plan
    # after each eviction: domain → the fewest and the most Pods (counts), if the plan changes them
    ends: tuple[Mapping[str, tuple[int, int]], ...]


class AwaitedPods(msgspec.Struct, frozen=True):
    """The Pods of one controller that must be Ready after an eviction."""

    controller: tuple[str, str]  # kind and name of the controller that creates the replacement
    ready: int  # how many must be Ready (count)
    apart_from: tuple[str, ...]  # the UIDs of Pods that were not Ready before the plan; they do not count


class Checkpoints(msgspec.Struct, frozen=True):
    """What must be true between the evictions of a plan: the counts that it changes, and the Pods to wait for."""

    counted: tuple[CountedDomains, ...]
    awaited: tuple[AwaitedPods, ...]
    # namespace → the UIDs of Pending Pods that must have a node before the first eviction
    scheduled: Mapping[str, tuple[str, ...]]
    nodes: tuple[Node, ...]  # the nodes with a topology key of the plan, by name
    # for each eviction that is not the first of those made together, nothing; otherwise budget (namespace, name) → how
    # many Pods (count) it must allow at once
    budgets: tuple[Mapping[tuple[str, str], int], ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The topology keys of the plan."""
        return tuple(dict.fromkeys(each.topology_key for each in self.counted))


def checkpoints(plan: EvictionPlan, snapshot: Snapshot) -> Checkpoints:
    """Return what must be true between the evictions of a plan; ``snapshot`` is the cluster before."""
    counted = (_counted_domains(outcome.goal, plan) for outcome in plan.outcomes)
    changed = {(each.namespace, each.topology_key, str(each.selector)): each for each in counted if any(each.ends)}
    by_namespace = grouped((pod.metadata for pod, _ in plan.scheduled), lambda metadata: metadata.namespace)
    scheduled = {namespace: tuple(each.uid for each in found) for namespace, found in by_namespace.items()}
    keys = {each.topology_key for each in changed.values()}
    return Checkpoints(
        counted=tuple(changed.values()),
        awaited=tuple(_awaited_pods(plan, snapshot)),
        scheduled=scheduled,
        nodes=tuple(node for node in snapshot.nodes.values() if keys & node.metadata.labels.keys()),
        budgets=tuple(_budgets_at_once(plan, snapshot)),
    )


def _budgets_at_once(plan: EvictionPlan, snapshot: Snapshot) -> Iterator[Mapping[tuple[str, str], int]]:
    for step, group in groupby(plan.evictions, key=lambda each: each.step):
        pods = [each.movable.pod for each in group]
        used = Counter(each.key for pod in pods if step and pod.ready for each in budgets_of(pod, snapshot))
        yield from (used, *({} for _ in pods[1:]))


def _counted_domains(goal: Goal, plan: EvictionPlan) -> CountedDomains:
    start = dict(zip(goal.domains, goal.start, strict=True))
    return CountedDomains(
        namespace=goal.workload.namespace,
        topology_key=goal.constraint.topology_key,
        selector=goal.selector,
        place={name: goal.domains[at] for name, at in sorted(goal.place.items())},
        start=start,
        ends=tuple(_counts_after(goal, start, plan)),
    )


def _counts_after(goal: Goal, start: Mapping[str, int], plan: EvictionPlan) -> Iterator[Mapping[str, tuple[int, int]]]:
    """Yield the counts of the goal after each eviction that differ from the start.

    A Pod that may go to several domains, or to a node that is not counted, adds only to the most.
    """
    least, most = Counter(start), Counter(start)
    for each in plan.evictions:
        if counted := [counts for other, ends in each.ends if other is goal for counts in ends]:
            by_domain = [*zip(goal.domains, zip(*counted, strict=True), strict=True)]
            least, most = (Counter({name: pick(pods) for name, pods in by_domain}) for pick in (min, max))
        elif not each.step:
            _count_one(goal, each, least, most)
        changed = (domain for domain, pods in start.items() if not least[domain] == most[domain] == pods)
        yield {domain: (least[domain], most[domain]) for domain in changed}


def _count_one(goal: Goal, each: Eviction, least: Counter[str], most: Counter[str]) -> None:
    left = goal.domain_of(each.movable.pod) if goal.matches(each.movable.pod) else None
    places = {goal.place.get(name) for name in each.lands} if goal.matches(each.movable.again.pod) else set()
    joined = [goal.domains[place] for place in places if place is not None]
    if left is not None:
        least[left] -= 1
        most[left] -= 1
    most.update(joined)
    if len(places) == 1:
        least.update(joined)


def _awaited_pods(plan: EvictionPlan, snapshot: Snapshot) -> Iterator[AwaitedPods]:
    pods = grouped(active(snapshot.all(Pod)), lambda pod: pod.metadata.controller_key)
    replaced = Counter[ControllerKey]()
    for each in plan.evictions:
        key = each.movable.pod.metadata.controller_key
        siblings = pods.get(key, [])
        replaced[key] += not each.movable.pod.ready
        ready = sum(pod.ready for pod in siblings) + replaced[key]
        unready = tuple(sorted(pod.metadata.uid for pod in siblings if not pod.ready))
        yield AwaitedPods(key[1:], ready, unready)


def waves(evictions: Iterable[tuple[Pod, Pod, Collection[str]]], snapshot: Snapshot) -> Iterator[int]:
    """Yield the wave of each eviction (the Pod, its replacement, the nodes that this may go to), in order, from 1.

    A wave takes at most as many Pods of a budget as it allows at the start. It takes no Pod whose replacement waits for
    a Ready Pod of the wave, may go to a node that another Pod of the wave is leaving, or may go elsewhere by inter-pod
    affinity of either while such a Pod is still there.
    """
    wave, taken, gone = 1, Counter[str](), list[Pod]()
    for pod, again, lands in evictions:
        budgets = () if ignores_budgets(pod) else budgets_of(pod, snapshot)
        names = {f"{each.metadata.namespace}/{each.metadata.name}": each for each in budgets}
        used_up = any(taken[name] >= max(each.status.disruptions_allowed, 1) for name, each in names.items())
        takes_their_place = any(other.spec.node_name in lands for other in gone)
        has_affinity = any(_is_drawn_or_kept_off(again, lands, other, snapshot) for other in gone)
        if used_up or takes_their_place or has_affinity or _comes_after(pod, gone, snapshot):
            wave, taken, gone = wave + 1, Counter[str](), []
        taken.update(names.keys())
        gone.append(pod)
        yield wave


def _is_drawn_or_kept_off(again: Pod, lands: Collection[str], other: Pod, snapshot: Snapshot) -> bool:
    """Whether inter-pod affinity of either may change where a Pod goes while the other is still on its node.

    Affinity draws it there. Anti-affinity keeps it off nodes near the other, if it may go to any of these.
    """
    there = snapshot.nodes.get(other.spec.node_name)
    if there is None:
        return False
    apart: set[tuple[str, str]] = set()
    for pod, near in ((again, other), (other, again)):
        terms = readable_terms(pod)
        drawing = (*terms.affinity, *(term for weight, term in terms.preferred if weight > 0))
        keeping_off = (*terms.anti_affinity, *(term for weight, term in terms.preferred if weight < 0))
        namespace = snapshot.namespace_labels(near.metadata.namespace)
        if any(term.topology_key in there.metadata.labels and term.matches(near, namespace) for term in drawing):
            return True
        keys = {term.topology_key for term in keeping_off if term.matches(near, namespace)}
        apart |= {(key, there.metadata.labels[key]) for key in keys & there.metadata.labels.keys()}
    return any(not apart.isdisjoint(snapshot.nodes[name].metadata.labels.items()) for name in lands if apart)


def _comes_after(pod: Pod, gone: Iterable[Pod], snapshot: Snapshot) -> bool:
    owner = controller_of(pod, snapshot)
    own = (each for each in gone if each.metadata.namespace == pod.metadata.namespace)
    return isinstance(owner, StatefulSet) and bool(comes_after(owner, pod, own))

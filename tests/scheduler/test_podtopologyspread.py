"""PodTopologySpread counts, decides and scores as kube-scheduler does, and what must hold of any cluster."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler import cycle, podtopologyspread
from kubectl_spread.scheduler.framework import Code, Handle, Status
from kubectl_spread.scheduler.podtopologyspread import (
    DomainCounts,
    constraints_of,
    count_all,
    count_domains,
    counted_pods,
    global_minimum,
)
from kubectl_spread.scheduler.profile import default_profile
from tests.build import HOSTNAME, ZONE, Object, app, handle, node, pod, spread, typed_pod
from tests.scheduler.situations import Situation, situations

RACK = "rack"


@pytest.mark.parametrize("situation", situations("podtopologyspread", having="counts"), ids=str)
def test_counts(situation: Situation) -> None:
    counted = hard_counts(situation.pod, situation.handle)
    found = [
        {"domains": dict(counts.match_num), "self": counts.self_match, "minimum": counts.global_minimum}
        for counts in counted
    ]
    assert found == situation.want["counts"], situation.about


def hard_counts(asked: Pod, seen: Handle) -> tuple[DomainCounts, ...]:
    """Return the domains of the Pod's hard constraints, as the filter counts them."""
    hard = [constraint for constraint in constraints_of(asked, seen) if constraint.hard]
    return count_domains(hard, asked, seen, must_have_keys_of=hard)


@pytest.mark.parametrize(
    ("match_num", "min_domains", "minimum"),
    [({"a": 2, "b": 1}, 1, 1), ({"a": 2, "b": 1}, 2, 1), ({"a": 2, "b": 1}, 3, 0), ({}, 1, 0), ({"a": 4}, 1, 4)],
)
def test_global_minimum(match_num: Mapping[str, int], min_domains: int, minimum: int) -> None:
    assert global_minimum(match_num, min_domains) == minimum


def test_skew_of_a_domain_if_the_pod_went_there() -> None:
    asked = typed_pod(pod("new", labels={"app": "web"}, topologySpreadConstraints=[spread(ZONE, selector=app("web"))]))
    nodes = [node("a", zone="z1"), node("b", zone="z2"), pod("p", on="a", labels={"app": "web"})]
    [counts] = hard_counts(asked, handle(nodes))
    assert (counts.skew_if_placed("z1"), counts.skew_if_placed("z2"), counts.skew_if_placed("z3")) == (2, 1, 1)
    assert counts.counted_nodes == {"a", "b"}


@pytest.mark.parametrize(("minor", "counted"), [(26, ["p"]), (27, []), (37, [])])
def test_until_1_26_an_empty_selector_counts_everybody(minor: int, counted: list[str]) -> None:
    asked = typed_pod(pod("new", topologySpreadConstraints=[spread(ZONE, selector={})]))
    objects = [node("a", zone="z1"), pod("p", on="a"), pod("q", on="a", terminating=True)]
    seen = handle(objects, default_profile(minor))
    [constraint] = constraints_of(asked, seen)
    assert [found.metadata.name for found in counted_pods(constraint, asked, seen)] == counted


@pytest.mark.parametrize(
    ("minor", "gates", "domains", "minimum"),
    [
        (27, {}, ["z1"], 0),
        (26, {}, ["z1"], 1),
        (25, {}, ["z1", "z2"], 0),
        (25, {"NodeInclusionPolicyInPodTopologySpread": True, "MinDomainsInPodTopologySpread": True}, ["z1"], 0),
    ],
)
def test_releases_without_policies_and_min_domains(
    minor: int, gates: Mapping[str, bool], domains: list[str], minimum: int
) -> None:
    policies: Object = {"nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor", "minDomains": 9}
    asked = pod("new", topologySpreadConstraints=[spread(ZONE, selector=app("web"), **policies)])
    nodes = [node("a", zone="z1"), node("b", zone="z2", taints=["x=1:NoSchedule"])]
    profile = default_profile(minor, gates=gates)
    [counts] = hard_counts(
        typed_pod(asked, profile), handle([*nodes, pod("p", on="a", labels={"app": "web"})], profile)
    )
    assert [*counts.match_num] == domains
    assert counts.global_minimum == minimum


def test_a_selector_that_cannot_be_read_stops_the_pod() -> None:
    unreadable = {"matchExpressions": [{"key": "app", "operator": "Like", "values": ["web"]}]}
    asked = typed_pod(pod("new", topologySpreadConstraints=[spread(ZONE, selector=unreadable)]))
    status = podtopologyspread.pre_filter(asked, handle([node("a", zone="z1")]))
    assert isinstance(status, Status)
    assert status.code is Code.ERROR


def test_the_selector_of_an_owner_that_cannot_be_read_adds_nothing() -> None:
    expressions = {"matchExpressions": [{"key": "app", "operator": "Like", "values": ["web"]}]}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web"}
    replica_set = {**owner, "metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": expressions}}
    service = {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
    objects = [node("a"), replica_set, {"apiVersion": "v1", "kind": "Service", **service}]
    asked = typed_pod(pod("new", labels={"app": "web"}, owner=owner))
    assert {str(c.selector) for c in constraints_of(asked, handle(objects))} == {"app=web"}


@pytest.mark.parametrize(("own", "counted"), [(False, [{"a", "b"}, {"a"}]), (True, [{"a"}, {"a"}])])
def test_built_in_defaults_ask_a_node_for_their_own_key_alone(*, own: bool, counted: list[set[str]]) -> None:
    soft = [spread(key, selector=app("web"), whenUnsatisfiable="ScheduleAnyway") for key in (HOSTNAME, ZONE)]
    service = {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
    objects = [node("a", zone="z1"), node("b"), {"apiVersion": "v1", "kind": "Service", **service}]
    asked = typed_pod(pod("new", labels={"app": "web"}, topologySpreadConstraints=soft if own else []))
    seen = handle(objects)
    assert [counts.counted_nodes for counts in count_all(constraints_of(asked, seen), asked, seen)] == counted


def labels() -> st.SearchStrategy[Mapping[str, str]]:
    """Return labels of nodes: a hostname of its own aside, any key may be missing."""
    return st.fixed_dictionaries({}, optional={ZONE: st.sampled_from("abc"), RACK: st.sampled_from("xy")})


@st.composite
def clusters(draw: st.DrawFn) -> list[Object]:
    """Return a few nodes and Pods of two applications in two namespaces, some of them terminating or gone."""
    nodes = [
        node(f"n{i}", labels=draw(labels()), taints=draw(st.sampled_from([(), ("x=1:NoSchedule",)])))
        for i in range(draw(st.integers(1, 5)))
    ]
    pods = [
        pod(
            f"p{i}",
            on=draw(st.sampled_from([*(found["metadata"]["name"] for found in nodes), "gone"])),
            namespace=draw(st.sampled_from(["default", "other"])),
            labels={"app": draw(st.sampled_from(["web", "db"]))},
            terminating=draw(st.booleans()),
        )
        for i in range(draw(st.integers(0, 8)))
    ]
    return [*nodes, *pods]


def constraints() -> st.SearchStrategy[Object]:
    """Return a constraint on the application's Pods."""
    return st.builds(
        spread,
        st.sampled_from([ZONE, RACK, HOSTNAME]),
        selector=st.just(app("web")),
        maxSkew=st.integers(1, 3),
        nodeTaintsPolicy=st.sampled_from(["Honor", "Ignore"]),
        soft=st.booleans(),
    )


def spread_pods() -> st.SearchStrategy[Pod]:
    """Return a Pod of the application with up to three constraints."""
    several = st.lists(constraints(), min_size=1, max_size=3)
    return several.map(lambda found: typed_pod(pod("new", labels={"app": "web"}, topologySpreadConstraints=found)))


@given(clusters(), spread_pods(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_changes_nothing(objects: list[Object], asked: Pod, order: random.Random) -> None:
    shuffled = order.sample(objects, len(objects))
    assert cycle.evaluate(asked, handle(shuffled)).nodes == cycle.evaluate(asked, handle(objects)).nodes


@given(clusters(), spread_pods(), st.lists(st.integers(0, 4), max_size=5))
def test_terminating_pods_and_other_namespaces_count_nowhere(
    objects: list[Object], asked: Pod, places: Sequence[int]
) -> None:
    web = {"app": "web"}
    more = [pod(f"t{i}", on=f"n{place}", labels=web, terminating=True) for i, place in enumerate(places)]
    more += [pod(f"o{i}", on=f"n{place}", labels=web, namespace="elsewhere") for i, place in enumerate(places)]
    assert hard_counts(asked, handle([*objects, *more])) == hard_counts(asked, handle(objects))


@given(st.lists(labels(), min_size=1, max_size=5), st.lists(constraints(), min_size=1, max_size=2))
@settings(max_examples=50)
def test_replicas_that_are_placed_never_exceed_max_skew(labelled: list[Mapping[str, str]], found: list[Object]) -> None:
    hard = [{**constraint, "whenUnsatisfiable": "DoNotSchedule"} for constraint in found]
    replica = typed_pod(pod("new", labels={"app": "web"}, topologySpreadConstraints=hard))
    seen = handle([node(f"n{i}", labels=carried) for i, carried in enumerate(labelled)])
    for _ in range(6):
        feasible = cycle.evaluate(replica, seen).feasible
        if not feasible:
            break
        seen = seen.with_assigned(replica, feasible[0])
        for counts in hard_counts(replica, seen):
            assert max(counts.match_num.values()) - counts.global_minimum <= counts.constraint.max_skew


@given(clusters(), spread_pods())
def test_a_pod_that_is_placed_counts_as_if_it_had_been_there(objects: list[Object], asked: Pod) -> None:
    seen = handle(objects)
    placed = typed_pod(pod("placed", labels={"app": "web"}))
    cycle.evaluate(asked, seen)  # so that what is gathered on the way is carried over
    moved = seen.with_assigned(placed, "n0")
    anew = handle([*objects, pod("placed", on="n0", labels={"app": "web"})])
    assert cycle.evaluate(asked, moved).nodes == cycle.evaluate(asked, anew).nodes

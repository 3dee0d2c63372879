"""The domain table of a constraint: who is counted, who holds the minimum, who cannot be filled."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.diagnosis.domains import ConstraintDiagnosis
from kubectl_spread.diagnosis.reasons import UntoleratedTaints
from kubectl_spread.diagnosis.requirements import ConstraintRequirement, FilterRequirement
from kubectl_spread.diagnosis.topology_keys import keys_meant
from tests.build import HOSTNAME, ZONE, Object, app, configured_profile, handle, node, pod, spread, typed_pod
from tests.diagnosis.judged import (
    ABC,
    GPU,
    HARD_ZONE_DEFAULT,
    SERVICE,
    TAINTED,
    constraint_of,
    incoming,
    report_of,
    web,
)
from tests.naming import in_order

NOT_C = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "NotIn", "values": ["c"]}]}]
        }
    }
}


def table(constraint: ConstraintDiagnosis) -> dict[str, tuple[int, int, int, bool] | None]:
    """Return domain → (Pods, skew, skew if placed, allowed); None where the domain is not counted."""
    return {
        domain.value: (domain.matching, domain.skew, domain.skew_if_placed, domain.allowed) if domain.eligible else None
        for domain in constraint.domains
    }


def bypassed(constraint: ConstraintDiagnosis) -> dict[str, str]:
    """Return node → why it is not counted."""
    return {node.name: node.reason for node in constraint.bypassed_nodes}


def test_each_domain_is_counted_against_the_minimum() -> None:
    constraint = constraint_of(incoming(), [*ABC, *web("a1", "a2", "b1")])
    assert table(constraint) == {"a": (2, 2, 3, False), "b": (1, 1, 2, False), "c": (0, 0, 1, True)}
    assert (constraint.global_minimum, constraint.minimum_domains) == (0, ("c",))
    assert [domain.nodes for domain in constraint.domains] == [("a1", "a2"), ("b1",), ("c1",)]


def test_the_constraint_is_told_as_it_applies() -> None:
    constraint = constraint_of(incoming(spread(ZONE, selector=app("web"), minDomains=2)), ABC)
    assert (constraint.index, constraint.topology_key, constraint.max_skew, constraint.min_domains) == (0, ZONE, 1, 2)
    assert (constraint.when_unsatisfiable, constraint.selector) == ("DoNotSchedule", "app=web")
    assert constraint.self_match
    assert not constraint.default


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {"a": (1, 1, 2, False), "b": (1, 1, 2, False), "c": (0, 0, 1, True)}),
        ({"nodeTaintsPolicy": "Ignore"}, {"a": (1, 1, 2, False), "b": (1, 1, 2, False), "c": (0, 0, 1, True)}),
        ({"nodeTaintsPolicy": "Honor"}, {"a": (1, 0, 1, True), "b": (1, 0, 1, True), "c": None}),
        ({"maxSkew": 2}, {"a": (1, 1, 2, True), "b": (1, 1, 2, True), "c": (0, 0, 1, True)}),
        ({"minDomains": 4}, {"a": (1, 1, 2, False), "b": (1, 1, 2, False), "c": (0, 0, 1, True)}),
        ({"soft": True}, {"a": (1, 1, 2, True), "b": (1, 1, 2, True), "c": (0, 0, 1, True)}),
        ({"soft": True, "nodeTaintsPolicy": "Honor"}, {"a": (1, 0, 1, True), "b": (1, 0, 1, True), "c": None}),
    ],
    ids=in_order,
)
def test_fields_of_the_constraint_decide(fields: Object, expected: Object) -> None:
    assert table(
        constraint_of(incoming(spread(ZONE, selector=app("web"), **fields)), [*TAINTED, *web("a1", "b1")])
    ) == (expected)


@pytest.mark.parametrize(
    ("fields", "zone_c"), [({}, None), ({"nodeAffinityPolicy": "Honor"}, None), ({"nodeAffinityPolicy": "Ignore"}, 0)]
)
def test_node_affinity_leaves_domains_out_unless_ignored(fields: Object, zone_c: int | None) -> None:
    described = incoming(spread(ZONE, selector=app("web"), **fields), affinity=NOT_C)
    counts = table(constraint_of(described, [*ABC, *web("a1", "b1")]))["c"]
    assert (counts and counts[0]) == zone_c


@pytest.mark.parametrize("max_skew", [1, 3])
def test_a_pod_that_does_not_match_itself_adds_nothing(max_skew: int) -> None:
    described = incoming(spread(ZONE, selector=app("web"), maxSkew=max_skew), labels={"app": "other"})
    constraint = constraint_of(described, [*ABC, *web("a1", "a2", "b1")])
    assert not constraint.self_match
    assert table(constraint)["a"] == (2, 2, 2, max_skew >= 2)


def test_pods_that_end_or_live_elsewhere_are_not_counted() -> None:
    others = [
        pod("ending", on="a1", labels={"app": "web"}, terminating=True),
        pod("ended", on="a1", labels={"app": "web"}, status={"phase": "Failed"}),
        pod("elsewhere", on="a1", namespace="other", labels={"app": "web"}),
        pod("unlike", on="a1", labels={"app": "db"}),
    ]
    assert table(constraint_of(incoming(), [*ABC, *others]))["a"] == (0, 0, 1, True)


def test_nobody_holds_the_minimum_while_domains_are_missing() -> None:
    constraint = constraint_of(
        incoming(spread(ZONE, selector=app("web"), minDomains=4)), [*ABC, *web("a1", "b1", "c1")]
    )
    assert (constraint.global_minimum, constraint.minimum_domains) == (0, ())


def test_no_domain_is_eligible() -> None:
    described = incoming(spread(ZONE, selector=app("web")), nodeSelector={"disk": "ssd"})
    constraint = constraint_of(described, ABC)
    assert set(table(constraint).values()) == {None}
    assert (constraint.global_minimum, constraint.minimum_domains, constraint.skew) == (0, (), 0)


def test_the_empty_value_is_a_domain() -> None:
    assert table(constraint_of(incoming(), [node("x", zone=""), *ABC])).keys() == {"", "a", "b", "c"}


def test_nodes_are_passed_over_for_the_first_rule_that_applies() -> None:
    nodes = [
        *ABC[:2],
        node("nowhere", taints=[GPU]),
        node("far", zone="far", labels={"disk": "hdd"}, taints=[GPU]),
        node("kept", zone="a", labels={"disk": "ssd"}, taints=[GPU]),
    ]
    described = incoming(
        spread(ZONE, selector=app("web"), nodeTaintsPolicy="Honor"),
        affinity={
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "disk", "operator": "NotIn", "values": ["hdd"]}]}
                    ]
                }
            }
        },
    )
    constraint = constraint_of(described, [*nodes, *web("nowhere", "far", "far", "kept")])
    assert bypassed(constraint) == {
        "far": "NodeAffinityPolicy",
        "kept": "NodeTaintsPolicy",
        "nowhere": "MissingTopologyKey",
    }
    assert {found.name: found.matching for found in constraint.bypassed_nodes} == {"far": 2, "kept": 1, "nowhere": 1}


def test_a_hard_constraint_counts_only_nodes_with_all_hard_keys() -> None:
    nodes = [*ABC, node("unnamed", zone="a", hostname=None)]
    described = incoming(
        spread(ZONE, selector=app("web")), spread(HOSTNAME, selector=app("web")), spread("rack", soft=True)
    )
    report = report_of(described, [*nodes, *web("unnamed", "a1")])
    by_zone, by_host, by_rack = report.constraints
    assert table(by_zone)["a"] == (1, 1, 2, False)
    (node_report,) = by_zone.bypassed_nodes
    assert (node_report.name, node_report.key, node_report.matching) == ("unnamed", HOSTNAME, 1)
    assert bypassed(by_host) == {"unnamed": "MissingTopologyKey"}
    assert set(bypassed(by_rack)) == {"a1", "a2", "b1", "c1", "unnamed"}


def test_built_in_defaults_ask_for_their_own_key_alone() -> None:
    nodes = [node("plain"), node("zoned", zone="a")]
    by_host, by_zone = report_of(pod("new", labels={"app": "web"}), [*nodes, SERVICE, *web("plain")]).constraints
    assert bypassed(by_host) == {}
    assert bypassed(by_zone) == {"plain": "MissingTopologyKey"}
    assert by_host.default
    assert table(by_host)["plain"] == (1, 1, 2, True)


def test_a_domain_is_pinned_where_every_node_is_rejected_by_something_else() -> None:
    constraint = constraint_of(incoming(), [*TAINTED, *web("a1", "b1")])
    pinned = {domain.value: domain.pinned for domain in constraint.domains}
    assert pinned == {"a": False, "b": False, "c": True}
    (pin,) = next(domain.pinned_by for domain in constraint.domains if domain.pinned)
    assert (pin.node, pin.requirement, pin.reason) == (
        "c1",
        FilterRequirement("TaintToleration"),
        UntoleratedTaints(taints=(GPU,)),
    )


def test_a_profile_without_the_filter_closes_and_pins_no_domain() -> None:
    disabled: Object = {"filter": {"disabled": [{"name": "PodTopologySpread"}]}}
    profile = configured_profile({"profiles": [{"plugins": disabled}]})
    report = report_of(incoming(), [*TAINTED, *web("a1", "b1")], profile)
    assert table(report.constraints[0]) == {"a": (1, 1, 2, True), "b": (1, 1, 2, True), "c": (0, 0, 1, True)}
    assert not any(domain.pinned for domain in report.constraints[0].domains)
    assert "PinnedMinimum" not in {finding.id for finding in report.findings}


def test_a_domain_with_one_usable_node_is_not_pinned() -> None:
    constraint = constraint_of(incoming(), [*TAINTED, node("c2", zone="c"), *web("a1", "b1")])
    assert not any(domain.pinned or domain.pinned_by for domain in constraint.domains)


def test_only_domains_at_the_minimum_of_hard_constraints_are_pinned() -> None:
    soft = constraint_of(incoming(spread(ZONE, selector=app("web"), soft=True)), [*TAINTED, *web("a1", "b1")])
    assert not any(domain.pinned for domain in soft.domains)
    above = constraint_of(incoming(), [*TAINTED, *web("c1", "c1")])
    assert not any(domain.pinned for domain in above.domains)


def test_a_filter_pins_before_another_constraint_does() -> None:
    described = incoming(spread(ZONE, selector=app("web")), spread(HOSTNAME, selector=app("web")))
    nodes = [node("a1", zone="a"), node("b1", zone="b"), node("b2", zone="b", taints=[GPU])]
    zone, host = report_of(described, [*nodes, *web("a1", "a1", "b1")]).constraints
    assert {
        domain.value: [(pin.node, type(pin.requirement)) for pin in domain.pinned_by] for domain in zone.domains
    } == {"a": [], "b": [("b1", ConstraintRequirement), ("b2", FilterRequirement)]}
    (pin,) = (pin for domain in host.domains for pin in domain.pinned_by)
    assert pin.requirement == FilterRequirement("TaintToleration")


def similar_keys(key: str, labels: Iterable[str], used: Collection[str] = ()) -> tuple[str, ...]:
    """Return those of the labels that may be meant where another node has the key."""
    return keys_meant(key, typed_pod(pod("p")), used, handle([node("n", labels={key: "x"})]))(labels)


@pytest.mark.parametrize(
    ("key", "labels", "found"),
    [
        ("topology.kubernetes.io/zone", ["failure-domain.beta.kubernetes.io/zone"], True),
        ("zone", ["topology.kubernetes.io/zone"], True),
        ("zone", ["zone-typo"], True),
        ("zone", ["zone_old"], True),
        ("zone", ["zone.example"], True),
        ("topology.kubernetes.io/zone-id", ["topology.kubernetes.io/zone"], True),
        ("zone", ["zones"], False),
        ("zone", ["zon"], False),
        ("rack-name", ["rack-nmae"], True),
        ("rack-name", ["rack-nam"], True),
        ("rack-name", ["rack-names2"], True),
        ("rack-name", ["rack-names23"], False),
        ("rack-name", ["rock-nomo"], False),
        ("rack-name", ["rock-nome"], True),
        ("rack", ["rock"], False),
        ("zone", ["region", "disk"], False),
    ],
)
def test_labels_that_may_be_meant_instead(key: str, labels: list[str], *, found: bool) -> None:
    assert similar_keys(key, labels) == (tuple(labels) if found else ())


def test_the_key_of_another_constraint_is_not_meant_instead() -> None:
    labels = {"topology.kubernetes.io/zone": "a", "zone-typo": "a"}
    assert similar_keys("zone", labels, {"topology.kubernetes.io/zone"}) == ("zone-typo",)


WORDS = st.text("ab", min_size=8, max_size=12)


@given(WORDS, WORDS)
def test_two_keys_are_alike_or_not_whichever_is_asked(one: str, other: str) -> None:
    assert bool(similar_keys(one, [other])) == bool(similar_keys(other, [one]))


@given(WORDS, st.integers(0, 7), st.sampled_from("xyz"))
def test_one_wrong_letter_is_a_typo(key: str, place: int, letter: str) -> None:
    assert similar_keys(key, [key[:place] + letter + key[place + 1 :]])


@given(st.lists(st.sampled_from(["a1", "a2", "b1", "c1"]), max_size=8), st.permutations(range(4)))
def test_the_order_of_the_cluster_changes_nothing(where: list[str], order: list[int]) -> None:
    pods = web(*where)
    one = constraint_of(incoming(), [*ABC, *pods])
    assert constraint_of(incoming(), [*reversed(pods), *(ABC[i] for i in order)]) == one


@given(st.lists(st.sampled_from(["a1", "a2", "b1", "c1"]), max_size=10), st.integers(1, 3))
def test_the_table_agrees_with_itself(where: list[str], max_skew: int) -> None:
    constraint = constraint_of(incoming(spread(ZONE, selector=app("web"), maxSkew=max_skew)), [*ABC, *web(*where)])
    matching = {domain.value: domain.matching for domain in constraint.domains}
    assert sum(matching.values()) == len(where)
    assert constraint.global_minimum == min(matching.values())
    assert set(constraint.minimum_domains) == {value for value in matching if matching[value] == min(matching.values())}
    assert constraint.skew == max(matching.values()) - min(matching.values())
    for domain in constraint.domains:
        assert domain.allowed == (domain.matching + 1 - constraint.global_minimum <= max_skew)


def test_default_constraints_of_the_configuration_are_marked() -> None:
    constraint = constraint_of(pod("new", labels={"app": "web"}), [*ABC, SERVICE], HARD_ZONE_DEFAULT)
    assert (constraint.default, constraint.selector, constraint.when_unsatisfiable) == (
        True,
        "app=web",
        "DoNotSchedule",
    )

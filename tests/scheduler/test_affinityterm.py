"""Pod affinity terms are read once, and equal ones are kept once."""

from __future__ import annotations

import pytest

from kubectl_spread.labels import EVERYTHING, NOTHING
from kubectl_spread.scheduler.affinityterm import ExistingTerms, PodTerms
from tests.build import HOSTNAME, ZONE, Object, app, pod, typed_pod

NEAR = {"topologyKey": HOSTNAME, "labelSelector": app("web")}
UNREADABLE = {"topologyKey": ZONE, "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Like"}]}}


def required(term: Object, kind: str = "podAffinity") -> Object:
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def test_a_pod_without_affinity_has_no_terms() -> None:
    assert PodTerms.of(typed_pod(pod("p"))) == PodTerms()
    assert PodTerms.of(typed_pod(pod("p", affinity={}))) == PodTerms()


def test_namespaces_of_a_term() -> None:
    described = {**NEAR, "namespaces": ["a"], "namespaceSelector": {}}
    [term] = PodTerms.of(typed_pod(pod("p", affinity=required(described)))).affinity
    assert (term.namespaces, term.namespace_selector) == (frozenset("a"), EVERYTHING)
    [own] = PodTerms.of(typed_pod(pod("p", namespace="n", affinity=required(NEAR, "podAntiAffinity")))).anti_affinity
    assert (own.namespaces, own.namespace_selector) == (frozenset("n"), NOTHING)


def test_weights_against_are_negative() -> None:
    weighted = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "podAffinityTerm": NEAR}]}
    terms = PodTerms.of(typed_pod(pod("p", affinity={"podAffinity": weighted, "podAntiAffinity": weighted})))
    assert [weight for weight, _ in terms.preferred] == [7, -7]


def test_a_term_that_cannot_be_read() -> None:
    unreadable = typed_pod(pod("p", affinity=required(UNREADABLE)))
    with pytest.raises(ValueError, match="not a valid label selector operator"):
        PodTerms.of(unreadable)
    assert ExistingTerms.of([("a", unreadable)]) == ExistingTerms.of([])


def test_equal_terms_are_kept_once() -> None:
    replica = typed_pod(pod("p", affinity=required(NEAR)))
    existing = ExistingTerms.of([("a", replica), ("a", replica), ("b", replica), ("b", typed_pod(pod("other")))])
    assert [*existing.affinity.values()] == [{"a": 2, "b": 1}]


def test_the_same_words_mean_other_pods_in_another_namespace() -> None:
    pods = [typed_pod(pod("p", namespace=namespace, affinity=required(NEAR))) for namespace in ("m", "n", "m")]
    existing = ExistingTerms.of(("a", each) for each in pods)
    assert {term.namespaces: on for term, on in existing.affinity.items()} == {
        frozenset("m"): {"a": 2},
        frozenset("n"): {"a": 1},
    }


def test_what_one_pod_leaves_is_what_the_others_have() -> None:
    replica, other = typed_pod(pod("p", affinity=required(NEAR))), typed_pod(pod("q", affinity=required(NEAR)))
    both = ExistingTerms.of([("a", replica), ("a", other), ("b", other)])
    assert both.changed("a", replica, -1) == ExistingTerms.of([("a", other), ("b", other)])
    assert both.changed("b", other, -1) == ExistingTerms.of([("a", replica), ("a", other)])
    assert both.changed("a", replica, -1).changed("a", other, -1).changed("b", other, -1) == ExistingTerms.of([])

"""Every finding: when it is made, when not, and that it names the thing and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from kubectl_spread.contract.findings import Finding, Severity
from kubectl_spread.scheduler.profile import Behaviour, default_profile
from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.build_workloads import owned
from tests.diagnosis.judged import (
    ABC,
    HARD_ZONE_DEFAULT,
    SERVICE,
    TAINTED,
    findings_of,
    incoming,
    list_defaults,
    report_of,
    web,
)
from tests.naming import in_order

EVERYWHERE = web("a1", "b1", "c1")


def zoned(**fields: Any) -> Object:  # noqa: ANN401 - any field of a constraint
    """Return a constraint on zones that counts the application web, or as the fields say."""
    return spread(ZONE, **({"selector": app("web")} | fields))


def found(*constraints: Object, objects: Sequence[Object] = (*ABC, *EVERYWHERE), **fields: object) -> set[str]:
    """Return the ids of what is found about a Pod with these constraints."""
    return set(findings_of(incoming(*constraints, **fields), objects))


def only(findings: Mapping[str, Sequence[Finding]], name: str) -> Finding:
    """Return the only finding of that id."""
    (finding,) = findings[name]
    return finding


def test_a_sound_constraint_in_a_sound_cluster_has_no_finding() -> None:
    assert found(zoned()) == set()


def test_findings_come_worst_first() -> None:
    described = incoming(spread("rack", selector=app("other")), spread("rack", selector=app("other")))
    severities = [finding.severity for finding in report_of(described, ABC).findings]
    assert severities == sorted(severities, key=list(Severity).index)
    assert severities[0] is Severity.ERROR
    assert severities[-1] is Severity.WARNING


def test_a_ghost_is_not_matched_by_its_own_selector() -> None:
    ghost = only(findings_of(incoming(zoned(selector=app("other"))), ABC), "GhostPod")
    assert (ghost.severity, ghost.path) == (Severity.WARNING, "spec.topologySpreadConstraints[0].labelSelector")
    assert "app=other" in ghost.message
    assert "new" in ghost.message


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        (spread(ZONE), {"NilSelector"}),
        (spread(ZONE, selector={}), {"EmptySelector"}),
        (spread(ZONE, selector={}, matchLabelKeys=["app"]), set()),
        (spread(ZONE, selector={}, matchLabelKeys=["absent"]), {"EmptySelector", "MatchLabelKeyAbsent"}),
        (zoned(matchLabelKeys=["absent"]), {"MatchLabelKeyAbsent"}),
        (zoned(matchLabelKeys=["app"]), set()),
    ],
    ids=in_order,
)
def test_selectors_that_select_nothing_or_everything(constraint: Object, expected: set[str]) -> None:
    assert found(constraint) == expected


@pytest.mark.parametrize(
    ("behaviours", "effect"),
    [(frozenset(), "counts none in this release"), ({Behaviour.EMPTY_SELECTOR_COUNTS}, "counts every Pod")],
)
def test_the_empty_selector_means_what_the_release_makes_of_it(behaviours: frozenset[Behaviour], effect: str) -> None:
    usual = default_profile()
    profile = replace(usual, behaviours=usual.behaviours | behaviours)
    assert effect in only(findings_of(incoming(spread(ZONE, selector={})), ABC, profile), "EmptySelector").message


def test_what_a_label_key_needs() -> None:
    finding = only(findings_of(incoming(zoned(matchLabelKeys=["a", "app", "b"])), ABC), "MatchLabelKeyAbsent")
    assert finding.path == "spec.topologySpreadConstraints[0].matchLabelKeys"
    assert "no label a, b" in finding.message


def test_the_same_pair_twice_is_refused() -> None:
    findings = findings_of(incoming(zoned(), zoned(maxSkew=2), zoned(soft=True)), ABC)
    finding = only(findings, "DuplicateConstraint")
    assert (finding.severity, finding.path) == (Severity.ERROR, "spec.topologySpreadConstraints[1]")
    assert "2 times" in finding.message


@pytest.mark.parametrize(
    ("nodes", "severity", "said"),
    [
        ((*ABC, node("x")), Severity.WARNING, f"x lacks the label {ZONE} "),
        ((*ABC, node("x"), node("y")), Severity.WARNING, f"x, y lack the label {ZONE} "),
        ((node("x"), node("y")), Severity.ERROR, f"no node carries the label {ZONE}"),
        ((*ABC, *(node(f"n{i}") for i in range(6))), Severity.WARNING, "n0, n1, n2 and 3 more lack"),
    ],
)
def test_nodes_without_the_key_take_no_pod(nodes: Sequence[Object], severity: Severity, said: str) -> None:
    finding = only(findings_of(incoming(zoned()), nodes), "MissingTopologyKey")
    assert (finding.severity, finding.path) == (severity, "spec.topologySpreadConstraints[0].topologyKey")
    assert said in finding.message


def test_a_soft_constraint_needs_no_key() -> None:
    assert found(zoned(soft=True), objects=(*ABC, *EVERYWHERE, node("x", labels={"zone": "a"}))) == set()


def test_a_label_that_may_be_meant_is_named_with_its_nodes() -> None:
    nodes = (*ABC, node("x", labels={"zone": "a", "failure-domain.beta.kubernetes.io/zone": "a"}), node("y"))
    similar = findings_of(incoming(zoned()), nodes)["SimilarTopologyKey"]
    assert [finding.message.split(". ")[0] for finding in similar] == [
        f"x lacks {ZONE} but has failure-domain.beta.kubernetes.io/zone",
        f"x lacks {ZONE} but has zone",
    ]


def test_the_key_of_another_constraint_is_not_meant() -> None:
    nodes = (*ABC, node("x", labels={"zone": "a"}))
    described = incoming(zoned(), spread("zone", selector=app("web"), soft=True))
    assert "SimilarTopologyKey" not in findings_of(described, nodes)


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        (zoned(minDomains=3), False),
        (zoned(minDomains=4), True),
        (zoned(minDomains=1), False),
        (zoned(), False),
    ],
    ids=in_order,
)
def test_more_domains_may_be_asked_for_than_there_are(constraint: Object, *, expected: bool) -> None:
    assert ("MinDomainsUnreachable" in found(constraint)) == expected


def test_how_many_domains_are_missing() -> None:
    finding = only(findings_of(incoming(zoned(minDomains=5)), ABC), "MinDomainsUnreachable")
    assert "asks for 5 domains" in finding.message
    assert "there are 3 (a, b, c)" in finding.message


def test_the_minimum_is_pinned_where_the_pod_cannot_go() -> None:
    finding = only(findings_of(incoming(), [*TAINTED, *web("a1", "b1")]), "PinnedMinimum")
    assert (finding.severity, finding.path) == (Severity.ERROR, "spec.topologySpreadConstraints[0]")
    assert "the minimum (0) is held by c" in finding.message
    assert "c1 (taint dedicated=gpu:NoSchedule)" in finding.message
    assert finding.message.endswith("every other domain stops at 1.")


@pytest.mark.parametrize(
    ("objects", "why"),
    [
        ([*TAINTED], "nothing is rejected for skew"),
        ([*TAINTED, node("d1", zone="d"), *web("a1", "b1")], "another domain holds the minimum and takes the Pod"),
        ([*TAINTED, node("c2", zone="c"), *web("a1", "b1")], "another node of the domain takes the Pod"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_minimum_is_not_pinned(objects: Sequence[Object], why: str) -> None:
    assert "PinnedMinimum" not in findings_of(incoming(), objects), why


def test_a_minimum_that_another_constraint_keeps_from_filling_is_no_pin() -> None:
    nodes = [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b")]
    described = incoming(zoned(), spread(HOSTNAME, selector=app("web")))
    assert "PinnedMinimum" not in findings_of(described, [*nodes, *web("a1", "a1", "a2", "b1", "b1")])


def test_matching_pods_on_nodes_that_do_not_count_are_told() -> None:
    finding = only(findings_of(incoming(), [*ABC, node("x"), *web("x", "x", "a1")]), "UncountedNodes")
    assert finding.severity is Severity.INFO
    assert finding.message.startswith("2 Pods on x would match but are not counted: the node lacks a topology key")
    assert "UncountedNodes" not in findings_of(incoming(), [*ABC, node("x")])


@pytest.mark.parametrize(
    ("constraint", "fields", "expected"),
    [
        (zoned(), {"nodeSelector": {ZONE: "a"}}, True),
        (zoned(soft=True), {"nodeSelector": {ZONE: "a"}}, True),
        (zoned(minDomains=2), {"nodeSelector": {ZONE: "a"}}, False),
        (zoned(), {}, False),
    ],
    ids=in_order,
)
def test_one_domain_is_nothing_to_spread_over(constraint: Object, fields: Object, *, expected: bool) -> None:
    assert ("SingleDomain" in found(constraint, **fields)) == expected


def test_a_daemon_has_its_own_node_to_spread_over() -> None:
    names = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a1"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [names]}}
    daemon = owned("d", "DaemonSet", "d", affinity={"nodeAffinity": required}, topologySpreadConstraints=[zoned()])
    finding = only(findings_of(daemon, ABC), "SingleDomain")
    assert finding.message.endswith("It may go to a1 alone: drop the constraint.")


def test_a_default_constraint_is_nobodys_mistake() -> None:
    findings = findings_of(pod("new", labels={"app": "web"}), [node("a1", zone="a"), SERVICE])
    assert set(findings) == {"DefaultConstraints"}


def revised(name: str, on: str, revision: str, *, owner: str = "web") -> Object:
    """Return a Pod of a revision of a Deployment that cannot be read."""
    labels = {"app": "web", "pod-template-hash": revision}
    return pod(name, on=on, labels=labels, owner={"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner})


@pytest.mark.parametrize(
    ("others", "constraint", "expected"),
    [
        ([revised("old", "a1", "1")], zoned(), True),
        ([revised("old", "a1", "2")], zoned(), False),
        ([revised("old", "a1", "1", owner="another")], zoned(), False),
        ([revised("old", "a1", "1")], zoned(matchLabelKeys=["pod-template-hash"]), False),
        ([revised("old", "a1", "1")], zoned(selector=app("other")), False),
        ([pod("loose", on="a1", labels={"app": "web"})], zoned(), False),
    ],
    ids=in_order,
)
def test_a_rollout_that_counts_older_revisions(others: Sequence[Object], constraint: Object, *, expected: bool) -> None:
    new = revised("new", "", "2")
    new["spec"] |= {"topologySpreadConstraints": [constraint]}
    findings = findings_of(new, [*ABC, *others])
    assert ("RolloutMixesRevisions" in findings) == expected
    if expected:
        message = only(findings, "RolloutMixesRevisions").message
        assert message.startswith("1 Pod of other revisions of replicaset/web is counted (old)")
        assert "matchLabelKeys: [pod-template-hash]" in message


def test_pods_that_are_being_deleted_hold_their_room() -> None:
    ending = [pod(name, on="a1", labels={"app": "web"}, terminating=True) for name in ("e2", "e1")]
    one = only(findings_of(incoming(), [*ABC, ending[0]]), "TerminatingPods")
    assert one.message.startswith("e2 is being deleted")
    two = only(findings_of(incoming(), [*ABC, *ending]), "TerminatingPods")
    assert two.message.startswith("e1, e2 are being deleted")
    elsewhere = pod("e", on="a1", namespace="other", labels={"app": "web"}, terminating=True)
    assert found(zoned(), objects=(*ABC, elsewhere)) == set()


def test_another_scheduler_decides() -> None:
    finding = only(findings_of(incoming(schedulerName="volcano"), ABC), "OtherScheduler")
    assert (finding.severity, finding.path) == (Severity.INFO, "spec.schedulerName")
    assert finding.message.startswith("volcano decides")


def test_the_clusters_own_constraints_apply() -> None:
    described = pod("new", labels={"app": "web"})
    built_in = only(findings_of(described, [*ABC, SERVICE]), "DefaultConstraints")
    assert "built-in defaults apply" in built_in.message
    assert f"{HOSTNAME} (ScheduleAnyway), {ZONE} (ScheduleAnyway)" in built_in.message
    configured = only(findings_of(described, [*ABC, SERVICE], HARD_ZONE_DEFAULT), "DefaultConstraints")
    assert f"configured defaults apply: {ZONE} (DoNotSchedule)" in configured.message
    assert findings_of(described, [*ABC, SERVICE], list_defaults()) == {}


def test_a_soft_constraint_is_no_limit() -> None:
    findings = findings_of(incoming(zoned(soft=True)), [*ABC, *web("a1", "a2", "a1")])
    assert set(findings) == {"SoftConstraintIsPreference"}
    assert "the skew over topology.kubernetes.io/zone is 3, maxSkew 1" in (
        only(findings, "SoftConstraintIsPreference").message
    )
    assert found(zoned(soft=True, maxSkew=3), objects=(*ABC, *web("a1", "a2", "a1"))) == set()


@pytest.mark.parametrize(
    ("constraints", "nodes", "expected"),
    [
        ([zoned(soft=True)], TAINTED, True),
        ([zoned(soft=True)], ABC, False),
        ([zoned(soft=True), spread(HOSTNAME, selector=app("other"))], TAINTED, False),
        ([zoned(soft=True, maxSkew=3)], TAINTED, False),
    ],
    ids=in_order,
)
def test_no_autoscaler_sees_what_soft_constraints_would_like(
    constraints: Sequence[Object], nodes: Sequence[Object], *, expected: bool
) -> None:
    findings = findings_of(incoming(*constraints), [*nodes, *web("a1", "a2", "a1")])
    assert ("AutoscalerBlind" in findings) == expected
    if expected:
        assert "no node of c can take the Pod" in only(findings, "AutoscalerBlind").message


@pytest.mark.parametrize(
    ("key", "instead"),
    [
        ("failure-domain.beta.kubernetes.io/zone", "Use topology.kubernetes.io/zone."),
        ("beta.kubernetes.io/instance-type", "Use node.kubernetes.io/instance-type."),
        ("beta.kubernetes.io/fluentd-ds-ready", "Use the topology.kubernetes.io or kubernetes.io label."),
    ],
)
def test_a_deprecated_key_has_a_successor(key: str, instead: str) -> None:
    nodes = [node("x", labels={key: "1"}), node("y", labels={key: "2"})]
    finding = only(findings_of(incoming(spread(key, selector=app("web"))), nodes), "DeprecatedTopologyKey")
    assert finding.message.endswith(instead)


UNSCHEDULABLE = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}


@pytest.mark.parametrize(
    ("status", "nodes", "expected"),
    [
        (UNSCHEDULABLE, ABC, True),
        (UNSCHEDULABLE, [node("x", zone="a", taints=["a:NoSchedule"])], False),
        ({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}, ABC, False),
        ({"conditions": [{"type": "Ready", "status": "False"}]}, ABC, False),
        ({}, ABC, False),
    ],
    ids=in_order,
)
def test_a_condition_may_be_stale(status: Object, nodes: Sequence[Object], *, expected: bool) -> None:
    assert ("StaleEvent" in findings_of(incoming(zoned(), status=status), nodes)) == expected


def test_every_message_is_a_sentence_and_every_path_a_field() -> None:
    described = incoming(
        spread("rack", selector=app("other"), matchLabelKeys=["absent"]),
        spread("failure-domain.beta.kubernetes.io/zone", selector={}, minDomains=9),
        spread(ZONE, soft=True),
        schedulerName="volcano",
        status=UNSCHEDULABLE,
    )
    findings = report_of(described, [*TAINTED, *web("a1", "a2", "a1")]).findings
    assert len({finding.id for finding in findings}) >= 8
    for finding in findings:
        assert finding.message.endswith(".")
        assert finding.path.startswith(("spec.", "status."))

"""Every finding: when it is made, when not, and what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pytest
from msgspec.structs import replace

from kubectl_spread.diagnosis import findings, lint
from kubectl_spread.diagnosis.domains import diagnose
from kubectl_spread.diagnosis.findings import Finding, Severity
from kubectl_spread.diagnosis.requirements import FilterRequirement
from kubectl_spread.scheduler import cycle
from kubectl_spread.scheduler.profile import Behaviour, Profile, default_profile
from tests.build import HOSTNAME, ZONE, Object, app, handle, node, pod, snapshot, spread, typed_pod
from tests.build_workloads import owned
from tests.diagnosis.judged import ABC, HARD_ZONE_DEFAULT, SERVICE, TAINTED, incoming, list_defaults, web, zoned
from tests.naming import in_order

FindingT = TypeVar("FindingT", bound=Finding)
EVERYWHERE = web("a1", "b1", "c1")


def linted(described: Object, objects: Sequence[Object], profile: Profile | None = None) -> tuple[Finding, ...]:
    """Return what is found about a Pod in the cluster of these objects."""
    pod, cluster = typed_pod(described, profile), handle(objects, profile)
    evaluation = cycle.evaluate(pod, cluster)
    return lint.of_pod(evaluation, diagnose(evaluation, cluster))


def found(*constraints: Object, objects: Sequence[Object] = (*ABC, *EVERYWHERE), **fields: object) -> set[str]:
    """Return the ids of what is found about a Pod with these constraints."""
    return {finding.id for finding in linted(incoming(*constraints, **fields), objects)}


def only(findings: Sequence[Finding], of: type[FindingT]) -> FindingT:
    (finding,) = (finding for finding in findings if isinstance(finding, of))
    return finding


def test_a_sound_constraint_in_a_sound_cluster_has_no_finding() -> None:
    assert found(zoned()) == set()


def test_findings_come_worst_first() -> None:
    described = incoming(spread("rack", selector=app("other")), spread("rack", selector=app("other")))
    severities = [finding.severity for finding in linted(described, ABC)]
    assert severities == sorted(severities, key=list(Severity).index)
    assert severities[0] is Severity.ERROR
    assert severities[-1] is Severity.WARNING


def test_a_ghost_is_not_matched_by_its_own_selector() -> None:
    ghost = only(linted(incoming(zoned(selector=app("other"))), ABC), findings.GhostPod)
    assert (ghost.severity, ghost.path) == (Severity.WARNING, "spec.topologySpreadConstraints[0].labelSelector")
    assert (str(ghost.constraint.selector), ghost.pod) == ("app=other", "new")


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


@pytest.mark.parametrize("counts", [False, True])
def test_the_empty_selector_means_what_the_release_makes_of_it(*, counts: bool) -> None:
    usual = default_profile()
    profile = replace(usual, behaviours=usual.behaviours | ({Behaviour.EMPTY_SELECTOR_COUNTS} if counts else set()))
    assert only(linted(incoming(spread(ZONE, selector={})), ABC, profile), findings.EmptySelector).counts is counts


def test_what_a_label_key_needs() -> None:
    finding = only(linted(incoming(zoned(matchLabelKeys=["a", "app", "b"])), ABC), findings.MatchLabelKeyAbsent)
    assert finding.path == "spec.topologySpreadConstraints[0].matchLabelKeys"
    assert finding.keys == ("a", "b")


def test_the_same_pair_twice_is_refused() -> None:
    described = incoming(zoned(), zoned(maxSkew=2), zoned(soft=True))
    finding = only(linted(described, ABC), findings.DuplicateConstraint)
    assert (finding.severity, finding.path) == (Severity.ERROR, "spec.topologySpreadConstraints[1]")
    assert finding.times == 2


@pytest.mark.parametrize(
    ("nodes", "severity", "lacking"),
    [
        ((*ABC, node("x")), Severity.WARNING, ("x",)),
        ((*ABC, node("y"), node("x")), Severity.WARNING, ("x", "y")),
        ((node("x"), node("y")), Severity.ERROR, ("x", "y")),
    ],
)
def test_nodes_without_the_key_take_no_pod(
    nodes: Sequence[Object], severity: Severity, lacking: tuple[str, ...]
) -> None:
    finding = only(linted(incoming(zoned()), nodes), findings.MissingTopologyKey)
    assert (finding.severity, finding.path) == (severity, "spec.topologySpreadConstraints[0].topologyKey")
    assert (finding.constraint.topology_key, finding.nodes) == (ZONE, lacking)


def test_a_soft_constraint_needs_no_key() -> None:
    assert found(zoned(soft=True), objects=(*ABC, *EVERYWHERE, node("x", labels={"zone": "a"}))) == set()


def test_a_label_that_may_be_meant_is_named_with_its_nodes() -> None:
    nodes = (*ABC, node("x", labels={"zone": "a", "failure-domain.beta.kubernetes.io/zone": "a"}), node("y"))
    found = linted(incoming(zoned()), nodes)
    similar = [finding for finding in found if isinstance(finding, findings.SimilarTopologyKey)]
    assert [(finding.nodes, finding.similar_key) for finding in similar] == [
        (("x",), "failure-domain.beta.kubernetes.io/zone"),
        (("x",), "zone"),
    ]


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [(zoned(minDomains=3), False), (zoned(minDomains=4), True), (zoned(minDomains=1), False), (zoned(), False)],
    ids=in_order,
)
def test_more_domains_may_be_asked_for_than_there_are(constraint: Object, *, expected: bool) -> None:
    assert ("MinDomainsUnreachable" in found(constraint)) == expected


def test_how_many_domains_are_missing() -> None:
    finding = only(linted(incoming(zoned(minDomains=5)), ABC), findings.MinDomainsUnreachable)
    assert (finding.constraint.min_domains, finding.domains) == (5, ("a", "b", "c"))


def test_the_minimum_is_pinned_where_the_pod_cannot_go() -> None:
    finding = only(linted(incoming(), [*TAINTED, *web("a1", "b1")]), findings.PinnedMinimum)
    assert (finding.severity, finding.path) == (Severity.ERROR, "spec.topologySpreadConstraints[0]")
    assert (finding.global_minimum, finding.domains) == (0, ("c",))
    assert [(pin.node, pin.requirement) for pin in finding.pins] == [("c1", FilterRequirement("TaintToleration"))]


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
    assert "PinnedMinimum" not in found(zoned(), objects=objects), why


def test_the_minimum_of_a_pod_that_is_refused_whole_is_not_pinned() -> None:
    missing = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "missing"}}]}
    objects = [*TAINTED, *web("a1", "b1")]
    assert "PinnedMinimum" in {each.id for each in linted(incoming(), objects)}
    assert "PinnedMinimum" not in {each.id for each in linted(incoming(**missing), objects)}


def test_a_minimum_that_another_constraint_keeps_from_filling_is_no_pin() -> None:
    nodes = [node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b")]
    objects = [*nodes, *web("a1", "a1", "a2", "b1", "b1")]
    assert "PinnedMinimum" not in found(zoned(), spread(HOSTNAME, selector=app("web")), objects=objects)


def test_matching_pods_on_nodes_that_do_not_count_are_told() -> None:
    finding = only(linted(incoming(), [*ABC, node("x"), *web("x", "x", "a1")]), findings.UncountedNodes)
    (uncounted,) = finding.nodes
    assert (finding.severity, uncounted.name, finding.pods) == (Severity.INFO, "x", 2)
    assert "UncountedNodes" not in found(zoned(), objects=[*ABC, node("x")])


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
    keys = [
        zoned(),
        spread(HOSTNAME, selector=app("web"), minDomains=2),
        zoned(nodeAffinityPolicy="Ignore", minDomains=4),
    ]
    daemon = owned("d", "DaemonSet", "d", affinity={"nodeAffinity": required}, topologySpreadConstraints=keys)
    found = linted(daemon, ABC)
    assert only(found, findings.SingleDomain).daemon
    assert [each.daemon for each in found if isinstance(each, findings.MinDomainsUnreachable)] == [True, False]


def test_a_default_constraint_is_nobodys_mistake() -> None:
    (finding,) = linted(pod("new", labels={"app": "web"}), [node("a1", zone="a"), SERVICE])
    assert finding.id == "DefaultConstraints"


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
        ([node("x"), revised("old", "x", "1")], zoned(), False),
        ([revised("old", "a1", "1")], zoned(matchLabelKeys=["pod-template-hash"]), False),
        ([revised("old", "a1", "1")], zoned(selector=app("other")), False),
        ([pod("loose", on="a1", labels={"app": "web"})], zoned(), False),
    ],
    ids=in_order,
)
def test_a_rollout_that_counts_older_revisions(others: Sequence[Object], constraint: Object, *, expected: bool) -> None:
    new = revised("new", "", "2")
    new["spec"] |= {"topologySpreadConstraints": [constraint]}
    mixed = [each for each in linted(new, [*ABC, *others]) if isinstance(each, findings.RolloutMixesRevisions)]
    told = [(str(finding.owner), finding.pods, finding.label) for finding in mixed]
    assert told == ([("replicaset/web", ("old",), "pod-template-hash")] if expected else [])


def test_a_soft_constraint_that_counts_older_revisions_limits_nothing() -> None:
    new = revised("new", "", "2")
    new["spec"] |= {"topologySpreadConstraints": [zoned(matchLabelKeys=["pod-template-hash"]), zoned(soft=True)]}
    mixed = only(linted(new, [*ABC, revised("old", "a1", "1")]), findings.RolloutMixesRevisions)
    assert (mixed.constraint.index, mixed.severity, mixed.among) == (1, Severity.INFO, (mixed.constraint,))


def test_constraints_that_count_the_same_older_revisions_are_reported_together() -> None:
    new = revised("new", "", "2")
    new["spec"] |= {"topologySpreadConstraints": [zoned(), zoned(topologyKey=HOSTNAME), zoned(soft=True)]}
    found = linted(new, [*ABC, revised("old", "a1", "1")])
    mixed = [each for each in found if isinstance(each, findings.RolloutMixesRevisions)]
    assert [[it.index for it in each.among] for each in mixed] == [[0, 1], [0, 1], [2]]


def test_pods_that_only_a_simulation_deletes_are_not_reported_as_terminating() -> None:
    now = [*ABC, *(revised(name, "a1", "1") for name in ("old-1", "old-2"))]
    simulated = [
        *now[:-1],
        {**now[-1], "metadata": {**now[-1]["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}},
    ]
    pod, cluster = typed_pod({**revised("new", "", "2"), "spec": incoming(zoned())["spec"]}), handle(simulated)
    evaluation = cycle.evaluate(pod, cluster)
    found = lint.of_pod(evaluation, diagnose(evaluation, cluster), handle(now).snapshot)
    assert only(found, findings.RolloutMixesRevisions).pods == ("old-1", "old-2")
    assert findings.TerminatingPods not in {type(each) for each in found}


def test_pods_that_are_being_deleted_hold_their_room() -> None:
    ending = [pod(name, on="a1", labels={"app": "web"}, terminating=True) for name in ("e2", "e1")]
    assert only(linted(incoming(), [*ABC, *ending]), findings.TerminatingPods).pods == ("e1", "e2")
    evaluation, later = cycle.evaluate(typed_pod(incoming()), handle(ABC)), handle(ABC)
    ended = lint.of_pod(evaluation, diagnose(evaluation, later), now=snapshot([*ABC, *ending]))
    assert not only(ended, findings.TerminatingPods).in_use
    elsewhere = pod("e", on="a1", namespace="other", labels={"app": "web"}, terminating=True)
    assert found(zoned(), objects=(*ABC, elsewhere)) == set()


def test_another_scheduler_decides() -> None:
    finding = only(linted(incoming(schedulerName="volcano"), ABC), findings.OtherScheduler)
    assert (finding.severity, finding.path) == (Severity.INFO, "spec.schedulerName")
    assert finding.scheduler_name == "volcano"


def test_the_clusters_own_constraints_apply() -> None:
    described = pod("new", labels={"app": "web"})
    built_in = only(linted(described, [*ABC, SERVICE]), findings.DefaultConstraints)
    assert built_in.built_in
    assert [(each.topology_key, each.hard) for each in built_in.constraints] == [(HOSTNAME, False), (ZONE, False)]
    configured = only(linted(described, [*ABC, SERVICE], HARD_ZONE_DEFAULT), findings.DefaultConstraints)
    assert not configured.built_in
    assert [(each.topology_key, each.hard) for each in configured.constraints] == [(ZONE, True)]
    assert linted(described, [*ABC, SERVICE], list_defaults()) == ()


def test_a_soft_constraint_is_no_limit() -> None:
    (finding,) = linted(incoming(zoned(soft=True)), [*ABC, *web("a1", "a2", "a1")])
    assert isinstance(finding, findings.SoftConstraintIsPreference)
    assert (finding.constraint.topology_key, finding.skew, finding.constraint.max_skew) == (ZONE, 3, 1)
    assert found(zoned(soft=True, maxSkew=3), objects=(*ABC, *web("a1", "a2", "a1"))) == set()


@pytest.mark.parametrize(
    ("constraints", "nodes", "expected"),
    [
        ([zoned(soft=True)], TAINTED, True),
        ([zoned(soft=True)], ABC, False),
        ([zoned(soft=True), spread(HOSTNAME, selector=app("other"))], TAINTED, False),
        ([zoned(soft=True, maxSkew=3)], TAINTED, False),
        ([zoned(soft=True)], [node(f"{zone}1", zone=zone, taints=["x:NoSchedule"]) for zone in "abc"], False),
    ],
    ids=in_order,
)
def test_no_autoscaler_sees_what_soft_constraints_would_like(
    constraints: Sequence[Object], nodes: Sequence[Object], *, expected: bool
) -> None:
    blind = linted(incoming(*constraints), [*nodes, *web("a1", "a2", "a1")])
    closed = [finding.domains for finding in blind if isinstance(finding, findings.AutoscalerBlind)]
    assert closed == ([("c",)] if expected else [])


@pytest.mark.parametrize(
    ("key", "successor"),
    [
        ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
        ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
        ("beta.kubernetes.io/fluentd-ds-ready", ""),
    ],
)
def test_a_deprecated_key_has_a_successor(key: str, successor: str) -> None:
    nodes = [node("x", labels={key: "1"}), node("y", labels={key: "2"})]
    finding = only(linted(incoming(spread(key, selector=app("web"))), nodes), findings.DeprecatedTopologyKey)
    assert (finding.constraint.topology_key, finding.successor) == (key, successor)


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
    assert ("StaleEvent" in found(zoned(), objects=nodes, status=status)) == expected


def test_a_condition_is_not_stale_after_what_is_only_simulated() -> None:
    cluster = handle(ABC)
    evaluation = cycle.evaluate(typed_pod(incoming(zoned(), status=UNSCHEDULABLE)), cluster)
    of_simulation = lint.of_pod(evaluation, diagnose(evaluation, cluster), now=snapshot(ABC))
    assert findings.StaleEvent() not in of_simulation


def test_every_path_is_a_field() -> None:
    described = incoming(
        spread("rack", selector=app("other"), matchLabelKeys=["absent"]),
        spread("failure-domain.beta.kubernetes.io/zone", selector={}, minDomains=9),
        spread(ZONE, soft=True),
        schedulerName="volcano",
        status=UNSCHEDULABLE,
    )
    found = linted(described, [*TAINTED, *web("a1", "a2", "a1")])
    assert len({finding.id for finding in found}) >= 8
    assert all(finding.path.startswith(("spec.", "status.")) for finding in found)

"""What is offered about a Pod's own constraints, class by class, and what is not."""

from __future__ import annotations

import pytest

from kubectl_spread.controllers.templates import REVISION_LABELS
from kubectl_spread.objects import kinds
from kubectl_spread.objects.kinds import Kind
from kubectl_spread.scheduler.profile import default_profile
from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.diagnosis.fixes.clusters import HASH, WEB, fixes, patch_of, search, web, zones
from tests.diagnosis.fixes.owners import owned, owner

AT = "/spec/topologySpreadConstraints"
TAINTED = {"c": {"taints": ["maintenance=:NoSchedule"]}}


def counted(*names: str, **fields: object) -> list[Object]:
    """Return a Pod of web on each of the nodes."""
    return [web(f"on-{name}-{number}", on=name, **fields) for number, name in enumerate(names)]


def test_max_skew_is_raised_no_further_than_needed() -> None:
    found = fixes([*zones(**TAINTED), *counted("a1", "a1", "a1", "b1", "b1")], web())["RaiseMaxSkew"]
    assert patch_of(found) == [("add", f"{AT}/0/maxSkew", 3)]
    assert (found.cost, found.feasible) == (3, ("b1",))


def test_min_domains_is_lowered_to_the_domains_there_are() -> None:
    constraints = [spread(ZONE, selector=app("web"), minDomains=5)]
    pending = web(topologySpreadConstraints=constraints)
    found = fixes([*zones(), *counted("a1", "b1", "c1")], pending)["LowerMinDomains"]
    assert patch_of(found) == [("add", f"{AT}/0/minDomains", 3)]
    assert (found.cost, len(found.feasible)) == (3, 3)


def test_min_domains_stays_where_no_domain_is_eligible() -> None:
    constraints = [spread(ZONE, selector=app("web"), minDomains=2)]
    assert "LowerMinDomains" not in fixes([node("n")], web(topologySpreadConstraints=constraints))


def test_a_preference_keeps_no_min_domains() -> None:
    constraints = [spread(ZONE, selector=app("web"), minDomains=3)]
    pending = web(topologySpreadConstraints=constraints)
    found = fixes([node("a1", zone="a"), node("b1", zone="b"), *counted("a1", "b1")], pending)["MakeSoft"]
    assert patch_of(found) == [
        ("remove", f"{AT}/0/minDomains", None),
        ("add", f"{AT}/0/whenUnsatisfiable", "ScheduleAnyway"),
    ]
    assert found.cost == 4


def test_a_second_preference_for_the_same_key_is_invalid() -> None:
    constraints = [spread(ZONE, selector=app("web")), spread(ZONE, selector=app("web"), soft=True)]
    offered = fixes([*zones(**TAINTED), *counted("a1", "b1")], web(topologySpreadConstraints=constraints))
    assert "RaiseMaxSkew" in offered
    assert "MakeSoft" not in offered


@pytest.mark.parametrize(("policy", "offered"), [({}, True), ({"nodeTaintsPolicy": "Honor"}, False)])
def test_tainted_nodes_can_be_left_out_of_the_count(policy: Object, *, offered: bool) -> None:
    pending = web(topologySpreadConstraints=[spread(ZONE, selector=app("web"), **policy)])
    assert ("HonorTaints" in fixes([*zones(**TAINTED), *counted("a1", "b1")], pending)) is offered


def test_nodes_ruled_out_by_affinity_can_be_left_out_of_the_count() -> None:
    constraints = [spread(ZONE, selector=app("web"), nodeAffinityPolicy="Ignore")]
    disks = {"a": "ssd", "b": "hdd", "c": "ssd"}
    nodes = [node(f"{zone}1", zone=zone, labels={"disk": disk}) for zone, disk in disks.items()]
    found = fixes(
        [*nodes, *counted("a1", "c1")], web(topologySpreadConstraints=constraints, nodeSelector={"disk": "ssd"})
    )
    assert patch_of(found["HonorAffinity"]) == [("add", f"{AT}/0/nodeAffinityPolicy", "Honor")]
    assert found["HonorAffinity"].cost == 1


def test_nodes_ruled_out_by_affinity_can_be_counted() -> None:
    constraints = [spread(ZONE, selector=app("web"), minDomains=3)]
    nodes = [
        node(f"{zone}1", zone=zone, labels={"disk": disk})
        for zone, disk in zip("abc", ("ssd", "ssd", "hdd"), strict=True)
    ]
    pending = web(topologySpreadConstraints=constraints, nodeSelector={"disk": "ssd"})
    found = fixes([*nodes, *counted("a1", "b1", "c1")], pending)["IgnoreAffinity"]
    assert patch_of(found) == [("add", f"{AT}/0/nodeAffinityPolicy", "Ignore")]
    assert set(found.feasible) == {"a1", "b1"}


def test_a_misspelt_key_becomes_the_well_known_one() -> None:
    found = fixes(
        [*zones(), *counted("a1")],
        web(topologySpreadConstraints=[spread("topology.kubernetes.io/zones", selector=app("web"))]),
    )
    assert patch_of(found["FixTopologyKey"]) == [("add", f"{AT}/0/topologyKey", ZONE)]
    assert set(found["FixTopologyKey"].feasible) == {"b1", "c1"}


def test_a_key_of_ones_own_is_a_spelling_to_correct_only_if_no_node_has_it() -> None:
    racks = [node("n", labels={"example.com/racks": "1"})]
    pending = web(topologySpreadConstraints=[spread("example.com/rack", selector=app("web"))])
    assert patch_of(fixes(racks, pending)["FixTopologyKey"]) == [("add", f"{AT}/0/topologyKey", "example.com/racks")]
    full = node("full", labels={"example.com/rack": "2"}, allocatable={"pods": "0"})
    assert "FixTopologyKey" not in fixes([*racks, full], pending)


@pytest.mark.parametrize("kind", ["ReplicaSet", "ControllerRevision"])
def test_the_key_of_an_older_revision_is_the_likeliest(kind: str) -> None:
    labels = {"example.com/site": "s", "topology.kubernetes.io/zone": "a", "topology.k8s.aws/zone-id": "a1"}
    constraints = [spread("topology.kubernetes.io/zone-id", selector=app("web"))]
    before = web(topologySpreadConstraints=[spread("example.com/site", selector=app("web"))])
    pending = web(topologySpreadConstraints=constraints)
    workload = owner("Deployment" if kind == "ReplicaSet" else "StatefulSet", pending)
    old = owner("ReplicaSet", before, name="old", of=workload)
    if kind == "ControllerRevision":
        old = {**old, "kind": kind, "data": {"spec": {"template": old.pop("spec")["template"]}}}
    new = [owner("ReplicaSet", pending, name="new", of=workload)] if kind == "ReplicaSet" else [workload]
    (found,) = (
        fix
        for fix in search([node("n", labels=labels), workload, old, *new], owned(pending, new[0])).fixes
        if fix.id == "FixTopologyKey"
    )
    assert found.summary == (
        "use the topologyKey example.com/site, which nodes carry and an older revision uses, instead of"
        " topology.kubernetes.io/zone-id"
    )
    assert found.alike == (ZONE, "topology.k8s.aws/zone-id")


def test_no_node_gets_a_label_that_nobody_uses() -> None:
    pending = web(topologySpreadConstraints=[spread("zone", selector=app("web"))])
    assert "LabelNode" not in fixes(zones(), pending)
    assert "LabelNode" in fixes([*zones(), node("full", labels={"zone": "d"}, allocatable={"pods": "0"})], pending)


def test_a_corrected_key_must_not_repeat_another_constraint() -> None:
    constraints = [spread(ZONE, selector=app("web")), spread("zone", selector=app("web"))]
    assert "FixTopologyKey" not in fixes(zones(), web(topologySpreadConstraints=constraints))


class TestFixSelector:
    """A selector that takes other Pods for the Pod's kind."""

    @pytest.mark.parametrize(
        ("labels", "expressions"),
        [({}, []), ({"tier": "x"}, [{"key": "tier", "operator": "Exists"}])],
        ids=["drops keys it lacks", "keeps expressions"],
    )
    def test_takes_the_pods_own_values(self, labels: Object, expressions: list[Object]) -> None:
        old = {"app": "old", "tier": "x"}
        matched = {"app": "old"} if expressions else old
        selector = {"matchLabels": matched, "matchExpressions": expressions}
        others = [pod(f"old-{i}", on=name, labels=old) for i, name in enumerate(("a1", "a1", "b1", "b1"))]
        pending = web(labels={**WEB, **labels}, topologySpreadConstraints=[spread(ZONE, selector=selector)])
        fix = fixes([*zones(**TAINTED), *others], pending)["FixSelector"]
        assert patch_of(fix) == [("add", f"{AT}/0/labelSelector/matchLabels", {"app": "web"})]
        assert (fix.cost, set(fix.feasible)) == (1, {"a1", "b1"})

    def test_takes_the_owners_selector_without_hashes(self) -> None:
        broad = spread(ZONE, selector={"matchLabels": {"team": "shop"}})
        pending = web(labels={**WEB, "team": "shop"}, topologySpreadConstraints=[broad])
        selector = {"matchLabels": {**WEB, HASH: "abc"}}
        replica_set = owner("ReplicaSet", pending, name="web-abc", selector=selector)
        others = [pod(f"cart-{name}", on=name, labels={"app": "cart", "team": "shop"}) for name in ("a1", "b1")]
        found = fixes([*zones(**TAINTED), replica_set, *others], owned(pending, replica_set, **{HASH: "abc"}))
        assert patch_of(found["FixSelector"]) == [("add", f"{AT}/0/labelSelector/matchLabels", WEB)]

    @pytest.mark.parametrize("label", REVISION_LABELS)
    def test_names_the_revision_in_match_label_keys_and_never_its_value(self, label: str) -> None:
        pinned: list[Object] = [
            {"matchLabels": {**WEB, label: "old"}},
            {"matchLabels": WEB, "matchExpressions": [{"key": label, "operator": "In", "values": ["old", "new"]}]},
        ]
        old = [
            web(f"old-{i}", on=name, labels={**WEB, label: "old"}) for i, name in enumerate(("a1", "a1", "b1", "b1"))
        ]
        for selector in pinned:
            constraint = spread(ZONE, selector=selector)
            pending = web(labels={**WEB, label: "new"}, topologySpreadConstraints=[constraint])
            found = fixes([*zones(**TAINTED), *old], pending)["FixSelector"]
            assert "old" not in str(found.changes)
            assert "new" not in str(found.changes)
            assert ("add", f"{AT}/0/matchLabelKeys", [label]) in patch_of(found)
            assert f"app=web and matchLabelKeys [{label}]" in found.summary

    def test_leaves_what_the_api_server_merged_of_match_label_keys(self) -> None:
        merged = {"matchLabels": WEB, "matchExpressions": [{"key": HASH, "operator": "In", "values": ["new"]}]}
        constraint = spread(ZONE, selector=merged, matchLabelKeys=[HASH])
        labels = {**WEB, HASH: "new"}
        old = [web(f"old-{name}", on=name, labels=labels) for name in ("a1", "b1")]
        pending = web(labels=labels, topologySpreadConstraints=[constraint])
        assert "FixSelector" not in fixes([*zones(**TAINTED), *old], pending)

    @pytest.mark.parametrize(
        ("kind", "read", "offered"),
        [("ReplicationController", True, True), ("ReplicationController", False, False), ("Job", True, False)],
    )
    def test_takes_the_selector_of_an_owner_that_was_read(self, kind: str, *, read: bool, offered: bool) -> None:
        broad = spread(ZONE, selector={"matchLabels": {"team": "shop"}})
        pending = web(labels={**WEB, "team": "shop"}, topologySpreadConstraints=[broad])
        by = owner("Job", pending, selector={"matchLabels": WEB}) if kind == "Job" else owner(kind, pending)
        others = [pod(f"cart-{name}", on=name, labels={"app": "cart", "team": "shop"}) for name in ("a1", "b1")]
        assert ("FixSelector" in fixes([*zones(**TAINTED), *others, *[by] * read], owned(pending, by))) is offered

    def test_never_becomes_empty(self) -> None:
        others = [pod(f"p{i}", on=name, labels=WEB) for i, name in enumerate(("a1", "a1", "b1", "b1"))]
        assert "FixSelector" not in fixes([*zones(**TAINTED), *others], web(labels={"tier": "front"}))

    def test_leaves_a_selector_that_cannot_be_read(self) -> None:
        unreadable = {"matchExpressions": [{"key": "app", "operator": "Resembles"}]}
        replica_set = owner("ReplicaSet", web(), selector=unreadable)
        offered = fixes([*zones(**TAINTED), *counted("a1", "b1"), replica_set], owned(web(), replica_set))
        assert "FixSelector" not in offered


class TestAddPodLabel:
    """A label that makes the Pod match its own constraint."""

    @staticmethod
    def helped(**labels: str) -> tuple[list[Object], Object]:
        """Return a situation in which a label helps: two constraints, of which affinity follows the label."""
        anti = {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {
                    "labelSelector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]},
                    "topologyKey": ZONE,
                }
            ]
        }
        keeper = pod("keeper", on="a1", labels={"app": "db"}, affinity={"podAntiAffinity": anti})
        return [node("a1", zone="a"), keeper], web(labels=labels)

    def test_is_offered_where_another_pod_keeps_off_unlabelled_ones(self) -> None:
        objects, pending = self.helped()
        found = fixes(objects, pending)["AddPodLabel"]
        assert patch_of(found) == [("add", "/metadata/labels", {"app": "web"})]
        assert (found.cost, found.feasible) == (1, ("a1",))

    def test_keeps_the_labels_there_are(self) -> None:
        objects, pending = self.helped(tier="front")
        assert patch_of(fixes(objects, pending)["AddPodLabel"]) == [("add", "/metadata/labels/app", "web")]

    def test_never_replaces_a_value(self) -> None:
        objects, pending = self.helped(tier="front")
        pending["spec"]["topologySpreadConstraints"][0]["labelSelector"] = {
            "matchLabels": {"app": "web", "tier": "back"}
        }
        assert "AddPodLabel" not in fixes(objects, pending)

    @pytest.mark.parametrize(
        "selecting",
        [
            {"apiVersion": "v1", "kind": "Service", "spec": {"selector": WEB}},
            {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": {"selector": app("web")}},
            {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "spec": {"podSelector": app("web")}},
            {"apiVersion": "v1", "kind": "ReplicationController", "spec": {"selector": WEB}},
            *(
                {"apiVersion": "apps/v1", "kind": kind, "spec": {"selector": app("web")}}
                for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
            ),
            {"apiVersion": "batch/v1", "kind": "Job", "spec": {"selector": app("web")}},
        ],
        ids=lambda selecting: selecting["kind"],
    )
    def test_is_not_offered_where_something_else_would_take_the_pod(self, selecting: Object) -> None:
        objects, pending = self.helped()
        here = {**selecting, "metadata": {"name": "other", "namespace": "default"}}
        elsewhere = {**selecting, "metadata": {"name": "other", "namespace": "elsewhere"}}
        assert "AddPodLabel" in fixes([*objects, elsewhere], pending)
        assert "AddPodLabel" not in fixes([*objects, here], pending)

    def test_is_offered_where_something_selected_the_pod_before(self) -> None:
        objects, pending = self.helped()
        policy = {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": "all", "namespace": "default"},
            "spec": {"podSelector": {}},
        }
        service = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "external", "namespace": "default"},
            "spec": {},
        }
        assert "AddPodLabel" in fixes([*objects, policy, service], pending)

    @pytest.mark.parametrize(
        "kind", [kinds.SERVICE, kinds.POD_DISRUPTION_BUDGET, kinds.NETWORK_POLICY, kinds.DEPLOYMENT, kinds.JOB]
    )
    def test_is_not_offered_where_a_kind_could_not_be_listed(self, kind: Kind) -> None:
        objects, pending = self.helped()
        assert "AddPodLabel" not in fixes(objects, pending, unread=[kind])


class TestAddMatchLabelKeys:
    """A rollout that waits for the Pods it is to replace."""

    def situation(self, **constraint: object) -> tuple[list[Object], Object]:
        """Return a cluster full of the old revision, zone c closed, and a Pod of the new one."""
        old = [web(f"old-{name}", on=name, labels={**WEB, HASH: "old"}) for name in ("a1", "b1")]
        constraints = [spread(ZONE, **{"selector": app("web"), **constraint})]  # type: ignore[arg-type] # any field, by the builder's own names
        pending = web(labels={**WEB, HASH: "new"}, topologySpreadConstraints=constraints)
        return [*zones(**TAINTED), *old], pending

    def test_counts_each_revision_alone(self) -> None:
        found = fixes(*self.situation())["AddMatchLabelKeys"]
        assert patch_of(found) == [("add", f"{AT}/0/matchLabelKeys", [HASH])]
        assert (found.cost, set(found.feasible)) == (1, {"a1", "b1"})

    @pytest.mark.parametrize(("closed", "admits"), [("c", 1), ("ac", 0)])
    def test_leaves_room_for_what_the_rollout_replaces(self, closed: str, admits: int) -> None:
        constraints = [spread(ZONE, selector=app("web"), minDomains=4)]
        made = owner("StatefulSet", web(topologySpreadConstraints=constraints))
        first, second = (
            owned(
                web(name, on=on, topologySpreadConstraints=constraints), made, **{"controller-revision-hash": "web-1"}
            )
            for name, on in (("web-0", "a1"), ("web-1", ""))
        )
        nodes = zones(**dict.fromkeys(closed, TAINTED["c"]))
        found = fixes([*nodes, made, first, web("beside", on="b1")], second)
        assert found["AddMatchLabelKeys"].admits == admits

    def test_adds_to_the_keys_there_are(self) -> None:
        found = fixes(
            *self.situation(
                matchLabelKeys=["app"], selector={"matchExpressions": [{"key": "app", "operator": "Exists"}]}
            )
        )
        assert patch_of(found["AddMatchLabelKeys"]) == [("add", f"{AT}/0/matchLabelKeys/-", HASH)]

    def test_is_not_offered_twice(self) -> None:
        objects, pending = self.situation(matchLabelKeys=[HASH], minDomains=4)
        more = [web(f"new-{name}", on=name, labels={**WEB, HASH: "new"}) for name in ("a1", "b1")]
        assert "AddMatchLabelKeys" not in fixes([*objects, *more], pending)

    def test_needs_a_selector(self) -> None:
        objects, pending = self.situation()
        del pending["spec"]["topologySpreadConstraints"][0]["labelSelector"]
        pending["spec"]["nodeSelector"] = {ZONE: "nowhere"}
        assert "AddMatchLabelKeys" not in fixes(objects, pending)

    def test_needs_a_release_that_knows_it(self) -> None:
        old = default_profile(minor=26)
        assert "AddMatchLabelKeys" not in fixes(*self.situation(), profile=old)


def test_default_constraints_are_not_the_pods_to_change() -> None:
    full = {"allocatable": {"pods": "0"}}
    assert not search([node("a", **full)], pod("bare", labels=WEB)).fixes  # type: ignore[arg-type] # any field, by the builder's own names


def test_a_host_constraint_opens_the_emptiest_host() -> None:
    constraints = [spread(HOSTNAME, selector=app("web"))]
    nodes = [node("a"), node("b"), node("c", unschedulable=True)]
    found = fixes([*nodes, *counted("a", "a", "b")], web(topologySpreadConstraints=constraints))
    assert patch_of(found["RaiseMaxSkew"]) == [("add", f"{AT}/0/maxSkew", 2)]
    assert found["RaiseMaxSkew"].feasible == ("b",)

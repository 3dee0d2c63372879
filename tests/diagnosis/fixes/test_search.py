"""How fixes are searched, ordered, put together and counted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest
import yaml
from msgspec import UNSET

from kubectl_spread.contract.form import to_form
from kubectl_spread.diagnosis.fixes.change import Override
from kubectl_spread.diagnosis.fixes.search import MOST_ALIKE, fix_for
from kubectl_spread.wording.fixes import OVERTAKEN
from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread, typed_pod
from tests.diagnosis.fixes.clusters import HASH, JsonFix, conclusion, fixes, patch_of, search, web, zones
from tests.diagnosis.fixes.owners import owned, owner

TAINTED = {"c": {"taints": ["x=y:NoSchedule"]}}
CROWDED = [*zones(**TAINTED), web("on-a", on="a1"), web("on-b", on="b1")]


def order(fix: JsonFix) -> tuple[bool, int, bool, bool, int, int, int, str]:
    gone = "no controller recreates it" in fix.starts
    overrides = fix.overrides.rank if isinstance(fix.overrides, Override) else 0
    unsure = OVERTAKEN in fix.starts or fix.admits < fix.siblings
    return gone, overrides, not fix.admits, unsure, fix.disturbs.rank, fix.cost, -len(fix.feasible), fix.summary


def test_a_pod_that_has_a_node_needs_nothing() -> None:
    assert search([node("n")], pod("p")) == search([], pod("p"))


def test_fixes_come_by_what_they_set_aside_then_by_what_they_break_then_by_cost_then_by_text() -> None:
    found = search(CROWDED, web()).fixes
    assert list(found) == sorted(found, key=order)
    assert [(fix.id, fix.disturbs.value) for fix in found][-1] == ("MovePod", "PodLost")
    assert {fix.id for fix in found} == {
        "HonorTaints",
        "AddToleration",
        "RemoveTaint",
        "MovePod",
        "RaiseMaxSkew",
        "MakeSoft",
    }


class TestWhatRuns:
    """What a fix does to Pods that run comes before what it costs."""

    @staticmethod
    def ranked(kind: str, *, runs: bool = True) -> dict[str, str]:
        """Return class of fix → what it disturbs, in order, where a workload of this kind makes the Pods."""
        pending = web("web-1")
        by = owner(kind, pending, parallelism=2)
        living = [owned(web("web-0", on="a1"), by)] if runs else [web("other", on="a1")]
        found = search([*zones(**TAINTED), *living, web("on-b", on="b1"), by], owned(pending, by)).fixes
        return {fix.id: fix.disturbs.value for fix in found}

    @pytest.mark.parametrize(
        ("kind", "runs", "disturbs", "first"),
        [
            ("DaemonSet", True, "PodsReplaced", ("RemoveTaint", "AddToleration")),
            ("DaemonSet", False, "Nothing", ()),
            ("ReplicaSet", True, "Nothing", ()),
            ("Job", True, "PodLost", ("RaiseMaxSkew", "RemoveTaint")),
        ],
    )
    def test_of_a_workload(self, kind: str, disturbs: str, first: tuple[str, ...], *, runs: bool) -> None:
        disturbances = self.ranked(kind, runs=runs)
        assert (disturbances["RaiseMaxSkew"], disturbances["RemoveTaint"]) == (disturbs, "Nothing")
        assert [fix for fix in disturbances if fix in first] == [*first]


def test_what_we_would_warn_of_is_named_beside_the_fix() -> None:
    """Without zone b, whose node is tainted, one domain is left: nothing would be spread any more."""
    objects = [node("a1", zone="a"), node("b1", zone="b", taints=["x=y:NoSchedule"]), web("on-a", on="a1")]
    first, *_ = search(objects, web()).fixes
    assert first.id == "HonorTaints"
    assert first.starts.endswith("; causes SingleDomain: all nodes that count are in one domain, so nothing is spread")


def test_a_ghost_is_mended_first_and_not_made_to_count_better() -> None:
    ghost = spread(ZONE, selector=app("old"))
    made = web("web-1", labels={"app": "web", "tier": "new"}, topologySpreadConstraints=[ghost])
    by = owner("ReplicaSet", made, selector=app("web"))
    pending = owned(web("web-1", topologySpreadConstraints=[ghost]), by, **{"pod-template-hash": "new"})
    counted = [pod(f"old-{i}", on=f"{'ab'[i % 2]}1", labels={"app": "old"}) for i in range(4)]
    found = [fix.id for fix in search([*zones(**TAINTED), *counted, by], pending).fixes]
    assert found[0] == "FixSelector"
    assert not {"AddMatchLabelKeys", "HonorTaints", "IgnoreAffinity"} & {*found}


def test_pairs_are_tried_only_where_no_single_change_helps() -> None:
    assert all("+" not in fix.id for fix in search(CROWDED, web()).fixes)
    pending = pod("p", nodeSelector={"disk": "ssd"}, host_ports=["80"])
    found = search(
        [node("n"), pod("q", on="n", host_ports=["80"], owner={"apiVersion": "v1", "kind": "Node", "name": "n"})],
        pending,
    )
    assert [fix.id for fix in found.fixes] == ["RelaxNodeSelector+ChangeHostPort"]
    assert found.fixes[0].cost == 6


def test_pairs_go_no_further_than_needed() -> None:
    constraints = [spread(ZONE, selector=app("web")), spread(HOSTNAME, selector=app("web"))]
    ill = ["node.kubernetes.io/not-ready:NoExecute"]
    nodes = [node("a1", zone="a"), node("a2", zone="a", taints=ill), node("b1", zone="b", taints=ill)]
    counted = [web(f"w{i}", on="a1") for i in range(3)]
    found = fixes([*nodes, *counted], web(topologySpreadConstraints=constraints))["RaiseMaxSkew+RaiseMaxSkew"]
    assert [value for _, _, value in patch_of(found)] == [4, 4]


def test_no_pair_begins_with_a_pod_that_would_be_refused() -> None:
    constraints = [spread(ZONE, selector=app("web")), spread(ZONE, selector=app("web"), soft=True)]
    pending = web(topologySpreadConstraints=constraints, nodeSelector={"disk": "ssd"})
    offered = fixes(CROWDED, pending)
    assert "RelaxNodeSelector+RaiseMaxSkew" in offered
    assert not [name for name in offered if "MakeSoft" in name]


def test_no_more_than_so_many_alike_are_tried() -> None:
    more = [node(f"c{i}", zone="c", taints=["x=y:NoSchedule"]) for i in range(2, 20)]
    found = fixes([*CROWDED, *more], web())["RemoveTaint"]
    assert len(found.alike) == MOST_ALIKE - 1


def test_where_nothing_helps_the_search_says_so() -> None:
    found = search([node("n", taints=["node.kubernetes.io/not-ready:NoExecute"])], pod("p"))
    assert (found.fixes, found.fix_search) == ((), "complete")


def test_a_search_that_is_cut_short_says_so() -> None:
    calls = count()
    found = search(CROWDED, web(), spent=lambda: next(calls) > 2)
    assert found.fix_search == "bounded"
    assert len(found.fixes) < len(search(CROWDED, web()).fixes)
    pending = pod("p", nodeSelector={"disk": "ssd"}, host_ports=["80"])
    holder = pod("q", on="n", host_ports=["80"], owner={"apiVersion": "v1", "kind": "Node", "name": "n"})
    assert search([node("n"), holder], pending, spent=lambda: True).fix_search == "bounded"
    later = count()
    cut = search([node("n"), holder], pending, spent=lambda: next(later) > 1)
    assert (cut.fixes, cut.fix_search) == ((), "bounded")


def running(by: Object) -> list[Object]:
    """Return the crowded cluster, whose Pods the workload owns."""
    return [owned(each, by) if each["kind"] == "Pod" else each for each in CROWDED]


class TestSiblings:
    """Other Pending Pods of the same workload."""

    def test_are_placed_one_after_another(self) -> None:
        replica_set = owner("ReplicaSet", web(), replicas=3 + 2)
        siblings = [owned(web(f"web-{i}"), replica_set) for i in range(3)]
        stranger = web("stranger", labels={"app": "other"})
        found = fixes([*running(replica_set), replica_set], siblings[0], siblings=[*siblings[1:], stranger])
        assert (found["RaiseMaxSkew"].admits, found["RaiseMaxSkew"].siblings) == (3, 3)
        assert (found["MakeSoft"].admits, found["MakeSoft"].siblings) == (3, 3)
        assert (found["RemoveTaint"].admits, found["RemoveTaint"].siblings) == (3, 3)

    def test_that_a_gate_holds_are_not_let_in(self) -> None:
        replica_set = owner("ReplicaSet", web(), replicas=3 + 2)
        siblings = [owned(web(f"web-{i}"), replica_set) for i in range(2)]
        gated = owned(web("web-2", schedulingGates=[{"name": "example.com/quota"}]), replica_set)
        found = fixes([*running(replica_set), replica_set], siblings[0], siblings=[siblings[1], gated])
        assert (found["RemoveTaint"].admits, found["RemoveTaint"].siblings) == (2, 3)

    def test_of_another_revision_stay_as_they_are_where_the_change_does_not_fit_them(self) -> None:
        replica_set = owner("ReplicaSet", web())
        other = owned(pod("other", labels={"app": "web"}, nodeSelector={ZONE: "nowhere"}), replica_set)
        found = fixes(CROWDED, owned(web(), replica_set), siblings=[other])
        assert (found["RaiseMaxSkew"].admits, found["RaiseMaxSkew"].siblings) == (1, 2)

    def test_beyond_so_many_are_not_counted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        most = 20
        monkeypatch.setattr("kubectl_spread.diagnosis.fixes.conclusion.MOST_SIBLINGS", most)
        replica_set = owner("ReplicaSet", web(), replicas=most + 5 + 2)
        siblings = [owned(web(f"web-{i}"), replica_set) for i in range(most + 5)]
        found = fixes([*running(replica_set), replica_set], siblings[0], siblings=siblings[1:])
        assert (found["RaiseMaxSkew"].admits, found["RaiseMaxSkew"].siblings) == (2, most)


class TestAnotherPodsFix:
    """The fix of one Pod, made for its twin."""

    @staticmethod
    def twins(objects: Sequence[Object], pending: Object) -> dict[str, JsonFix]:
        """Return what is offered for a Pod of another name, by class."""
        other = {**pending, "metadata": {**pending["metadata"], "name": "twin"}}
        pod, twin = typed_pod(pending), typed_pod(other)
        made = tuple(fix_for(each, pod, twin) for each in conclusion(objects, pending).fixes)
        return {fix.id: fix for fix in to_form(made)}

    def test_names_the_twin(self) -> None:
        replica_set = owner("ReplicaSet", web())
        twin = self.twins([*CROWDED, replica_set], owned(web("web-1"), replica_set))["AddToleration"]
        assert [change.target.name for change in twin.changes] == ["twin"]
        assert twin.commands[0].startswith("kubectl patch pod twin -n default ")
        assert twin.commands[-1] == "kubectl delete pod twin -n default"

    def test_is_the_same_where_the_pod_itself_is_not_changed(self) -> None:
        found, twins = fixes(CROWDED, web()), self.twins(CROWDED, web())
        for name in ("RemoveTaint", "MovePod"):
            assert twins[name] == found[name]

    def test_leaves_other_objects(self) -> None:
        pending = pod("p", nodeSelector={"disk": "ssd"})
        twin = self.twins([node("n", unschedulable=True)], pending)["Uncordon+RelaxNodeSelector"]
        assert [change.target.name for change in twin.changes] == ["n", "twin"]

    @pytest.mark.parametrize("name", ["web-1", "1-web", "on"])
    def test_names_the_twin_in_yaml(self, name: str) -> None:
        """Whether or not its name, or the Pod's, has to be quoted."""
        twin = self.twins(CROWDED, web(name))["AddToleration"]
        assert yaml.safe_load(twin.yaml)["metadata"]["name"] == "twin"


class TestDecisions:
    """What somebody decided on purpose is set aside last."""

    def test_a_taint_stays_where_the_constraint_can_do_without_the_node(self) -> None:
        by = owner("Deployment", web("web-1"))
        found = [fix.id for fix in search([*CROWDED, by], owned(web("web-1"), by)).fixes]
        assert found[0] == "HonorTaints"
        assert {*found[found.index("RemoveTaint") - 1 :]} <= {"RemoveTaint", "AddToleration", "MovePod", "MakeSoft"}
        assert found.index("MakeSoft") < found.index("RemoveTaint")

    @pytest.mark.parametrize(
        ("taints", "annotations", "evicts", "overrides"),
        [
            ([], {}, False, UNSET),
            (["example.com/maintenance:PreferNoSchedule"], {}, False, Override.DECISION),
            ([], {"example.com/Maintenance-until": "noon"}, False, Override.DECISION),
            ([], {}, True, Override.DECISION),
        ],
        ids=["nothing says so", "a taint", "an annotation", "Pods are evicted"],
    )
    def test_a_cordon_is_one_while_maintenance_goes_on(
        self, taints: list[str], annotations: Object, overrides: object, *, evicts: bool
    ) -> None:
        nodes = zones(c={"unschedulable": True, "taints": taints})
        nodes[2]["metadata"]["annotations"] = annotations
        evicted = {"status": {"conditions": [{"type": "DisruptionTarget", "status": "True"}]}}
        going = [{**pod("other", on="c1"), **evicted}] * evicts
        assert (
            fixes([*nodes, *going, web("on-a", on="a1"), web("on-b", on="b1")], web())["Uncordon"].overrides
            == overrides
        )

    @pytest.mark.parametrize(
        ("label", "overrides"),
        [
            ("disk", Override.DECISION),
            ("cloud.google.com/gke-nodepool", Override.NODE_POOL),
            ("alpha.eksctl.io/nodegroup-name", Override.NODE_POOL),
            ("agentpool", Override.NODE_POOL),
        ],
    )
    def test_a_node_pool_is_left_last_of_all(self, label: str, overrides: Override) -> None:
        nodes = [node("a1", zone="a", labels={label: "x"}, unschedulable=True), node("b1", zone="b")]
        found = search(nodes, pod("p", nodeSelector={label: "x"})).fixes
        assert [(fix.id, fix.overrides) for fix in found] == [("Uncordon", UNSET), ("RelaxNodeSelector", overrides)]

    def test_what_lets_all_in_comes_before_what_touches_nothing(self) -> None:
        """With the node in zone c three of four Pods come in; a preference takes all, and replaces those that run."""
        cordoned = zones(c={"unschedulable": True, "allocatable": {"cpu": "1"}})
        by = owner("Deployment", web("web-1", requests={"cpu": "1"}), replicas=6)
        waiting = [owned(web(f"web-{number}", requests={"cpu": "1"}), by) for number in (1, 2, 3, 4)]
        living = [owned(web(f"on-{each}", on=f"{each}1"), by) for each in "ab"]
        found = search([*cordoned, by, *living], waiting[0], siblings=waiting[1:]).fixes
        assert [(fix.id, fix.admits) for fix in found] == [("MakeSoft", 4), ("Uncordon", 3), ("RaiseMaxSkew", 2)]

    def test_what_lets_in_none_comes_last_of_what_keeps_decisions(self) -> None:
        """The partition keeps the Pod on the old template: nothing but the node, or the Pod itself, lets it in."""
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
        by = owner("StatefulSet", web(), updateStrategy=strategy)
        found = search([*CROWDED, by], owned(web("web-0"), by)).fixes
        assert [(fix.id, fix.admits) for fix in found] == [
            ("HonorTaints", 0),
            ("RaiseMaxSkew", 0),
            ("MakeSoft", 0),
            ("RemoveTaint", 1),
            ("AddToleration", 1),
            ("MovePod", 1),
            ("MovePod", 1),
        ]

    def test_what_may_gain_nothing_comes_after_what_lets_all_in(self) -> None:
        """The Pod that is made again may take the place in zone b; a preference costs more, and is sure."""
        team = {"team": "obs"}
        asked = {"labels": team, "topologySpreadConstraints": [spread(ZONE, selector={"matchLabels": team})]}
        by = owner("Deployment", pod("web", **asked), replicas=2)  # type: ignore[arg-type] # any field, by the builder's own names
        made = owner("ReplicaSet", pod("web", **asked), name="web-h1", of=by, replicas=2)  # type: ignore[arg-type] # as above
        other = owner("ReplicaSet", pod("other", labels=team), name="other")
        there = [
            *(pod(f"crowd-{number}", on="a1", labels=team, requests={"cpu": "3"}) for number in range(2)),
            owned(pod("web-0", on="a1", **asked), made, **{HASH: "h1"}),  # type: ignore[arg-type] # as above
            owned(pod("lone", on="b1", labels=team), other),
        ]
        pending = owned(pod("web-1", **asked), made, **{HASH: "h1"})  # type: ignore[arg-type] # as above
        found = search([*zones(**TAINTED), *there, by, made, other], pending).fixes
        found = tuple(fix for fix in found if fix.id in {"HonorTaints", "MakeSoft", "MovePod"})
        assert [fix.id for fix in found] == ["HonorTaints", "MakeSoft", "MovePod"]
        assert OVERTAKEN in found[2].starts
        assert found[1].disturbs is found[2].disturbs


@pytest.mark.parametrize(("asks", "offered"), [("1500m", True), ("2", True), ("2001m", False), ("4", False)])
def test_no_request_is_lowered_below_half(asks: str, offered: bool) -> None:  # noqa: FBT001 - what is expected
    found = fixes([node("n", allocatable={"cpu": "1"})], pod("p", requests={"cpu": asks}))
    assert ("LowerRequests" in found) is offered

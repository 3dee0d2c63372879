"""What is offered about nodes, and which taints are nobody's to touch."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kubectl_spread.diagnosis.fixes.change import Change
from kubectl_spread.objects.well_known_labels import REGION
from tests.build import HOSTNAME, ZONE, Object, app, node, pod, spread
from tests.build_storage import claim, volume
from tests.diagnosis.fixes.clusters import fixes, patch_of, search, web, zones

CORDON = "node.kubernetes.io/unschedulable:NoSchedule"
CONTROL_PLANE = "node-role.kubernetes.io/control-plane:NoSchedule"


def with_zone_c(**fields: object) -> list[Object]:
    """Return zones a and b with a Pod of web each, and a zone c that holds none: ``fields`` of its node close it."""
    return [*zones(c=fields), web("on-a", on="a1"), web("on-b", on="b1")]


class TestUncordon:
    """A cordoned node put back."""

    def test_takes_the_mirroring_taint_too(self) -> None:
        found = fixes(with_zone_c(unschedulable=True, taints=["x=y:PreferNoSchedule", CORDON]), web())["Uncordon"]
        assert patch_of(found) == [("remove", "/spec/taints/1", None), ("remove", "/spec/unschedulable", None)]
        assert (found.cost, found.feasible, found.commands) == (1, ("c1",), ("kubectl uncordon c1",))

    def test_removes_a_taint_that_mirrors_no_cordon(self) -> None:
        found = fixes(with_zone_c(taints=[CORDON]), web())["Uncordon"]
        assert patch_of(found) == [("remove", "/spec/taints/0", None)]
        assert found.commands == (f"kubectl taint node c1 {CORDON}-",)

    def test_names_the_nodes_of_the_domain_that_are_alike(self) -> None:
        second = node("c2", zone="c", unschedulable=True)
        found = fixes([*with_zone_c(unschedulable=True), second], web())["Uncordon"]
        assert (found.feasible, found.alike) == (("c1",), ("c2",))

    def test_is_not_offered_for_a_node_that_stays_closed(self) -> None:
        assert "Uncordon" not in fixes(with_zone_c(unschedulable=True, taints=["x=y:NoSchedule"]), web())

    def test_may_open_other_nodes_where_taints_are_honored(self) -> None:
        """Node c2 is full, but once its Pods count zone c is as crowded as the others."""
        honoring = [spread(ZONE, selector=app("web"), nodeTaintsPolicy="Honor")]
        full = {"allocatable": {"pods": "0"}}
        objects = [
            *zones(c=full),
            node("c2", zone="c", taints=[CORDON], unschedulable=True, **full),  # type: ignore[arg-type] # any field, by the builder's own names
            *(web(f"on-{name}", on=name) for name in ("a1", "b1", "c2")),
        ]
        found = fixes(objects, web(topologySpreadConstraints=honoring))["Uncordon"]
        assert set(found.feasible) == {"a1", "b1"}


class TestLabelNode:
    """A node that lacks the label by which it would be in a domain."""

    def test_takes_the_value_of_the_label_that_means_the_same(self) -> None:
        closed = {"hostname": "c1", "labels": {"failure-domain.beta.kubernetes.io/zone": "c"}}
        objects = [*with_zone_c(taints=["x=y:NoSchedule"]), node("c2", **closed)]  # type: ignore[arg-type] # any field, by the builder's own names
        found = fixes(objects, web())["LabelNode"]
        assert patch_of(found) == [("add", "/metadata/labels/topology.kubernetes.io~1zone", "c")]
        assert (found.cost, found.feasible) == (1, ("c2",))
        assert found.commands == (f"kubectl label node c2 {ZONE}=c",)

    @pytest.mark.parametrize(
        ("form", "other", "offered"),
        [
            ("aws:///{}/i-{}", "a", True),
            ("gce://shop/{}/{}", "a", True),
            ("azure:///subscriptions/1/vm-{}-{}", "a", False),
            # Another node is elsewhere than its ID says.
            ("aws:///{}/i-{}", "b", False),
        ],
    )
    def test_takes_the_value_from_the_id_that_the_provider_gives(self, form: str, other: str, offered: bool) -> None:  # noqa: FBT001 - a case
        ids = {name: form.format(zone, name) for name, zone in (("a1", other), ("c1", "c"), ("c2", "c"))}
        objects = [*with_zone_c(taints=["x=y:NoSchedule"]), node("c2")]
        for each in objects:
            if name := ids.get(each["metadata"]["name"]):
                each["spec"]["providerID"] = name
        found = fixes(objects, web()).get("LabelNode")
        commands = (f"kubectl label node c2 {ZONE}=c",)
        assert (found.commands if found else ()) == (commands if offered else ())

    @pytest.mark.parametrize("label", ["example.com/zones", "example.com/area", "zone-typo"])
    def test_guesses_nothing(self, label: str) -> None:
        objects = [*with_zone_c(taints=["x=y:NoSchedule"]), node("c2", labels={label: "c"})]
        assert "LabelNode" not in fixes(objects, web())

    def test_takes_no_empty_value(self) -> None:
        empty = {"failure-domain.beta.kubernetes.io/zone": ""}
        assert "LabelNode" not in fixes([*with_zone_c(taints=["x=y:NoSchedule"]), node("c2", labels=empty)], web())


class TestTaints:
    """Taints that keep the Pod out of the domain it should go to."""

    def test_can_be_removed_or_tolerated(self) -> None:
        offered = fixes(with_zone_c(taints=["x=y:PreferNoSchedule", "gpu=a100:NoSchedule"]), web())
        assert patch_of(offered["RemoveTaint"]) == [("remove", "/spec/taints/1", None)]
        assert offered["RemoveTaint"].commands == ("kubectl taint node c1 gpu=a100:NoSchedule-",)
        toleration = {"key": "gpu", "operator": "Equal", "value": "a100", "effect": "NoSchedule"}
        assert patch_of(offered["AddToleration"]) == [("add", "/spec/tolerations", [toleration])]
        assert (offered["RemoveTaint"].cost, offered["AddToleration"].cost) == (2, 2)
        assert "on purpose" in offered["AddToleration"].starts
        assert "no longer needed" in offered["RemoveTaint"].starts

    def test_a_taint_without_a_value_is_tolerated_by_its_existence(self) -> None:
        pending = web(tolerations=[{"key": "other", "operator": "Exists"}])
        toleration = {"key": "gpu", "operator": "Exists", "effect": "NoExecute"}
        found = fixes(with_zone_c(taints=["gpu:NoExecute"]), pending)["AddToleration"]
        assert patch_of(found) == [("add", "/spec/tolerations/-", toleration)]

    def test_the_control_plane_costs_as_much_as_giving_up_the_constraint(self) -> None:
        offered = fixes(with_zone_c(taints=[CONTROL_PLANE]), web())
        assert (offered["AddToleration"].cost, offered["MakeSoft"].cost) == (4, 4)

    def test_the_control_plane_is_opened_to_all_only_where_there_are_no_other_nodes(self) -> None:
        assert "RemoveTaint" not in fixes(with_zone_c(taints=[CONTROL_PLANE]), web())
        assert fixes([node("c1", taints=[CONTROL_PLANE])], pod("p")).keys() == {"RemoveTaint", "AddToleration"}

    @pytest.mark.parametrize(
        "taint",
        [
            "node.kubernetes.io/not-ready:NoExecute",
            "node.kubernetes.io/unreachable:NoSchedule",
            "node.kubernetes.io/disk-pressure:NoSchedule",
            "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule",
            "ToBeDeletedByClusterAutoscaler=1700000000:NoSchedule",
            "DeletionCandidateOfClusterAutoscaler=1700000000:NoSchedule",
            "karpenter.sh/disrupted:NoSchedule",
            "karpenter.sh/disruption=disrupting:NoSchedule",
            "karpenter.sh/unregistered:NoExecute",
        ],
    )
    def test_of_controllers_are_never_touched(self, taint: str) -> None:
        offered = fixes(with_zone_c(taints=[taint]), web())
        assert "RaiseMaxSkew" in offered
        assert not {"AddToleration", "RemoveTaint", "Uncordon"} & offered.keys()

    def test_two_on_one_node_take_a_pair(self) -> None:
        pending = pod("p")
        offered = fixes([node("n", taints=["a=1:NoSchedule", "b=2:NoSchedule"])], pending)
        assert offered.keys() == {"AddToleration+AddToleration", "RemoveTaint+RemoveTaint", "RemoveTaint+AddToleration"}
        assert patch_of(offered["RemoveTaint+RemoveTaint"]) == [("remove", "/spec/taints/0", None)] * 2
        assert len(patch_of(offered["AddToleration+AddToleration"])) == 2

    def test_alike_are_those_with_the_same_taints_in_the_same_domain(self) -> None:
        gpu = ["gpu=a100:NoSchedule"]
        more = [node("c2", zone="c", taints=gpu), node("d1", zone="d", taints=gpu)]
        offered = search([*with_zone_c(taints=gpu), *more], web()).fixes
        removed = [(fix.feasible, fix.alike) for fix in offered if fix.id == "RemoveTaint"]
        assert sorted(removed) == [(("c1",), ("c2",)), (("d1",), ())]


class TestAddNode:
    """What an autoscaler would have to add, told beside the fixes."""

    def test_is_a_sibling_in_good_order(self) -> None:
        closing = ["node.kubernetes.io/not-ready:NoExecute"]
        found = search(with_zone_c(taints=closing, unschedulable=True), web())
        (added,) = found.new_nodes
        assert (added.id, added.cost, added.feasible, added.commands) == ("AddNode", 3, ("new-c1",), ())
        change: Change
        (change,) = added.changes
        assert (change.op, change.target.name) == ("create", "new-c1")
        assert isinstance(change.object, dict)
        assert change.object["metadata"]["labels"] == {"kubernetes.io/hostname": "new-c1", ZONE: "c"}
        assert "taints" not in change.object["spec"]
        assert "unschedulable" not in change.object["spec"]
        assert "scale the node group" in added.starts

    def test_is_no_fix(self) -> None:
        assert all(fix.id != "AddNode" for fix in search(with_zone_c(unschedulable=True), web()).fixes)

    @pytest.mark.parametrize(
        ("key", "labels"),
        [
            (ZONE, {ZONE: "d"}),
            ("topology.ebs.csi.aws.com/zone", {ZONE: "d", "topology.ebs.csi.aws.com/zone": "d"}),
            (HOSTNAME, None),
        ],
    )
    def test_is_where_the_volume_is(self, key: str, labels: dict[str, str] | None) -> None:
        disk = [{"name": "data", "persistentVolumeClaim": {"claimName": "disk"}}]
        objects = [*zones(a={}, b={}), claim("disk", bound_to="pv"), volume("pv", usable_on={key: ["d"]})]
        added = search(objects, pod("p", volumes=disk)).new_nodes
        made = [
            change.object["metadata"]["labels"]
            for fix in added
            for change in fix.changes
            if isinstance(change.object, dict)
        ]
        assert made == ([] if labels is None else [{"kubernetes.io/hostname": "new-a1", **labels}])

    @pytest.mark.parametrize(
        ("of_kind", "more", "added"),
        [
            ({}, [], ["new-a1"]),
            ({}, [node("c2", zone="c", labels={"kind": "standard"}, unschedulable=True)], ["new-c2"]),
            # What only one zone has may be a part of it, as a rack is.
            ({"b1": "spot"}, [], []),
        ],
    )
    def test_is_in_another_zone_if_no_node_is_in_all_domains_that_are_allowed(
        self, of_kind: dict[str, str], more: list[Object], added: list[str]
    ) -> None:
        kinds = {"a1": "standard", "a2": "spot", "b1": "standard", "b2": "spot", "c1": "spot"} | of_kind
        nodes = [node(name, zone=name[0], labels={"kind": each}) for name, each in kinds.items()]
        # Zone c and standard nodes have the fewest Pods.
        running = [web(f"on-{name}", on=name) for name in ("a1", "a2", "b2")]
        pending = web(topologySpreadConstraints=[spread(key, selector=app("web")) for key in (ZONE, "kind")])
        found = search([*nodes, *more, *running], pending).new_nodes
        assert [each.feasible[0] for each in found] == added
        assert all(each.alike == () and f"{ZONE} c and kind standard" in each.summary for each in found)

    @pytest.mark.parametrize(
        ("nodes", "domains"),
        [
            pytest.param([node("a1", zone="a")], ["another zone"], id="where no other zone is known"),
            pytest.param(
                [node("a1", zone="a", labels={"disk": "ssd"}), *(node(f"{z}1", zone=z) for z in "bc")],
                ["topology.kubernetes.io/zone b", "topology.kubernetes.io/zone c"],
                id="where zones have nodes that the Pod may not use",
            ),
            pytest.param(
                [
                    node("a1", zone="a", labels={"disk": "ssd", REGION: "west"}),
                    node("b1", zone="b", labels={REGION: "east"}),
                ],
                ["another zone"],
                id="where other zones are of another region",
            ),
        ],
    )
    def test_is_in_a_second_zone_where_min_domains_asks_for_two(self, nodes: list[Object], domains: list[str]) -> None:
        disk = {"disk": "ssd"} if len(nodes) > 1 else {}
        constraint = spread(ZONE, selector=app("web"), minDomains=2)
        pending = web("new", topologySpreadConstraints=[constraint], nodeSelector=disk)
        found = search([*nodes, web("old", on="a1")], pending).new_nodes
        assert [each.summary.partition(", by hand")[0] for each in found] == [
            f"add a node like a1, but in {domain}" for domain in domains
        ]
        assert all(each.feasible == ("new-a1",) for each in found)

    def test_is_in_the_zone_that_only_nodes_hold_which_the_pod_may_not_use(self) -> None:
        (added,) = search(with_zone_c(taints=["gpu=a100:NoSchedule"]), web()).new_nodes
        assert (added.feasible, added.alike) == (("new-a1",), ())
        assert "but in topology.kubernetes.io/zone c" in added.summary

    @pytest.mark.parametrize(("left", "like"), [((), ["new-a1"]), (("old-2",), ["new-a1", "new-old-2"])])
    def test_is_not_like_nodes_of_a_pool_that_is_being_retired(self, left: Sequence[str], like: list[str]) -> None:
        pools = {"old-1": "old", "old-2": "old", "a1": "new"}
        nodes = [
            node(
                name,
                zone="a",
                labels={"agentpool": pool},
                allocatable={"cpu": "1" if pool == "old" else "2"},
                unschedulable=pool == "old" and name not in left,
            )
            for name, pool in pools.items()
        ]
        full = [pod("p-a1", on="a1", requests={"cpu": "2"}), pod("p-old", on="old-2", requests={"cpu": "1"})]
        found = search([*nodes, *full], pod("p", requests={"cpu": "1"})).new_nodes
        assert [name for each in found for name in (*each.feasible, *each.alike)] == like

    def test_is_told_once_for_domains_that_are_alike(self) -> None:
        full = {"allocatable": {"cpu": "1"}}
        objects = [*zones(a=full, b=full, c=full), *(pod(f"p-{z}", on=f"{z}1", requests={"cpu": "1"}) for z in "abc")]
        (added,) = search(objects, pod("p", requests={"cpu": "1"})).new_nodes
        assert (added.feasible, added.alike) == (("new-a1",), ("new-b1", "new-c1"))
        assert "zone a" in added.summary

    def test_is_tried_once_for_nodes_that_differ_in_nothing_that_matters(self) -> None:
        nodes = [node(f"n{i}", labels={"serial": str(i), "disk": "ssd"}, allocatable={"cpu": "1"}) for i in range(3)]
        busy = [pod(f"p{i}", on=f"n{i}", requests={"cpu": "1"}) for i in range(3)]
        terms = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}]}
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
        (added,) = search([*nodes, *busy], pod("p", requests={"cpu": "1"}, affinity=affinity)).new_nodes
        assert (added.alike, added.summary.count(" in ")) == ((), 0)

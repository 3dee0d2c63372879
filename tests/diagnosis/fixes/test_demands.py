"""What is offered about the other things a Pod demands of a node."""

from __future__ import annotations

import pytest

from tests.build import HOSTNAME, ZONE, Object, app, node, pod
from tests.diagnosis.fixes.clusters import fixes, patch_of, search
from tests.diagnosis.fixes.owners import owned, owner

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def needs(*terms: Object, **fields: object) -> Object:
    """Return a required node affinity of these alternatives."""
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [*terms]}, **fields}}


def exists(key: str) -> Object:
    """Return the alternative that a node carries the label."""
    return {"matchExpressions": [{"key": key, "operator": "Exists"}]}


class TestNodeSelection:
    """nodeSelector and required node affinity."""

    def test_one_label_is_dropped(self) -> None:
        pending = pod("p", nodeSelector={"disk/type": "ssd", HOSTNAME: "n"})
        found = fixes([node("n")], pending)["RelaxNodeSelector"]
        assert patch_of(found) == [("remove", "/spec/nodeSelector/disk~1type", None)]
        assert (found.cost, found.feasible) == (3, ("n",))

    def test_required_terms_become_preferred(self) -> None:
        known = {"weight": 1, "preference": exists("fast")}
        pending = pod("p", affinity=needs(exists("ssd"), exists("nvme"), {}, **{PREFERRED: [known]}))
        added = [{"weight": 100, "preference": exists(key)} for key in ("ssd", "nvme")]
        at = "/spec/affinity/nodeAffinity"
        assert patch_of(fixes([node("n")], pending)["RelaxNodeSelector"]) == [
            ("remove", f"{at}/{REQUIRED}", None),
            ("add", f"{at}/{PREFERRED}", [known, *added]),
        ]

    def test_a_term_that_cannot_be_read_is_dropped(self) -> None:
        unreadable = {"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["1.5"]}]}
        pending = pod("p", affinity=needs(unreadable, exists("ssd")))
        _, (_, _, preferred) = patch_of(fixes([node("n")], pending)["RelaxNodeSelector"])
        assert preferred == [{"weight": 100, "preference": exists("ssd")}]

    def test_the_node_of_a_daemon_stays_its_own(self) -> None:
        field = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}
        pending = pod("p", labels={"app": "web"}, affinity=needs(field))
        daemon = owner("DaemonSet", pending)
        assert not search([node("n"), daemon], owned(pending, daemon)).fixes

    def test_nobody_patches_a_template_that_requires_nothing(self) -> None:
        pending = pod("p", labels={"app": "web"}, affinity=needs(exists("ssd")))
        stateful_set = {**owner("StatefulSet", pod("p", labels={"app": "web"})), "status": {"updateRevision": "web-1"}}
        revision = {"controller-revision-hash": "web-1"}
        found = fixes([node("n"), stateful_set], owned(pending, stateful_set, **revision))["RelaxNodeSelector"]
        assert found.commands == ()
        assert "an admission webhook or a policy changes the Pods of statefulset/web: change that" in found.starts

    @pytest.mark.parametrize(("kind", "offered"), [("StatefulSet", "LowerRequests"), ("ReplicaSet", "RecreatePod")])
    def test_a_patch_never_raises_the_request_of_the_template(self, kind: str, offered: str) -> None:
        """The Pod requests more than its template, so a webhook or an older template set that."""
        by = {**owner(kind, pod("p", requests={"cpu": "1"})), "status": {"updateRevision": "web-1"}}
        labels = {"controller-revision-hash": "web-1"} if kind == "StatefulSet" else {}
        pending = owned(pod("p", requests={"cpu": "5"}), by, **labels)
        (fix,) = search([node("n", allocatable={"cpu": "4"}), by], pending).fixes
        assert (fix.id, "patch" in str(fix.commands)) == (offered, False)

    def test_both_together_take_a_pair(self) -> None:
        pending = pod("p", nodeSelector={"disk": "ssd"}, affinity=needs(exists("fast")))
        offered = fixes([node("n")], pending)
        assert offered.keys() == {"RelaxNodeSelector+RelaxNodeSelector"}

    def test_the_name_of_a_node_stays(self) -> None:
        assert not fixes([node("n")], pod("p", nodeName="other"))


class TestPodAffinity:
    """Required terms on other Pods."""

    @staticmethod
    def term(name: str, **fields: object) -> Object:
        """Return a term on Pods of an application in the same zone."""
        return {"labelSelector": app(name), "topologyKey": ZONE, **fields}

    def test_one_term_becomes_preferred(self) -> None:
        near, apart = {REQUIRED: [self.term("db")]}, {REQUIRED: [self.term("web")]}
        pending = pod("p", labels={"app": "web"}, affinity={"podAffinity": near, "podAntiAffinity": apart})
        objects = [
            node("a1", zone="a"),
            pod("db", on="a1", labels={"app": "db"}),
            pod("web", on="a1", labels={"app": "web"}),
        ]
        at = "/spec/affinity/podAntiAffinity"
        found = fixes(objects, pending)["RelaxPodAffinity"]
        assert patch_of(found) == [
            ("remove", f"{at}/{REQUIRED}/0", None),
            ("add", f"{at}/{PREFERRED}", [{"weight": 100, "podAffinityTerm": self.term("web")}]),
        ]
        assert (found.cost, found.feasible) == (3, ("a1",))
        # Somebody keeps these Pods together or apart on purpose.
        assert found.overrides == "Decision"

    def test_joins_the_preferences_there_are(self) -> None:
        known = {"weight": 1, "podAffinityTerm": self.term("cache")}
        pending = pod("p", affinity={"podAffinity": {REQUIRED: [self.term("db")], PREFERRED: [known]}})
        found = fixes([node("a1", zone="a")], pending)["RelaxPodAffinity"]
        assert patch_of(found)[1][1] == f"/spec/affinity/podAffinity/{PREFERRED}/-"

    def test_everywhere_is_kept_everywhere(self) -> None:
        pending = pod("p", affinity={"podAffinity": {REQUIRED: [self.term("db", namespaceSelector={})]}})
        (_, (_, _, value)) = patch_of(fixes([node("a1", zone="a")], pending)["RelaxPodAffinity"])
        assert value == [{"weight": 100, "podAffinityTerm": self.term("db", namespaceSelector={})}]

    def test_of_other_pods_stay(self) -> None:
        keeper = pod("keeper", on="a1", affinity={"podAntiAffinity": {REQUIRED: [self.term("web")]}})
        offered = fixes([node("a1", zone="a"), keeper], pod("p", labels={"app": "web"}))
        assert offered.keys() == {"MovePod"}

    def test_is_found_in_a_template_by_what_it_says(self) -> None:
        """The API server has added the Pod's own hash to the Pod's selector, not to the template's."""
        of_template = self.term("db", matchLabelKeys=["pod-template-hash"])
        hashed = {"key": "pod-template-hash", "operator": "In", "values": ["abc"]}
        of_pod = {**of_template, "labelSelector": {**app("db"), "matchExpressions": [hashed]}}
        pending = pod("p", labels={"app": "web"}, affinity={"podAffinity": {REQUIRED: [of_pod]}})
        other = self.term("cache")
        made_by = pod("p", labels={"app": "web"}, affinity={"podAffinity": {REQUIRED: [other, of_template]}})
        stateful_set = owner("StatefulSet", made_by)
        found = fixes([node("a1", zone="a"), stateful_set], owned(pending, stateful_set))["RelaxPodAffinity"]
        assert f"/spec/template/spec/affinity/podAffinity/{REQUIRED}/1" in found.commands[0]
        assert "abc" not in found.commands[0]

    def test_nobody_patches_a_template_that_lacks_the_term(self) -> None:
        pending = pod("p", labels={"app": "web"}, affinity={"podAffinity": {REQUIRED: [{"topologyKey": ZONE}]}})
        job = owner("Job", pod("p", labels={"app": "web"}))
        found = fixes([node("a1", zone="a"), job], owned(pending, job))["RelaxPodAffinity"]
        assert (found.commands, "has no such field" in found.starts) == ((), True)


class TestHostPorts:
    """Ports of the node."""

    def test_one_is_dropped(self) -> None:
        pending = pod("p", host_ports=["80", "443"])
        pending["spec"]["containers"][0]["ports"].append({"containerPort": 9090})
        found = fixes([node("n"), pod("taken", on="n", host_ports=["443"])], pending)["ChangeHostPort"]
        assert patch_of(found) == [("remove", "/spec/containers/0/ports/1/hostPort", None)]
        assert found.cost == 3

    def test_those_of_the_host_network_stay(self) -> None:
        pending = pod("p", host_ports=["80"], hostNetwork=True)
        assert "ChangeHostPort" not in fixes([node("n"), pod("taken", on="n", host_ports=["80"])], pending)

    def test_of_a_sidecar_are_found_in_a_template_by_its_name(self) -> None:
        sidecar = {
            "name": "proxy",
            "restartPolicy": "Always",
            "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}],
        }
        pending = pod("p", labels={"app": "web"}, initContainers=[{"name": "injected"}, sidecar])
        made_by = pod("p", labels={"app": "web"}, initContainers=[sidecar])
        stateful_set = owner("StatefulSet", made_by)
        objects = [node("n"), pod("taken", on="n", host_ports=["80"]), stateful_set]
        found = fixes(objects, owned(pending, stateful_set))["ChangeHostPort"]
        assert patch_of(found) == [("remove", "/spec/initContainers/1/ports/0/hostPort", None)]
        assert "/spec/template/spec/initContainers/0/ports/0/hostPort" in found.commands[0]

    def test_nobody_patches_a_template_that_lacks_the_port_or_the_container(self) -> None:
        pending = pod("p", labels={"app": "web"}, host_ports=["80"])
        taken = pod("taken", on="n", host_ports=["80"])
        for made_by in (pod("p", labels={"app": "web"}), {**pending, "spec": {"containers": [{"name": "other"}]}}):
            job = owner("Job", made_by)
            found = fixes([node("n"), taken, job], owned(pending, job))["ChangeHostPort"]
            assert (found.commands, "has no such field" in found.starts) == ((), True)


class TestRequests:
    """What the Pod asks for."""

    def test_are_lowered_no_further_than_needed(self) -> None:
        nodes = [node(name, allocatable={"cpu": cpu}) for name, cpu in (("small", "1"), ("large", "3"))]
        pending = pod("p", requests={"cpu": "4", "memory": "1Gi"})
        found = fixes([*nodes, pod("busy", on="large", requests={"cpu": "500m"})], pending)["LowerRequests"]
        requests = {"cpu": "2500m", "memory": "1Gi"}
        assert patch_of(found) == [("add", "/spec/containers/0/resources/requests", requests)]
        assert (found.cost, found.feasible) == (3, ("large",))

    def test_are_taken_from_the_largest_container(self) -> None:
        containers = [
            {"name": name, "resources": {"requests": {"memory": memory}}}
            for name, memory in (("a", "1Gi"), ("b", "6Gi"))
        ]
        found = fixes([node("n", allocatable={"memory": "4Gi"})], pod("p", containers=containers))["LowerRequests"]
        assert patch_of(found) == [("add", "/spec/containers/1/resources/requests", {"memory": "3072Mi"})]

    def test_of_an_init_container_are_lowered_where_it_is_the_widest(self) -> None:
        init = [{"name": "init", "resources": {"requests": {"cpu": "9"}}}]
        found = fixes([node("n")], pod("p", requests={"cpu": "1"}, initContainers=init))["LowerRequests"]
        assert patch_of(found) == [("add", "/spec/initContainers/0/resources/requests", {"cpu": "8000m"})]

    def test_that_come_from_limits_are_written_out(self) -> None:
        containers = [{"name": "main", "resources": {"limits": {"cpu": "9"}}}]
        pending = pod("p", labels={"app": "web"}, containers=containers)
        stateful_set = owner("StatefulSet", pending)
        found = fixes([node("n"), stateful_set], owned(pending, stateful_set))["LowerRequests"]
        assert patch_of(found) == [("add", "/spec/containers/0/resources/requests", {"cpu": "8000m"})]
        assert '/resources/requests","value":{"cpu":"8000m"}' in found.commands[0]

    def test_that_admission_added_are_written_into_the_template(self) -> None:
        pending = pod("p", labels={"app": "web"}, requests={"cpu": "9"})
        stateful_set = owner("StatefulSet", pod("p", labels={"app": "web"}))
        found = fixes([node("n"), stateful_set], owned(pending, stateful_set))["LowerRequests"]
        assert '/resources","value":{"requests":{"cpu":"8000m"}}' in found.commands[0]

    def test_never_vanish(self) -> None:
        assert "LowerRequests" not in fixes([node("n", allocatable={"cpu": "0"})], pod("p", requests={"cpu": "1"}))

    def test_for_devices_stay(self) -> None:
        assert not fixes([node("n")], pod("p", requests={"nvidia.com/gpu": "1"}))

    def test_stay_where_the_node_holds_as_many_pods_as_it_may(self) -> None:
        assert "LowerRequests" not in fixes(
            [node("n", allocatable={"pods": "0", "cpu": "1"})], pod("p", requests={"cpu": "2"})
        )

    def test_of_the_pod_as_a_whole_are_lowered_where_they_count(self) -> None:
        pending = pod("p", requests={"cpu": "1", "memory": "40Gi"}, resources={"requests": {"cpu": "9"}})
        nodes = [node("n", allocatable={"cpu": "8", "memory": "64Gi"})]
        found = fixes(nodes, pending)["LowerRequests"]
        assert patch_of(found) == [("add", "/spec/resources/requests", {"cpu": "8000m"})]
        assert found.summary == "lower the cpu request of the Pod to 8000m"

    def test_of_the_containers_are_lowered_where_the_pod_as_a_whole_has_none(self) -> None:
        pending = pod("p", requests={"memory": "40Gi"}, resources={"requests": {"cpu": "1"}})
        found = fixes([node("n")], pending)["LowerRequests"]
        assert patch_of(found) == [("add", "/spec/containers/0/resources/requests", {"memory": "32768Mi"})]

    def test_of_the_pod_as_a_whole_are_no_less_than_its_containers_ask_for(self) -> None:
        pending = pod("p", requests={"cpu": "9"}, resources={"requests": {"cpu": "10"}})
        assert "LowerRequests" not in fixes([node("n")], pending)

    def test_for_two_resources_take_a_pair(self) -> None:
        pending = pod("p", requests={"cpu": "9", "memory": "40Gi"})
        (found,) = search([node("n")], pending).fixes
        assert found.id == "LowerRequests+LowerRequests"
        requests = {"cpu": "8000m", "memory": "32768Mi"}
        assert patch_of(found)[-1] == ("add", "/spec/containers/0/resources/requests", requests)

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


def of(name: str = "", **requests: str) -> Object:
    """Return the requests of a container, or of the Pod as a whole."""
    return {"resources": {"requests": requests}} | ({"name": name} if name else {})


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
        assert (found.cost, found.overrides) == (3, "Decision")

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

    @pytest.mark.parametrize(
        ("room", "asks", "container", "lowered"),
        [
            (
                {"memory": "4Gi"},
                {"containers": [of("a", memory="1Gi"), of("b", memory="6Gi")]},
                "/containers/1",
                "3072Mi",
            ),
            ({}, {"requests": {"cpu": "1"}, "initContainers": [of("a", cpu="9")]}, "/initContainers/0", "8000m"),
            ({"memory": "64Gi"}, {"requests": {"cpu": "1", "memory": "40Gi"}, **of(cpu="9")}, "", "8000m"),
            ({}, {"requests": {"memory": "40Gi"}, **of(cpu="1")}, "/containers/0", "32768Mi"),
        ],
        ids=["largest container", "widest init container", "Pod as a whole", "Pod as a whole has none"],
    )
    def test_are_lowered_where_they_count(self, room: Object, asks: Object, container: str, lowered: str) -> None:
        fix = fixes([node("n", allocatable=room)], pod("p", **asks))["LowerRequests"]
        resource = "cpu" if lowered.endswith("m") else "memory"
        assert patch_of(fix) == [("add", f"/spec{container}/resources/requests", {resource: lowered})]

    @pytest.mark.parametrize(
        ("room", "asks"),
        [
            ({"cpu": "0"}, {"requests": {"cpu": "1"}}),
            ({}, {"requests": {"nvidia.com/gpu": "1"}}),
            ({"pods": "0", "cpu": "1"}, {"requests": {"cpu": "2"}}),
            ({}, {"requests": {"cpu": "9"}, **of(cpu="10")}),
        ],
        ids=["none would be left", "of devices", "no more Pods fit", "of the containers count too"],
    )
    def test_stay(self, room: Object, asks: Object) -> None:
        assert "LowerRequests" not in fixes([node("n", allocatable=room)], pod("p", **asks))

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

    def test_for_two_resources_take_a_pair(self) -> None:
        pending = pod("p", requests={"cpu": "9", "memory": "40Gi"})
        (found,) = search([node("n")], pending).fixes
        assert found.id == "LowerRequests+LowerRequests"
        requests = {"cpu": "8000m", "memory": "32768Mi"}
        assert patch_of(found)[-1] == ("add", "/spec/containers/0/resources/requests", requests)

"""What a person runs, by the owner of the Pod, and what is said of it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

import pytest
from msgspec import UNSET

from kubectl_spread.diagnosis.fixes.change import Disturbance
from kubectl_spread.diagnosis.fixes.search import fix_for
from tests.build import ZONE, Object, app, node, pod, spread, typed_pod
from tests.build_workloads import held_revision
from tests.diagnosis.fixes.clusters import HASH, WEB, JsonFix, conclusion, fixes, search, web, zones
from tests.diagnosis.fixes.owners import cron_job, owned, owner, template

TAINTED = {"c": {"taints": ["x=y:NoSchedule"]}}
CROWDED = [*zones(**TAINTED), web("on-a", on="a1"), web("on-b", on="b1")]
RAISED = [{"op": "add", "path": "/spec/template/spec/topologySpreadConstraints/0/maxSkew", "value": 2}]


def offered(by: Object | None, *, above: Object | None = None, pending: Object | None = None) -> dict[str, JsonFix]:
    """Return what is offered for a Pod of web in a crowded cluster.

    Args:
        by: its controller; None for none.
        above: the controller's controller.
        pending: the Pod, before it is owned.
    """
    asked = pending or web("web-0")
    owners = [each for each in (by, above) if each is not None]
    return fixes([*CROWDED, *owners], owned(asked, by) if by else asked)


def patch_in(command: str) -> object:
    words = shlex.split(command)
    return json.loads(words[words.index("-p") + 1])


@pytest.mark.parametrize(
    ("kind", "fields", "lines", "starts"),
    [
        (
            "StatefulSet",
            {},
            2,
            "replaces the Pod of statefulset/web (it does not run yet); the rollout starts once this Pod is",
        ),
        ("StatefulSet", {"updateStrategy": {"type": "OnDelete"}}, 2, "other Pods of statefulset/web stay"),
        ("ReplicaSet", {}, 2, "recreates this Pod; other Pods of replicaset/web stay"),
        ("ReplicationController", {}, 2, "other Pods of replicationcontroller/web stay"),
        ("DaemonSet", {}, 1, "replaces each Pod of daemonset/web"),
        ("DaemonSet", {"updateStrategy": {"type": "OnDelete"}}, 2, "other Pods of daemonset/web stay"),
    ],
)
def test_the_template_is_patched_and_the_pod_deleted_where_it_stays(
    kind: str, fields: Object, lines: int, starts: str
) -> None:
    found = offered(owner(kind, web(), **fields))["RaiseMaxSkew"]
    assert found.commands[0].startswith(f"kubectl patch {kind.lower()} web -n default --type=json -p ")
    assert patch_in(found.commands[0]) == RAISED
    assert [*found.commands[1:]] == ["kubectl delete pod web-0 -n default"][: lines - 1]
    assert starts in found.starts


@pytest.mark.parametrize(("strategy", "how"), [("RollingUpdate", ""), ("Recreate", " all at once")])
def test_a_deployment_that_recreates_its_pods_deletes_all_at_once(strategy: str, how: str) -> None:
    by = owner("Deployment", web(), strategy={"type": strategy})
    said = fixes([*CROWDED, by, owned(web("web-1", on="a1"), by)], owned(web("web-0"), by))["RaiseMaxSkew"].starts
    assert said == f"replaces 2 Pods of deployment/web{how} (1 of them runs)"


@pytest.mark.parametrize(("policy", "ready"), [("OrderedReady", True), ("OrderedReady", False), ("Parallel", False)])
def test_ordinals_that_do_not_exist_yet_are_not_replaced(policy: str, *, ready: bool) -> None:
    by = owner("StatefulSet", web(), replicas=4, podManagementPolicy=policy)
    asked = owned(web("web-1"), by)
    there = owned(web("web-0", on="a1"), by)
    there["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": str(ready)}]}
    said = fixes([*CROWDED, by, there], asked)["RaiseMaxSkew"].starts
    held = "" if ready or policy == "Parallel" else "; statefulset/web recreates this Pod only once web-0 is Ready"
    assert said.startswith("replaces 2 Pods of statefulset/web one after another (")
    assert said.endswith(f"); the rollout starts once this Pod is deleted{held}")


@pytest.mark.parametrize(
    ("partition", "start", "ordinal", "kept"), [(0, 0, 0, False), (1, 0, 0, True), (1, 5, 5, True), (1, 5, 6, False)]
)
def test_a_partition_counts_from_the_first_ordinal(partition: int, start: int, ordinal: int, *, kept: bool) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
    by = owner("StatefulSet", web(), ordinals={"start": start}, updateStrategy=strategy)
    fix = offered(by, pending=web(f"web-{ordinal}"))["RaiseMaxSkew"]
    assert ("partition of statefulset/web is 1" in fix.starts) is kept


def test_of_owners_that_own_each_other_none_is_patched() -> None:
    second = owner("ReplicaSet", web(), name="web-b", of=owner("ReplicaSet", web(), name="web-a"))
    first = owner("ReplicaSet", web(), name="web-a", of=second)
    found = offered(first, above=second)["RaiseMaxSkew"]
    assert found.commands == ()
    assert "in the template of replicaset/web-a" in found.starts


def test_the_deployment_behind_the_replica_set_is_patched() -> None:
    deployment = owner("Deployment", web())
    found = offered(owner("ReplicaSet", web(), name="web-abc", of=deployment), above=deployment)["RaiseMaxSkew"]
    (command,) = found.commands
    assert command.startswith("kubectl patch deployment web ")
    assert found.starts == "replaces the Pod of deployment/web (it does not run yet)"


def test_all_pods_that_a_rollout_replaces_are_counted_and_those_that_run() -> None:
    """A rollout that is under way may have more Pods than the Deployment wants."""
    deployment = owner("Deployment", web(), replicas=2)
    replicas = owner("ReplicaSet", web(), name="web-abc", of=deployment, replicas=3)
    there = [owned(web(f"web-{number}", on="a1"), replicas) for number in (0, 1)]
    ends = owned(web("web-2", on="a1"), replicas)
    ends["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    found = fixes([*CROWDED, deployment, replicas, *there, ends], owned(web("web-3"), replicas))
    assert found["RaiseMaxSkew"].starts.startswith("replaces 3 Pods of deployment/web (2 of them run)")


def test_a_job_is_made_anew_without_what_the_server_wrote() -> None:
    labels = {"batch.kubernetes.io/controller-uid": "1", "job-name": "web"}
    selector = {"matchLabels": {"batch.kubernetes.io/controller-uid": "1"}}
    job = owner("Job", web("web-0", labels={**WEB, **labels}), selector=selector)
    found = offered(job)["RaiseMaxSkew"]
    (line,) = found.commands
    get, patch, replace = line.split(" | ")
    assert get == "kubectl get job web -n default -o json"
    assert replace == "kubectl replace --force -n default -f -"
    at = "/spec/template/metadata/labels"
    assert patch_in(patch) == [
        *RAISED,
        {"op": "remove", "path": "/spec/selector"},
        {"op": "remove", "path": f"{at}/batch.kubernetes.io~1controller-uid"},
        {"op": "remove", "path": f"{at}/job-name"},
    ]
    assert "are lost" in found.starts


def test_a_job_with_a_selector_of_its_own_keeps_it() -> None:
    (line,) = offered(owner("Job", web(), selector=app("web"), manualSelector=True))["RaiseMaxSkew"].commands
    assert patch_in(line.split(" | ")[1]) == RAISED


def test_the_pending_pods_of_a_job_are_patched_and_the_job_stays() -> None:
    """Recreating it would lose the work of its Pods, and would make the patch useless."""
    job = owner("Job", web())
    asked, other = (owned(web(name), job) for name in ("web-0", "web-1"))
    found = fixes([*CROWDED, job], asked, siblings=[other])["AddToleration"]
    (line,) = found.commands
    assert line.startswith("kubectl patch pod web-0 web-1 -n default --type=json -p ")
    assert "changes only the 2 Pending Pods: Pods that job/web creates later lack it" in found.starts
    assert (found.admits, found.disturbs) == (2, Disturbance.NOTHING)


def test_a_cron_job_is_patched_for_its_next_run() -> None:
    above = cron_job(web())
    found = offered(owner("Job", web(), of=above), above=above)["RaiseMaxSkew"]
    assert found.commands[0].startswith("kubectl patch cronjob web ")
    assert patch_in(found.commands[0]) == [{**RAISED[0], "path": f"/spec/jobTemplate{RAISED[0]['path']}"}]
    assert "later runs of" in found.starts
    assert (found.admits, found.siblings) == (0, 1)


def test_a_pod_nobody_owns_is_made_anew() -> None:
    found = offered(None)["RaiseMaxSkew"]
    (line,) = found.commands
    assert line.startswith("kubectl get pod web-0 -n default -o json | kubectl patch --local -f - --type=json -p ")
    assert found.starts == "deletes and recreates the Pod, which does not run yet"


def test_an_owner_we_do_not_know_gets_no_command_but_the_field() -> None:
    rollout = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "web"}}
    found = offered(owner("ReplicaSet", web(), name="web-abc", of=rollout), above=None)["RaiseMaxSkew"]
    assert found.commands == ()
    assert found.starts == (
        "change spec.topologySpreadConstraints[0].maxSkew in the template of rollout/web, which creates these Pods"
    )


class TestLiveChanges:
    """What can be changed about a Pod while it lives."""

    def test_come_first_and_help_this_pod_only(self) -> None:
        found = offered(owner("StatefulSet", web()))["AddToleration"]
        kinds = [line.split()[1:4] for line in found.commands]
        assert kinds == [["patch", "pod", "web-0"], ["patch", "statefulset", "web"], ["delete", "pod", "web-0"]]
        assert "; the first command changes only this Pod; " in found.starts

    def test_are_all_that_a_pod_nobody_owns_needs(self) -> None:
        found = offered(None)["AddToleration"]
        assert [line.split()[1:3] for line in found.commands] == [["patch", "pod"]]
        assert found.starts.startswith("the nodes are reserved on purpose")

    def test_are_no_help_where_another_change_needs_the_pod_made_anew(self) -> None:
        pending = web("web-0", nodeSelector={"disk": "ssd"})
        nodes = [node(f"n{zone}", zone=zone, taints=["x=y:NoSchedule"]) for zone in "ab"]
        found = fixes(nodes, pending)["AddToleration+RelaxNodeSelector"]
        assert [line.split()[1:3] for line in found.commands] == [["get", "pod"]]


class TestTemplatesThatDiffer:
    """Templates that admission changes into other Pods."""

    def test_a_constraint_is_found_where_it_stands(self) -> None:
        injected = spread("example.com/rack", selector=app("web"), soft=True)
        pending = web("web-0", topologySpreadConstraints=[injected, spread(ZONE, selector=app("web"))])
        found = offered(owner("StatefulSet", web()), pending=pending)["RaiseMaxSkew"]
        assert patch_in(found.commands[0]) == RAISED

    def test_a_constraint_that_admission_added_is_changed_where_it_is_added(self) -> None:
        found = offered(owner("Job", pod("p", labels=WEB)))["RaiseMaxSkew"]
        assert (found.commands, found.starts) == (
            (),
            (
                "there is no command for this, because the template of job/web has no such field; if an admission"
                " webhook adds it, change the webhook; if the template was changed since, a new Pod has no such field"
                " either"
            ),
        )

    def test_a_template_that_would_be_refused_is_left_alone(self) -> None:
        both = [spread(ZONE, selector=app("web")), spread(ZONE, selector=app("web"), soft=True)]
        stateful_set = owner("StatefulSet", web(topologySpreadConstraints=both))
        found = offered(stateful_set)["MakeSoft"]
        assert (found.commands, found.starts) == ((), "the template of statefulset/web would not be valid with it")


class TestNewRevision:
    """What becomes of the Pods that the changed template makes."""

    @staticmethod
    def rollout(*constraints: Object) -> dict[str, JsonFix]:
        """Return what is offered for a Pod of a Deployment whose own revision crowds zones a and b."""
        pending = web("web-0", topologySpreadConstraints=[*constraints])
        deployment = owner("Deployment", pending)
        of_set = web(labels={**WEB, HASH: "abc"}, topologySpreadConstraints=[*constraints])
        replica_set = owner("ReplicaSet", of_set, name="web-abc", of=deployment)
        own = [web(f"own-{name}", on=name, labels={**WEB, HASH: "abc"}) for name in ("a1", "b1")]
        asked = owned(pending, replica_set, **{HASH: "abc"})
        asked["spec"] = json.loads(json.dumps(asked["spec"]))
        merged = asked["spec"]["topologySpreadConstraints"][0]
        merged["labelSelector"]["matchExpressions"] = [{"key": HASH, "operator": "In", "values": ["abc"]}]
        return fixes([*zones(**TAINTED), *own, deployment, replica_set], asked)

    def test_starts_at_zero_with_match_label_keys(self) -> None:
        found = self.rollout(spread(ZONE, selector=app("web"), matchLabelKeys=[HASH]))["AddToleration"]
        assert found.feasible == ("c1",)
        assert isinstance(found.new_revision, tuple)
        assert set(found.new_revision) == {"a1", "b1", "c1"}

    def test_is_not_told_apart_without(self) -> None:
        found = self.rollout(spread(ZONE, selector={**app("web"), "matchExpressions": []}))["AddToleration"]
        assert not isinstance(found.new_revision, tuple)

    def test_is_told_apart_by_affinity_too(self) -> None:
        term = {"labelSelector": app("web"), "topologyKey": ZONE, "matchLabelKeys": [HASH]}
        merged = {
            "labelSelector": {**app("web"), "matchExpressions": [{"key": HASH, "operator": "In", "values": ["abc"]}]}
        }
        required = "requiredDuringSchedulingIgnoredDuringExecution"
        pending = pod("web-0", labels=WEB, affinity={"podAntiAffinity": {required: [term]}})
        stateful_set = owner("StatefulSet", pending)
        asked = owned(pending, stateful_set, **{HASH: "abc"})
        asked["spec"] = {**asked["spec"], "affinity": {"podAntiAffinity": {required: [{**term, **merged}]}}}
        own = [pod(f"own-{name}", on=name, labels={**WEB, HASH: "abc"}) for name in ("a1", "b1")]
        found = fixes([*zones(**TAINTED), *own, stateful_set], asked)["AddToleration"]
        assert isinstance(found.new_revision, tuple)
        assert (found.feasible, set(found.new_revision)) == (("c1",), {"a1", "b1", "c1"})

    def test_of_a_daemon_keeps_to_its_node(self) -> None:
        """Each of its Pods is for one node; only the constraint is the template's."""
        field = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a1"]}]}
        required = "requiredDuringSchedulingIgnoredDuringExecution"
        affinity = {"nodeAffinity": {required: {"nodeSelectorTerms": [field]}}}
        revision = "controller-revision-hash"
        constraints = [spread(ZONE, selector=app("web"), matchLabelKeys=[revision], nodeAffinityPolicy="Ignore")]
        pending = web("web-0", topologySpreadConstraints=constraints)
        daemon_set = owner("DaemonSet", pending)
        asked = owned({**pending, "spec": {**pending["spec"], "affinity": affinity}}, daemon_set, **{revision: "1"})
        own = web("own", on="a1", labels={**WEB, revision: "1"})
        found = fixes([*zones(**TAINTED), own, daemon_set], asked)
        assert found["RaiseMaxSkew"].feasible == ("a1",)

    def test_is_not_foretold_where_the_template_differs(self) -> None:
        constraints = [spread(ZONE, selector=app("web"), matchLabelKeys=[HASH])]
        pending = web("web-0", topologySpreadConstraints=constraints)
        deployment = owner("Deployment", pod("p", labels=WEB))
        replica_set = owner("ReplicaSet", pending, name="web-abc", of=deployment)
        own = [web(f"own-{name}", on=name, labels={**WEB, HASH: "abc"}) for name in ("a1", "b1")]
        asked = owned(pending, replica_set, **{HASH: "abc"})
        found = fixes([*zones(**TAINTED), *own, deployment, replica_set], asked)["AddToleration"]
        assert not isinstance(found.new_revision, tuple)


class TestWhatWaits:
    """All Pods that wait are deleted where their owner replaces none."""

    @staticmethod
    def asked(kind: str, *, partition: int = 0) -> JsonFix:
        """Return what a larger skew takes for two Pods of such a workload."""
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
        by = owner(kind, web(), updateStrategy=strategy if partition else {})
        first, second = (owned(web(f"web-{number}"), by) for number in (0, 1))
        return fixes([*CROWDED, by], first, siblings=[second])["RaiseMaxSkew"]

    @pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController", "StatefulSet"])
    def test_is_deleted_by_one_command(self, kind: str) -> None:
        found = self.asked(kind)
        assert found.commands[1:] == ("kubectl delete pod web-0 web-1 -n default",)
        assert (found.admits, found.siblings) == (2, 2)

    def test_is_left_where_a_partition_keeps_it_old(self) -> None:
        """The Pod is behind the partition: nothing comes of the patch, and its sibling is not the one asked about."""
        found = self.asked("StatefulSet", partition=1)
        assert found.starts.startswith("spec.updateStrategy.rollingUpdate.partition of statefulset/web is 1 and keeps")
        assert found.commands[1:] == ("kubectl delete pod web-1 -n default",)
        assert (found.admits, found.siblings) == (0, 2)

    def test_is_not_deleted_where_it_would_come_back_as_it_was(self) -> None:
        """With a toleration of its own it has a node: its deletion would take that away again."""
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
        by = owner("StatefulSet", web(), updateStrategy=strategy)
        found = fixes([*CROWDED, by], owned(web("web-0"), by))["AddToleration"]
        assert [command.split()[1:3] for command in found.commands] == [["patch", "pod"], ["patch", "statefulset"]]
        assert found.admits == 1

    def test_is_named_whole_for_its_twin_too(self) -> None:
        by = owner("ReplicaSet", web())
        first, second = (owned(web(f"web-{number}"), by) for number in (0, 1))
        found = conclusion([*CROWDED, by], first, siblings=[second]).fixes
        raised = next(fix for fix in found if fix.proposals[0].id == "RaiseMaxSkew")
        _, deletion = fix_for(raised, typed_pod(first), typed_pod(second)).routes[0].commands
        assert (deletion.name, deletion.others) == ("web-1", ("web-0",))


class TestDeployments:
    """What a changed template of a Deployment sets off."""

    def test_that_are_paused_are_resumed_which_is_said(self) -> None:
        by = owner("Deployment", web(), paused=True)
        found = offered(by)["RaiseMaxSkew"]
        assert found.commands[1:] == ("kubectl rollout resume deployment/web -n default",)
        assert found.starts.startswith(
            "deployment/web is paused: nothing is replaced until it is resumed, which also rolls out all other"
            " changes since the pause; that replaces"
        )

    @pytest.mark.parametrize("living", [0, 1, 2])
    def test_that_get_an_older_template_back_use_its_pods_again(self, living: int) -> None:
        """The node selector is new; without it the template is that of the ReplicaSet before."""
        by = owner("Deployment", web(nodeSelector={"disk": "ssd"}), replicas=2)
        old = owner("ReplicaSet", web(), name="web-old", of=by)
        new = owner("ReplicaSet", web(nodeSelector={"disk": "ssd"}), name="web-new", of=by)
        there = [owned(web(f"old-{number}", on=f"{'ab'[number]}1"), old) for number in range(living)]
        pending = owned(web("web-0", nodeSelector={"disk": "ssd"}), new)
        found = fixes([*zones(), by, old, new, *there], pending)["RelaxNodeSelector"]
        assert len(found.commands) == 1
        stays = "its Pod stays" if living == 1 else "its 2 Pods stay"
        again = f"deployment/web uses replicaset/web-old again: {stays}"
        assert (found.starts == again, found.created) == ((True, 2 - living) if living else (False, UNSET))
        assert found.disturbs == "Nothing"

    @pytest.mark.parametrize("held", [False, True])
    def test_restore_a_revision_of_a_stateful_set(self, held: bool) -> None:  # noqa: FBT001 - a parameter
        by = {**owner("StatefulSet", web(nodeSelector={"disk": "ssd"})), "status": {"updateRevision": "web-new"}}
        old, new = ({"controller-revision-hash": name} for name in ("web-old", "web-new"))
        there = [owned(web("web-0", on="a1"), by, **old)]
        if held:
            there.append(held_revision("web-old", template(web())))
        pending = owned(web("web-1", nodeSelector={"disk": "ssd"}), by, **new)
        found = fixes([*zones(), by, *there], pending)["RelaxNodeSelector"]
        again = "statefulset/web uses revision web-old again: its Pod stays"
        assert ((found.starts, found.disturbs) == (again, "Nothing")) is held

    def test_replace_what_is_of_neither_template(self) -> None:
        by = owner("Deployment", web(nodeSelector={"disk": "ssd"}), replicas=2)
        sets = [
            owner("ReplicaSet", web(**fields), name=name, of=by)
            for name, fields in (("old", {}), ("new", {"nodeSelector": {"disk": "ssd"}}), ("odd", {"priority": 5}))
        ]
        there = [owned(web("a", on="a1"), sets[0]), owned(web("b", on="b1"), sets[2])]
        pending = owned(web("web-0", nodeSelector={"disk": "ssd"}), sets[1])
        found = fixes([*zones(), by, *sets, *there], pending)["RelaxNodeSelector"]
        assert "its Pod stays" in found.starts
        assert found.disturbs == "PodsReplaced"


def test_an_owner_that_cannot_be_read_gets_no_command_and_may_restart_other_pods() -> None:
    unread = owner("ReplicaSet", web(nodeSelector={"disk": "ssd"}))
    fix = fixes(zones(), owned(web("web-0", nodeSelector={"disk": "ssd"}), unread))["RelaxNodeSelector"]
    assert (fix.commands, "replicaset/web" in fix.starts, fix.disturbs) == ((), True, "PodsReplaced")


class TestStalePods:
    """Pods that were made before their template was mended."""

    def test_are_deleted_and_nothing_else_is_offered(self) -> None:
        by = {**owner("StatefulSet", web()), "status": {"currentRevision": "web-new", "updateRevision": "web-new"}}
        old = {"controller-revision-hash": "web-old"}
        stale = [owned(web(f"web-{number}", nodeSelector={"disk": "ssd"}), by, **old) for number in (0, 1)]
        found = search([*zones(), by], stale[0], siblings=stale[1:])
        (fix,) = found.fixes
        assert (fix.id, fix.commands) == ("RecreatePod", ("kubectl delete pod web-0 web-1 -n default",))
        assert (fix.admits, fix.siblings, fix.disturbs, found.new_nodes) == (2, 2, "Nothing", ())
        assert fix.starts == "statefulset/web recreates the 2 Pending Pods from its template, which needs no change"

    @pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController", "StatefulSet"])
    def test_may_be_deleted_where_no_revision_shows_which_template_they_have(self, kind: str) -> None:
        by = owner(kind, web(topologySpreadConstraints=[]), updateStrategy={"type": "OnDelete"})
        (fix,) = search([*zones(), by], owned(web("web-0", nodeSelector={"disk": "ssd"}), by)).fixes
        assert (fix.id, fix.commands) == ("RecreatePod", ("kubectl delete pod web-0 -n default",))
        assert "may have been made before its template was changed" in fix.summary
        assert "differs in spec.nodeSelector, spec.topologySpreadConstraints" in fix.starts

    @pytest.mark.parametrize(("others", "replaced"), [((), ""), ((1,), "this replaces 1 other Pod of statefulset/web")])
    def test_behind_a_partition_need_it_lowered(self, others: Sequence[int], replaced: str) -> None:
        by = owner("StatefulSet", web(requests={"cpu": "1"}), updateStrategy={"rollingUpdate": {"partition": 2}})
        by["status"] = {"currentRevision": "web-old", "updateRevision": "web-new"}
        old = {"controller-revision-hash": "web-old"}
        running = [owned(web(f"web-{number}", on="b1"), by, **old) for number in others]
        found = search([*zones(), by, *running], owned(web("web-0", requests={"cpu": "99"}), by, **old))
        (fix,) = found.fixes
        lower = '[{"op":"add","path":"/spec/updateStrategy/rollingUpdate/partition","value":0}]'
        patch = f"kubectl patch statefulset web -n default --type=json -p '{lower}'"
        assert fix.commands == (patch, "kubectl delete pod web-0 -n default")
        assert (replaced in fix.starts, fix.disturbs) == (True, "PodsReplaced" if others else "Nothing")

    @pytest.mark.parametrize("strategy", ["OnDelete", "RollingUpdate"])
    def test_stop_a_rollout_that_goes_on_once_they_are_deleted(self, strategy: str) -> None:
        by = owner("StatefulSet", web(), updateStrategy={"type": strategy})
        by["status"] = {"currentRevision": "web-old", "updateRevision": "web-new"}
        old = {"controller-revision-hash": "web-old"}
        pending = owned(web("web-0", nodeSelector={"disk": "ssd"}), by, **old)
        (fix,) = search([*zones(), by, owned(web("web-1", on="a1"), by, **old)], pending).fixes
        assert fix.disturbs == {"OnDelete": "Nothing", "RollingUpdate": "PodsReplaced"}[strategy]

    @pytest.mark.parametrize("partition", [0, 1])
    def test_are_deleted_without_those_of_the_newest_template(self, partition: int) -> None:
        by = owner("StatefulSet", web(), updateStrategy={"rollingUpdate": {"partition": partition}})
        by["status"] = {"currentRevision": "web-old", "updateRevision": "web-new"}
        old = owned(web("web-0", nodeSelector={"disk": "ssd"}), by, **{"controller-revision-hash": "web-old"})
        new = owned(web("web-1"), by, **{"controller-revision-hash": "web-new"})
        (fix,) = search([*zones(), by], old, siblings=[new]).fixes
        assert fix.commands[-1] == "kubectl delete pod web-0 -n default"
        assert "recreates this Pod from its template" in fix.starts

    def test_behind_a_partition_are_not_the_only_ones_that_a_changed_template_reaches(self) -> None:
        by = owner("StatefulSet", web(nodeSelector={"disk": "ssd"}), updateStrategy={"rollingUpdate": {"partition": 1}})
        by["status"] = {"currentRevision": "web-old", "updateRevision": "web-new"}
        new = owned(web("web-1", on="b1"), by, **{"controller-revision-hash": "web-new"})
        old = owned(web("web-0", nodeSelector={"disk": "ssd"}), by, **{"controller-revision-hash": "web-old"})
        fix = fixes([*zones(), by, new], old)["RelaxNodeSelector"]
        assert ("this replaces 1 other Pod of statefulset/web" in fix.starts, fix.disturbs) == (True, "PodsReplaced")

    def test_are_left_to_a_controller_that_replaces_them(self) -> None:
        by = owner("DaemonSet", web(), updateStrategy={"type": "RollingUpdate"})
        assert "RecreatePod" not in offered(by, pending=web("web-0", nodeSelector={"disk": "ssd"}))

    @pytest.mark.parametrize("paused", [False, True])
    def test_of_an_older_revision_are_replaced_by_the_rollout(self, paused: bool) -> None:  # noqa: FBT001 - a parameter
        by = owner("Deployment", web(), replicas=1, paused=paused)
        older = owner("ReplicaSet", web(nodeSelector={"disk": "ssd"}), name="old", of=by, replicas=1)
        found = search([*zones(), by, older], owned(web("web-0", nodeSelector={"disk": "ssd"}), older))
        resumed = [("RecreatePod", ("kubectl rollout resume deployment/web -n default",))]
        assert [(fix.id, fix.commands) for fix in found.fixes] == (resumed if paused else [])
        assert [wait.kind for wait in found.waits] == ["RolloutGoesOn"] * (not paused)

    @pytest.mark.parametrize(("on_delete", "generation"), [(False, "1"), (True, "1"), (True, "2")])
    def test_of_a_daemon_set_are_replaced_at_once(self, generation: str, *, on_delete: bool) -> None:
        by = owner("DaemonSet", web(requests={"cpu": "1"}), updateStrategy={"type": "OnDelete"} if on_delete else {})
        by["metadata"]["annotations"] = {"deprecated.daemonset.template.generation": "2"}
        labels = {"controller-revision-hash": "old", "pod-template-generation": generation}
        name = {"key": "metadata.name", "operator": "In", "values": ["a1"]}
        terms = {"nodeSelectorTerms": [{"matchFields": [name]}]}
        pinned: Object = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
        found = search([*zones(), by], owned(web("web-0", requests={"cpu": "99"}, affinity=pinned), by, **labels))
        assert [wait.kind for wait in found.waits] == ["RolloutGoesOn"] * (not on_delete)
        # A webhook asks for more in a Pod of the newest template.
        recreated = [fix.id for fix in found.fixes if fix.id == "RecreatePod"]
        assert recreated == ["RecreatePod"] * (on_delete and generation == "1")

    def test_of_an_earlier_template_of_a_cron_job_are_changed_in_their_run(self) -> None:
        by = cron_job(web())
        job = owner("Job", web(nodeSelector={"disk": "ssd"}), name="web-1", of=by)
        (fix,) = search([*zones(), by, job], owned(web("web-0", nodeSelector={"disk": "ssd"}), job)).fixes
        assert "recreates job/web-1" in fix.starts
        assert fix.commands[0].startswith("kubectl get job web-1 ")

    @pytest.mark.parametrize(
        "fields", [{"nodeSelector": {"disk": "ssd"}}, {"containers": []}], ids=["no better", "invalid"]
    )
    def test_are_not_where_their_template_is(self, fields: Object) -> None:
        by = owner("StatefulSet", web())
        by["spec"]["template"]["spec"] |= fields
        assert "RecreatePod" not in offered(by, pending=web("web-0", nodeSelector={"disk": "ssd"}))

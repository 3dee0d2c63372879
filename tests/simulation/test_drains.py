"""Which Pods kubectl drain leaves alone, which keep it from draining their node, and which it waits for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec import UNSET

from kubectl_spread.commands import exit_codes
from kubectl_spread.exit_code import ExitCode
from tests.build import ZONE, Object, pod
from tests.build_workloads import controller, workload
from tests.simulation.generated import forms
from tests.simulation.test_steps import READY, SIX, budget, deployment, last, names, running, simulated, stateful

OTHER = workload("DaemonSet", "other", replicas=0)  # A DaemonSet that is there, so that DaemonSets were read


def orphan(on: str) -> Object:
    """Return a Pod whose DaemonSet is gone."""
    return running("daemon", on, controller("DaemonSet", "gone"))


def test_a_pod_of_a_daemon_set_that_is_gone_keeps_its_node_from_being_drained() -> None:
    objects = [*SIX, OTHER, *deployment(["a1", "b1"]), orphan("a1")]
    step = last(objects, "drain a1")
    assert {each.pod: each.why for each in step.blocked} == {
        "daemon": "its DaemonSet gone does not exist, so kubectl refuses the drain without --force",
        "web-0": "the drain was refused",
    }
    forced = last(objects, "drain a1", force=True)
    assert (names(forced.evicted), names(forced.lost), forced.blocked) == (["web-0"], ["daemon"], ())


def test_pods_of_a_daemon_set_that_was_not_read_stay() -> None:
    step = last([*SIX, *deployment(["a1", "b1"]), orphan("a1")], "drain a1")
    assert (names(step.evicted), step.blocked, step.lost) == (["web-0"], (), ())


def test_what_mirrors_a_static_pod_is_left_alone_whatever_owns_it() -> None:
    static = pod("proxy", on="a1", status=READY)
    static["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "abc"}
    step = last([*SIX, *deployment(["a1", "b1"]), static], "drain a1")
    assert (names(step.evicted), step.blocked) == (["web-0"], ())


@pytest.mark.parametrize(
    ("step", "note"),
    [
        ("drain a1", "2 new Pods of default/deployment/web set spec.nodeName a1: they are bound to a1 again,"),
        ("lose a1", "2 new Pods of default/deployment/web set spec.nodeName a1: they are bound to a1 again,"),
        ("remove a1", "2 new Pods of default/deployment/web set spec.nodeName a1, but no node has that name:"),
    ],
)
def test_pods_whose_template_names_their_node_come_back_to_it(step: str, note: str) -> None:
    report = simulated([*SIX, *deployment(["a1", "a1"], nodeName="a1")], step)
    (done,) = forms(report)
    assert (names(done.evicted), done.pending) == (["web-0", "web-1"], ())
    absent = note.endswith("no node has that name:")
    assert (done.never_run, exit_codes.of_simulate(report)) == (
        (2, ExitCode.NO) if absent else (UNSET, ExitCode.ANSWERED)
    )
    assert [each.partition(note)[:2] for each in done.notes] == [("", note)]


@pytest.mark.parametrize("step", ["drain a1", "drain b1"])
def test_pods_that_a_scheduler_places_are_not_bound_by_name(step: str) -> None:
    assert last([*SIX, *deployment(["a1", "b1"])], step).notes == ()


def test_a_node_that_cannot_be_drained_holds_back_no_other() -> None:
    step = last([*SIX, *deployment(["a1", "a2", "b1"]), pod("tool", on="a1", status=READY)], f"drain {ZONE}=a")
    assert (names(step.evicted), sorted(names(step.blocked))) == (["web-1"], ["tool", "web-0"])


@pytest.mark.parametrize(("budgets", "blocked"), [(1, ["web-0", "api-0"]), (2, ["web-0"])])
def test_of_several_nodes_one_is_drained_after_another(budgets: int, blocked: Sequence[str]) -> None:
    # A budget that is used up is asked again and again, while two of them are an error that ends the drain of the node.
    metadata = [{"name": f"web-{at}", "namespace": "default"} for at in range(budgets)]
    held = [budget(maxUnavailable=0) | {"metadata": each} for each in metadata]
    other = running("api-0", "a2", controller("CloneSet", "api"), labels={"app": "api"})
    step = last([*SIX, *deployment(["a1", "b1"]), other, *held], f"drain {ZONE}=a")
    assert names(step.blocked) == blocked
    assert [each.why for each in step.blocked[1:]] == ["kubectl still waits for a1 to be drained"] * (len(blocked) - 1)


@pytest.mark.parametrize("verb", ["drain", "remove"])
def test_what_a_budget_holds_back_stays_unless_its_node_goes(verb: str) -> None:
    objects = [*SIX, *deployment(["a1", "b1"]), budget(maxUnavailable=0)]
    step = last(objects, f"{verb} a1")
    refused = "The disruption budget web does not allow evicting pods currently"
    went = verb == "remove"
    assert [each.why for each in step.blocked] == [refused + ", and it is deleted with its node" * went]
    assert names(step.evicted) == ["web-0"] * went


@pytest.mark.parametrize(
    ("step", "force", "drain"),
    [
        ("drain a1", False, "kubectl drain a1 --ignore-daemonsets --delete-emptydir-data"),
        ("drain a1", True, "kubectl drain a1 --ignore-daemonsets --delete-emptydir-data --force"),
        (f"drain {ZONE}=a", True, f"kubectl drain -l {ZONE}=a --ignore-daemonsets --delete-emptydir-data --force"),
        ("drain b1", False, None),
    ],
)
def test_a_drain_names_the_flags_that_kubectl_wants_for_it(step: str, force: bool, drain: str | None) -> None:  # noqa: FBT001 - a case
    daemon = running("other-a1", "a1", controller("DaemonSet", "other"), volumes=[{"name": "v", "emptyDir": {}}])
    scratch = running("cache", "a1", controller("CloneSet", "cache"), volumes=[{"name": "v", "emptyDir": {}}])
    objects = [*SIX, OTHER, *deployment(["a1", "b1"]), daemon, scratch, pod("tool", on="a1", status=READY)]
    found = last(objects, step, force=force)
    said = [note for note in found.notes if note.startswith("this drain is")]
    assert [note.split("`")[1] for note in said] == [drain] * bool(drain)
    assert all("--ignore-daemonsets because of default/other-a1" in note for note in said)
    assert all("--delete-emptydir-data because of default/cache" in note for note in said)
    assert force is (names(found.lost) == ["tool"])


class TestFlagsOfKubectlDrain:
    """``--disable-eviction`` and ``--pod-selector``, with kubectl's meaning."""

    KEPT = (*SIX, *deployment(["a1", "b1"]), budget(maxUnavailable=0))

    def test_a_deletion_asks_no_budget(self) -> None:
        assert [each.pod for each in last(self.KEPT, "drain a1").blocked] == ["web-0"]
        step = last(self.KEPT, "drain a1", disable_eviction=True)
        assert (names(step.evicted), step.blocked, step.step) == (["web-0"], (), "drain a1 --disable-eviction")

    @pytest.mark.parametrize("gone", [False, True], ids=["evicted", "deleted"])
    def test_a_deletion_is_no_disruption_for_a_job(self, *, gone: bool) -> None:
        fails = {"rules": [{"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}
        job = workload("Job", "job", parallelism=1, completions=1, podFailurePolicy=fails)
        step = last([*SIX, job, running("job-0", "a1", controller("Job", "job"))], "drain a1", disable_eviction=gone)
        assert any("podFailurePolicy" in note for note in step.notes) is not gone

    def test_only_pods_that_are_selected_are_drained(self) -> None:
        tool = pod("tool", on="a1", status=READY, labels={"app": "tool"}, volumes=[{"name": "v", "emptyDir": {}}])
        objects = [*SIX, *deployment(["a1", "b1"]), tool]
        assert "tool" in {each.pod for each in last(objects, "drain a1").blocked}
        step = last(objects, "drain a1", pod_selector="app in (web)")
        assert (names(step.evicted), step.blocked, step.notes) == (["web-0"], (), ())

    def test_a_node_takes_those_with_it_that_are_not_selected(self) -> None:
        step = last([*SIX, *deployment(["a1", "b1"])], "remove a1", pod_selector="app=other")
        assert names(step.evicted) == ["web-0"]

    def test_the_command_has_the_flags(self) -> None:
        cache = running("cache", "a1", controller("CloneSet", "cache"), volumes=[{"name": "v", "emptyDir": {}}])
        step = last([*SIX, cache], "drain a1", disable_eviction=True, pod_selector="app in (web,api)")
        (note,) = step.notes
        flags = "--delete-emptydir-data --disable-eviction '--pod-selector=app in (api,web)'"
        assert note.split("`")[1] == f"kubectl drain a1 {flags}"
        assert "otherwise kubectl deletes no Pod of the node" in note


def test_a_pod_that_is_being_deleted_already_is_not_evicted_again() -> None:
    """A lost node keeps its Pod until the node is removed; the step before has deleted it."""
    lost, removed = forms(simulated([*SIX, *stateful(["a1", "b1", "c1"])], "lose a1", "remove a1"))
    assert [each.pod for each in lost.evicted] == ["web-0"]
    assert (removed.evicted, removed.lost, removed.pending) == ((), (), ())


@pytest.mark.parametrize("step", ["drain a1", "remove a1", "delete pod/web-0"])
def test_pods_of_an_older_template_are_upgraded_by_their_eviction(step: str) -> None:
    owner, *pods = stateful(["a1", "b1", "c1"])
    owner["spec"]["updateStrategy"] = {"type": "OnDelete"}
    owner["status"] = {"currentRevision": "web-1", "updateRevision": "web-2"}
    for each in pods:
        each["metadata"]["labels"]["controller-revision-hash"] = "web-1"
    assert last([*SIX, owner, *pods], step).notes == (
        "the replacement of default/web-0 has the newest template of statefulset/web: it is also upgraded",
    )

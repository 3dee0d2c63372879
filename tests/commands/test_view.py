"""The cluster under the rules of one release and of the configured schedulers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kubectl_spread.cluster.reads import Read
from kubectl_spread.commands.fix_budget import now
from kubectl_spread.commands.read_sets import everything
from kubectl_spread.commands.view import SchedulerOptions, View, look
from kubectl_spread.contract.report import ClusterAccess, Metadata
from kubectl_spread.errors import UsageError
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import EVENT, NAMESPACE
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.snapshot import Inventory, Unread
from kubectl_spread.wording.incomplete import entries
from tests.build import Object, node, pod, typed_pod
from tests.build_storage import claim, storage_class
from tests.commands.memory import Memory

REFUSED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}


def seen(source: Memory, **options: object) -> View:
    return look(source, everything(""), SchedulerOptions(**options))  # type: ignore[arg-type] # a typo fails the test


def kubelet(name: str, version: str) -> Object:
    """Return a node whose kubelet has that version."""
    described = node(name)
    described["status"]["nodeInfo"] = {"kubeletVersion": version}
    return described


@pytest.mark.parametrize(
    ("source", "flag", "version", "version_from", "minor"),
    [
        (Memory(), "", "v1.36", "default", 36),
        (Memory([kubelet("a", "v1.34.1"), kubelet("b", "v1.35.0"), kubelet("c", "")]), "", "v1.35", "nodes", 35),
        (Memory([kubelet("a", "unknown")]), "", "v1.36", "default", 36),
        (Memory([kubelet("a", "v1.33.1")], said_version="v1.34.2"), "", "v1.34.2", "server", 34),
        (Memory([kubelet("a", "v1.33.1")], said_version="v1.34.2"), "v1.37", "v1.37", "flag", 37),
        (Memory(), "1.35.4-eks-1", "1.35.4-eks-1", "flag", 35),
    ],
    ids=["default", "newest kubelet", "no kubelet", "server", "flag", "flag in full"],
)
def test_whose_rules_apply_and_how_that_is_known(
    source: Memory, flag: str, version: str, version_from: str, minor: int
) -> None:
    view = seen(source, kube_version=flag)
    assert (view.metadata.kube_version, view.metadata.kube_version_from) == (version, version_from)
    assert view.handle().profile.release.minor == minor
    assert view.incomplete == ()


@pytest.mark.parametrize("version", ["latest", "v2.0", "36", "v1.x"])
def test_a_release_that_is_none(version: str) -> None:
    with pytest.raises(UsageError, match="unknown Kubernetes version"):
        seen(Memory(), kube_version=version)


@pytest.mark.parametrize(("version", "nearest"), [("v1.28", "v1.33"), ("v1.19", "v1.33"), ("v1.40", "v1.37")])
def test_a_release_that_is_not_proved_is_told(version: str, nearest: str) -> None:
    (missing,) = entries(seen(Memory(), kube_version=version).incomplete)
    assert (missing.what, missing.why) == (f"kube-scheduler {version}", "not among the proved releases")
    assert f"the rules of {nearest}" in missing.consequence


def test_feature_gates_switch_what_they_are_known_to_switch() -> None:
    usual = seen(Memory(), kube_version="v1.35").handle().profile
    gates = {"TaintTolerationComparisonOperators": True}
    assert not usual.does(Behaviour.NUMERIC_TOLERATIONS)
    assert (
        seen(Memory(), kube_version="v1.35", feature_gates=gates).handle().profile.does(Behaviour.NUMERIC_TOLERATIONS)
    )


def test_a_feature_gate_that_is_not_known_is_told() -> None:
    (missing,) = entries(seen(Memory(), feature_gates={"Warp": True, "NodeDeclaredFeatures": False}).incomplete)
    assert missing.what == "feature gate Warp"


def test_metadata_says_what_was_read() -> None:
    files = seen(Memory(name="a.yaml, b.yaml")).metadata
    assert (files.source, files.server, files.resource_versions) == ("a.yaml, b.yaml", "", {})
    cluster = seen(Memory(name="prod", server="https://api.example", said_version="v1.36.0")).metadata
    assert (cluster.source, cluster.server, cluster.resource_versions) == ("prod", "https://api.example", {"pods": "7"})


def limited(name: str) -> Object:
    """Return a Pod that says only what it may use at most."""
    described = pod(name)
    described["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "2"}}
    return described


@pytest.mark.parametrize("server", ["", "https://api.example"])
def test_files_hold_pods_that_no_api_server_has_completed(server: str) -> None:
    view = seen(Memory([node("n"), limited("p")], server=server, said_version="v1.36.0"))
    found = view.snapshot.get(Pod, "default", "p")
    assert found is not None
    assert found.spec.containers[0].resources.requests == {"cpu": "2"}


def configuration(folder: Path, *profiles: Object) -> str:
    """Write a scheduler's configuration and return its path."""
    path = folder / "config.yaml"
    values = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": profiles,
    }
    path.write_text(yaml.safe_dump({**values, "profiles": [*profiles]}), encoding="utf-8")
    return str(path)


def test_each_profile_is_a_scheduler_of_its_own(tmp_path: Path) -> None:
    packed: Object = {"schedulerName": "packed", "plugins": {"filter": {"disabled": [{"name": "NodePorts"}]}}}
    view = seen(Memory([node("n")]), configuration=configuration(tmp_path, {"schedulerName": "plain"}, packed))
    assert "NodePorts" not in view.handle("packed").profile.filters
    assert "NodePorts" in view.handle("plain").profile.filters


@pytest.mark.parametrize(
    ("configured", "served"),
    [
        ((), ["default-scheduler", ""]),
        (({},), ["default-scheduler", ""]),
        (({"schedulerName": "packed"}, {"schedulerName": "plain"}), ["packed", "plain"]),
    ],
    ids=["by default", "one without a name", "all have names"],
)
def test_a_pod_is_served_where_its_scheduler_has_a_profile(
    tmp_path: Path, configured: tuple[Object, ...], served: list[str]
) -> None:
    view = seen(Memory([node("n")]), configuration=configuration(tmp_path, *configured) if configured else "")
    names = ["default-scheduler", "packed", "plain", "volcano", ""]
    pods = {name: typed_pod(pod("p", schedulerName=name)) for name in names}
    assert [name for name in names if view.handle(name).profile.serves(pods[name])] == served


def test_a_scheduler_without_a_profile_is_taken_for_the_default_one(tmp_path: Path) -> None:
    profiles = ({"schedulerName": "packed"}, {"schedulerName": "default-scheduler"})
    view = seen(Memory([node("n")]), configuration=configuration(tmp_path, *profiles))
    assert view.handle("volcano").profile.scheduler_name == "default-scheduler"


def test_a_configuration_beside_other_documents_is_found(tmp_path: Path) -> None:
    path = Path(configuration(tmp_path, {"schedulerName": "packed"}))
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: x}\n---\n"
    path.write_text(service + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert seen(Memory(), configuration=str(path)).handle("packed").profile.scheduler_name == "packed"


def test_filters_that_unread_lists_would_make_wrong_are_left_out() -> None:
    view = seen(Memory([node("n")], unread=(Unread(NAMESPACE, "forbidden"),)))
    assert "InterPodAffinity" not in view.handle().profile.filters


class WithoutEvents(Memory):
    """A server that lists only what it is asked for, as far as Events go."""

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return all objects, Events only where they are asked for."""
        inventory = super().read(reads)
        kept = {kind: found for kind, found in inventory.objects.items() if kind != EVENT.name}
        return inventory if any(read.kind == EVENT for read in reads) else replace(inventory, objects=kept)


@pytest.mark.parametrize(("conditions", "asked"), [((), False), ((REFUSED,), True)])
def test_the_schedulers_messages_are_read_where_they_may_order_a_choice(
    conditions: Sequence[Object], *, asked: bool
) -> None:
    mounts = [{"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}]
    chosen = claim("disk", class_name="fast", annotations={"volume.kubernetes.io/selected-node": "n"})
    waits = pod("db-0", volumes=mounts, status={"conditions": [*conditions]})
    source = WithoutEvents([node("n"), waits, chosen, storage_class("fast")], server="https://server")
    seen(source)
    assert [read.namespace for read in source.asked if read.kind == EVENT] == (["default"] if asked else [])


@pytest.mark.parametrize(
    ("access", "at"),
    [(UNSET, "2026-01-01T00:00:20Z"), (ClusterAccess(taken_at="2026-01-01T00:01:00Z"), "2026-01-01T00:01:00Z")],
)
def test_the_time_of_files_is_not_that_of_this_clock(access: ClusterAccess | UnsetType, at: str) -> None:
    read = Metadata(
        version="1", kube_version="v1.36", kube_version_from="default", access=access, as_of="2026-01-01T00:00:20Z"
    )
    assert now(read) == at
    assert now(replace(read, server="https://here")) > "2026-01-02"

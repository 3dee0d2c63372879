"""What the control plane promises to tests: a clear error, nothing left behind, and a record of the requests."""

import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest
import urllib3

from tests.controlplane.audit import read_audit_log
from tests.controlplane.binaries import Binaries
from tests.controlplane.cluster import Options, control_plane
from tests.controlplane.component import ControlPlaneError
from tests.controlplane.waiting import wait_for
from tests.e2e.manifests import node, pod

pytestmark = pytest.mark.e2e


def test_a_component_that_does_not_start_is_named_with_its_log(binaries: Binaries, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: Nonsense}}]}]")
    with (
        pytest.raises(ControlPlaneError, match=r"(?s)kube-scheduler ended with code 1; .*Nonsense"),
        control_plane(Options(scheduler_config=config, controllers=()), binaries=binaries),
    ):
        pytest.fail("it started")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_after_an_interrupt(number: signal.Signals, binaries: Binaries) -> None:
    stack = ExitStack()
    plane = stack.enter_context(control_plane(Options(controllers=()), binaries=binaries))
    with pytest.raises(KeyboardInterrupt), stack:
        signal.raise_signal(number)
    folder = plane.kubeconfig.parent
    assert not folder.exists()
    assert str(folder) not in subprocess.run(["ps", "ax"], capture_output=True, text=True, check=True).stdout  # noqa: S607 - whichever is on PATH
    with urllib3.PoolManager() as pool, pytest.raises(urllib3.exceptions.NewConnectionError):
        pool.request("GET", plane.server, retries=False)


def test_the_scheduler_can_start_later_and_requests_are_recorded(binaries: Binaries, tmp_path: Path) -> None:
    options = Options(scheduler=False, controllers=(), audit_log=tmp_path / "audit.log")
    with control_plane(options, binaries=binaries) as plane:
        client = plane.client()
        client.create_nodes([node("only")])
        client.create_pods([pod("default", "waits")])
        assert "conditions" not in client.pod("default", "waits")["status"]
        plane.start_scheduler()
        assert client.wait_for_decision("default", "waits")["spec"]["nodeName"] == "only"
    created = {
        (record["user"]["username"], record["objectRef"]["resource"], record["objectRef"]["name"])
        for record in read_audit_log(tmp_path / "audit.log")
        if record["verb"] == "create" and "name" in record.get("objectRef", {})
    }
    assert {("admin", "nodes", "only"), ("admin", "pods", "waits")} <= created


def test_waiting_in_vain_names_what_was_waited_for() -> None:
    with pytest.raises(TimeoutError, match=r"waited 0.05 s for the impossible; the last answer was \(\)"):
        wait_for(tuple, what="the impossible", timeout_s=0.05)

"""A control plane on loopback: etcd, kube-apiserver, kube-scheduler and kube-controller-manager, without a kubelet.

Nodes are objects that a test creates; what the scheduler binds stays in phase Pending until `Client.mark_running`.
"""

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

import urllib3
import yaml

from tests.controlplane import commands
from tests.controlplane.api import Api, ApiError, Object, is_healthy
from tests.controlplane.audit import count_requests, not_read
from tests.controlplane.binaries import Binaries, build_binaries
from tests.controlplane.client import Client
from tests.controlplane.component import Component, free_port
from tests.controlplane.ending import ending_in_order
from tests.controlplane.identity import ADMIN, User, write_kubeconfig, write_tokens
from tests.controlplane.kubectl import Kubectl

WORKLOAD_CONTROLLERS = (
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "daemonset-controller",
    "job-controller",
    "cronjob-controller",
    "disruption-controller",
    "garbage-collector-controller",
    "namespace-controller",
)
"""Make and delete Pods; none of them taints Nodes for a kubelet that does not report."""

WITHOUT_ADMISSION = ("ServiceAccount", "TaintNodesByCondition")
"""Admission plugins that ask for what is not there: a ServiceAccount in each namespace, a kubelet on each new Node."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """What a control plane consists of."""

    users: tuple[User, ...] = ()  # Users beside admin; each has a context of its name
    scheduler: bool = True
    """Whether kube-scheduler starts with the rest; `ControlPlane.start_scheduler` starts it later."""
    scheduler_config: Path | None = None  # A KubeSchedulerConfiguration; how the server is reached is filled in
    controllers: tuple[str, ...] = WORKLOAD_CONTROLLERS
    """What kube-controller-manager runs; it does not start when there are none."""
    controller_flags: Mapping[str, object] = field(default_factory=dict)  # Flags of those controllers
    without_admission: tuple[str, ...] = WITHOUT_ADMISSION
    """Admission plugins that are off; LimitRanger, which is on, looks up 50 new namespaces a second at most."""
    audit_log: Path | None = None
    """Where each request is recorded as a line of JSON, at level Metadata; with the rest of its files unless given."""
    etcd_data: Path | None = None
    """Where etcd keeps what is stored, and may find it; with the rest of its files unless given."""
    start_seconds: float = 60.0  # How long a component may take to start; one that has much to read takes long
    client_authority: Path | None = None  # Whose client certificates are believed; nobody's unless given


class ControlPlane:
    """A running control plane; `control_plane` starts and stops it."""

    def __init__(self, options: Options, *, binaries: Binaries, folder: Path, running: ExitStack) -> None:
        """Keep everything in ``folder``; what is started is stopped by ``running``."""
        self.server = f"https://{commands.LOOPBACK}:{free_port()}"
        self.kubeconfig = folder / "kubeconfig"
        self.audit_log = options.audit_log or folder / "audit.log"
        self._options = options
        self._binaries = binaries
        self._folder = folder
        self._running = running
        self.etcd_url = ""

    def start(self) -> None:
        """Start the components in the order in which they need each other."""
        self._write_files()
        self.etcd_url = self._start_etcd()
        self.kube_apiserver = self._start_kube_apiserver()
        if self._options.scheduler:
            self.start_scheduler()
        if self._options.controllers:
            self._start_kube_controller_manager(self._options.controllers)

    def start_scheduler(self) -> None:
        """Start kube-scheduler and return once its informers have synced."""
        port = free_port()
        command = commands.kube_scheduler(self._binaries.kube_scheduler, folder=self._folder, port=port)
        self._run(command, health=f"https://{commands.LOOPBACK}:{port}/readyz", certificate="kube-scheduler")

    def restart_kube_apiserver(self) -> None:
        """Stop kube-apiserver and start it again at the same address; return once the namespace default exists."""
        self.kube_apiserver.stop()
        self.kube_apiserver = self._start_kube_apiserver()

    def compact_etcd(self) -> None:
        """Let etcd forget what every object was before it became what it is: older versions have expired."""
        with urllib3.PoolManager(retries=False, timeout=30.0) as pool:
            status = pool.request("POST", f"{self.etcd_url}/v3/maintenance/status", json={}).json()
            revision = {"revision": status["header"]["revision"], "physical": True}
            answer = pool.request("POST", f"{self.etcd_url}/v3/kv/compaction", json=revision)
        if answer.status != HTTPStatus.OK:
            raise ApiError(status=answer.status, message=answer.data.decode(errors="replace"))

    @property
    def certificate_authority(self) -> Path:
        """The certificate that kube-apiserver made itself."""
        return self._folder / "apiserver.crt"

    def client(self, user: User = ADMIN) -> Client:
        """Return a client that calls as a user, whose context kubectl then has to name unless it is admin."""
        api = Api(self.server, certificate_authority=self.certificate_authority, token=user.token)
        self._running.callback(api.close)
        kubectl = Kubectl(binary=self._binaries.kubectl, kubeconfig=self.kubeconfig, home=self._folder)
        return Client(api=api, kubectl=kubectl)

    def _write_files(self) -> None:
        """Write what the components read."""
        users = (ADMIN, *self._options.users)
        write_tokens(users, self._folder / "tokens.csv")
        write_kubeconfig(
            self.kubeconfig, server=self.server, certificate_authority=self.certificate_authority, users=users
        )
        _write_json(self._folder / "audit-policy.json", _AUDIT_POLICY)
        _write_json(self._folder / "scheduler.json", self._scheduler_config())
        _write_private_key(self._folder / "service-account.key")

    def _scheduler_config(self) -> Object:
        """Return the scheduler's configuration, its own connection set."""
        given = self._options.scheduler_config
        config: Object = yaml.safe_load(given.read_text()) if given else {}
        return {
            **_SCHEDULER_CONFIG,
            **config,
            "clientConnection": {"kubeconfig": str(self.kubeconfig), "qps": 500, "burst": 1000},
            "leaderElection": {"leaderElect": False},
        }

    def _start_etcd(self) -> str:
        """Return where etcd listens."""
        client_url, peer_url = (f"http://{commands.LOOPBACK}:{free_port()}" for _ in range(2))
        command = commands.etcd(
            self._binaries.etcd,
            data=self._options.etcd_data or self._folder / "etcd",
            client_url=client_url,
            peer_url=peer_url,
        )
        self._run(command, health=f"{client_url}/readyz")
        return client_url

    def _start_kube_apiserver(self) -> Component:
        """Start kube-apiserver and return it once the namespace default exists."""
        command = commands.kube_apiserver(
            self._binaries.kube_apiserver,
            folder=self._folder,
            port=int(self.server.rpartition(":")[2]),
            etcd_url=self.etcd_url,
            without_admission=self._options.without_admission,
            audit_log=self.audit_log,
            client_authority=self._options.client_authority,
        )
        component = self._run(command, health=f"{self.server}/readyz", certificate="apiserver")
        api = self.client().api
        component.wait_until(lambda: _has_default_namespace(api), timeout_s=self._options.start_seconds)
        return component

    def _start_kube_controller_manager(self, controllers: Sequence[str]) -> None:
        """Start kube-controller-manager with the named controllers."""
        port = free_port()
        command = commands.kube_controller_manager(
            self._binaries.kube_controller_manager,
            folder=self._folder,
            port=port,
            kubeconfig=self.kubeconfig,
            controllers=controllers,
            own=self._options.controller_flags,
        )
        self._run(command, health=f"https://{commands.LOOPBACK}:{port}/healthz", certificate="kube-controller-manager")

    def start_beside(
        self, command: commands.Command, *, health: str, environment: Mapping[str, str] | None = None
    ) -> Component:
        """Start a program that works on the cluster; return it once its health check answers."""
        return self._run(command, health=health, environment=environment)

    def _run(
        self,
        command: commands.Command,
        *,
        health: str,
        certificate: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Component:
        """Start a component, see to its end, and return it once its health check answers."""
        log = self._folder / f"{Path(command[0]).name}.log"
        component = Component(command, log=log, environment=environment)
        self._running.callback(component.stop)
        authority = self._folder / f"{certificate}.crt" if certificate else None
        component.wait_until(
            lambda: is_healthy(health, certificate_authority=authority), timeout_s=self._options.start_seconds
        )
        return component


@contextmanager
def control_plane(options: Options | None = None, *, binaries: Binaries | None = None) -> Iterator[ControlPlane]:
    """Run a control plane for the length of a block; what was started ends with it, whatever happens, SIGTERM included.

    In the end its audit log shows that the program has read, has asked for dry runs, and has done nothing else.

    Args:
        options: what it consists of; everything unless given.
        binaries: the programs of another release.

    Raises:
        ControlPlaneError: a component did not start; the end of its log is in the text.
        gobuild.BuildError: the programs could not be built.
    """
    with ExitStack() as running:
        running.enter_context(ending_in_order())
        folder = running.enter_context(tempfile.TemporaryDirectory(prefix="control-plane-"))
        plane = ControlPlane(
            options or Options(), binaries=binaries or build_binaries(), folder=Path(folder), running=running
        )
        running.callback(_only_read, plane.audit_log)
        plane.start()
        yield plane


_AUDIT_POLICY: Object = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}

_SCHEDULER_CONFIG: Object = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def _only_read(audit_log: Path) -> None:
    """Complain about what the program has asked for that changes something, or that is none of its business."""
    asked = not_read(count_requests(audit_log))
    if asked:
        raise AssertionError(f"kubectl-spread asked the API server for {asked}")


def _has_default_namespace(api: Api) -> bool:
    """Return whether the server has made the namespace default, which it does shortly after it is ready."""
    try:
        api.request("GET", "/api/v1/namespaces/default")
    except ApiError:
        return False
    return True


def _write_json(path: Path, document: Object) -> None:
    """Write a document."""
    path.write_text(json.dumps(document))


def _write_private_key(path: Path) -> None:
    """Write a new RSA key, with which the server signs tokens of ServiceAccounts."""
    subprocess.run(["openssl", "genrsa", "-out", str(path), "2048"], check=True, capture_output=True)  # noqa: S607 - whichever is on PATH

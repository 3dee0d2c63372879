"""The command lines of the components: loopback and the temporary directory alone, nothing that awaits a kubelet."""

from collections.abc import Mapping, Sequence
from pathlib import Path

LOOPBACK = "127.0.0.1"

Command = Sequence[str | Path]

_AUDIT_LOG_MB = 10_000  # From this size on the server would begin another file


def etcd(binary: Path, *, data: Path, client_url: str, peer_url: str) -> Command:
    """Return etcd for one member that never waits for the disk."""
    flags = {
        "name": "default",
        "data-dir": data,
        "listen-client-urls": client_url,
        "advertise-client-urls": client_url,
        "listen-peer-urls": peer_url,
        "initial-advertise-peer-urls": peer_url,
        "initial-cluster": f"default={peer_url}",
        "log-level": "warn",
    }
    return [binary, *_written(flags), "--unsafe-no-fsync"]


def kube_apiserver(
    binary: Path,
    *,
    folder: Path,
    port: int,
    etcd_url: str,
    without_admission: Sequence[str],
    audit_log: Path,
    client_authority: Path | None,
) -> Command:
    """Return kube-apiserver with the tokens and keys of ``folder``, where it writes its certificate too."""
    certificates = {"client-ca-file": client_authority} if client_authority else {}
    flags = {
        "etcd-servers": etcd_url,
        "bind-address": LOOPBACK,
        "advertise-address": LOOPBACK,
        "allow-privileged": "true",
        "secure-port": port,
        "cert-dir": folder,
        "token-auth-file": folder / "tokens.csv",
        "authorization-mode": "RBAC",
        "disable-admission-plugins": ",".join(without_admission),
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": folder / "service-account.key",
        "service-account-signing-key-file": folder / "service-account.key",
        "service-cluster-ip-range": "10.0.0.0/24",
        "endpoint-reconciler-type": "none",
        "audit-policy-file": folder / "audit-policy.json",
        "audit-log-path": audit_log,
        "audit-log-maxsize": _AUDIT_LOG_MB,
        **certificates,
    }
    return [binary, *_written(flags)]


def kube_scheduler(binary: Path, *, folder: Path, port: int) -> Command:
    """Return kube-scheduler with the configuration of ``folder``."""
    flags = {"config": folder / "scheduler.json", **_served(folder, port=port)}
    return [binary, *_written(flags)]


def kube_controller_manager(
    binary: Path, *, folder: Path, port: int, kubeconfig: Path, controllers: Sequence[str], own: Mapping[str, object]
) -> Command:
    """Return kube-controller-manager with the named controllers alone, and their own flags."""
    flags = {
        "kubeconfig": kubeconfig,
        "controllers": ",".join(controllers),
        "leader-elect": "false",
        "kube-api-qps": 500,
        "kube-api-burst": 1000,
        **own,
        **_served(folder, port=port),
    }
    return [binary, *_written(flags)]


def _served(folder: Path, *, port: int) -> Mapping[str, object]:
    """Return the flags by which a component answers /healthz, under a certificate it makes itself."""
    return {"bind-address": LOOPBACK, "secure-port": port, "cert-dir": folder}


def _written(flags: Mapping[str, object]) -> Sequence[str]:
    """Return flags as a command line has them."""
    return [f"--{name}={value}" for name, value in flags.items()]

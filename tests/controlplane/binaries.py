"""The programs of a control plane, built from their Go modules: etcd, and four commands of one Kubernetes release."""

from dataclasses import dataclass
from pathlib import Path

from tests import gobuild

KUBERNETES_RELEASE = "1.36"  # Minor release of Kubernetes that a control plane has unless told otherwise

_SOURCES = Path(__file__).parent / "go"
_COMMANDS = ("kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubectl")


@dataclass(frozen=True, kw_only=True, slots=True)
class Binaries:
    """Where the programs of a control plane lie."""

    etcd: Path
    kube_apiserver: Path
    kube_scheduler: Path
    kube_controller_manager: Path
    kubectl: Path


def build_binaries(release: str = KUBERNETES_RELEASE) -> Binaries:
    """Return the programs of a minor release such as "1.36", building those that the cache lacks.

    Raises:
        gobuild.BuildError: a module cannot be had, or Go is missing.
    """
    etcd = gobuild.build(name="etcd", sources=_SOURCES / "etcd", release=None, packages={"etcd": "."}, ldflags="-s -w")
    kubernetes = gobuild.build(
        name="kubernetes",
        sources=_SOURCES / "kubernetes",
        release=release,
        packages={command: f"k8s.io/kubernetes/cmd/{command}" for command in _COMMANDS},
        ldflags=_version_flags(gobuild.RELEASES[release]),
    )
    return Binaries(etcd=etcd["etcd"], **{command.replace("-", "_"): path for command, path in kubernetes.items()})


def _version_flags(version: str) -> str:
    """Return the linker flags that make the programs say which release they are; else they say v0.0.0-master."""
    major, minor, _ = version.split(".")
    package = "k8s.io/component-base/version"
    facts = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor}
    return " ".join(["-s -w", *(f"-X {package}.{name}={value}" for name, value in facts.items())])

"""The large cluster, made once into the cache and started from there in seconds."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.large.contents import Size
from tests.bench.large.filling import fill
from tests.controlplane.binaries import Binaries, build_binaries
from tests.controlplane.cluster import ControlPlane, Options, control_plane
from tests.gobuild import cache_dir

_DECISIVE = ("contents.py", "pending.py", "copies.py", "filling.py")  # The modules that say what is stored
_START_S = 300.0


@contextmanager
def running(kubeconfig: Path | None, size: Size) -> Iterator[Path]:
    """Yield the kubeconfig of a large cluster: the given one of a cluster that is up, else of one that is started.

    Raises:
        BuildError, ControlPlaneError: its programs could not be built, or did not start.
    """
    if kubeconfig:
        yield kubeconfig
        return
    with large_cluster(size, binaries=build_binaries()) as plane:
        yield plane.kubeconfig


@contextmanager
def large_cluster(size: Size, *, binaries: Binaries) -> Iterator[ControlPlane]:
    """Run etcd and kube-apiserver with the large cluster for the length of a block.

    Raises:
        ControlPlaneError: a component did not start.
    """
    made = _stored(size, binaries)
    with tempfile.TemporaryDirectory(prefix="large-") as folder:
        copy = shutil.copytree(made, Path(folder) / "etcd")
        with control_plane(_options(copy), binaries=binaries) as plane:
            yield plane


def _options(data: Path) -> Options:
    """Return an API server that keeps its objects in a folder, and nobody who changes them."""
    return Options(scheduler=False, controllers=(), etcd_data=data, start_seconds=_START_S)


def _stored(size: Size, binaries: Binaries) -> Path:
    """Return the folder with the cluster as etcd keeps it, after making it where the cache lacks it."""
    made = cache_dir() / f"large-{_key(size, binaries)}"
    if not made.is_dir():
        partial = made.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        with control_plane(_options(partial), binaries=binaries) as plane:
            fill(plane, size)
        partial.rename(made)
    return made


def _key(size: Size, binaries: Binaries) -> str:
    """Return what changes with whatever decides what is stored."""
    sources = [(Path(__file__).parent / name).read_bytes() for name in _DECISIVE]
    digest = hashlib.sha256(repr((size, binaries.etcd, binaries.kube_apiserver, sources)).encode())
    return digest.hexdigest()[:12]

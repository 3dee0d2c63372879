"""Go programs on a Go module of one release, built into a cache outside the tree.

The tests need the real thing: kube-scheduler and Karpenter's scheduler, to ask what they decide, and a control plane on
loopback. All come out of Go modules. A new Kubernetes release is one line in `RELEASES`.

Upstream moves its Go types between releases. Sources may hold folders `since-1.NN`: the files of the newest one that
is not newer than the release are built with the rest, those of the others are not.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

RELEASES: Mapping[str, str] = {
    "1.33": "1.33.13",
    "1.34": "1.34.4",
    "1.35": "1.35.4",
    "1.36": "1.36.2",
    "1.37": "1.37.1",
}
"""Minor release → the patch release that is built."""
KUBERNETES = "k8s.io/kubernetes"

# One setting for every build: Go compiles everything anew for each.
_BUILD = ("go", "build", "-trimpath", "-buildvcs=false")
_SHOWN_LINES = 20
SINCE = "since-"  # What the names of folders begin with that hold files for a release and later ones


class BuildError(Exception):
    """Why a Go program could not be built: the command, and the end of what it printed."""


def cache_dir() -> Path:
    """Return the folder of sources and binaries: $KUBECTL_SPREAD_CACHE, else kubectl-spread in the user's cache."""
    if own := os.environ.get("KUBECTL_SPREAD_CACHE"):
        return Path(own)
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared) / "kubectl-spread"
    return Path.home() / ".cache" / "kubectl-spread"


def build(
    *,
    name: str,
    sources: Path,
    release: str | None,
    packages: Mapping[str, str],
    module: str = KUBERNETES,
    ldflags: str = "",
) -> dict[str, Path]:
    """Return binary name → path, built only when the sources, the release, the flags or Go itself changed.

    Args:
        name: what the program is called in the cache.
        sources: folder of Go files; it holds its own go.mod when ``release`` is None.
        release: minor release of Kubernetes, such as "1.36", or patch release of another module.
        packages: binary name → Go package, "." being the sources.
        module: which Go module the sources require.
        ldflags: handed to the linker.

    Raises:
        BuildError: Go is missing, a module cannot be had, or the program does not compile.
    """
    version = _version(release) if release and module == KUBERNETES else release or ""
    key = _digest(sources, version, sorted(packages.items()), ldflags, _go("go", "version"))
    folder = cache_dir() / f"{name}-{release or 'own'}-{key[:12]}"
    binaries = {binary: folder / "bin" / binary for binary in packages}
    if (folder / "bin").is_dir():
        return binaries
    with _lock():
        if not (folder / "bin").is_dir():  # nobody built it meanwhile
            _prepare(folder / "src", sources=sources, release=release, module=module)
            _compile(folder, packages=packages, ldflags=ldflags)
    return binaries


def kubernetes_requirements(release: str) -> str:
    """Return the body of a go.mod that requires k8s.io/kubernetes of a minor release.

    The module names its staging modules as v0.0.0, which nobody serves; each is replaced by the version published
    with the release.
    """
    version = _version(release)
    download = json.loads(_go("go", "mod", "download", "-json", f"k8s.io/kubernetes@v{version}"))
    module = json.loads(_go("go", "mod", "edit", "-json", download["GoMod"]))
    staging = f"v0.{version.removeprefix('1.')}"
    replaced = sorted(need["Path"] for need in module["Require"] if need["Version"] == "v0.0.0")
    lines = [f"go {module['Go']}", "", f"require k8s.io/kubernetes v{version}", ""]
    return "\n".join([*lines, *(f"replace {path} => {path} {staging}" for path in replaced), ""])


def _requirements(module: str, release: str, *, copies: Path) -> str:
    """Return the body of a go.mod that requires a module; `go mod tidy` adds the version of Go.

    A module that asks for a later patch release of this Go is built from a copy that does not: patch releases change
    neither the language nor the library's functions.
    """
    if module == KUBERNETES:
        return kubernetes_requirements(release)
    required = f"require {module} v{release}\n"
    download = json.loads(_go("go", "mod", "download", "-json", f"{module}@v{release}", check=False))
    own = _go("go", "env", "GOVERSION").strip().removeprefix("go")
    if f"requires go >= {own.rpartition('.')[0]}." not in download.get("Error", ""):
        return required
    with zipfile.ZipFile(download["Zip"]) as archive:
        archive.extractall(copies)
    copy = copies / f"{module}@v{release}"
    _go("go", "mod", "edit", f"-go={own}", cwd=copy)
    return f"{required}\nreplace {module} => {copy}\n"


def _version(release: str) -> str:
    """Return the patch release that stands for a minor one."""
    if release not in RELEASES:
        raise BuildError(f"release {release} is not one of {', '.join(RELEASES)}")
    return RELEASES[release]


def _prepare(folder: Path, *, sources: Path, release: str | None, module: str) -> None:
    """Copy the sources and complete their go.mod and go.sum."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sources, folder, ignore=shutil.ignore_patterns(f"{SINCE}*"))
    if release:
        requirements = _requirements(module, release, copies=folder.parent)
        (folder / "go.mod").write_text(f"module kubectl-spread/{sources.name}\n\n{requirements}")
        for path in _written_for(release, sources=sources):
            shutil.copy(path, folder)
    _go("go", "mod", "tidy", cwd=folder)


def _written_for(release: str, *, sources: Path) -> list[Path]:
    """Return the files of the newest `since-` folder that is not newer than the release."""
    folders = {_order(folder.name.removeprefix(SINCE)): folder for folder in sources.glob(f"{SINCE}*")}
    fitting = [since for since in folders if since <= _order(release)]
    return sorted(folders[max(fitting)].iterdir()) if fitting else []


def _order(release: str) -> tuple[int, ...]:
    """Return what releases sort by: 1.9 comes before 1.10."""
    return tuple(int(part) for part in release.split("."))


def _compile(folder: Path, *, packages: Mapping[str, str], ldflags: str) -> None:
    """Build every package; the folder `bin` appears only when all of them are there."""
    partial = folder / "bin.partial"
    for binary, package in packages.items():
        _go(*_BUILD, f"-ldflags={ldflags}", "-o", str(partial / binary), package, cwd=folder / "src")
    partial.rename(folder / "bin")


def _go(*command: str, cwd: Path | None = None, check: bool = True) -> str:
    """Return what a go command prints; raise BuildError where it fails, unless its output says so too."""
    environment = {**os.environ, "GOWORK": "off"}
    try:
        run = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise BuildError("Go is not installed: the command `go` was not found") from error
    if run.returncode and check:
        raise BuildError(f"{' '.join(command)} failed\n{_end(run.stdout.splitlines() + run.stderr.splitlines())}")
    return run.stdout


def _end(lines: Sequence[str]) -> str:
    """Return the last lines of an output, where Go says what went wrong."""
    return "\n".join(lines[-_SHOWN_LINES:])


def _digest(sources: Path, *parts: object) -> str:
    """Return one key for a folder of sources and everything else that decides what the binaries are."""
    digest = hashlib.sha256(repr(parts).encode())
    for path in sorted(sources.rglob("*")):
        if path.is_file():
            digest.update(f"\0{path.relative_to(sources)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


@contextmanager
def _lock() -> Iterator[None]:
    """Let one process build at a time: Go uses every core by itself."""
    folder = cache_dir()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

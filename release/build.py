"""Builds a release on and for this machine: ``python -m release.build [--output dist]``.

It needs what ``release/requirements.txt`` names; ``make dist`` sees to that. Two builds of one commit by one Python
give the same archive, byte by byte.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from kubectl_spread import __version__
from release.archive import write_archive
from release.licences import third_party_licences
from release.manifest import TAG, write_manifest
from release.tree import ROOT

WORK = ROOT / "build" / "release"
MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
"""What machines call themselves → what Go calls them."""
BOOTLOADER = "pyinstaller"
"""The distribution of what starts the frozen program."""
FIRST_POSSIBLE = 315532800
"""1980, before which no zip file can be; the time of what is built outside of git."""


def main() -> None:
    """Build the sdist, the wheel, and from that the archive; then the manifest for all archives in the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    output: Path = parser.parse_args().output.absolute()
    epoch = _epoch()
    shutil.rmtree(WORK, ignore_errors=True)
    output.mkdir(parents=True, exist_ok=True)
    archive = output / f"kubectl-spread-{TAG}-{_platform()}.tar.gz"
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "0",
        "SOURCE_DATE_EPOCH": str(epoch),
        "PYINSTALLER_CONFIG_DIR": str(WORK / "cache"),
    }
    _install(build_wheel(output, environment), environment)
    write_archive(_assemble(_freeze(environment)), archive, epoch=epoch)
    write_manifest(output)
    _say(f"{archive} ({archive.stat().st_size / 1e6:.1f} MB)")


def _platform() -> str:
    """Return this machine as the archives name it, such as ``linux-amd64``."""
    return f"{platform.system().lower()}-{MACHINES[platform.machine().lower()]}"


def _epoch() -> int:
    """Return the time of the release: SOURCE_DATE_EPOCH, else the last commit's (seconds since 1970)."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    command = ("git", "-C", str(ROOT), "log", "-1", "--format=%ct")
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603 our own
    return int(said or FIRST_POSSIBLE)


def build_wheel(output: Path, environment: Mapping[str, str]) -> Path:
    """Return the wheel, built from the sdist: nothing that merely lies about gets in."""
    _python("-P", "-m", "build", "--no-isolation", "--outdir", str(output), str(ROOT), environment=environment)
    return output / f"kubectl_spread-{__version__}-py3-none-any.whl"


def _install(wheel: Path, environment: Mapping[str, str]) -> None:
    """Install the wheel, so that what is frozen is what others install."""
    options = ("--quiet", "--no-deps", "--force-reinstall", "--disable-pip-version-check")
    _python("-m", "pip", "install", *options, str(wheel), environment=environment)


def _freeze(environment: Mapping[str, str]) -> Path:
    """Return the folder that PyInstaller makes."""
    folders = ("--distpath", str(WORK / "frozen"), "--workpath", str(WORK / "work"))
    recipe = str(ROOT / "release" / "kubectl-spread.spec")
    _python("-P", "-m", "PyInstaller", "--noconfirm", "--log-level=WARN", *folders, recipe, environment=environment)
    return WORK / "frozen" / "kubectl-spread"


def _assemble(frozen: Path) -> Path:
    """Return the folder of what the archive holds: the program, its completion, all licences."""
    folder = WORK / "archive"
    shutil.copytree(frozen, folder, symlinks=False)
    shutil.copy(ROOT / "LICENSE", folder)
    if platform.system() != "Windows":
        shutil.copy(ROOT / "kubectl_spread" / "completions" / "kubectl_complete-spread", folder)
    packages = (WORK / "work" / "kubectl-spread" / "packages.txt").read_text(encoding="utf-8").split()
    licences = third_party_licences(packages, besides=(BOOTLOADER,))
    (folder / "THIRD-PARTY-LICENSES.txt").write_text(licences, encoding="utf-8", newline="\n")
    return folder


def _python(*arguments: str, environment: Mapping[str, str]) -> None:
    """Run this Python; end with what it said when it fails."""
    command = (sys.executable, *arguments)
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 our own
    if ended.returncode:
        sys.exit(f"{ended.stdout}{ended.stderr}error: python {' '.join(arguments)} failed")


def _say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    main()

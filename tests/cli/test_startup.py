"""Which packages a command loads before it can answer; what that costs is held by ``python -m tests.bench.startup``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.startup import NODE_AND_POD, empty_cluster
from tests.cluster.api_server import serving

# An editable installation's finder has loaded what the second line loads before anything is counted; completion would
# end without a look at what was loaded.
PROBE = """
import sys
import importlib.util, pathlib
before = set(sys.modules)
import atexit, os
os._exit = lambda code: None
from kubectl_spread.__main__ import main
atexit.register(lambda: print("\\n", *sorted(set(sys.modules) - before)))
main()
"""
CLIENT = {"kubernetes", "requests", "pydantic", "oauthlib", "urllib3", "ssl", "asyncio"}
"""What takes the program to a cluster."""
DATA = {"yaml", "msgspec", "tabulate", "json"}  # What reads and prints objects
NEVER = {"rich", "click", "numpy", "pandas", "aiohttp", "unittest", "pytest"}


def loaded(*arguments: str, home: Path) -> set[str]:
    """Return the modules that a command loads."""
    environment = {"HOME": str(home), "PATH": os.defpath}
    command = [sys.executable, "-c", PROBE, *arguments]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return set(ended.stdout.splitlines()[-1].split())


def packages(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """Return a file with a Node and a Pod."""
    path = tmp_path / "snapshot.yaml"
    path.write_text(NODE_AND_POD)
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("show", "--help"),
        ("__complete", ""),
        ("__complete", "show", "-"),
        ("__complete", "check", "-f", ""),
    ],
    ids=" ".join,
)
def test_what_reads_nothing_loads_nothing_that_reads(arguments: tuple[str, ...], tmp_path: Path) -> None:
    modules = loaded(*arguments, home=tmp_path)
    assert "typer" in modules
    assert packages(modules) & (CLIENT | DATA | NEVER) == set()


HINTS = """
import sys, typing
read, original = [], typing.get_type_hints
def hints(of, *arguments, **options):
    read.append(getattr(of, "__name__", ""))
    return original(of, *arguments, **options)
typing.get_type_hints = hints
import atexit
atexit.register(lambda: print("\\n", *read))
from kubectl_spread.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [(("--help",), False), (("--version",), False), (("-n", "shop", "version"), True), (("show", "--help"), True)],
    ids=str,
)
def test_what_flags_take_is_read_where_flags_are(arguments: tuple[str, ...], asked: bool) -> None:  # noqa: FBT001 - a case
    command = [sys.executable, "-c", HINTS, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ("SchedulerFlags" in ended.stdout.splitlines()[-1].split()) is asked


def test_completing_names_of_the_kubeconfig_loads_no_client(tmp_path: Path) -> None:
    modules = loaded("__complete", "show", "--context", "", home=tmp_path)
    assert "kubectl_spread.cluster.access.kubeconfig" in modules
    assert packages(modules) & (CLIENT | NEVER) == set()


def test_completing_names_of_the_cluster_loads_no_scheduler(tmp_path: Path) -> None:
    modules = loaded("__complete", "show", "--server", "http://127.0.0.1:1", "-n", "", home=tmp_path)
    assert "urllib3" in modules
    assert packages(modules) & (NEVER | {"kubernetes", "requests", "pydantic"}) == set()
    assert not any(module.startswith(("kubectl_spread.scheduler", "kubectl_spread.render")) for module in modules)


@pytest.mark.parametrize("command", [("show",), ("why-pending",), ("check", "-f", "{}")], ids=str)
def test_files_are_read_without_the_client(command: tuple[str, ...], snapshot: Path, tmp_path: Path) -> None:
    arguments = [word.format(snapshot) for word in command]
    modules = loaded(*arguments, "--from", str(snapshot), home=tmp_path)
    assert "kubectl_spread.commands.view" in modules
    assert packages(modules) & (CLIENT | NEVER | {"email", "socket", "zipfile"}) == set()


def test_what_searches_for_fixes_is_loaded_for_manifests_that_need_any(snapshot: Path, tmp_path: Path) -> None:
    check = ("check", "-f", str(snapshot), "--from", str(snapshot))
    search = "kubectl_spread.diagnosis.fixes.search"
    assert search not in loaded(*check, home=tmp_path)
    snapshot.write_text(NODE_AND_POD.replace('pods: "110"', 'pods: "0"').replace("  nodeName: a1\n", ""))
    assert search in loaded(*check, home=tmp_path)


def test_a_cluster_is_asked_without_the_kubernetes_client(tmp_path: Path) -> None:
    with serving(empty_cluster) as server:
        modules = loaded("show", "--server", server.url, home=tmp_path)
    assert "urllib3" in modules
    assert packages(modules) & (NEVER | {"kubernetes", "requests", "pydantic", "oauthlib"}) == set()

"""The script that carries out a plan, run by a shell with a kubectl that answers from a file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.commands.rebalance import RebalanceOptions, rebalance
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.contract.report import ClusterAccess
from kubectl_spread.errors import UsageError
from kubectl_spread.render.script import script_text
from tests.build import HOSTNAME, Object, app, spread
from tests.build_workloads import owned
from tests.commands.memory import Memory
from tests.rebalance.lying import BY_ZONE, web, zones
from tests.rebalance.test_waves import budget

SERVER = "https://api.example:6443"
SKEWED = [*zones("a", "b", "c"), *web({"a1": 3, "b1": 3})]  # Two Pods go to c1: one of each other zone
ON_TWO = ("a1", "b1", "b1", "b1", "b2")
TWO_TOGETHER = [
    *zones("a"),
    *zones("b", each=3),
    *web({"a1": 1, "b1": 3, "b2": 1}, {**BY_ZONE, "maxSkew": 2}, spread(HOSTNAME, selector=app("web"))),
]
"""Two Pods leave b1 at the same time, for a1 and b3."""
KUBECTL = """
import json, sys
path = __file__.rsplit("/", 1)[0] + "/cluster.json"
cluster = json.load(open(path))
words = sys.argv[1:]
cluster["calls"].append(words)
pods, code = cluster["pods"], 0
if "config" in words:
    print(cluster["server"])
elif "pods" in words:
    for uid, (name, node, *state) in pods.items():
        print("pod", uid, "=" + node, "Running", "kept", "=ReplicaSet/web", *state)
elif "nodes" in words:
    print(*(" ".join(each) for each in cluster["nodes"].items()), sep=chr(10))
elif "poddisruptionbudget" in words:
    print(cluster["allowed"].pop(0))
elif "pod" in words:
    print(*(uid for uid, (name, *_) in pods.items() if name == words[-1]))
else:
    eviction = json.load(sys.stdin)
    answer = cluster["answers"].pop(0) if cluster["answers"] else ["ok", "c1", "ready"]
    if answer[0] == "ok":
        uid = eviction["deleteOptions"]["preconditions"]["uid"]
        pods[uid + "-new"] = [pods.pop(uid)[0] + "-new", *answer[1:]]
    else:
        print(f"Error from server ({answer[0]}): no", file=sys.stderr)
        code = 1
json.dump(cluster, open(path, "w"))
sys.exit(code)
"""


class Shell:
    """A shell in which kubectl asks a cluster in a file, and nothing sleeps."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cluster: dict[str, Any] = {
            "server": SERVER,
            "calls": [],
            "answers": [],
            "allowed": [],
            "nodes": {f"{zone}1": f"open Ready= ={zone} " for zone in "abc"},
            "pods": {f"default/web-{at}": [f"web-{at}", "a1" if at < 3 else "b1", "ready"] for at in range(6)},
        }
        for name, text in (("kubectl", f"#!{sys.executable} -ISE{KUBECTL}"), ("sleep", "#!/bin/sh\n")):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)

    def run(self, script: str, **environment: str) -> tuple[int, str]:
        """Return the script's exit code, and what it prints."""
        path = self.folder / "cluster.json"
        path.write_text(json.dumps(self.cluster))
        ended = subprocess.run(
            ["sh"],  # noqa: S607 - whatever shell there is
            input=script,
            env={"PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}", **environment},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        self.cluster = json.loads(path.read_text())
        return ended.returncode, ended.stdout + ended.stderr

    @property
    def nodes(self) -> Sequence[str]:
        """Where the Pods are, sorted."""
        return sorted(node for _, node, *_ in self.cluster["pods"].values())


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell with a cluster as it was planned for."""
    return Shell(tmp_path)


def script(objects: Sequence[Object] = SKEWED, **access: Any) -> str:  # noqa: ANN401 - any field of ClusterAccess
    source = Memory(objects, server=SERVER, access=ClusterAccess(**access))
    found = rebalance(source, Scope(namespace="default"), RebalanceOptions(), SchedulerOptions())
    return script_text(found.report, found.checkpoints)


DONE = "All evictions are done, and the Pods are spread as planned.\n"
FIRST, SECOND = "evicted default/web-5\n", "evicted default/web-2\n"


def test_it_evicts_one_pod_after_another(shell: Shell) -> None:
    assert shell.run(script()) == (0, FIRST + SECOND + DONE)
    assert shell.nodes == ["a1", "a1", "b1", "b1", "c1", "c1"]


def test_what_was_evicted_is_not_evicted_again(shell: Shell) -> None:
    shell.cluster["answers"] = [["ok", "c1", "ready"], ["Conflict"]]
    code, printed = shell.run(script())
    assert code == 1
    assert printed.startswith(f"{FIRST}stopped: default/web-2 is not evicted: Error from server (Conflict): no")
    assert shell.run(script()) == (0, "default/web-5 is evicted already\n" + SECOND + DONE)
    already = "default/web-5 is evicted already\ndefault/web-2 is evicted already\n"
    assert shell.run(script()) == (0, already + DONE)


def test_a_budget_is_asked_again_within_bounds(shell: Shell) -> None:
    shell.cluster["answers"] = [["TooManyRequests"]] * 2
    assert shell.run(script())[0] == 0
    shell.cluster = Shell(shell.folder).cluster
    shell.cluster["answers"] = [["TooManyRequests"]] * 9
    code, printed = shell.run(script(), RETRY_SECONDS="20")
    assert code == 1
    assert "not evicted after 20 seconds: Error from server (TooManyRequests)" in printed
    assert len(shell.cluster["answers"]) == 4


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({"default/web-0": ["web-0", "c1", "ready"]}, {"a has 2 instead of 3", "c has 1 instead of 0"}),
        ({"new": ["web-new", "a1", "ready"]}, {"a has 4 instead of 3"}),
    ],
    ids=["a Pod moved", "scaled up"],
)
def test_it_stops_where_the_counts_differ(shell: Shell, change: Object, differs: set[str]) -> None:
    shell.cluster["pods"] |= change
    before = shell.nodes
    code, printed = shell.run(script())
    said, _, what = printed.partition("the Pods are not spread as planned, by topology.kubernetes.io/zone: ")
    assert (code, said, set(what.partition(";")[0].split(", "))) == (1, "stopped: ", differs)
    assert shell.nodes == before


@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        ({"c1": "cordoned Ready= =c"}, 'c1 is "cordoned Ready= =c" instead of "open Ready= =c"'),
        ({"c1": "open Ready= x=y:NoSchedule =c"}, 'c1 is "open Ready= x=y:NoSchedule =c" instead of "open'),
        ({"b1": "open Ready=Unknown =b"}, 'b1 is "open Ready=Unknown =b" instead of "open Ready= =b"'),
        ({"b1": "open Ready= =a"}, 'b1 is "open Ready= =a" instead of "open Ready= =b"'),
        ({"b1": "open Ready="}, 'b1 is "open Ready=" instead of "open Ready= =b"'),
        ({"c1": None}, "c1 is gone"),
        ({"d1": "open Ready= =d"}, "d1 is new"),
    ],
    ids=["cordoned", "tainted", "not ready", "another zone", "no zone", "gone", "new"],
)
def test_it_stops_where_a_node_differs(shell: Shell, changed: Mapping[str, str | None], differs: str) -> None:
    for name, state in changed.items():
        shell.cluster["nodes"].pop(name, None)
        if state:
            shell.cluster["nodes"][name] = state
    before = shell.nodes
    code, printed = shell.run(script())
    assert code == 1
    assert printed.startswith(f"stopped: nodes differ from the plan: {differs}")
    assert shell.nodes == before


def test_nodes_without_the_key_of_the_plan_may_come_and_go(shell: Shell) -> None:
    shell.cluster["nodes"]["edge"] = "open Ready= "
    assert shell.run(script())[0] == 0


@pytest.mark.parametrize(("allowed", "code"), [([1, 1, 2], 0), ([1] * 9, 1)])
def test_what_goes_together_goes_once_budgets_allow_it(shell: Shell, allowed: Sequence[int], code: int) -> None:
    kept = budget("web", 2)
    kept["spec"]["maxUnavailable"] = 2
    text = script([*TWO_TOGETHER, kept])
    shell.cluster |= {"allowed": list(allowed), "answers": [["ok", "a1", "ready"], ["ok", "b3", "ready"]]}
    shell.cluster["pods"] = {f"default/web-{at}": [f"web-{at}", on, "ready"] for at, on in enumerate(ON_TWO)}
    shell.cluster["nodes"] = {name: f"open Ready= ={name[0]} ={name}" for name in ("a1", "b1", "b2", "b3")}
    ended, printed = shell.run(text, RETRY_SECONDS="20")
    assert ended == code, printed
    together = "evicted default/web-3\nevicted default/web-2\n"
    stopped = "stopped: the disruption budget default/web allows 1 of 2 evictions after 20 seconds\n"
    assert printed == (stopped if code else together + DONE)


def test_the_rest_of_what_goes_together_goes_when_it_is_run_again(shell: Shell) -> None:
    shell.cluster["pods"] = {f"default/web-{at}": [f"web-{at}", on, "ready"] for at, on in enumerate(ON_TWO)}
    shell.cluster["nodes"] = {name: f"open Ready= ={name[0]} ={name}" for name in ("a1", "b1", "b2", "b3")}
    shell.cluster["answers"] = [["ok", ""], ["Conflict"], ["ok", "a1", "ready"]]
    text = script(TWO_TOGETHER)
    code, printed = shell.run(text)
    assert code == 1
    assert printed.startswith("evicted default/web-3\nstopped: default/web-2 is not evicted: ")
    shell.cluster["pods"]["default/web-3-new"] = ["web-3-new", "b3", "ready"]
    assert shell.run(text) == (0, "default/web-3 is evicted already\nevicted default/web-2\n" + DONE)


def test_it_stops_where_a_replacement_is_elsewhere(shell: Shell) -> None:
    shell.cluster["answers"] = [["ok", "a1", "ready"]]
    code, printed = shell.run(script())
    assert code == 1
    assert printed.startswith(f"{FIRST}stopped: the Pods are not spread as planned")
    assert "a has 4 instead of 3" in printed


def test_it_waits_for_the_replacement_within_bounds(shell: Shell) -> None:
    shell.cluster["answers"] = [["ok", "c1"]]
    code, printed = shell.run(script(), WAIT_SECONDS="4")
    assert code == 1
    assert "stopped: 5 of 6 Pods of default/ReplicaSet/web are Ready after 4 seconds" in printed


def test_pods_that_were_not_ready_before_are_not_waited_for(shell: Shell) -> None:
    objects = [*zones("a", "b", "c"), *web({"a1": 3, "b1": 3})]
    objects[4]["status"] = {"phase": "Running"}
    shell.cluster["pods"]["default/web-0"] = ["web-0", "a1"]
    code, printed = shell.run(script(objects))
    assert code == 0, printed
    # One that is evicted itself is: the Pod in its place may be.
    assert "wait_ready default ReplicaSet/web 6 default/web-0" in script(objects)


def test_it_stops_at_another_api_server(shell: Shell) -> None:
    shell.cluster["server"] = "https://other"
    assert shell.run(script()) == (1, f"stopped: kubectl asks https://other, and the plan is of {SERVER}\n")


def test_the_files_of_a_plan_name_no_api_server(shell: Shell) -> None:
    found = rebalance(Memory(SKEWED), Scope(namespace="default"), RebalanceOptions(), SchedulerOptions())
    text = script_text(found.report, found.checkpoints)
    code, printed = shell.run(text)
    assert code != 0
    assert "set it to the URL of the API server" in printed
    assert shell.run(text, SERVER=SERVER)[0] == 0


@pytest.mark.parametrize(
    ("access", "line"),
    [
        ({"context": "prod"}, 'ask() { kubectl --context prod "$@"; }'),
        ({"context": "prod", "flags": ("--context", "dev")}, 'ask() { kubectl --context dev "$@"; }'),
        ({"secret_flags": ("--token",)}, "# Add --token to each kubectl command: secrets are not printed."),
        ({"flags": ("--as", "$(reboot)")}, """ask() { kubectl --as '$(reboot)' "$@"; }"""),
    ],
    ids=["the current context", "a flag", "a secret", "quoted"],
)
def test_it_reaches_the_cluster_that_was_read(access: Object, line: str) -> None:
    assert line in script(**access).splitlines()


def test_a_server_that_a_flag_names_needs_no_check(shell: Shell) -> None:
    shell.cluster["server"] = "https://other"
    assert shell.run(script(flags=("--server", SERVER)))[0] == 0


def test_the_script_of_a_snapshot_goes_where_it_was_taken(shell: Shell) -> None:
    access = ClusterAccess(context="prod", current=False, flags=("--context", "prod"), server=SERVER, taken_at="now")
    source = Memory(SKEWED, access=access)
    found = rebalance(source, Scope(namespace="default"), RebalanceOptions(), SchedulerOptions())
    text = script_text(found.report, found.checkpoints)
    assert 'ask() { kubectl --context prod "$@"; }' in text.splitlines()
    shell.cluster["server"] = "https://other"
    assert shell.run(text) == (1, f"stopped: kubectl asks https://other, and the plan is of {SERVER}\n")


def test_nothing_to_evict_is_a_script_that_does_nothing(shell: Shell) -> None:
    text = script([*zones("a", "b"), *web({"a1": 1, "b1": 1})])
    assert text == "#!/bin/sh\n# The only constraint is satisfied: there is nothing to evict.\n"
    assert shell.run(text) == (0, "")


def test_pods_without_a_uid_cannot_be_told_from_their_replacements() -> None:
    objects = [*zones("a", "b"), *web({"a1": 2})]
    for each in objects:
        each["metadata"].pop("uid", None)
    with pytest.raises(UsageError, match="needs the UIDs"):
        script(objects)


def test_names_that_act_on_a_shell_are_words_of_it(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shell.folder)
    name = "$(touch pwned)'; touch pwned\ntouch pwned #`touch pwned`"
    source = Memory([*zones("a", name), *web({"a1": 2}, name=name)], name=name)
    found = rebalance(source, Scope(namespace="default"), RebalanceOptions(), SchedulerOptions())
    assert shell.run(script_text(found.report, found.checkpoints), SERVER=SERVER, WAIT_SECONDS="0")[0] == 1
    assert shell.cluster["calls"]
    assert not (shell.folder / "pwned").exists()


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="needs shellcheck")
def test_shellcheck_finds_nothing() -> None:
    ended = subprocess.run(["shellcheck", "-"], input=script(), capture_output=True, text=True, check=False)  # noqa: S607
    assert ended.stdout == ""


def test_it_waits_for_pods_that_can_be_scheduled(shell: Shell) -> None:
    late = owned("late", "ReplicaSet", "api", labels={"app": "api"})
    planned = script([*SKEWED, late])
    assert "# 1 Pending Pod can be scheduled now: wait until it is. The plan counts it as scheduled.\n" in planned
    shell.cluster["pods"]["default/late"] = ["late", ""]
    code, printed = shell.run(planned, WAIT_SECONDS="0")
    ends = "stopped: 1 of the Pending Pods of default that the plan counts: no node after 0 seconds; make a new plan\n"
    assert (code, printed) == (1, ends)
    shell.cluster["pods"]["default/late"] = ["late", "x1"]
    assert shell.run(planned)[0] == 0

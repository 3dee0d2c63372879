"""The installed command: exit codes, what goes where, and never a traceback."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kubectl_spread import __version__
from kubectl_spread.cli import application
from tests.cluster.kubeconfigs import write_kubeconfig
from tests.program import INSTALLED, installed, spread

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOP, CHECKOUT = EXAMPLES / "shop.yaml", EXAMPLES / "checkout.yaml"
COMMANDS = (
    "show",
    "why-pending",
    "audit",
    "check",
    "simulate",
    "rebalance",
    "snapshot",
    "options",
    "completion",
    "version",
)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("show", "-n", "shop", "--from", SHOP), 0),
        (("show", "-n", "shop", "--from", SHOP, "--exit-code"), 1),
        (("why-pending", "-n", "shop", "--from", SHOP), 1),
        (("check", "-f", CHECKOUT, "--from", SHOP), 0),
        (("show", "--no-such-flag"), 2),
        (("show", "-o", "xml", "--from", SHOP), 2),
        (("why-pending", "--from", "nowhere.yaml"), 3),
        (("check", "-f", "nowhere.yaml", "--from", SHOP), 3),
    ],
    ids=lambda value: " ".join(map(str, value)).replace(str(EXAMPLES), "") if isinstance(value, tuple) else None,
)
def test_the_exit_code_tells_an_answer_from_a_failure(words: tuple[str | Path, ...], code: int) -> None:
    ended = installed(*words)
    assert ended.code == code
    assert bool(ended.stdout) == (code < 2)
    assert bool(ended.stderr) == (code >= 2)
    assert "Traceback" not in ended.stderr


def test_it_runs_as_a_module_too() -> None:
    module = installed("version", program=(sys.executable, "-m", "kubectl_spread"))
    assert module == installed("version")
    assert module.stdout.startswith(f"kubectl-spread v{__version__}\nmirrors kube-scheduler v1.33 to v1.")


def test_without_a_word_it_helps_itself() -> None:
    assert spread().code == 0
    assert spread() == spread("-h") == spread("--help")
    assert all(f"  {command} " in spread().stdout for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str) -> None:
    short, long = spread(command, "-h"), spread(command, "--help")
    assert short == long
    assert (short.code, short.stderr) == (0, "")
    assert f"\n\nUsage:\n  kubectl spread {command} " in short.stdout
    assert "..." not in short.stdout.partition("\n\n")[0]
    assert max(map(len, short.stdout.partition("\nOptions:")[2].splitlines())) <= 80


def test_the_flags_that_reach_a_cluster_are_told_once() -> None:
    *_, flags, usage, more = spread("show", "-h").stdout.split("\n\n")
    assert "-o, --output FORMAT  " in flags
    assert "--server" not in flags
    assert usage == "Usage:\n  kubectl spread show [TYPE/NAME | NAME | TYPE [NAME...]] [options]"
    assert more.startswith('Use "kubectl spread options" for the connection flags of kubectl.')
    assert 'kubectl spread options"' not in spread("version", "-h").stdout


def test_options_lists_what_every_command_takes_that_reads_a_cluster() -> None:
    ended = spread("options")
    assert (ended.code, ended.stderr) == (0, "")
    assert ended.stdout.startswith("The following options can be passed to any command")
    told = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", ended.stdout, re.MULTILINE))
    assert {"--server", "--as-group", "--v", "--namespace", "--from"} <= told
    root = typer.main.get_group(application())
    for command in ("show", "why-pending", "audit", "check", "simulate", "rebalance", "snapshot"):
        assert told <= {name for each in root.commands[command].params for name in each.opts}


@pytest.mark.parametrize(
    "words",
    [
        ("-n", "shop", "--from", SHOP, "show"),
        ("--from", SHOP, "--namespace=shop", "show"),
        ("--color=never", "--from", SHOP, "show", "-n", "shop"),
    ],
    ids=str,
)
def test_flags_may_come_before_the_command(words: tuple[str | Path, ...]) -> None:
    assert installed(*words) == installed("show", "-n", "shop", "--from", SHOP)


def test_commands_are_completed_after_flags() -> None:
    assert installed("__complete", "-n", "shop", "sh").stdout.startswith("show\t")
    assert "--by-node\t" in installed("__complete", "-n", "shop", "show", "--by").stdout


@pytest.mark.parametrize("command", ["show", "why-pending", "audit", "check"])
def test_help_comes_with_examples_that_are_commands(command: str) -> None:
    examples = [
        line.split("#")[0].split() for line in spread(command, "-h").stdout.splitlines() if "kubectl spread " in line
    ]
    assert len(examples) >= 4
    named = {words[2] for words in examples[1:] if words[:2] == ["kubectl", "spread"]}
    assert named == {command}


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Return how a line of shell ends."""
    return subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    ("redirection", "said"),
    [
        (">&-", "error: standard output is closed\n"),
        pytest.param(
            "> /dev/full",
            "error: cannot write to standard output: No space left on device\n",
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full"),
        ),
    ],
)
def test_an_answer_that_cannot_be_written_is_none(redirection: str, said: str) -> None:
    ended = shell(f"{INSTALLED} show -A --from {SHOP} {redirection}")
    assert (ended.returncode, ended.stderr) == (3, said)


def test_standard_input_may_be_closed_and_standard_error_too() -> None:
    assert shell(f"{INSTALLED} check -f - --from {SHOP} <&-").stderr == "error: standard input: is closed\n"
    assert shell(f"{INSTALLED} show -n nowhere --from {SHOP} 2>&-").returncode == 0


def test_a_manifest_comes_through_a_pipe() -> None:
    manifest = CHECKOUT.read_text(encoding="utf-8")
    ended = installed("check", "-f", "-", "--from", SHOP, stdin=manifest)
    named = installed("check", "-f", CHECKOUT, "--from", SHOP)
    assert ended == named
    assert (
        spread("check", "-f", "-", "--from", SHOP, "-o", "json", stdin=manifest)
        .item["source"]
        .startswith("standard input")
    )


def test_a_cluster_comes_through_a_pipe() -> None:
    cluster = SHOP.read_text(encoding="utf-8")
    assert installed("show", "-A", "--from", "-", stdin=cluster) == installed("show", "-A", "--from", SHOP)


def test_colours_only_when_they_are_wanted() -> None:
    assert "\x1b[31m" in spread("show", "-n", "shop", "--from", SHOP, "--color", "always").stdout
    assert "\x1b" not in spread("show", "-n", "shop", "--from", SHOP).stdout
    assert "\x1b" not in spread("show", "-n", "shop", "--from", SHOP, "--color", "always", "-o", "json").stdout


FLAGS = (
    *("-n", "-A", "-l", "-o", "-h", "-f", "-", "--", "--from", "--replicas", "--sort-by", "--problems", "--by-node"),
    *(
        "--by-node",
        "--defaults",
        "--full",
        "--exit-code",
        "--kube-version",
        "--feature-gates",
        "--fix-budget",
        "--all-fixes",
    ),
    *("--color", "--no-headers", "--scheduler-config", "--bogus", "-x", "-nshop", "-ojson", "--namespace=shop"),
)
VALUES = (
    *("deploy/web", "pod/x", "pods", "shop", "app=web", "json", "wide", "name", "yaml", "3", "skew", "always", "v1.34"),
    *("A=true", "bash", "0", "rollout/ro", "a,b"),
)
# No slash and no dash: no folder of this machine is read, no server is looked up.
ANY_TEXT = st.text(st.characters(exclude_characters="/-."), max_size=6)
WORDS = st.one_of(st.sampled_from([*COMMANDS, *FLAGS, *VALUES, str(SHOP), str(CHECKOUT)]), ANY_TEXT)


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let no cluster and no file of whoever runs the tests be found."""
    path = write_kubeconfig(tmp_path / "config", server="http://127.0.0.1:1")
    monkeypatch.setenv("KUBECONFIG", str(path))
    monkeypatch.chdir(tmp_path)


@given(words=st.lists(WORDS, max_size=7))
@example(words=["--", "show"])
@settings(max_examples=100)
def test_whatever_the_words_there_is_an_exit_code(words: list[str]) -> None:
    ended = spread(*words)
    assert ended.code in {0, 1, 2, 3}
    assert "Traceback" not in ended.stderr
    assert ended.stdout or ended.stderr


CONTENTS = st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode))


@given(content=CONTENTS)
@settings(max_examples=75)
@pytest.mark.parametrize(
    "words", [("why-pending", "--from", "-"), ("check", "-f", "-", "--from", str(SHOP))], ids=["--from", "-f"]
)
def test_whatever_the_bytes_there_is_an_exit_code(words: tuple[str, ...], content: bytes) -> None:
    ended = spread(*words, stdin=content)
    assert (ended.code, ended.stdout) == (3, "")
    assert all(line.startswith("error: standard input") for line in ended.stderr.splitlines())

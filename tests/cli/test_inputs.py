"""Flags become what the commands take."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from kubectl_spread.cli.flags import ConnectionFlags, SchedulerFlags, ScopeFlags
from kubectl_spread.cli.inputs import fix_format_of, scheduler_of, scope_of, source_of, standard_input
from kubectl_spread.commands.scope import Named
from kubectl_spread.commands.source import ClusterSource, FileSource
from kubectl_spread.errors import UsageError
from tests.cluster.kubeconfigs import write_kubeconfig
from tests.commands.memory import Memory


@pytest.mark.parametrize(
    ("flags", "namespace"),
    [
        (ScopeFlags(), "home"),
        (ScopeFlags(namespace="shop"), "shop"),
        (ScopeFlags(all_namespaces=True), ""),
        (ScopeFlags(namespace="shop", all_namespaces=True), ""),
    ],
    ids=str,
)
def test_which_namespace_is_meant(flags: ScopeFlags, namespace: str) -> None:
    assert scope_of(flags, Memory(namespace="home")).namespace == namespace


def test_the_selector_is_kubectls() -> None:
    scope = scope_of(ScopeFlags(selector="app in (a,b)"), Memory())
    assert scope.selector.matches({"app": "a"})
    assert not scope.selector.matches({"app": "c"})
    with pytest.raises(UsageError, match="label selector"):
        scope_of(ScopeFlags(selector="=="), Memory())


def test_a_name_means_one_namespace() -> None:
    assert scope_of(ScopeFlags(), Memory(), Named(names=(("", "web"),))).names == ("web",)
    with pytest.raises(UsageError, match="across all namespaces"):
        scope_of(ScopeFlags(all_namespaces=True), Memory(), Named(names=(("", "web"),)))


def test_files_need_no_kubeconfig(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nowhere")
    source = source_of(ConnectionFlags(), ScopeFlags(), SchedulerFlags(from_=["a.yaml"]))
    assert isinstance(source, FileSource)
    assert source.name == "a.yaml"


def test_every_connection_flag_reaches_the_connection(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path / "config", server="https://127.0.0.1:1", name="test", namespace="shop")
    flags = ConnectionFlags(kubeconfig=str(path), server="https://127.0.0.1:2", as_="jane", as_groups=["dev"])
    source = source_of(flags, ScopeFlags(), SchedulerFlags())
    assert isinstance(source, ClusterSource)
    assert (source.name, source.namespace, source.server) == ("test", "shop", "https://127.0.0.1:2")
    source = source_of(flags, ScopeFlags(namespace="other"), SchedulerFlags())
    assert source.namespace == "other"


@pytest.mark.parametrize(
    ("text", "gates"),
    [
        ("", {}),
        ("A=true", {"A": True}),
        ("A=true,B=false", {"A": True, "B": False}),
        (" A = TRUE , B=False,", {"A": True, "B": False}),
        ("A=true,A=false", {"A": False}),
    ],
)
def test_feature_gates(text: str, gates: dict[str, bool]) -> None:
    assert scheduler_of(SchedulerFlags(feature_gates=text)).feature_gates == gates


@pytest.mark.parametrize("text", ["A", "A=", "A=1", "=true", "A=true B=false", "A:true"])
def test_feature_gates_that_make_no_sense(text: str) -> None:
    with pytest.raises(UsageError, match="invalid feature gate"):
        scheduler_of(SchedulerFlags(feature_gates=text))


def test_whose_rules_apply() -> None:
    options = scheduler_of(SchedulerFlags(kube_version="v1.35", scheduler_config="c.yaml"))
    assert (options.kube_version, options.configuration) == ("v1.35", "c.yaml")


def test_standard_input_may_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"bytes")))
    found = standard_input()
    assert found is not None
    assert found.read() == b"bytes"
    monkeypatch.setattr(sys, "stdin", None)
    assert standard_input() is None


def test_fixes_are_written_in_one_of_two_ways() -> None:
    assert [fix_format_of(text) for text in ("", "yaml", "commands")] == ["", "yaml", "commands"]
    with pytest.raises(UsageError, match="invalid --fix-format 'json'"):
        fix_format_of("json")

"""Several clusters, side by side: each row has its cluster, and a cluster that fails costs its own rows."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kubectl_spread.commands.clusters import side_by_side
from tests.cli.test_connection_flags import commands_in
from tests.cluster.api_server import ApiServer, Response, Seen, serving, status
from tests.faults.shop import Shop
from tests.program import Ended, answers_kept, spread

QUESTIONS = (("show", "-A"), ("audit", "-A"), ("why-pending", "-A"))
DOWN = "http://127.0.0.1:1"


def kubeconfig(path: Path, servers: dict[str, str], *, same: str = "") -> Path:
    """Return a file with a context, cluster and user for each server; ``same``: a further context of the first."""
    contexts = [{"name": name, "context": {"cluster": name, "user": name, "namespace": "shop"}} for name in servers]
    if same:
        contexts.append({"name": same, "context": contexts[0]["context"]})
    config = {
        "clusters": [{"name": name, "cluster": {"server": server}} for name, server in servers.items()],
        "users": [{"name": name, "user": {"token": name}} for name in servers],
        "contexts": contexts,
        "current-context": next(iter(servers)),
    }
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[ApiServer, ApiServer]]:
    """Yield two servers of the shop; the second has fewer Pods."""
    few = Shop(objects=[each for each in Shop().objects if not each["metadata"]["name"].startswith("cart")])
    with serving(Shop()) as first, serving(few) as second:
        yield first, second


@pytest.fixture
def config(servers: tuple[ApiServer, ApiServer], tmp_path: Path) -> Path:
    """Return the kubeconfig of both, and of one that does not answer."""
    first, second = servers
    return kubeconfig(tmp_path / "config", {"one": first.url, "two": second.url, "gone": DOWN})


def ask(config: Path, *words: str) -> Ended:
    """Return how the program ends with the kubeconfig."""
    return spread(*words, "--kubeconfig", config)


def without_context(report: Any, context: str) -> Any:  # noqa: ANN401 - any part of a report
    """Return the values of a report as they are with one cluster."""
    text = json.dumps(report).replace(f" --context {context}", "")
    return json.loads(text, object_hook=lambda values: {k: v for k, v in values.items() if k != "cluster"})


@pytest.mark.parametrize("words", QUESTIONS, ids=lambda words: words[0])
def test_each_item_is_what_its_cluster_alone_answers(config: Path, words: tuple[str, ...]) -> None:
    both = ask(config, *words, "--context", "one,two", "-o", "json")
    whole = both.report
    codes = set()
    for name in ("one", "two"):
        alone = ask(config, *words, "--context", name, "-o", "json")
        codes.add(alone.code)
        for field in {"items", "notCreated", "starting", "incomplete"} & whole.keys():
            mine = [each for each in whole[field] if each["cluster"] == name]
            assert without_context(mine, name) == without_context(alone.report[field], name), field
    assert {each["cluster"] for each in whole["items"]} == {"one", "two"}
    assert [each["source"] for each in whole["clusters"]] == ["one", "two"]
    assert both.code == max(codes)
    assert both.stderr == ""


@pytest.mark.parametrize("words", QUESTIONS, ids=lambda words: words[0])
def test_every_command_has_the_context_of_its_cluster(config: Path, words: tuple[str, ...]) -> None:
    with answers_kept():
        for form in ("table", "wide", "markdown", "html", "json", "yaml"):
            # Of audit only suggestions have commands, which these two print.
            suggested = (words[0], form) in {("audit", "json"), ("audit", "table")}
            more = (*["--suggest"] * suggested, "--context", "one", "--context", "two", "-o", form)
            printed = ask(config, *words, *more).stdout
            commands = commands_in(printed, form)
            assert all(re.search(r"--context (one|two)\b", command) for command in commands), form
            # Markdown has the commands of only a few workloads.
            if words[0] == "why-pending" or suggested:
                named = {found[1] for each in commands if (found := re.search(r"--context (\w+)", each))}
                assert named == {"one", "two"}, form
            assert "Add --context" not in printed


@pytest.mark.parametrize("words", QUESTIONS[:2], ids=lambda words: words[0])
def test_tables_have_a_column_and_a_line_of_totals_for_each_cluster(config: Path, words: tuple[str, ...]) -> None:
    for form in ("table", "wide"):
        lines = ask(config, *words, "--context", "one,two", "-o", form).stdout.splitlines()
        assert lines[0].split()[0] == "CLUSTER"
        assert {line.split()[0] for line in lines if line.split()[1:2] == ["shop"]} == {"one", "two"}
        assert [sum(f"({name}): " in line for line in lines) for name in ("one", "two")] == [1, 1]
    assert "| CLUSTER |" in ask(config, *words, "--context", "one,two", "-o", "markdown").stdout
    assert "CLUSTER" not in ask(config, *words, "--context", "one").stdout


@pytest.mark.parametrize("words", QUESTIONS[:2], ids=lambda words: words[0])
def test_series_have_the_label_of_their_cluster(config: Path, words: tuple[str, ...]) -> None:
    printed = ask(config, *words, "--context", "one,two,gone", "-o", "prom").stdout
    samples = [sample for family in text_string_to_metric_families(printed) for sample in family.samples]
    assert {sample.labels["cluster"] for sample in samples} == {"one", "two", "gone"}
    gaps = {s.labels["cluster"]: s.value for s in samples if s.name == "kubectl_spread_incomplete"}
    alone = [ask(config, *words, "--context", name, "-o", "json").report["incomplete"] for name in ("one", "two")]
    assert gaps == {"one": len(alone[0]), "two": len(alone[1]), "gone": 1}


@pytest.mark.parametrize("words", QUESTIONS, ids=lambda words: words[0])
def test_a_cluster_that_fails_costs_its_own_rows(config: Path, words: tuple[str, ...]) -> None:
    words = (*words, "--fix-budget", "0") if words[0] == "why-pending" else words
    without = ask(config, *words, "--context", "one,two", "-o", "json")
    ended = ask(config, *words, "--context", "one,gone,two", "-o", "json")
    assert ended.report["items"] == without.report["items"]
    (line,) = ended.stderr.splitlines()
    assert line.startswith("error: gone: ")
    assert [each["cluster"] for each in ended.report["incomplete"] if each not in without.report["incomplete"]] == [
        "gone"
    ]
    assert ended.code == (1 if without.code == 1 else 3)


@pytest.mark.parametrize("command", ["show", "audit", "why-pending"])
def test_where_all_fail_there_is_an_answer_without_rows(config: Path, command: str) -> None:
    ended = ask(config, command, "--context", "gone,nowhere", "-o", "json")
    assert (ended.items, ended.code) == ([], 3)
    assert [line.split(":")[1].strip() for line in ended.stderr.splitlines()] == ["gone", "nowhere"]


def test_all_contexts_are_read_but_each_cluster_once(servers: tuple[ApiServer, ApiServer], tmp_path: Path) -> None:
    config = kubeconfig(tmp_path / "config", {"one": servers[0].url, "two": servers[1].url}, same="alias")
    ended = ask(config, "audit", "-A", "--all-contexts", "-o", "json")
    assert {each["cluster"] for each in ended.items} == {"one", "two"}
    assert ended.code == 0


def test_at_most_four_clusters_are_asked_at_once() -> None:
    running, most, lock = 0, 0, threading.Lock()

    def answer(context: str) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.1)
        with lock:
            running -= 1
        return context

    assert side_by_side("hgfedcba", answer) == {name: name for name in "hgfedcba"}
    assert most == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("check -f examples/checkout.yaml --context one,two", "several contexts cannot be used here: one, two"),
        ("simulate --drain node-a1 --context one --context two", "several contexts cannot be used here: one, two"),
        ("rebalance -A --context one,two", "several contexts cannot be used here: one, two"),
        ("snapshot --context one,two", "several contexts cannot be used here: one, two"),
        ("show -w --context one,two", "several contexts cannot be used here: one, two"),
        ("show -w --all-contexts", "--watch and --all-contexts cannot be used together"),
        ("audit --all-contexts --from examples/shop.yaml", "--all-contexts and --from cannot be used together"),
        ("audit --context one,two --from examples/shop.yaml", "several contexts and --from cannot be used together"),
        ("show --context one,two --server http://127.0.0.1:1", "several contexts and --server cannot be used together"),
        ("show --context one --all-contexts", "--all-contexts and --context cannot be used together"),
        ("why-pending --context one,two -l ==", "unable to parse"),
    ],
)
def test_what_makes_no_sense_with_several_clusters_is_refused(config: Path, words: str, said: str) -> None:
    ended = ask(config, *words.split())
    assert said in ended.error
    assert ended.code == 2


def test_a_context_may_be_called_as_two_with_a_comma(servers: tuple[ApiServer, ApiServer], tmp_path: Path) -> None:
    config = kubeconfig(tmp_path / "config", {"one,two": servers[0].url})
    ended = ask(config, "show", "--context", "one,two", "-o", "json")
    assert ended.report["metadata"]["source"] == "one,two"


def test_a_permission_that_one_cluster_refuses_is_named_with_it(
    servers: tuple[ApiServer, ApiServer], tmp_path: Path
) -> None:
    def refusing(seen: Seen) -> Response:
        return status(403, "Forbidden", "no") if seen.path.endswith("/poddisruptionbudgets") else Shop()(seen)

    with serving(refusing) as closed:
        config = kubeconfig(tmp_path / "config", {"one": servers[0].url, "shut": closed.url})
        printed = ask(config, "audit", "-A", "--context", "one,shut").stdout
    assert "incomplete in shut: list poddisruptionbudgets (forbidden)" in printed

"""Every command that any format prints reaches the cluster that was read."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from kubectl_spread.cli import formats
from kubectl_spread.cli.formats import names_for
from tests.build import ZONE, Object, app, node, spread
from tests.build_workloads import owned, template, workload
from tests.program import listed
from tests.program import spread as run

pytestmark = pytest.mark.usefixtures("answers_kept")

ROOT = Path(__file__).parents[2]
FLAGS = "--context prod --user dev"
VERBS = "create|delete|drain|get|label|patch|replace|rollout|spread (?!explain|\\d)|taint|uncordon"
COMMAND = re.compile(rf"kubectl (?:{VERBS})[^|`\n]*")
CONSTRAINT = spread(ZONE, selector=app("web"))
PAUSED: list[Object] = [
    node("a1", zone="a"),
    node("b1", zone="b", taints=["dedicated=gpu:NoSchedule"]),
    workload("Deployment", "web", pods=template(CONSTRAINT), replicas=2, paused=True),
    workload("DaemonSet", "agent", pods=template()),
    owned("agent-a1", "DaemonSet", "agent", on="a1"),
    *(
        owned(f"web-{at}", "Deployment", "web", on=on, topologySpreadConstraints=[CONSTRAINT])
        for at, on in ((0, "a1"), (1, ""))
    ),
]
QUESTIONS = {
    "show": ("show", "-A"),
    "why-pending": ("why-pending", "-A"),
    "check": ("check", "-f", "examples/checkout.yaml", "--replicas", "500"),
    "simulate": ("simulate", "-A", "--drain", "a1"),
    "audit": ("audit", "-A", "--suggest"),
    "rebalance": ("rebalance", "-A"),
}
REPORTS = {
    "show": formats.SHOW,
    "why-pending": formats.WHY_PENDING,
    "check": formats.CHECK,
    "simulate": formats.SIMULATE,
    "audit": formats.AUDIT,
    "rebalance": formats.REBALANCE,
}


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str | Path, ...]]:
    """Return the flags that read each cluster, which all say the context and user they were taken with."""
    folder = tmp_path_factory.mktemp("clusters")
    origin = {
        "apiVersion": "spread.kubectl.dev/v1alpha1",
        "kind": "SnapshotOrigin",
        "context": "prod",
        "userFlag": "dev",
    }
    (folder / "origin.json").write_text(json.dumps(origin))
    listed(folder / "paused.json", PAUSED)
    shop = (ROOT / "examples/shop.yaml", folder / "paused.json")
    files = {"shop": shop, "warehouse": (ROOT / "tests/testdata/cli/warehouse.yaml",)}
    return {
        name: tuple(word for path in (*paths, folder / "origin.json") for word in ("--from", path))
        for name, paths in files.items()
    }


def texts(printed: str, form: str) -> Iterator[str]:
    """Yield the texts of what is printed, each as it would be copied."""
    if form in {"json", "sarif", "yaml"}:
        yield from _strings(yaml.safe_load(printed) if form == "yaml" else json.loads(printed))
    elif form == "html":
        yield html.unescape(re.sub(r"<title>.*?</title>|<[^>]*>", "\n", printed))
    else:
        yield printed


def _strings(values: object) -> Iterator[str]:
    if isinstance(values, str):
        yield values
    elif isinstance(values, dict | list):
        for each in values.values() if isinstance(values, dict) else values:
            yield from _strings(each)


def commands_in(printed: str, form: str) -> list[str]:
    return [found for text in texts(printed, form) for found in COMMAND.findall(text)]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_command_in_every_format_carries_the_flags(
    question: str, clusters: dict[str, tuple[str | Path, ...]]
) -> None:
    fixes = (
        [(), ("--all-fixes",), ("--fix-format=yaml",), ("--fix-format=commands",)]
        if question == "why-pending"
        else [()]
    )
    found: dict[str, list[str]] = {}
    others = ["warehouse"] * (question != "simulate")
    for name, form, more in (
        *(("shop", form, ()) for form in names_for(REPORTS[question]) if "=" not in form),
        *((name, "table", more) for name in ("shop", *others) for more in fixes),
        *((name, "json", ()) for name in others),
    ):
        ended = run(*QUESTIONS[question], *more, *clusters[name], "-o", form)
        found.setdefault(form, []).extend(commands_in(ended.stdout, form))
    assert [each for commands in found.values() for each in commands if FLAGS not in each] == []
    # What show prints names no command.
    assert bool(found["json"]) is bool(found["table"]) is (question != "show")


def test_a_step_that_kubectl_refuses_names_the_command_with_its_flags(
    clusters: dict[str, tuple[str | Path, ...]],
) -> None:
    ended = run("simulate", "--restart", "default/deployment/web", *clusters["shop"])
    assert f"kubectl rollout resume deployment/web -n default {FLAGS}" in ended.stderr

"""What the commands print, byte for byte: tests/golden, written anew by ``pytest --update-golden``.

The program's own version is left out, so that a release changes no golden.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kubectl_spread import __version__
from tests.program import INSTALLED, printed_in, spread
from tests.terminal import printed_on

pytestmark = pytest.mark.usefixtures("answers_kept")

ROOT = Path(__file__).parents[2]
COPIED = re.compile(r" +(kubectl|echo) ")  # What begins a command, which is not broken
SHOP = ("--from", "examples/shop.yaml")
WAREHOUSE = ("--from", "tests/testdata/cli/warehouse.yaml")
QUOTA = ("--from", "tests/testdata/cli/quota.yaml")
CHECKOUT = ("-f", "examples/checkout.yaml")
MANIFESTS = ("-f", "tests/testdata/cli/manifests.yaml", "-n", "warehouse")

RESERVED = ("--from", "tests/incidents/reserved-zone/cluster.yaml")
ROWS = '{range .items[*]}{.workload.name}{"\\t"}{.status}{"\\t"}{.constraint.domains[*].matching}{"\\n"}{end}'

CASES: dict[str, tuple[str, ...]] = {
    "why-pending/never-created.txt": ("why-pending", "-A", *QUOTA),
    "why-pending/never-created.json": ("why-pending", "-A", *QUOTA, "-o", "json"),
    "show/shop.txt": ("show", "-n", "shop", *SHOP),
    "show/shop-wide.txt": ("show", "-n", "shop", *SHOP, "-o", "wide"),
    "show/shop.json": ("show", "-n", "shop", *SHOP, "-o", "json"),
    "show/shop-name.txt": ("show", "-n", "shop", *SHOP, "-o", "name"),
    "show/shop-web.txt": ("show", "deploy/web", "-n", "shop", *SHOP),
    "show/shop-canary-wide.txt": ("show", "deploy", "canary", "-n", "shop", *SHOP, "-o", "wide"),
    "show/shop-by-node.txt": ("show", "-n", "shop", *SHOP, "--by-node"),
    "show/shop-problems.txt": ("show", "-n", "shop", *SHOP, "--problems"),
    "show/shop-by-skew.txt": ("show", "-n", "shop", *SHOP, "--sort-by", "skew"),
    "show/shop-by-name.txt": ("show", "-n", "shop", *SHOP, "--sort-by", "name", "--no-headers"),
    "show/shop-color.txt": ("show", "-n", "shop", *SHOP, "--color", "always"),
    "show/shop-web.md": ("show", "deploy/web", "-n", "shop", *SHOP, "-o", "markdown"),
    "show/shop.prom": ("show", "-n", "shop", *SHOP, "-o", "prom"),
    "show/shop-jsonpath.txt": ("show", "-n", "shop", *SHOP, "-o", f"jsonpath={ROWS}"),
    "show/warehouse-all.txt": ("show", "-A", *WAREHOUSE),
    "show/warehouse-all-wide.txt": ("show", "-A", *WAREHOUSE, "-o", "wide", "--defaults"),
    "show/warehouse-ledger.txt": ("show", "sts/ledger", "-n", "warehouse", *WAREHOUSE),
    "show/warehouse-picker.json": ("show", "pod/picker-new-1", "-n", "warehouse", *WAREHOUSE, "-o", "json"),
    "show/warehouse-app.txt": ("show", "-n", "warehouse", *WAREHOUSE, "-l", "app in (ledger,scanner)"),
    "why-pending/shop.txt": ("why-pending", "-n", "shop", *SHOP),
    "why-pending/shop.json": ("why-pending", "-n", "shop", *SHOP, "-o", "json"),
    "why-pending/shop-name.txt": ("why-pending", "-n", "shop", *SHOP, "-o", "name"),
    "why-pending/shop-fixes.txt": ("why-pending", "-n", "shop", *SHOP, "-o", "jsonpath={.items[*].fixes[*].id}"),
    "why-pending/reserved-zone.md": ("why-pending", "-A", *RESERVED, "-o", "markdown"),
    "why-pending/reserved-zone.mmd": ("why-pending", "-A", *RESERVED, "-o", "mermaid"),
    "why-pending/warehouse.txt": ("why-pending", "-A", *WAREHOUSE),
    "why-pending/warehouse-wide.txt": ("why-pending", "-A", *WAREHOUSE, "-o", "wide", "--all-fixes"),
    "why-pending/warehouse.json": ("why-pending", "-A", *WAREHOUSE, "-o", "json"),
    "why-pending/warehouse-name.txt": ("why-pending", "-A", *WAREHOUSE, "-o", "name"),
    "simulate/shop-drain.txt": ("simulate", "--drain", "node-a1", "-n", "shop", *SHOP),
    "simulate/shop-drain.json": ("simulate", "--drain", "node-a1", "-n", "shop", *SHOP, "-o", "json"),
    "simulate/shop-drain.md": ("simulate", "--drain", "node-a1", "-n", "shop", *SHOP, "-o", "markdown"),
    "simulate/shop-drain-name.txt": ("simulate", "--drain", "node-a1", "-n", "shop", *SHOP, "-o", "name"),
    "rebalance/shop.txt": ("rebalance", "-n", "shop", "--soft", *SHOP),
    "rebalance/shop.json": ("rebalance", "-n", "shop", "--soft", *SHOP, "-o", "json"),
    "rebalance/shop.md": ("rebalance", "-n", "shop", "--soft", *SHOP, "-o", "markdown"),
    "rebalance/shop-name.txt": ("rebalance", "-n", "shop", "--soft", *SHOP, "-o", "name"),
    "rebalance/warehouse-all.txt": ("rebalance", "-A", *WAREHOUSE),
    "audit/shop.txt": ("audit", "-n", "shop", *SHOP),
    "audit/shop.json": ("audit", "-n", "shop", *SHOP, "-o", "json"),
    "audit/shop-web.md": ("audit", "deploy/web", "-n", "shop", *SHOP, "-o", "markdown"),
    "audit/shop.prom": ("audit", "-n", "shop", *SHOP, "-o", "prom"),
    "audit/warehouse-all-wide.txt": ("audit", "-A", *WAREHOUSE, "-o", "wide"),
    "check/checkout.txt": ("check", *CHECKOUT, *SHOP),
    "check/checkout-wide.txt": ("check", *CHECKOUT, *SHOP, "-o", "wide"),
    "check/checkout.json": ("check", *CHECKOUT, *SHOP, "-o", "json"),
    "check/checkout.yaml": ("check", *CHECKOUT, *SHOP, "-o", "yaml"),
    "check/checkout-name.txt": ("check", *CHECKOUT, *SHOP, "-o", "name"),
    "check/checkout-github.txt": ("check", *CHECKOUT, *SHOP, "-o", "github"),
    "check/checkout.sarif": ("check", *CHECKOUT, *SHOP, "-o", "sarif"),
    "check/manifests.txt": ("check", *MANIFESTS, *WAREHOUSE),
    "check/manifests.json": ("check", *MANIFESTS, *WAREHOUSE, "-o", "json"),
    "explain/all.txt": ("explain",),
    "explain/PinnedMinimum.txt": ("explain", "PinnedMinimum"),
    "explain/Incomplete.txt": ("explain", "incomplete"),
    "check/manifests-name.txt": ("check", *MANIFESTS, *WAREHOUSE, "-o", "name"),
}


CLOUD = ("-n", "shop", "--color", "never", "--from", "tests/testdata/cli/cloud.yaml")
ON_TERMINALS: dict[str, tuple[str, ...]] = {
    "show": ("show",),
    "show-frontend": ("show", "deployment/checkout-frontend"),
    "show-by-node": ("show", "statefulset/session-store", "--by-node"),
    "why-pending": ("why-pending",),
    "check": ("check", "-f", "tests/testdata/cli/frontend.yaml"),
    "simulate": ("simulate", "--drain", "ip-10-0-1-17.eu-central-1.compute.internal"),
    "simulate-lose": (
        "simulate",
        "--lose",
        "topology.kubernetes.io/zone=eu-central-1b",
        "--scale",
        "deployment/search=9",
    ),
    "audit": ("audit",),
    "rebalance": ("rebalance",),
    "rebalance-soft": ("rebalance", "--soft"),
}
"""What is asked of a cluster whose nodes have the long names of a cloud."""
WIDTHS = (80, 120, 200)
TERMINALS = {
    **{f"terminal/{name}-{width}.txt": (width, words) for name, words in ON_TERMINALS.items() for width in WIDTHS},
    "terminal/show-wide-160.txt": (160, ("show", "-o", "wide")),
}
KEPT_TERMINALS = {
    *(f"terminal/{name}-80.txt" for name in ON_TERMINALS),
    "terminal/why-pending-200.txt",
    "terminal/show-wide-160.txt",
}
"""What is compared byte for byte; one sentence stands in few files, so that a better one changes few."""
NAMED = ("causes", "check", "findings", "fixes", "incomplete", "node-pools", "reasons", "rebalance", "simulate")
PHRASEBOOKS = {f"phrasebook/{name}.txt" for name in NAMED}
"""The sentences of a family of conclusions, each said once: ``tests/wording`` compares them."""
KEPT_WIDE = {"show", "why-pending"}
WIDE_COLUMNS = 160
SUFFIX = ".eu-central-1.compute.internal"
LONG_WORD = re.compile(r"[^\s,;:()]{6,}(?<!\.)")  # What may be a name; a short word is none of that cluster


@pytest.mark.parametrize("name", TERMINALS)
def test_terminals_show_what_they_did_within_their_width(
    name: str, same_as_golden: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    width, words = TERMINALS[name]
    shown = printed_in(width, *words, *CLOUD)
    assert [line for line in shown.splitlines() if len(line) > width and not COPIED.match(line)] == []
    if name in KEPT_TERMINALS:
        same_as_golden(shown, name)


def test_a_terminal_itself_shows_the_same(
    same_as_golden: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    same_as_golden(printed_on(80, INSTALLED, *ON_TERMINALS["show"], *CLOUD), "terminal/show-80.txt")


@pytest.mark.parametrize("name", ON_TERMINALS)
def test_wide_has_room_for_all_names_in_its_columns(
    name: str, same_as_golden: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    shown, table = (spread(*ON_TERMINALS[name], *CLOUD, "-o", how).stdout for how in ("wide", "table"))
    assert [line for line in shown.splitlines() if len(line) > WIDE_COLUMNS and not COPIED.match(line)] == []
    named, whole = ({*LONG_WORD.findall(text.replace(SUFFIX, ""))} for text in (table, shown))
    assert named - {"REASON", "<none>"} <= whole
    assert SUFFIX in shown or SUFFIX not in table
    if name in KEPT_WIDE:
        same_as_golden(shown, f"wide/{name}.txt")


@pytest.mark.parametrize("name", CASES)
def test_output_is_what_it_was(
    name: str, same_as_golden: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    # However busy the machine is, the search for fixes ends.
    unhurried = ("--fix-budget", "600") if CASES[name][0] in {"why-pending", "check"} else ()
    ended = spread(*CASES[name], *unhurried)
    assert ended.stderr == ""
    if CASES[name][-1] == "json":
        assert ended.report["metadata"]["version"] == __version__
    same_as_golden(ended.stdout.replace(__version__, "VERSION"), name)


def test_every_golden_belongs_to_a_case(pytestconfig: pytest.Config) -> None:
    golden = pytestconfig.rootpath / "tests" / "golden"
    wide = {f"wide/{name}.txt" for name in KEPT_WIDE}
    assert {str(path.relative_to(golden)) for path in golden.rglob("*") if path.is_file()} == {
        *CASES,
        *KEPT_TERMINALS,
        *wide,
        *PHRASEBOOKS,
    }


def test_json_and_yaml_are_what_the_table_says() -> None:
    shown = spread("show", "-n", "shop", "--from", ROOT / "examples" / "shop.yaml", "-o", "json")
    rows = spread("show", "-n", "shop", "--from", ROOT / "examples" / "shop.yaml", "--no-headers").stdout.splitlines()
    assert [f"deployment/{item['workload']['name']}" for item in shown.items] == [row.split()[0] for row in rows]

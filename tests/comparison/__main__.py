"""Ask every tool at hand and write tables: ``python -m tests.comparison [situations|costs|large|evictions] [--print]``.

Plugins by others are built the first time; those that cannot be had are named on stderr and left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.bench.large import questions
from tests.bench.large.asking import ask, ask_others
from tests.bench.large.cluster import running
from tests.bench.large.contents import Size
from tests.comparison import descheduler, imbalances, page
from tests.comparison.asking import compare
from tests.comparison.costs import costs
from tests.comparison.rivals import RIVALS, at_hand
from tests.comparison.situations import situations
from tests.comparison.stage import SCHEDULER_CONFIG
from tests.comparison.tools import at_hand_everywhere
from tests.controlplane.cluster import Options, control_plane


def main() -> None:
    """Measure; print the tables, and write them into the page unless told otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.comparison", description=__doc__)
    parser.add_argument("what", nargs="?", choices=tuple(_TABLES), default=page.SITUATIONS)
    parser.add_argument("--kubeconfig", type=Path, help="of a large cluster that is up")
    parser.add_argument("--turns", type=int, default=3, help="how often the large cluster is asked")
    parser.add_argument("--count", type=int, default=1000, help="clusters that are drawn for the evictions")
    parser.add_argument("--print", action="store_true", dest="only_print", help="leave the page as it is")
    arguments = parser.parse_args()
    tables = _TABLES[arguments.what](arguments)
    text = page.PAGE.read_text()
    for name, written in tables.items():
        sys.stdout.write(f"{written}\n")
        text = page.with_table(text, name, written)
    if not arguments.only_print:
        page.PAGE.write_text(text)


def _situations(_: argparse.Namespace) -> Mapping[str, str]:
    """Return the table of the situations, and that of the plugins which were looked for."""
    plugins = at_hand()
    with control_plane(Options(scheduler_config=SCHEDULER_CONFIG)) as plane:
        rows = [*compare(plane.client(), situations(), (*at_hand_everywhere(), *plugins.values()))]
    built = {rival: rival in plugins for rival in RIVALS}
    return {page.SITUATIONS: page.situations_table(rows), page.PLUGINS: page.plugins_table(built)}


def _costs(_: argparse.Namespace) -> Mapping[str, str]:
    """Return the table of what a question costs."""
    plugins = at_hand()
    with control_plane() as plane:
        measured = costs(plane, (*at_hand_everywhere(), *plugins.values()))
    sys.stderr.writelines(f"{each.name}: {each.seconds:.2f} s, {each.memory:.0f} MiB\n" for each in measured)
    return {page.COSTS: page.costs_table(measured)}


def _large(arguments: argparse.Namespace) -> Mapping[str, str]:
    """Return the table of what questions to the large cluster cost."""
    with running(arguments.kubeconfig, Size()) as kubeconfig:
        ours = [*questions.costs(ask(kubeconfig, turns=arguments.turns))]
        others = [*questions.costs(ask_others(kubeconfig))]
    # Each part stands beside its own bare read, for the machine is not as busy all the time.
    return {page.LARGE: page.large_table([*ours, *others[1:]])}


def _evictions(arguments: argparse.Namespace) -> Mapping[str, str]:
    """Return the table of what is evicted, by the descheduler and by plans."""
    asked = {
        "the descheduler's tests": [*imbalances.of_its_tests()],
        "generated clusters": [*imbalances.drawn(range(1, arguments.count + 1))],
    }
    found = {f"{what} ({len(clusters)})": [*descheduler.compare(clusters)] for what, clusters in asked.items()}
    flaws = [flaw for compared in found.values() for each in compared for flaw in each.flaws()]
    sys.stderr.writelines(f"{flaw}\n" for flaw in flaws)
    return {page.EVICTIONS: page.evictions_table(found)}


_TABLES: Mapping[str, Callable[[argparse.Namespace], Mapping[str, str]]] = {
    page.SITUATIONS: _situations,
    page.COSTS: _costs,
    page.LARGE: _large,
    page.EVICTIONS: _evictions,
}


if __name__ == "__main__":
    main()

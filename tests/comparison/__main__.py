"""Ask every tool at hand and write the tables: ``python -m tests.comparison [situations|costs] [--print]``.

Plugins by others are built the first time; those that cannot be had are named on stderr and left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from tests.comparison import page
from tests.comparison.asking import compare
from tests.comparison.costs import costs
from tests.comparison.rivals import RIVALS, AbsentError, Rival, located
from tests.comparison.situations import situations
from tests.comparison.stage import SCHEDULER_CONFIG
from tests.comparison.tools import Tool, at_hand_everywhere
from tests.controlplane.cluster import Options, control_plane


def main() -> None:
    """Measure; print the tables, and write them into the page unless told otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.comparison", description=__doc__)
    parser.add_argument("what", nargs="?", choices=(page.SITUATIONS, page.COSTS), default=page.SITUATIONS)
    parser.add_argument("--print", action="store_true", dest="only_print", help="leave the page as it is")
    arguments = parser.parse_args()
    tables = _costs() if arguments.what == page.COSTS else _situations()
    text = page.PAGE.read_text()
    for name, written in tables.items():
        sys.stdout.write(f"{written}\n")
        text = page.with_table(text, name, written)
    if not arguments.only_print:
        page.PAGE.write_text(text)


def _situations() -> Mapping[str, str]:
    """Return the table of the situations, and that of the plugins which were looked for."""
    plugins = _plugins()
    with control_plane(Options(scheduler_config=SCHEDULER_CONFIG)) as plane:
        rows = [*compare(plane.client(), situations(), (*at_hand_everywhere(), *plugins.values()))]
    at_hand = {rival: rival in plugins for rival in RIVALS}
    return {page.SITUATIONS: page.situations_table(rows), page.PLUGINS: page.plugins_table(at_hand)}


def _costs() -> Mapping[str, str]:
    """Return the table of what a question costs."""
    plugins = _plugins()
    with control_plane() as plane:
        measured = costs(plane, (*at_hand_everywhere(), *plugins.values()))
    sys.stderr.writelines(f"{each.name}: {each.seconds:.2f} s, {each.memory:.0f} MiB\n" for each in measured)
    return {page.COSTS: page.costs_table(measured)}


def _plugins() -> Mapping[Rival, Tool]:
    """Return the plugins that are at hand."""
    found = {}
    for rival in RIVALS:
        try:
            found[rival] = located(rival)
        except AbsentError as error:
            sys.stderr.write(f"{rival.name} {rival.version} is not at hand: {error}\n")
    return found


if __name__ == "__main__":
    main()

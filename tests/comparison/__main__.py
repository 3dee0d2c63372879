"""Ask every tool at hand about every situation and write the table: ``python -m tests.comparison [--print]``.

Plugins by others are built the first time; those that cannot be had are named on stderr and left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from tests.comparison.asking import compare
from tests.comparison.page import PAGE, table, with_table
from tests.comparison.rivals import RIVALS, AbsentError, located
from tests.comparison.situations import situations
from tests.comparison.stage import SCHEDULER_CONFIG
from tests.comparison.tools import Tool, at_hand_everywhere
from tests.controlplane.cluster import Options, control_plane


def main() -> None:
    """Measure; print the table, and write it into the page unless told otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.comparison", description=__doc__)
    parser.add_argument("--print", action="store_true", dest="only_print", help="leave the page as it is")
    arguments = parser.parse_args()
    tools = [*at_hand_everywhere(), *_rivals()]
    with control_plane(Options(scheduler_config=SCHEDULER_CONFIG)) as plane:
        written = table([*compare(plane.client(), situations(), tools)])
    sys.stdout.write(written)
    if not arguments.only_print:
        PAGE.write_text(with_table(PAGE.read_text(), written))


def _rivals() -> Iterator[Tool]:
    """Yield the plugins that are at hand."""
    for rival in RIVALS:
        try:
            yield located(rival)
        except AbsentError as error:
            sys.stderr.write(f"{rival.name} {rival.version} is not at hand: {error}\n")


if __name__ == "__main__":
    main()

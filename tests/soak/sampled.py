"""Soft placement on 121 and 301 nodes, of which kube-scheduler scores only some: Pods go where was said.

``python -m tests.soak sampled [--runs 20] [--plans 3] [--only even-121]`` asks ``check``, ``simulate`` and
``rebalance --soft``, and does what they were asked about.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from tests.controlplane.cluster import control_plane
from tests.e2e.fixes_as_printed import OPTIONS
from tests.e2e.sampled import PLANS, SHAPES, placements, plans


def main() -> int:
    """Try each shape of a cluster so often, and print what went otherwise; return 1 where anything did."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak sampled", description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--plans", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=list(SHAPES))
    asked, _ = parser.parse_known_args()
    wrong = 0
    with control_plane(OPTIONS) as plane:
        client = plane.client()
        for name in asked.only:
            wrong += _told(f"{name}: {asked.runs} runs of check and simulate", placements(client, name, asked.runs))
            if name in PLANS:
                wrong += _told(f"{name}: {asked.plans} plans", plans(client, name, asked.plans))
    return int(bool(wrong))


def _told(about: str, found: Iterable[str]) -> int:
    """Print what went otherwise, and return how often (count)."""
    wrong = list(found)
    sys.stdout.writelines(f"{line}\n" for line in (*wrong, f"{about}: {len(wrong)} beyond what was said"))
    sys.stdout.flush()
    return len(wrong)

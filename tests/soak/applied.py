"""Manifests applied to what lives, on a real control plane: ``python -m tests.soak applied``.

``--pairs 300`` does so many live objects with a manifest each, ``--files 60`` so many files of workloads that count
each other, ``--skip N`` leaves out the first.
"""

from __future__ import annotations

import argparse

from tests.controlplane.cluster import control_plane
from tests.e2e.applied_pairs import OPTIONS, counting, run


def main() -> int:
    """Do them and print where what was said and what came part; return 1 where they do."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak applied", description=__doc__)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--skip", type=int, default=0)
    asked, _ = parser.parse_known_args()
    with control_plane(OPTIONS) as plane:
        client = plane.client()
        failed, incomplete = run(client, range(1 + asked.skip, 1 + asked.skip + asked.pairs))
        wrong, unsure = run(client, range(1 + asked.skip, 1 + asked.skip + asked.files), counting)
    print(f"wrong: {failed} pairs, {wrong} files; Incomplete: {incomplete + unsure}")  # noqa: T201 - a proof prints
    return int(failed + wrong > 0)

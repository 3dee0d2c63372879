"""Clusters whose workloads lie unevenly, each drawn from a seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from tests.build import Object
from tests.rebalance.brute_force import cluster

MOST_NODES = MOST_PODS = 14  # Nodes, and Pods of a workload, in a cluster (counts)


class Imbalance(Struct, frozen=True):
    """A cluster to be balanced, and its name."""

    name: str
    objects: Sequence[Object]


def drawn(seeds: range) -> Iterator[Imbalance]:
    for seed in seeds:
        # The descheduler makes no room for one workload by evicting another's Pods.
        objects = cluster(seed, most_nodes=MOST_NODES, most_pods=MOST_PODS, is_roomy=True)
        yield Imbalance(f"cluster {seed}", objects)

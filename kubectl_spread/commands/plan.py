"""What to read to answer a question, as a list of reads; narrower questions read less."""

from __future__ import annotations

from kubectl_spread.cluster.reader import Read
from kubectl_spread.diagnosis.events import FAILED_SCHEDULING
from kubectl_spread.objects import kinds
from kubectl_spread.objects.kinds import Kind

WHOLE_CLUSTER_PODS = 5000
"""Pods (count) up to which ``show`` reads all of them without being asked to."""


def everything(namespace: str, *, events: bool = False) -> tuple[Read, ...]:
    """Return the reads for evaluating every filter for Pods of the namespace (empty: of all).

    Nodes and Pods are needed of the whole cluster; what else decides comes from the Pods' own namespace.
    """
    reads = [Read(kind=kinds.NODE), Read(kind=kinds.POD)]
    reads += [_optional(kind, namespace) for kind in kinds.KINDS if kind not in {kinds.NODE, kinds.POD, kinds.EVENT}]
    if events:
        failures = f"reason={FAILED_SCHEDULING}"
        reads.append(Read(kind=kinds.EVENT, namespace=namespace, field_selector=failures, required=False))
    return tuple(reads)


def spread_only(namespace: str) -> tuple[Read, ...]:
    """Return the reads for counting: Nodes, and the namespace's Pods, Services and owners."""
    return (
        Read(kind=kinds.NODE),
        Read(kind=kinds.POD, namespace=namespace),
        *(_optional(kind, namespace) for kind in (kinds.SERVICE, *kinds.WORKLOAD_KINDS)),
    )


def _optional(kind: Kind, namespace: str) -> Read:
    """Return a read whose failure leaves the answer incomplete instead of ending the command."""
    return Read(kind=kind, namespace=namespace if kind.namespaced else "", required=False)

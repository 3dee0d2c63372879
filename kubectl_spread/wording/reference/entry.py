"""One thing that is explained, and where the Kubernetes documentation speaks of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

DOCUMENTATION = "https://kubernetes.io/docs/concepts"
SPREAD = f"{DOCUMENTATION}/scheduling-eviction/topology-spread-constraints/"

DEFINITION = f"{SPREAD}#spread-constraint-definition"
NODE_LABELS = f"{SPREAD}#node-labels"
CONFLICTING = f"{SPREAD}#example-conflicting-topologyspreadconstraints"
AFFINITY = f"{SPREAD}#interaction-with-node-affinity-and-node-selectors"
CONVENTIONS = f"{SPREAD}#implicit-conventions"
DEFAULTS = f"{SPREAD}#cluster-level-default-constraints"
LIMITATIONS = f"{SPREAD}#known-limitations"
TAINTS = f"{DOCUMENTATION}/scheduling-eviction/taint-and-toleration/"
POD_AFFINITY = f"{DOCUMENTATION}/scheduling-eviction/assign-pod-node/#inter-pod-affinity-and-anti-affinity"
NODE_ASSIGNMENT = f"{DOCUMENTATION}/scheduling-eviction/assign-pod-node/"
DISRUPTIONS = f"{DOCUMENTATION}/workloads/pods/disruptions/"
PREEMPTION = f"{DOCUMENTATION}/scheduling-eviction/pod-priority-preemption/"
POD_SECURITY = f"{DOCUMENTATION}/security/pod-security-admission/"
REQUESTS = f"{DOCUMENTATION}/configuration/manage-resources-containers/"


class EntryKind(StrEnum):
    """What kind of thing is explained."""

    FINDING = "finding"
    FIX = "fix"
    STATUS = "status"
    VERDICT = "verdict"
    OUTCOME = "outcome"
    FIELD = "field"
    COLUMN = "column"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that is explained.

    Attributes:
        kind: of thing.
        name: as it stands in reports and manifests.
        summary: what it is, in half a line.
        meaning: what it means.
        when: when it is reported or offered; of a field, what the API server takes.
        action: what to do.
        link: the heading of the Kubernetes documentation.
    """

    kind: EntryKind
    name: str
    summary: str
    meaning: str
    when: str
    action: str
    link: str

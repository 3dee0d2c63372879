"""Cases without answers: situations drawn with a seed, in the format of README.md.

The same suite, release, seed and count give the same cases on every machine. A suite says how likely each ingredient
is; what an ingredient puts into a case is its own function in `ingredients`.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.conformance.ingredients import (
    affinity,
    configuration,
    devices,
    neighbours,
    nodes,
    nominations,
    pods,
    releases,
    resources,
    spread,
    tolerations,
    unreadable,
    volumes,
)
from tests.conformance.ingredients.draft import NAMESPACES, Dice, Draft, Ingredient, Object

Case = dict[str, Any]
Chances = Mapping[Ingredient, float]


@dataclass(frozen=True, slots=True)
class Suite:
    """How likely each ingredient is, and how many Pods are there already."""

    node: Chances  # of each node
    existing: Chances  # of each Pod that is there
    incoming: Chances  # of the Pod to be placed, its cluster and the scheduler's configuration
    pods: int = 14  # the most Pods there are


_NODE: Chances = {
    nodes.hardware_labels: 0.6,
    nodes.odd_labels: 0.05,
    nodes.taints: 0.12,
    nodes.cordon: 0.06,
    nodes.small: 0.05,
}

_SPREAD = Suite(
    node={**_NODE, nodes.taints: 0.15, nodes.cordon: 0.1},
    existing={resources.requests: 0.3},
    incoming={
        spread.constraints: 0.85,
        spread.services: 0.4,
        spread.owner: 0.35,
        affinity.node_selector: 0.08,
        affinity.required_node_affinity: 0.15,
        affinity.preferred_node_affinity: 0.05,
        tolerations.tolerations: 0.35,
        resources.requests: 0.4,
        pods.other_scheduler: 0.03,
        configuration.default_constraints: 0.2,
        configuration.added_affinity: 0.08,
        configuration.disabled_filter: 0.04,
    },
    pods=24,
)

_FILTERS = Suite(
    node={
        **_NODE,
        nodes.taints: 0.3,
        nodes.cordon: 0.12,
        nodes.small: 0.4,
        nodes.scarce_resources: 0.3,
        nodes.just_added: 0.01,
    },
    existing={
        resources.requests: 0.7,
        resources.init_containers: 0.1,
        resources.overhead: 0.1,
        resources.devices: 0.08,
        resources.pod_level_resources: 0.05,
        neighbours.host_ports: 0.3,
        neighbours.sidecar_ports: 0.04,
        neighbours.host_network: 0.05,
        neighbours.required_pod_anti_affinity: 0.08,
        volumes.bound_claim: 0.1,
        volumes.inline_volume: 0.1,
    },
    incoming={
        pods.node_name: 0.04,
        affinity.node_selector: 0.12,
        affinity.required_node_affinity: 0.35,
        affinity.one_node: 0.06,
        tolerations.tolerations: 0.5,
        resources.more_containers: 0.25,
        resources.requests: 0.7,
        resources.devices: 0.15,
        resources.init_containers: 0.25,
        resources.overhead: 0.12,
        resources.pod_level_resources: 0.08,
        resources.large_request: 0.2,
        spread.constraints: 0.2,
        neighbours.host_ports: 0.3,
        neighbours.required_pod_affinity: 0.12,
        neighbours.required_pod_anti_affinity: 0.12,
        volumes.attach_limits: 0.3,
        volumes.storage_capacity: 0.15,
        volumes.bound_claim: 0.2,
        volumes.unbound_claim: 0.12,
        volumes.ephemeral_claim: 0.04,
        volumes.missing_claim: 0.02,
        volumes.inline_volume: 0.12,
        volumes.attachments: 0.1,
        neighbours.sidecar_ports: 0.06,
        neighbours.host_network: 0.05,
        configuration.disabled_filter: 0.03,
        configuration.ignored_resources: 0.04,
    },
)

_SCORES = Suite(
    node={**_NODE, nodes.taints: 0.25, nodes.small: 0.5, nodes.scarce_resources: 0.3, nodes.images: 0.5},
    existing={
        resources.requests: 0.7,
        resources.init_containers: 0.1,
        neighbours.preferred_pod_affinity: 0.15,
        neighbours.required_pod_affinity: 0.1,
    },
    incoming={
        spread.soft_constraints: 0.6,
        spread.services: 0.3,
        spread.owner: 0.2,
        affinity.required_node_affinity: 0.06,
        affinity.preferred_node_affinity: 0.4,
        tolerations.tolerations: 0.6,
        resources.more_containers: 0.4,
        resources.requests: 0.7,
        resources.devices: 0.05,
        resources.init_containers: 0.15,
        neighbours.preferred_pod_affinity: 0.35,
        configuration.scoring_strategy: 0.12,
        configuration.balanced_resources: 0.06,
        configuration.pod_affinity_arguments: 0.08,
        configuration.other_weight: 0.08,
        configuration.disabled_score: 0.06,
    },
)

_RELEASE = Suite(
    node={
        **_NODE,
        nodes.taints: 0.25,
        nodes.small: 0.4,
        nodes.images: 0.4,
        releases.declared_features: 0.5,
    },
    existing={
        resources.requests: 0.6,
        resources.resized: 0.25,
        resources.pod_level_resized: 0.15,
        neighbours.required_pod_anti_affinity: 0.05,
        volumes.bound_claim: 0.08,
    },
    incoming={
        spread.constraints: 0.4,
        spread.services: 0.2,
        affinity.required_node_affinity: 0.12,
        affinity.one_node: 0.08,
        pods.node_name: 0.1,
        tolerations.tolerations: 0.4,
        tolerations.comparing_toleration: 0.1,
        resources.requests: 0.6,
        resources.pod_level_resources: 0.15,
        resources.large_request: 0.15,
        neighbours.preferred_pod_affinity: 0.1,
        volumes.attach_limits: 0.4,
        volumes.storage_capacity: 0.25,
        volumes.driver_required: 0.2,
        volumes.bound_claim: 0.2,
        volumes.unbound_claim: 0.15,
        releases.image_volume: 0.15,
        releases.needs_declared_feature: 0.12,
        releases.match_label_keys_gate: 0.08,
        releases.deferred_resize: 0.06,
        configuration.default_constraints: 0.05,
    },
)

_NOMINATED = Suite(
    node={**_NODE, nodes.small: 0.4},
    existing={
        resources.requests: 0.5,
        neighbours.host_ports: 0.1,
        neighbours.required_pod_affinity: 0.05,
        neighbours.required_pod_anti_affinity: 0.2,
        volumes.bound_claim: 0.15,
        volumes.inline_volume: 0.1,
        nominations.priority: 0.6,
        nominations.nominated: 0.4,
        nominations.still_nominated: 0.05,
        nominations.gated: 0.05,
        nominations.foreign: 0.05,
        nominations.started: 1.0,
    },
    incoming={
        spread.constraints: 0.6,
        tolerations.tolerations: 0.3,
        resources.requests: 0.5,
        neighbours.host_ports: 0.2,
        neighbours.required_pod_affinity: 0.25,
        neighbours.required_pod_anti_affinity: 0.25,
        neighbours.preferred_pod_affinity: 0.1,
        volumes.attach_limits: 0.3,
        volumes.bound_claim: 0.25,
        volumes.inline_volume: 0.15,
        nominations.priority: 0.5,
    },
)

_PREEMPTION = Suite(
    node={**_NODE, nodes.taints: 0.08, nodes.small: 0.7},
    existing={
        resources.requests: 0.8,
        resources.large_request: 0.1,
        neighbours.host_ports: 0.3,
        neighbours.required_pod_affinity: 0.05,
        neighbours.required_pod_anti_affinity: 0.2,
        volumes.bound_claim: 0.1,
        volumes.inline_volume: 0.2,
        nominations.priority: 0.7,
        nominations.nominated: 0.05,
        nominations.started: 1.0,
    },
    incoming={
        spread.constraints: 0.5,
        tolerations.tolerations: 0.3,
        resources.requests: 0.6,
        resources.large_request: 0.5,
        neighbours.host_ports: 0.5,
        neighbours.required_pod_affinity: 0.1,
        neighbours.required_pod_anti_affinity: 0.4,
        volumes.attach_limits: 0.4,
        volumes.bound_claim: 0.15,
        volumes.inline_volume: 0.3,
        nominations.urgent: 0.95,
        nominations.budgets: 0.5,
        nominations.never_preempting: 0.03,
        nominations.evicted_for_it: 0.08,
        configuration.disabled_preemption: 0.04,
    },
    pods=30,
)

_UNREADABLE = Suite(
    node={**_NODE, unreadable.label: 0.2},
    existing={
        resources.requests: 0.5,
        neighbours.required_pod_affinity: 0.2,
        neighbours.required_pod_anti_affinity: 0.3,
        neighbours.preferred_pod_affinity: 0.3,
        unreadable.selector: 0.3,
        unreadable.label: 0.1,
        nominations.priority: 0.4,
        nominations.nominated: 0.1,
        nominations.started: 1.0,
    },
    incoming={
        spread.constraints: 0.5,
        spread.services: 0.2,
        spread.owner: 0.3,
        affinity.required_node_affinity: 0.4,
        affinity.preferred_node_affinity: 0.1,
        resources.requests: 0.4,
        resources.large_request: 0.1,
        neighbours.required_pod_affinity: 0.2,
        neighbours.required_pod_anti_affinity: 0.2,
        neighbours.preferred_pod_affinity: 0.2,
        nominations.urgent: 0.3,
        nominations.budgets: 0.3,
        unreadable.selector: 0.3,
        unreadable.selector_of_another: 0.5,
        unreadable.node_selector: 0.15,
        unreadable.node_affinity: 0.4,
        configuration.default_constraints: 0.2,
        configuration.disabled_filter: 0.03,
    },
)

_DEVICES = Suite(
    node={**_NODE, nodes.taints: 0.25, nodes.cordon: 0.1},
    existing={resources.requests: 0.4},
    incoming={
        spread.constraints: 0.4,
        affinity.required_node_affinity: 0.1,
        tolerations.tolerations: 0.3,
        resources.requests: 0.4,
        devices.offers: 0.95,
        devices.taken: 0.3,
        devices.claims: 0.4,
        devices.claim_of_its_own: 0.3,
        devices.extended_resource: 0.4,
        devices.scheduling_group: 0.1,
    },
)

SUITES: Mapping[str, Suite] = {
    "spread": _SPREAD,
    "filters": _FILTERS,
    "scores": _SCORES,
    "release": _RELEASE,
    "nominated": _NOMINATED,
    "preemption": _PREEMPTION,
    "unreadable": _UNREADABLE,
    "devices": _DEVICES,
}

_SINCE: Mapping[Ingredient, int] = {
    tolerations.comparing_toleration: 35,
    releases.needs_declared_feature: 35,
    releases.deferred_resize: 37,
    **dict.fromkeys(
        (devices.offers, devices.taken, devices.claims, devices.claim_of_its_own, devices.extended_resource), 35
    ),
    devices.scheduling_group: 35,
}
"""The first minor release that knows an ingredient, where that is not all of them."""


def cases(*, suite: str, minor: int, seed: int, count: int, first: int = 0) -> Iterator[Case]:
    """Return cases of one suite for one minor release of Kubernetes 1, from the first of these numbers on."""
    for number in range(first, first + count):
        name = f"{suite}-{minor}-{seed}-{number}"
        yield {"id": name, **_case(SUITES[suite], Draft(dice=Dice(name), minor=minor))}


def _case(suite: Suite, draft: Draft) -> Case:
    """Draw one case: first the nodes, then the Pod to be placed, then its neighbours."""
    nodes.cluster(draft)
    for node in draft.nodes:
        _mix(draft, node, suite.node)
    draft.pod = pods.incoming(draft)
    for number in range(draft.dice.randint(0, suite.pods)):
        draft.pods.append(pods.existing(draft, number))
        _mix(draft, draft.pods[-1], suite.existing)
    _mix(draft, draft.pod, suite.incoming)
    return _written(draft)


def _mix(draft: Draft, into: Object, chances: Chances) -> None:
    """Add each ingredient the release knows with its chance."""
    for ingredient, chance in chances.items():
        if draft.minor >= _SINCE.get(ingredient, 0) and draft.dice.chance(chance):
            ingredient(draft, into)


def _written(draft: Draft) -> Case:
    """Return the draft as a case: optional parts only where they are."""
    case: Case = {
        "kubeVersion": f"v1.{draft.minor}",
        "objects": [*draft.nodes, *map(_namespace, NAMESPACES), *draft.pods, *draft.others],
        "pod": draft.pod,
    }
    optional = {"config": draft.config, "featureGates": draft.gates}
    return case | {key: value for key, value in optional.items() if value}


def _namespace(name: str) -> Object:
    """Return a namespace with its labels."""
    labels = {"kubernetes.io/metadata.name": name, **NAMESPACES[name]}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def main() -> None:
    """Print cases as JSON lines."""
    parser = argparse.ArgumentParser(description="Print cases without answers, as JSON lines.")
    parser.add_argument("--suite", choices=sorted(SUITES), default="spread")
    parser.add_argument("--release", default="1.36")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    asked = parser.parse_args()
    minor = int(asked.release.removeprefix("1."))
    for case in cases(suite=asked.suite, minor=minor, seed=asked.seed, count=asked.count):
        sys.stdout.write(json.dumps(case, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()

"""Releases of Kubernetes, and the feature gates that change rules of the scheduler or the API server.

Source: pkg/features/kube_features.go (v1.33 to v1.37).
"""

import re
from collections.abc import Mapping

import msgspec

OLDEST_MINOR = 24
NEWEST_MINOR = 37
PROVED_MINORS = range(33, NEWEST_MINOR + 1)  # The releases whose recorded answers are compared with ours
REFERENCE_MINOR = 36  # The release whose rules apply if the cluster's release is not known


class Gate(msgspec.Struct, frozen=True):
    """A feature gate."""

    name: str
    since: int  # the first minor release of Kubernetes 1 that has it
    on_since: int | None  # the first minor release in which it is on by default; None for none yet


CONTAINER_RESTART_RULES = Gate("ContainerRestartRules", 34, 35)
DEVICE_BINDING_CONDITIONS = Gate("DRADeviceBindingConditions", 34, 36)
DYNAMIC_RESOURCES = Gate("DynamicResourceAllocation", 26, 34)
EXTENDED_RESOURCES_BY_DEVICES = Gate("DRAExtendedResource", 34, 36)
# Since 1.35, never on by default; but an API server with the gate off drops the field, so a Pod with it proves it on.
GENERIC_WORKLOAD = Gate("GenericWorkload", 0, 0)
IMAGE_VOLUME = Gate("ImageVolume", 31, 35)
# The scheduler considers resizes only since 1.33.
IN_PLACE_RESIZE = Gate("InPlacePodVerticalScaling", 27, 33)
MATCH_LABEL_KEYS = Gate("MatchLabelKeysInPodTopologySpread", 25, 27)
MATCH_LABEL_KEYS_MERGE = Gate("MatchLabelKeysInPodTopologySpreadSelectorMerge", 34, 34)
MAX_UNAVAILABLE_STATEFUL_SET = Gate("MaxUnavailableStatefulSet", 24, 37)
MIN_DOMAINS = Gate("MinDomainsInPodTopologySpread", 24, 27)
NODE_DECLARED_FEATURES = Gate("NodeDeclaredFeatures", 35, 36)
NODE_INCLUSION_POLICIES = Gate("NodeInclusionPolicyInPodTopologySpread", 25, 26)
NUMERIC_TOLERATIONS = Gate("TaintTolerationComparisonOperators", 35, None)
POD_LEVEL_RESIZE = Gate("InPlacePodLevelResourcesVerticalScaling", 35, 36)
POD_LEVEL_RESOURCES = Gate("PodLevelResources", 32, 34)
PRIORITIZED_LIST = Gate("DRAPrioritizedList", 33, 34)
RESIZE_PREEMPTION = Gate("InPlacePodVerticalScalingSchedulerPreemption", 37, None)
STATEFUL_SET_RECREATE = Gate("StatefulSetRecreateStrategy", 37, None)
STORAGE_CAPACITY_SCORING = Gate("StorageCapacityScoring", 33, 37)
VOLUME_ATTRIBUTES_CLASS = Gate("VolumeAttributesClass", 29, 34)
VOLUME_LIMIT_SCALING = Gate("VolumeLimitScaling", 35, 37)


class Release(msgspec.Struct, frozen=True):
    """A release, with the feature gates that differ from its defaults."""

    minor: int = REFERENCE_MINOR
    gates: Mapping[str, bool] = {}

    def knows(self, gate: Gate) -> bool:
        """Whether the release has the feature gate, on or off."""
        return self.minor >= gate.since

    def enables(self, gate: Gate) -> bool:
        """Whether the feature is on."""
        by_default = gate.on_since is not None and self.minor >= gate.on_since
        return self.knows(gate) and self.gates.get(gate.name, by_default)


def minor_of(version: str) -> int | None:
    """Return the minor release of ``v1.36.2`` (36), None if the text is no release of Kubernetes 1."""
    match = re.match(r"v?1\.([0-9]{1,3})(?:[.+-]|$)", version)
    return int(match[1]) if match else None

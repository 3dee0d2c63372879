"""What the rules of one release depend on: its number and its feature gates.

Source: pkg/features/kube_features.go (v1.33 to v1.37).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

REFERENCE_MINOR = 36


@dataclass(frozen=True, slots=True)
class Gate:
    """A feature gate.

    Attributes:
        name: as ``--feature-gates`` has it.
        since: the first minor release of Kubernetes 1 that knows it.
        on_since: the first in which it is on unless somebody says otherwise; None for none yet.
    """

    name: str
    since: int
    on_since: int | None


MATCH_LABEL_KEYS = Gate("MatchLabelKeysInPodTopologySpread", 25, 27)
MATCH_LABEL_KEYS_MERGE = Gate("MatchLabelKeysInPodTopologySpreadSelectorMerge", 34, 34)
POD_LEVEL_RESOURCES = Gate("PodLevelResources", 32, 34)
CONTAINER_RESTART_RULES = Gate("ContainerRestartRules", 34, 35)
RESTART_ALL_CONTAINERS = Gate("RestartAllContainersOnContainerExits", 35, 36)
DYNAMIC_RESOURCES = Gate("DynamicResourceAllocation", 26, 34)
IMAGE_VOLUME = Gate("ImageVolume", 31, 35)
NUMERIC_TOLERATIONS = Gate("TaintTolerationComparisonOperators", 35, None)
USER_NAMESPACES_HOST_NETWORK = Gate("UserNamespacesHostNetworkSupport", 35, None)


@dataclass(frozen=True, slots=True)
class Release:
    """An API server's release.

    Attributes:
        minor: the minor release of Kubernetes 1.
        gates: feature gates that differ from the release's defaults.
    """

    minor: int = REFERENCE_MINOR
    gates: Mapping[str, bool] = field(default_factory=dict)

    def knows(self, gate: Gate) -> bool:
        """Whether the release has the feature at all, switched on or off."""
        return self.minor >= gate.since

    def enables(self, gate: Gate) -> bool:
        """Whether the feature is on."""
        by_default = gate.on_since is not None and self.minor >= gate.on_since
        return self.knows(gate) and self.gates.get(gate.name, by_default)

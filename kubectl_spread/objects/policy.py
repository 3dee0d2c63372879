"""PodDisruptionBudget and NetworkPolicy: what else selects Pods by their labels.

Source: api policy/v1/types.go, networking/v1/types.go (v1.36).
"""

from __future__ import annotations

from kubectl_spread.labels import NOTHING, Selector
from kubectl_spread.objects.meta import LabelSelector, ObjectMeta, Struct, parse_label_selector


class PodDisruptionBudgetSpec(Struct, frozen=True):
    """Which Pods it guards (None guards none), and how many of them there must be, or may be missing.

    Of unready Pods the policy decides: AlwaysAllow, or by default IfHealthyBudget.
    """

    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str = ""


class PodDisruptionBudgetStatus(Struct, frozen=True):
    """How many of them may be evicted now, and which are about to go (Pod's name → when that began)."""

    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    disrupted_pods: dict[str, str] = {}


class PodDisruptionBudget(Struct, frozen=True):
    """A bound on voluntary evictions."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()

    @property
    def selector(self) -> Selector:
        """Which Pods it guards; one that cannot be read guards none, as upstream passes it over."""
        try:
            return parse_label_selector(self.spec.selector)
        except ValueError:
            return NOTHING


class NetworkPolicySpec(Struct, frozen=True):
    """Which Pods it isolates; empty isolates all of the namespace."""

    pod_selector: LabelSelector = LabelSelector()


class NetworkPolicy(Struct, frozen=True):
    """A rule about who may talk to Pods."""

    metadata: ObjectMeta = ObjectMeta()
    spec: NetworkPolicySpec = NetworkPolicySpec()

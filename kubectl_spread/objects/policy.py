"""Policies that select Pods by their labels, and classes from which the API server sets fields of a Pod.

These are PodDisruptionBudget and NetworkPolicy, PriorityClass and RuntimeClass.

Source: api policy/v1, networking/v1, scheduling/v1 and node/v1 types.go (v1.36).
"""

from kubectl_spread.labels import Selector
from kubectl_spread.objects.core import Quantity, Toleration
from kubectl_spread.objects.meta import KubernetesObject, LabelSelector, Struct, readable_selector


class PodDisruptionBudgetSpec(Struct, frozen=True):
    """The Pods that it protects (None protects none), and how many must be available or may be unavailable.

    The policy for unhealthy Pods is AlwaysAllow or IfHealthyBudget, the default.
    """

    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str = ""


class PodDisruptionBudgetStatus(Struct, frozen=True):
    """How many Pods may be evicted now, and which evictions are in progress (Pod's name → when it began)."""

    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    disrupted_pods: dict[str, str] = {}


class PodDisruptionBudget(KubernetesObject, frozen=True):
    """A limit on voluntary evictions."""

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()

    @property
    def selector(self) -> Selector:
        """The Pods that it protects; none where the selector cannot be parsed, as upstream skips such a budget."""
        return readable_selector(self.spec.selector)


class NetworkPolicySpec(Struct, frozen=True):
    """The Pods that it isolates; an empty selector isolates all Pods of the namespace."""

    pod_selector: LabelSelector = LabelSelector()


class NetworkPolicy(KubernetesObject, frozen=True):
    """A rule about the network traffic of Pods."""

    spec: NetworkPolicySpec = NetworkPolicySpec()


class PriorityClass(KubernetesObject, frozen=True):
    """A name for a priority; Pods that name no class get the global default."""

    value: int = 0
    global_default: bool = False
    preemption_policy: str = "PreemptLowerPriority"


class Overhead(Struct, frozen=True):
    """The resources that a Pod needs in addition to its containers."""

    pod_fixed: dict[str, Quantity] = {}


class RuntimeScheduling(Struct, frozen=True):
    """The nodes that support a runtime."""

    node_selector: dict[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()


class RuntimeClass(KubernetesObject, frozen=True):
    """A container runtime."""

    overhead: Overhead | None = None
    scheduling: RuntimeScheduling | None = None

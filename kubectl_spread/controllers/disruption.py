"""PodDisruptionBudgets: how many evictions each of them allows now.

Source: kube-controller-manager pkg/controller/disruption/disruption.go trySync, getExpectedPodCount, updatePdbStatus,
failSafe (v1.36). Not modelled: UIDs, which tell an owner from an earlier one of its name.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto

from msgspec.structs import replace

from kubectl_spread.controllers.rolling_update import portion
from kubectl_spread.controllers.workloads import controller_of, is_absent
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.kinds import BY_API, Scaled
from kubectl_spread.objects.meta import OwnerReference
from kubectl_spread.objects.policy import PodDisruptionBudget, PodDisruptionBudgetStatus
from kubectl_spread.objects.workloads import Deployment, ReplicaSet
from kubectl_spread.snapshot import Snapshot


def with_status(budget: PodDisruptionBudget, pods: Iterable[Pod], snapshot: Snapshot) -> PodDisruptionBudget:
    """Return the budget with the status that its controller sets; ``pods`` has its Pods, including finished ones."""
    selector, namespace = budget.selector, budget.metadata.namespace
    pods = [pod for pod in pods if pod.metadata.namespace == namespace and selector.matches(pod.metadata.labels)]
    counted = _expected(budget, pods, snapshot)
    if counted is None:
        # After an error the controller allows no eviction, and keeps all other numbers.
        return replace(budget, status=replace(budget.status, disruptions_allowed=0))
    expected, desired = counted
    healthy = sum(pod.ready and not pod.terminating for pod in pods)
    allowed = max(healthy - desired, 0) if expected else 0
    status = replace(
        budget.status,
        disruptions_allowed=allowed,
        disrupted_pods={},
        current_healthy=healthy,
        desired_healthy=desired,
        expected_pods=expected,
    )
    return replace(budget, status=status)


def never_counted(snapshot: Snapshot) -> Iterator[PodDisruptionBudget]:
    """Yield the budgets without a status, as in a file written by hand, with the status that the controller sets."""
    for budget in snapshot.all(PodDisruptionBudget):
        if budget.status == PodDisruptionBudgetStatus():
            yield with_status(budget, snapshot.all(Pod), snapshot)


def _expected(budget: PodDisruptionBudget, pods: Sequence[Pod], snapshot: Snapshot) -> tuple[int, int] | None:
    """Return (expected Pods, healthy ones that there must be), counts; None for an error of the controller."""
    least, most = budget.spec.min_available, budget.spec.max_unavailable
    if most is None and least is None:
        return 0, 0
    if most is None and isinstance(least, int):
        return len(pods), least
    scale = _scale(budget, pods, snapshot)
    if scale is None:
        return None
    try:
        number = portion((least or 0) if most is None else most, scale, round_up=True)
    except ValueError:
        return None
    return scale, number if most is None else max(scale - number, 0)


class _Unscaled(Enum):
    """Why the number of replicas that an owner wants is not known."""

    ERROR = auto()  # The owner does not exist, or its kind has no replicas
    UNREAD = auto()


def _scale(budget: PodDisruptionBudget, pods: Sequence[Pod], snapshot: Snapshot) -> int | None:
    """Source: disruption.go getExpectedScale. If an owner was not read, the number in the budget's status holds."""
    owners = {pod.metadata.controller: pod for pod in pods if pod.metadata.controller is not None}
    found = [_scale_of(owner, pod, snapshot) for owner, pod in owners.items() if owner is not None]
    if _Unscaled.ERROR in found:
        return None
    if _Unscaled.UNREAD in found:
        return budget.status.expected_pods
    return sum(dict(each for each in found if not isinstance(each, _Unscaled)).values())


def _scale_of(ref: OwnerReference, pod: Pod, snapshot: Snapshot) -> tuple[tuple[str, str], int] | _Unscaled:
    """Return ((kind, name), replicas) of the Pod's scalable owner; of a ReplicaSet the owner is its Deployment."""
    namespace = pod.metadata.namespace
    if is_absent(ref, namespace, snapshot):
        return _Unscaled.ERROR
    owner = controller_of(pod, snapshot) if (ref.api_version, ref.kind) in BY_API else None
    above = owner.metadata.controller if isinstance(owner, ReplicaSet) else None
    if above is not None and above.kind == Deployment.__name__ and not is_absent(above, namespace, snapshot):
        owner = snapshot.get(Deployment, namespace, above.name)
    if isinstance(owner, Scaled):
        return (type(owner).__name__, owner.metadata.name), owner.spec.replicas_wanted
    return _Unscaled.UNREAD if owner is None else _Unscaled.ERROR

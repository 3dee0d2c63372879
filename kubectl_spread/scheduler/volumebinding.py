"""VolumeBinding: the Pod's claims are bound to volumes that the node can use, or can be bound there.

Source: kube-scheduler volumebinding/{volume_binding,scorer}.go (v1.36). Not modelled: volumes that the scheduler has
assumed for other Pods and not bound yet.
"""

from collections.abc import Sequence
from functools import partial

from kubectl_spread import quantity
from kubectl_spread.objects.core import Pod, Volume
from kubectl_spread.objects.kinds import VOLUME_KINDS
from kubectl_spread.objects.storage import STORAGE, PersistentVolumeClaim, claim_name
from kubectl_spread.scheduler import framework, volumezone
from kubectl_spread.scheduler.claims import CLAIM, claim_named, claims_of, not_found, ownership_problem
from kubectl_spread.scheduler.nodeinfo import NodeInfo
from kubectl_spread.scheduler.profile import Behaviour
from kubectl_spread.scheduler.shape import Shape, score_at, shape_of
from kubectl_spread.scheduler.volumebinder import PodVolumeClaims, PodVolumes, find_pod_volumes, pod_volume_claims

NAME = "VolumeBinding"
# The filters that decide on which nodes a Pod's bound volumes can be used.
OF_VOLUMES = frozenset((NAME, volumezone.NAME))
REASON_IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"
LOST = "Lost"
FULL = 100

# Source: pkg/scheduler/apis/config/v1/defaults.go SetDefaults_VolumeBindingArgs (v1.37).
EMPTIER_IS_BETTER: Shape = ((0, 100), (100, 0))


def pre_filter(pod: Pod, handle: framework.Handle) -> framework.PreFilterResult | framework.Status:
    """Return the filter, or Skip for a Pod without claims; reject a Pod with a claim that no node can satisfy.

    Without all lists, only what the claims that were read say themselves is known.
    """
    volumes = [volume for volume in pod.spec.volumes if volume.claims]
    if not volumes:
        return framework.SKIP
    unread = any(map(handle.snapshot.inventory.refused, VOLUME_KINDS))
    read = [each for each in volumes if not unread or claim_named(pod, claim_name(pod, each) or "", handle.snapshot)]
    if problem := next(filter(None, (claim_problem(pod, volume, handle) for volume in read)), ""):
        return framework.unresolvable(problem)
    if unread:
        return framework.SKIP
    claims = pod_volume_claims(claims_of(pod, handle.snapshot), handle)
    # The controller binds such a claim before any Pod is scheduled.
    if claims.immediate:
        return framework.unresolvable(REASON_IMMEDIATE)
    return framework.PreFilterResult(
        (lambda _: framework.SUCCESS) if claims.anywhere else partial(filter_node, claims, handle)
    )


def filter_node(claims: PodVolumeClaims, handle: framework.Handle, node_info: NodeInfo) -> framework.Status:
    """Reject a node on which the claims cannot be bound, with all reasons."""
    try:
        reasons = find_pod_volumes(claims, node_info, handle).reasons
    except ValueError as error:
        return framework.error(str(error))
    return framework.unresolvable(*reasons) if reasons else framework.SUCCESS


def pre_score(pod: Pod, handle: framework.Handle, nodes: Sequence[NodeInfo]) -> dict[str, int] | None:
    """Return node's name → score (0..100) by the storage that stays free, None in releases without this score.

    Source: volumebinding/volume_binding.go PreScore, Score (v1.37), KEP-4049.
    """
    if not handle.profile.does(Behaviour.STORAGE_CAPACITY_SCORING):
        return None
    claims = pod_volume_claims(claims_of(pod, handle.snapshot), handle)
    shape = shape_of(handle.profile.volume_binding.shape) or EMPTIER_IS_BETTER
    return {info.name: score(find_pod_volumes(claims, info, handle), shape) for info in nodes}


def claim_problem(pod: Pod, volume: Volume, handle: framework.Handle) -> str:
    """Return why no node can satisfy the volume's claim; empty if one may.

    Source: volumebinding/volume_binding.go podHasPVCs (v1.36).
    """
    name = claim_name(pod, volume) or ""
    claim = claim_named(pod, name, handle.snapshot)
    if claim is None and volume.persistent_volume_claim is None:
        return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
    if claim is None:
        return not_found(CLAIM, name)
    if claim.status.phase == LOST:
        return f'{CLAIM} "{name}" bound to non-existent persistentvolume "{claim.spec.volume_name}"'
    if claim.metadata.deletion_timestamp is not None:
        return f'{CLAIM} "{name}" is being deleted'
    return ownership_problem(pod, volume, claim)


def score(volumes: PodVolumes, shape: Shape) -> int:
    """Return the score (0..100) of a node: the mean over StorageClasses of the shape's scores for their utilization.

    Source: volumebinding/volume_binding.go Score, scorer.go buildScorerFunction (v1.37).
    """
    # StorageClass → requested bytes, and the capacity in bytes: of the existing volumes, or for new ones.
    # upstream: if any existing volume is used, new ones do not count.
    classes: dict[str, tuple[int, int]] = {}
    for binding in volumes.static_bindings:
        name = binding.volume.spec.storage_class_name
        requested, capacity = classes.get(name, (0, 0))
        size = quantity.value(binding.volume.spec.capacity.get(STORAGE, 0))
        classes[name] = requested + _requested(binding.claim), capacity + size
    for provision in () if volumes.static_bindings else volumes.dynamic_provisions:
        if provision.capacity is not None:  # the driver publishes its capacity
            requested, _ = classes.get(provision.claim.class_name, (0, 0))
            free = quantity.value(provision.capacity.capacity or 0)
            classes[provision.claim.class_name] = requested + _requested(provision.claim), free
    if not classes:
        return 0
    return framework.go_round(sum(score_at(shape, utilization(*sums)) for sums in classes.values()) / len(classes))


def utilization(requested: int, capacity: int) -> int:
    """Return the requested share of the capacity (percent, rounded down), at most 100."""
    return FULL if capacity == 0 or requested > capacity else requested * FULL // capacity


def _requested(claim: PersistentVolumeClaim) -> int:
    return quantity.value(claim.spec.resources.requests.get(STORAGE, 0))

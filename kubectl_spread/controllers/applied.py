"""How many replicas a workload has once a manifest is applied that may not say so.

``kubectl apply`` leaves alone what neither the manifest nor the last one that was applied says: the number that an
autoscaler has set. What the last one said and this one does not is taken back, to what the API defaults it to.

Source: kubectl pkg/cmd/apply/patcher.go, apimachinery pkg/util/strategicpatch CreateThreeWayMergePatch; for server-side
apply structured-merge-diff merge/update.go prune (v1.36).
"""

from __future__ import annotations

from kubectl_spread.controllers.replicas import replicas_of
from kubectl_spread.objects.decoding import DecodeError, Plain, plain
from kubectl_spread.objects.kinds import Workload
from kubectl_spread.objects.meta import ScaledMeta
from kubectl_spread.snapshot import Snapshot

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def replicas_applied(owner: Workload, before: Snapshot) -> int:
    """Return how many Pods the workload asks for once it is applied to the cluster (count)."""
    live = _kept(owner, before)
    return replicas_of(owner if live is None or _is_taken_back(live) else live)


def replicas_taken_back(owner: Workload, before: Snapshot) -> int | None:
    """Return how many replicas (count) live that applying resets to one, None where it resets none."""
    live = _kept(owner, before)
    if live is None or not _is_taken_back(live):
        return None
    return replicas_of(live) if replicas_of(live) != replicas_of(owner) else None


def _kept(owner: Workload, before: Snapshot) -> Workload | None:
    """Return the live workload whose replicas the manifest does not mention, None where it does or none lives."""
    if not isinstance(owner.metadata, ScaledMeta) or getattr(owner.spec, "replicas", None) is not None:
        return None
    return before.get(type(owner), owner.metadata.namespace, owner.metadata.name)


def _is_taken_back(live: Workload) -> bool:
    """Whether whoever applied it last had said how many replicas there are."""
    metadata = live.metadata
    if not isinstance(metadata, ScaledMeta):
        return False
    if LAST_APPLIED in metadata.annotations:
        return _says_replicas(metadata.annotations[LAST_APPLIED])
    holders = [entry for entry in metadata.managed_fields if entry.fields_v1.spec.replicas is not None]
    # Another manager that holds it too, as an autoscaler does, keeps it.
    return bool(holders) and all(entry.operation == "Apply" for entry in holders)


def _says_replicas(text: str) -> bool:
    """Whether a manifest says how many replicas there are."""
    try:
        values = plain(text.encode())
    except DecodeError:
        return False
    return _field(_field(values, "spec"), "replicas") is not None


def _field(values: Plain, name: str) -> Plain:
    """Return a field, None where there is none."""
    return values.get(name) if isinstance(values, dict) else None

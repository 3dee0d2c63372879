"""The PersistentVolumeClaims of a Pod, with those of its generic ephemeral volumes.

Source: component-helpers storage/ephemeral/ephemeral.go, apimachinery pkg/api/errors/errors.go NewNotFound (v1.36).
"""

from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import Pod, Volume
from kubectl_spread.objects.storage import PersistentVolumeClaim, StorageClass
from kubectl_spread.snapshot import Snapshot

CLAIM = "persistentvolumeclaim"
VOLUME = "persistentvolume"
CLASS = "storageclass.storage.k8s.io"
NO_CLAIM_NAME = "PersistentVolumeClaim had no name"


def claim_named(pod: Pod, name: str, snapshot: Snapshot) -> PersistentVolumeClaim | None:
    """Return the claim of that name in the Pod's namespace, None where it does not exist."""
    return snapshot.get(PersistentVolumeClaim, pod.metadata.namespace, name)


def claims_of(pod: Pod, snapshot: Snapshot) -> tuple[PersistentVolumeClaim, ...]:
    """Return the Pod's existing claims, one for each volume."""
    return tuple(claim for claim in snapshot.claims_of(pod) if claim is not None)


def class_unknown(claim: PersistentVolumeClaim, snapshot: Snapshot) -> bool:
    """Whether the class of a claim without a volume was not read: files that hold no StorageClass may lack it."""
    if claim.spec.volume_name or not claim.class_name or snapshot.inventory.has_all(kinds.STORAGE_CLASS):
        return False
    return snapshot.get(StorageClass, "", claim.class_name) is None


def ownership_problem(pod: Pod, volume: Volume, claim: PersistentVolumeClaim) -> str:
    """Return why the Pod may not use the claim of its ephemeral volume; empty where it may.

    Source: ephemeral.go VolumeIsForPod (v1.36).
    """
    owner = claim.metadata.controller
    if volume.persistent_volume_claim is not None or (owner is not None and owner.uid == pod.metadata.uid):
        return ""
    return f"PVC {'/'.join(claim.key)} was not created for pod {'/'.join(pod.key)} (pod is not owner)"


def not_found(resource: str, name: str) -> str:
    """Return the error of a lister for an object that does not exist."""
    return f'{resource} "{name}" not found'

"""Claims, volumes and what CSI drivers say of nodes, from the little that a test is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.build import Object

DRIVER = "csi.example.com"
READ_WRITE_ONCE = ("ReadWriteOnce",)


def claim(  # noqa: PLR0913 - all but the first are optional and named
    name: str,
    *,
    namespace: str = "default",
    class_name: str | None = None,
    size: str | None = "1Gi",
    modes: Sequence[str] = READ_WRITE_ONCE,
    bound_to: str = "",
    phase: str = "",
    annotations: Mapping[str, str] | None = None,
    owner_uid: str = "",
    terminating: bool = False,
    uid: str = "",
    **spec: Any,  # noqa: ANN401 - any field of the spec, by the API's name
) -> Object:
    """Return a PersistentVolumeClaim.

    Args:
        name: its name.
        namespace: where it lives.
        class_name: its StorageClass; None for none.
        size: the storage it requests; None for none.
        modes: its access modes.
        bound_to: the volume it is bound to; empty for none.
        phase: its phase; Bound or Pending unless said.
        annotations: further annotations.
        owner_uid: the UID of the Pod it was made for.
        terminating: whether it is being deleted.
        uid: its UID.
        **spec: further fields of the spec.
    """
    bound = {"pv.kubernetes.io/bind-completed": "yes"} if bound_to else {}
    metadata: Object = {"name": name, "namespace": namespace, "uid": uid or f"{namespace}/{name}"}
    metadata["annotations"] = {**bound, **(annotations or {})}
    if owner_uid:
        metadata["ownerReferences"] = [_owning_pod(owner_uid)]
    requested = {} if size is None else {"requests": {"storage": size}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": _deleted(metadata) if terminating else metadata,
        "spec": {
            "accessModes": [*modes],
            "resources": requested,
            **({} if class_name is None else {"storageClassName": class_name}),
            **({"volumeName": bound_to} if bound_to else {}),
            **spec,
        },
        "status": {"phase": phase or ("Bound" if bound_to else "Pending")},
    }


def _owning_pod(uid: str) -> Object:
    """Return the reference to the Pod that a claim was made for."""
    return {"apiVersion": "v1", "kind": "Pod", "name": "owner", "uid": uid, "controller": True}


def volume(  # noqa: PLR0913 - all but the first are optional and named
    name: str,
    *,
    class_name: str = "",
    size: str = "1Gi",
    modes: Sequence[str] = READ_WRITE_ONCE,
    source: Object | None = None,
    usable_on: Mapping[str, Sequence[str]] | None = None,
    kept_for: Mapping[str, str] | None = None,
    phase: str = "Available",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    terminating: bool = False,
    **spec: Any,  # noqa: ANN401 - any field of the spec, by the API's name
) -> Object:
    """Return a PersistentVolume.

    Args:
        name: its name.
        class_name: its StorageClass.
        size: its capacity.
        modes: its access modes.
        source: where its bytes are; a volume of the CSI driver unless said.
        usable_on: node label → its values, on the nodes that can use it; None for all nodes.
        kept_for: the claim it names; its namespace is ``default`` unless said.
        phase: its phase.
        labels: its labels.
        annotations: its annotations.
        terminating: whether it is being deleted.
        **spec: further fields of the spec.
    """
    metadata: Object = {"name": name, "labels": {**(labels or {})}, "annotations": {**(annotations or {})}}
    expressions = [{"key": key, "operator": "In", "values": [*values]} for key, values in (usable_on or {}).items()]
    affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": _deleted(metadata) if terminating else metadata,
        "spec": {
            "capacity": {"storage": size},
            "accessModes": [*modes],
            "storageClassName": class_name,
            **(source or {"csi": {"driver": DRIVER, "volumeHandle": name}}),
            **({} if usable_on is None else affinity),
            **({} if kept_for is None else {"claimRef": {"namespace": "default", **kept_for}}),
            **spec,
        },
        "status": {"phase": phase},
    }


def storage_class(
    name: str, *, provisioner: str = DRIVER, waits: bool = True, topologies: Sequence[Mapping[str, Sequence[str]]] = ()
) -> Object:
    """Return a StorageClass.

    Args:
        name: its name.
        provisioner: what makes its volumes.
        waits: whether claims are bound only when a Pod that mounts them is scheduled.
        topologies: node label → its values, on the nodes for which volumes can be made.
    """
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        **({"volumeBindingMode": "WaitForFirstConsumer"} if waits else {}),
        "allowedTopologies": [
            {"matchLabelExpressions": [{"key": key, "values": [*values]} for key, values in topology.items()]}
            for topology in topologies
        ],
    }


def csi_node(name: str, *, limits: Mapping[str, int | None] | None = None, migrated: Sequence[str] = ()) -> Object:
    """Return a CSINode.

    Args:
        name: the node's.
        limits: driver on the node → the most volumes of it that can be attached, None for any number.
        migrated: the in-tree plugins that its drivers have taken over from.
    """
    annotation = {"storage.alpha.kubernetes.io/migrated-plugins": ",".join(migrated)}
    drivers = [
        {"name": driver, "nodeID": name, "topologyKeys": [], "allocatable": {} if count is None else {"count": count}}
        for driver, count in (limits or {}).items()
    ]
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": name, "annotations": annotation if migrated else {}},
        "spec": {"drivers": drivers},
    }


def csi_driver(name: str = DRIVER, *, counts_storage: bool = False, must_run: bool = False) -> Object:
    """Return a CSIDriver that keeps count of its storage or not, and whose volumes need it on the node or not."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": name},
        "spec": {"storageCapacity": counts_storage, "preventPodSchedulingIfMissing": must_run},
    }


def storage_capacity(
    name: str,
    *,
    class_name: str,
    capacity: str | None = None,
    largest: str | None = None,
    usable_on: Object | None = None,
) -> Object:
    """Return a CSIStorageCapacity.

    Args:
        name: its name.
        class_name: the StorageClass of the volumes that could be made.
        capacity: how much is left; None where that is not known.
        largest: the size of the largest volume; None where that is not known.
        usable_on: the label selector of the nodes that can use it; None for no node.
    """
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIStorageCapacity",
        "metadata": {"name": name, "namespace": "kube-system"},
        "storageClassName": class_name,
        **({} if usable_on is None else {"nodeTopology": usable_on}),
        **({} if capacity is None else {"capacity": capacity}),
        **({} if largest is None else {"maximumVolumeSize": largest}),
    }


def attachment(name: str, *, node: str, of: str, attacher: str = DRIVER) -> Object:
    """Return a VolumeAttachment: the volume of that name is attached to that node."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": name},
        "spec": {"attacher": attacher, "nodeName": node, "source": {"persistentVolumeName": of}},
        "status": {"attached": True},
    }


def _deleted(metadata: Object) -> Object:
    return {**metadata, "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/waits"]}

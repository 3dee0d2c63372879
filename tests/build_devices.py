"""Objects of dynamic resource allocation, from the little that a test is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.build import Object

API = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"
CLAIMING: Object = {"resourceClaims": [{"name": "g", "resourceClaimName": "g"}]}
"""The fields of a Pod that has the claim g."""


def device_class(name: str = "gpu", *, stands_for: str = "") -> Object:
    """Return a DeviceClass; ``stands_for`` is the extended resource it provides."""
    spec = {"extendedResourceName": stands_for} if stands_for else {}
    return {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def resource_claim(
    name: str = "g",
    *,
    namespace: str = "default",
    classes: Sequence[str] = ("gpu",),
    has: Sequence[str] | None = None,
    node: str = "",
    owner: str = "",
    **fields: Any,  # noqa: ANN401 - any field of a request, by the API's name
) -> Object:
    """Return a ResourceClaim.

    Args:
        name: its name.
        namespace: where it lives.
        classes: of each device it asks for.
        has: the devices it has, as ``pool/device``; None for one that has none yet.
        node: the only one that reaches them; empty for any.
        owner: the Pod it was made for; empty for none.
        **fields: further fields of each request.
    """
    metadata: Object = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    if owner:
        pod: Object = {"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": f"{namespace}/{owner}"}
        metadata["ownerReferences"] = [{**pod, "controller": True}]
    status: Object = {}
    if has is not None:
        pairs = (each.split("/") for each in has)
        results = [{"request": "r0", "driver": DRIVER, "pool": pool, "device": device} for pool, device in pairs]
        status = {"allocation": {"devices": {"results": results}, **({"nodeSelector": only(node)} if node else {})}}
    spec = {"devices": {"requests": requests(classes, **fields)}}
    return {"apiVersion": API, "kind": "ResourceClaim", "metadata": metadata, "spec": spec, "status": status}


def resource_claim_template(name: str = "t", *, classes: Sequence[str] = ("gpu",)) -> Object:
    spec = {"spec": {"devices": {"requests": requests(classes)}}}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": API, "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": spec}


def resource_slice(name: str, *, devices: Sequence[str] = ("d0",), **reach: Any) -> Object:  # noqa: ANN401 - any field of the spec, by the API's name
    """Return a ResourceSlice, a pool by itself; the node of its name reaches it, unless ``reach`` says which do."""
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "pool": pool, "devices": [{"name": each} for each in devices]}
    reached = reach or {"nodeName": name}
    return {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec | reached}


def requests(classes: Sequence[str], **fields: Any) -> list[Object]:  # noqa: ANN401 - any field, by the API's name
    """Return a request of one device of each class."""
    exactly = {"allocationMode": "ExactCount", "count": 1, **fields}
    return [{"name": f"r{n}", "exactly": {"deviceClassName": each, **exactly}} for n, each in enumerate(classes)]


def only(node: str) -> Object:
    """Return the node selector of one node."""
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    return {"nodeSelectorTerms": [{"matchFields": [field]}]}


OPEN = (device_class(), resource_claim(), resource_slice("any", allNodes=True))
"""The claim g, which has no devices yet: whether it gets that which every node reaches is not modelled."""

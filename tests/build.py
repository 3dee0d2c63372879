"""Kubernetes objects as the API server stores them, from the little that a test is about.

Every builder returns plain values, so that the same object can be put to this program and to kube-scheduler.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from kubectl_spread.apiserver.defaults import defaulted
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import BY_API, BY_NAME
from kubectl_spread.objects.meta import Plain
from kubectl_spread.release import REFERENCE_MINOR
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import Profile, configured_profiles, default_profile
from kubectl_spread.snapshot import Inventory, Snapshot

Object: TypeAlias = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


def node(
    name: str,
    *,
    zone: str | None = None,
    labels: Mapping[str, str] | None = None,
    hostname: str | None = "",
    taints: Sequence[str] = (),
    allocatable: Mapping[str, str] | None = None,
    images: Mapping[str, int] | None = None,
    features: Sequence[str] = (),
    **spec: Any,  # noqa: ANN401 - any field of the spec, by the API's name
) -> Object:
    """Return a Node with room for 110 Pods.

    Args:
        name: its name.
        zone: its zone label; None for none.
        labels: further labels.
        hostname: its hostname label; empty for its name, None for no such label.
        taints: written as kubectl does, ``key=value:effect``.
        allocatable: what it offers, in addition to or instead of 8 cores, 32Gi and 110 Pods.
        images: image's name → bytes.
        features: what its kubelet declares.
        **spec: further fields of the spec.
    """
    by_default = {} if hostname is None else {HOSTNAME: hostname or name}
    in_zone = {} if zone is None else {ZONE: zone}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**by_default, **in_zone, **(labels or {})}},
        "spec": {"taints": [*map(taint, taints)], **spec},
        "status": {
            "allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110", **(allocatable or {})},
            "images": [{"names": [image], "sizeBytes": size} for image, size in (images or {}).items()],
            "declaredFeatures": [*features],
        },
    }


def taint(text: str) -> Object:
    """Return the taint that kubectl writes as ``key=value:effect``."""
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect}


def pod(  # noqa: PLR0913 - all but the first are optional and named
    name: str,
    *,
    on: str = "",
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    requests: Mapping[str, str] | None = None,
    host_ports: Sequence[str] = (),
    image: str = "registry.example/app:v1",
    owner: Mapping[str, str] | None = None,
    terminating: bool = False,
    status: Object | None = None,
    **spec: Any,  # noqa: ANN401 - any field of the spec, by the API's name
) -> Object:
    """Return a Pod of one container.

    Args:
        name: its name.
        on: the node it is bound to; empty for none.
        namespace: where it lives.
        labels: its labels.
        requests: what its container requests; nothing unless said.
        host_ports: ports of the node it takes, ``8080``, ``53/UDP`` or ``10.0.0.1:8080/TCP``.
        image: what its container runs.
        owner: kind, apiVersion and name of the controller it belongs to.
        terminating: whether it is being deleted.
        status: its status.
        **spec: further fields of the spec, in place of those above.
    """
    metadata: Object = {
        "name": name,
        "namespace": namespace,
        "uid": f"{namespace}/{name}",
        "labels": {**(labels or {})},
    }
    if owner is not None:
        metadata["ownerReferences"] = [{"controller": True, "uid": owner["name"], **owner}]
    if terminating:
        metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/waits"]}
    ports = [*map(host_port, host_ports)]
    main = {"name": "main", "image": image, "resources": {"requests": {**(requests or {})}}, "ports": ports}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {**({"nodeName": on} if on else {}), "containers": [main], **spec},
        "status": status or {},
    }


def host_port(text: str) -> Object:
    """Return the port that is written as ``10.0.0.1:8080/TCP``; address and protocol may be left out."""
    place, _, protocol = text.partition("/")
    address, _, number = place.rpartition(":")
    port: Object = {"containerPort": int(number), "hostPort": int(number), "protocol": protocol or "TCP"}
    return {**port, "hostIP": address} if address else port


def spread(key: str, *, selector: Object | None = None, soft: bool = False, **fields: Any) -> Object:  # noqa: ANN401 - any field, by the API's name
    """Return a topology spread constraint with maxSkew 1; ``fields`` by the API's names, camelCase."""
    action = "ScheduleAnyway" if soft else "DoNotSchedule"
    constraint = {"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": action, **fields}
    return constraint if selector is None else {**constraint, "labelSelector": selector}


def app(name: str) -> Object:
    """Return the selector of an application's Pods."""
    return {"matchLabels": {"app": name}}


def namespace(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def object_of(kind: str, name: str, *, namespace: str = "default", **fields: Any) -> Object:  # noqa: ANN401 - any field, by the API's name
    """Return an object of another kind that is read; in the namespace, where the kind has namespaces."""
    known = BY_NAME[kind]
    within = {"namespace": namespace} if known.namespaced else {}
    return {"apiVersion": known.api_version, "kind": kind, "metadata": {"name": name, **within}, **fields}


def configured_profile(
    configuration: Plain, *, minor: int = REFERENCE_MINOR, gates: Mapping[str, bool] | None = None
) -> Profile:
    """Return the first profile of the configuration, None for the default one."""
    return configured_profiles(configuration or {}, minor=minor, gates=gates)[0]


def typed_pod(described: Object, profile: Profile | None = None) -> Pod:
    """Return the Pod as the API server would store it."""
    return defaulted(convert(described, Pod), (profile or default_profile()).release)


def snapshot(objects: Iterable[Object], profile: Profile | None = None) -> Snapshot:
    """Return the cluster of these objects, Pods as the API server would store them."""
    found: dict[str, list[Any]] = {kind.name: [] for kind in BY_API.values()}
    for described in objects:
        kind = BY_API[described["apiVersion"], described["kind"]]
        typed = typed_pod(described, profile) if kind.struct is Pod else convert(described, kind.struct)
        found[kind.name].append(typed)
    return Snapshot.build(Inventory({name: tuple(objs) for name, objs in found.items()}))


def handle(objects: Iterable[Object], profile: Profile | None = None) -> Handle:
    """Return the cluster of these objects as a scheduler of the profile sees it."""
    seen_by = profile or default_profile()
    return Handle.build(snapshot(objects, seen_by), seen_by)

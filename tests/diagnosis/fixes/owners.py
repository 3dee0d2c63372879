"""The kinds that make Pods, with a template like the Pod's, and the Pod as their controller would have made it."""

from __future__ import annotations

from tests.build import Object

_APPS: tuple[str, Object] = ("apps/v1", {"selector": {"matchLabels": {"app": "web"}}})
_API: dict[str, tuple[str, Object]] = {
    "Deployment": _APPS,
    "ReplicaSet": _APPS,
    "StatefulSet": _APPS,
    "DaemonSet": _APPS,
    "Job": ("batch/v1", {}),
    "ReplicationController": ("v1", {"selector": {"app": "web"}}),
}


def template(pod: Object) -> Object:
    """Return the template that makes such Pods."""
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {"metadata": {"labels": {**pod["metadata"]["labels"]}}, "spec": spec}


def owner(kind: str, pod: Object, *, name: str = "web", of: Object | None = None, **spec: object) -> Object:
    """Return a workload whose template makes the Pod.

    Args:
        kind: of the workload.
        pod: what its template is like.
        name: the workload's.
        of: the workload that owns this one.
        **spec: further fields of the spec.
    """
    api_version, fields = _API[kind]
    metadata: Object = {"name": name, "namespace": "default"}
    if of is not None:
        metadata["ownerReferences"] = [{**reference(of), "controller": True}]
    spec = {"replicas": 2, **fields, "template": template(pod), **spec}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def cron_job(pod: Object) -> Object:
    """Return a CronJob whose Jobs make the Pod."""
    spec = {"jobTemplate": {"spec": {"template": template(pod)}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": spec,
    }


def reference(owner: Object) -> dict[str, str]:
    """Return what an owned object says of its owner."""
    return {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}


def owned(pod: Object, by: Object, **labels: str) -> Object:
    """Return the Pod as owned by a workload, with labels its controller adds."""
    metadata = {
        **pod["metadata"],
        "labels": {**pod["metadata"]["labels"], **labels},
        "ownerReferences": [{**reference(by), "controller": True}],
    }
    return {**pod, "metadata": metadata}

"""Workloads as the API server stores them, from the little that a test is about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from kubectl_spread.apiserver.apply import Application, Merged
from kubectl_spread.commands.manifests import tables
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import BY_API
from kubectl_spread.objects.meta import LAST_APPLIED, KubernetesObject
from tests.build import Object, app, object_of, pod, snapshot

OWNED_BY: Mapping[str, str] = {"ReplicationController": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}


def template(*constraints: Object, labels: Mapping[str, str] | None = None, **spec: Any) -> Object:  # noqa: ANN401 - any field, by the API's name
    """Return the template of the application web, with these constraints; ``spec`` as for a Pod."""
    made = pod("", labels=labels or {"app": "web"}, topologySpreadConstraints=[*constraints], **spec)
    return {"metadata": {"labels": made["metadata"]["labels"]}, "spec": made["spec"]}


def kubectl_applied(manifest: Object) -> Object:
    """Return the object as kubectl creates it, which then knows what was applied."""
    metadata = manifest["metadata"]
    annotations = {**metadata.get("annotations", {}), LAST_APPLIED: json.dumps(manifest)}
    return {**manifest, "metadata": {**metadata, "annotations": annotations}}


def laid_over(manifest: Object, objects: Iterable[Object]) -> KubernetesObject:
    """Return what a manifest makes of the object of its name among these."""
    return merging(manifest, objects).obj


def merging(manifest: Object, objects: Iterable[Object]) -> Merged:
    """Return the same, with how far it is known."""
    obj = convert(manifest, BY_API[manifest["apiVersion"], manifest["kind"]].struct)
    live = snapshot(objects).get(type(obj), obj.metadata.namespace, obj.metadata.name)
    application = Application.of(obj, manifest["apiVersion"], manifest, tables())
    return Merged(application.over(None)) if live is None else application.merged(live)


def workload(
    kind: str,
    name: str,
    *,
    pods: Object | None = None,
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    owner: Object | None = None,
    status: Object | None = None,
    **spec: Any,  # noqa: ANN401 - any field of the spec, by the API's name
) -> Object:
    """Return a workload of the application web.

    Args:
        kind: Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob or ReplicationController.
        name: its name.
        pods: its template; that of the application web unless said.
        namespace: where it lives.
        labels: its own labels.
        annotations: its own annotations.
        owner: the reference to what controls it.
        status: its status.
        **spec: further fields of the spec.
    """
    metadata: Object = {"name": name, "namespace": namespace, "labels": {**(labels or {})}}
    metadata |= {"annotations": {**(annotations or {})}, "ownerReferences": [owner] if owner else []}
    selector = {"app": "web"} if kind == "ReplicationController" else app("web")
    return {
        "apiVersion": OWNED_BY.get(kind, "apps/v1"),
        "kind": kind,
        "metadata": metadata,
        "spec": {"selector": selector, "template": pods or template(), **spec},
        "status": status or {},
    }


def cron_job(name: str, *, pods: Object | None = None, **job: Any) -> Object:  # noqa: ANN401 - any field of a Job's spec
    """Return a CronJob; ``job`` are fields of its Jobs' spec."""
    made = workload("CronJob", name)
    return {**made, "spec": {"schedule": "@hourly", "jobTemplate": {"spec": {"template": pods or template(), **job}}}}


def revision(deployment: str, number: int, *, pods: Object | None = None, hash_: str = "") -> Object:
    """Return the ReplicaSet of a Deployment's revision, named and labelled with its hash."""
    named = hash_ or f"h{number}"
    made = pods or template()
    labels = {**made["metadata"]["labels"], "pod-template-hash": named}
    return workload(
        "ReplicaSet",
        f"{deployment}-{named}",
        pods={**made, "metadata": {"labels": labels}},
        labels=labels,
        annotations={"deployment.kubernetes.io/revision": str(number)},
        owner=controller("Deployment", deployment),
    )


def controller(kind: str, name: str) -> Object:
    """Return the reference to what controls an object."""
    return {"controller": True, "apiVersion": OWNED_BY.get(kind, "apps/v1"), "kind": kind, "name": name, "uid": name}


def owned(name: str, kind: str, by: str, *, on: str = "", **fields: Any) -> Object:  # noqa: ANN401 - as for a Pod
    """Return a Pod of the application web that a workload controls."""
    labels = {"app": "web"} | fields.pop("labels", {})
    made = pod(name, on=on, labels=labels, owner=controller(kind, by), **fields)
    made["metadata"]["creationTimestamp"] = f"2026-01-01T00:00:00Z#{name}"
    return made


def held_revision(name: str, pods: Object) -> Object:
    """Return a ControllerRevision of this template."""
    data = {"spec": {"template": {**pods, "$patch": "replace"}}}
    metadata = {"name": name, "namespace": "default", "labels": {"app": "web"}}
    return {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "data": data, "revision": 1}


def scaler(least: int | None, most: int, name: str = "web", api_version: str = "apps/v1") -> Object:
    """Return an autoscaler of deployment/web."""
    target = {"apiVersion": api_version, "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": most}
    return object_of("HorizontalPodAutoscaler", name, spec=spec)

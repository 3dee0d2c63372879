"""What only the API server's validation reads of a manifest: objects of the cluster are decoded without it.

Each type is a table, field → type, of plain values; ``convert`` checks the types and leaves out every other field.

Source: api core/v1/types.go, apps/v1/types.go and batch/v1/types.go (v1.36).
"""

from __future__ import annotations

from typing import TypedDict

from kubectl_spread.objects.core import Volume
from kubectl_spread.objects.meta import Struct

Present = TypedDict("Present", {}, total=False)
"""A field of which it only counts that it is set."""

Exec = TypedDict("Exec", {"command": list[str]}, total=False)
HTTPGet = TypedDict("HTTPGet", {"port": int | str, "scheme": str}, total=False)
TCPSocket = TypedDict("TCPSocket", {"port": int | str}, total=False)
GRPC = TypedDict("GRPC", {"port": int}, total=False)
Handler = TypedDict(
    "Handler", {"exec": Exec, "httpGet": HTTPGet, "tcpSocket": TCPSocket, "grpc": GRPC, "sleep": Present}, total=False
)
Probe = TypedDict(
    "Probe",
    {
        "exec": Exec,
        "httpGet": HTTPGet,
        "tcpSocket": TCPSocket,
        "grpc": GRPC,
        "sleep": Present,
        "initialDelaySeconds": int,
        "timeoutSeconds": int,
        "periodSeconds": int,
        "successThreshold": int,
        "failureThreshold": int,
        "terminationGracePeriodSeconds": int,
    },
    total=False,
)
"""A handler; an API server replaces every 0 by the field's default."""
Lifecycle = TypedDict("Lifecycle", {"postStart": Handler, "preStop": Handler}, total=False)

KeySelector = TypedDict("KeySelector", {"name": str, "key": str}, total=False)
"""A key of a ConfigMap or Secret."""
EnvVarSource = TypedDict(
    "EnvVarSource",
    {
        "configMapKeyRef": KeySelector,
        "secretKeyRef": KeySelector,
        "fieldRef": Present,
        "resourceFieldRef": Present,
        "fileKeyRef": Present,
    },
    total=False,
)
EnvVar = TypedDict("EnvVar", {"name": str, "value": str, "valueFrom": EnvVarSource}, total=False)
Port = TypedDict("Port", {"name": str}, total=False)
VolumeMount = TypedDict(
    "VolumeMount", {"name": str, "mountPath": str, "subPath": str, "mountPropagation": str}, total=False
)
SecurityContext = TypedDict("SecurityContext", {"privileged": bool}, total=False)
Container = TypedDict(
    "Container",
    {
        "restartPolicy": str,
        "terminationMessagePolicy": str,
        "imagePullPolicy": str,
        "ports": list[Port],
        "env": list[EnvVar],
        "volumeMounts": list[VolumeMount],
        "securityContext": SecurityContext,
        "lifecycle": Lifecycle,
        "livenessProbe": Probe,
        "readinessProbe": Probe,
        "startupProbe": Probe,
    },
    total=False,
)


class VolumeSource(Struct, frozen=True):
    """A source that people use often and that keeps a Pod off no node: the fields that any of them requires."""

    path: str = ""
    type: str = ""
    server: str = ""
    name: str = ""
    secret_name: str = ""


class CommonVolume(Volume, frozen=True):
    """A volume with the sources that decide nothing about nodes too."""

    host_path: VolumeSource | None = None
    secret: VolumeSource | None = None
    nfs: VolumeSource | None = None
    config_map: VolumeSource | None = None


PodSpec = TypedDict(
    "PodSpec",
    {"containers": list[Container], "initContainers": list[Container], "volumes": tuple[CommonVolume, ...]},
    total=False,
)
PodObject = TypedDict("PodObject", {"spec": PodSpec}, total=False)
"""A Pod, or the template of Pods."""
Metadata = TypedDict("Metadata", {"name": str}, total=False)
ClaimTemplate = TypedDict("ClaimTemplate", {"metadata": Metadata}, total=False)
JobSpec = TypedDict(
    "JobSpec", {"activeDeadlineSeconds": int, "ttlSecondsAfterFinished": int, "template": PodObject}, total=False
)
JobTemplate = TypedDict("JobTemplate", {"spec": JobSpec}, total=False)
WorkloadSpec = TypedDict(
    "WorkloadSpec",
    {
        "activeDeadlineSeconds": int,
        "ttlSecondsAfterFinished": int,
        "template": PodObject,
        "minReadySeconds": int,
        "progressDeadlineSeconds": int,
        "revisionHistoryLimit": int,
        "volumeClaimTemplates": list[ClaimTemplate],
        "schedule": str,
        "concurrencyPolicy": str,
        "timeZone": str,
        "startingDeadlineSeconds": int,
        "successfulJobsHistoryLimit": int,
        "failedJobsHistoryLimit": int,
        "jobTemplate": JobTemplate,
    },
    total=False,
)
"""What the kinds of workloads have, each some of it."""
Workload = TypedDict("Workload", {"spec": WorkloadSpec}, total=False)

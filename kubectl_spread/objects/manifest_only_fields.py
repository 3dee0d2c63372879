"""Fields of manifests that only the API server's validation reads; objects of the cluster are decoded without them.

Each type is a table of field → type for plain values; ``convert`` checks the types and drops all other fields.

Source: api core/v1/types.go, apps/v1/types.go and batch/v1/types.go (v1.36).
"""

from __future__ import annotations

from typing import TypedDict

from kubectl_spread.objects.core import Volume
from kubectl_spread.objects.meta import Struct

Present = TypedDict("Present", {}, total=False)
"""A field of which only the presence counts."""

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
"""A handler; the API server replaces every 0 by the field's default."""
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
    """The required fields of common sources that restrict no nodes."""

    path: str = ""
    type: str = ""
    server: str = ""
    name: str = ""
    secret_name: str = ""


class CommonVolume(Volume, frozen=True):
    """A volume, also with common sources that restrict no nodes."""

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
"""A Pod or a Pod template."""
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
"""The fields of all kinds of workloads."""
Workload = TypedDict("Workload", {"spec": WorkloadSpec}, total=False)

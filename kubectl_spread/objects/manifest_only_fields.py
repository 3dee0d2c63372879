"""Fields of manifests that only the API server's validation reads; objects of the cluster are decoded without them.

``convert`` checks their types and drops all other fields. A name has one type, wherever the field is.

Source: api core/v1/types.go, apps/v1/types.go and batch/v1/types.go (v1.36).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import msgspec

from kubectl_spread.objects.core import EmptyDirVolumeSource, Quantity, Volume
from kubectl_spread.objects.meta import Struct


class EmptyDir(EmptyDirVolumeSource, frozen=True):
    """An empty directory with its limit."""

    size_limit: Quantity = 0


class VolumeSource(Struct, frozen=True):
    """The fields of common sources that restrict no nodes."""

    path: str = ""
    type: str = ""
    server: str = ""
    name: str = ""
    secret_name: str = ""
    default_mode: int | None = None
    items: tuple[Fields, ...] = ()


class CommonVolume(Volume, frozen=True):
    """A volume, also with common sources that restrict no nodes."""

    empty_dir: EmptyDir | None = None
    downward_api: Fields | None = msgspec.field(name="downwardAPI", default=None)
    projected: Fields | None = None
    host_path: VolumeSource | None = None
    secret: VolumeSource | None = None
    nfs: VolumeSource | None = None
    config_map: VolumeSource | None = None


if TYPE_CHECKING:
    Fields = dict[str, Any]
else:
    _NAMES = {
        str: """
            apiVersion concurrencyPolicy conditionType containerName devicePath dnsPolicy driver fieldPath
            fsGroupChangePolicy gmsaCredentialSpec gmsaCredentialSpecName hostname imagePullPolicy ip key level
            localhostProfile mountPath mountPropagation name path prefix procMount recursiveReadOnly resource
            resourceName restartPolicy role runAsUserName schedule scheme seLinuxChangePolicy serviceAccountName
            subPath subPathExpr subdomain supplementalGroupsPolicy terminationMessagePolicy timeZone type value
            volumeName
        """,
        int: """
            activeDeadlineSeconds defaultMode expirationSeconds failedJobsHistoryLimit failureThreshold fsGroup
            initialDelaySeconds minReadySeconds periodSeconds revisionHistoryLimit runAsGroup runAsUser seconds
            startingDeadlineSeconds successThreshold successfulJobsHistoryLimit terminationGracePeriodSeconds
            timeoutSeconds ttlSecondsAfterFinished
        """,
        bool: """
            allowPrivilegeEscalation hostIPC hostNetwork hostPID hostProcess hostUsers privileged readOnly
            readOnlyRootFilesystem runAsNonRoot shareProcessNamespace
        """,
        "Fields": """
            appArmorProfile capabilities clusterTrustBundle configMap configMapKeyRef configMapRef dnsConfig
            downwardAPI exec fieldRef fileKeyRef grpc httpGet jobTemplate lifecycle livenessProbe metadata os
            podCertificate postStart preStop readinessProbe resourceFieldRef resources seLinuxOptions seccompProfile
            secret secretKeyRef secretRef securityContext serviceAccountToken sleep spec startupProbe tcpSocket
            template valueFrom windowsOptions
        """,
        list["Fields"]: """
            claims containers env envFrom hostAliases httpHeaders initContainers items options ports readinessGates
            resizePolicy resourceClaims sources sysctls volumeClaimTemplates volumeDevices volumeMounts
        """,
        list[str]: "add command drop hostnames nameservers searches",
    }
    _TYPES = {
        **{name: type_ for type_, names in _NAMES.items() for name in names.split()},
        # A file's mode is a number, and that of a gRPC probe a text; users have both.
        **dict.fromkeys(("mode", "port", "user"), int | str),
        "divisor": Quantity,
        "supplementalGroups": list[int],
        "annotations": dict[str, str],
        "volumes": tuple[CommonVolume, ...],
    }
    Fields = TypedDict("Fields", _TYPES, total=False)
    """An object or a part of one."""

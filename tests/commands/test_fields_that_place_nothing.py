"""Fields that decide nothing about placement: whatever a manifest has there, ``check`` answers and refuses nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.diagnosis.evaluation import Verdict
from tests.build import Object, pod
from tests.build_workloads import cron_job, template, workload
from tests.commands.memory import Memory
from tests.diagnosis.judged import ABC

_OF_CONTAINERS: Mapping[str, object] = {
    "livenessProbe": {},
    "readinessProbe": {"httpGet": {"port": 0, "scheme": "ftp", "httpHeaders": [{"name": "a b"}]}, "tcpSocket": {}},
    "startupProbe": {"exec": {}, "successThreshold": 7, "periodSeconds": -1, "terminationGracePeriodSeconds": 0},
    "lifecycle": {"preStop": {"sleep": {"seconds": 9999}}, "postStart": {}},
    "env": [{"name": "a=b", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "spec.nowhere"}}}, {"name": ""}],
    "envFrom": [{}, {"prefix": "=", "secretRef": {"name": "A_B"}, "configMapRef": {}}],
    "ports": [{"name": "A--B-", "containerPort": 1}, {"name": "A--B-", "containerPort": 2}],
    "volumeMounts": [{}, {"name": "nowhere", "mountPath": "a", "subPath": "/../b", "mountPropagation": "Sideways"}],
    "volumeDevices": [{"name": "nowhere", "devicePath": ".."}, {}],
    "securityContext": {"privileged": True, "allowPrivilegeEscalation": False, "runAsUser": -5, "procMount": "Odd"},
    "imagePullPolicy": "sometimes",
    "terminationMessagePolicy": "Logs",
    "resizePolicy": [{}, {"resourceName": "gpu", "restartPolicy": "Never"}],
    "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "Like", "values": []}}] * 30,
    "resources": {"claims": [{"name": "nowhere"}, {"name": "nowhere"}]},
}
_OF_PODS: Mapping[str, Any] = {
    "dnsConfig": {"nameservers": ["x"] * 9, "options": [{}], "searches": ["a b"]},
    "dnsPolicy": "None",
    "hostAliases": [{"ip": "1", "hostnames": ["A_B"]}],
    "hostname": "A.b",
    "subdomain": "a b",
    "hostPID": True,
    "hostUsers": False,
    "os": {"name": "plan9"},
    "readinessGates": [{"conditionType": "a b"}],
    "securityContext": {
        "sysctls": [{}, {}],
        "fsGroup": -1,
        "windowsOptions": {"hostProcess": True},
        "seLinuxOptions": {},
    },
    "shareProcessNamespace": True,
    "terminationGracePeriodSeconds": -1,
    "imagePullSecrets": [{}],
    "setHostnameAsFQDN": True,
    "volumes": [
        {"name": "a", "hostPath": {"path": "/a/../b", "type": "Folder"}, "configMap": {}},
        {"name": "b", "nfs": {"path": "b", "server": ""}},
        {"name": "c", "projected": {"defaultMode": 4096, "sources": [{}, {"serviceAccountToken": {"path": ".."}}]}},
        {"name": "d", "csi": {"driver": ""}},
        {"name": "e", "secret": {"items": [{"key": "", "path": "/a", "mode": -1}]}},
        {"name": "f", "emptyDir": {"sizeLimit": "-1"}},
        {"name": "g", "iscsi": {"iqn": "odd", "lun": 0, "targetPortal": ""}},
        {"name": "h", "azureDisk": {"diskURI": "odd", "diskName": "", "kind": "Rented"}},
        {"name": "i", "downwardAPI": {"items": [{"path": "..", "fieldRef": {"fieldPath": ""}}]}},
        {"name": "j", "image": {"reference": " ", "pullPolicy": "Odd"}},
    ],
}
_ENDING = template(restartPolicy="Never")


def _cron_job(**spec: object) -> Object:
    made = cron_job("web", pods=_ENDING)
    return {**made, "spec": {**made["spec"], **spec}}


_OF_WORKLOADS: Mapping[str, Object] = {
    "annotations": workload("Deployment", "web", annotations={"a b/c/d": "e", "": ""}),
    "annotations of a template": workload(
        "Deployment", "web", pods={**template(), "metadata": {"labels": {"app": "web"}, "annotations": {"a b": ""}}}
    ),
    "minReadySeconds": workload("Deployment", "web", minReadySeconds=-1),
    "progressDeadlineSeconds": workload("Deployment", "web", minReadySeconds=9, progressDeadlineSeconds=-1),
    "revisionHistoryLimit": workload("DaemonSet", "web", revisionHistoryLimit=-1),
    "ttlSecondsAfterFinished": workload("Job", "web", pods=_ENDING, ttlSecondsAfterFinished=-1),
    "activeDeadlineSeconds": workload("Job", "web", pods=_ENDING, activeDeadlineSeconds=-1),
    "schedule": _cron_job(schedule="0 0 4 * * *"),
    "timeZone": _cron_job(schedule="", timeZone="Local"),
    "concurrencyPolicy": _cron_job(concurrencyPolicy="Odd"),
}


def _in_container(field: str, value: object) -> Object:
    container = {"name": "c", "image": "i", field: value}
    return pod("web", containers=[container], initContainers=[{**container, "name": "d"}])


ODD: Mapping[str, Object] = {
    **{field: _in_container(field, value) for field, value in _OF_CONTAINERS.items()},
    **{f"{field} of a Pod": pod("web", **{field: value}) for field, value in _OF_PODS.items()},
    **_OF_WORKLOADS,
}


@pytest.mark.parametrize("field", ODD)
def test_a_field_that_places_nothing_is_not_refused(field: str, tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(yaml.safe_dump(ODD[field]), encoding="utf-8")
    options = CheckOptions(filenames=(str(path),), namespace="default")
    (item,) = check(Memory(ABC), options, SchedulerOptions(), stdin=None).report.items
    assert (item.verdict, item.validation, item.refusals) == (Verdict.SCHEDULABLE, (), ())
    assert item.feasible

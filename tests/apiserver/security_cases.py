"""Pods that Pod Security Standards judge, and the policies; what a real API server says of them is in testdata.

``python -m tests.apiserver.security_cases`` asks a real API server again and records its answers.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.build import Object
from tests.controlplane.api import ApiError
from tests.controlplane.client import Client

RECORDED = Path(__file__).parents[1] / "testdata" / "podsecurity" / "recorded.json"
"""Pod → the reasons for which a real API server refuses it → the policies; one that allows it is left out."""
VERSIONS = ("latest", "v1.34", "v1.31", "v1.28", "v1.24", "v1.22", "v1.18", "v1.0")
POLICIES = tuple(f"{level}:{version}" for level in ("baseline", "restricted") for version in VERSIONS)
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/main"
_SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
_SOUND: Object = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
_SOURCES: Sequence[Object] = (
    {"hostPath": {"path": "/"}},
    {"nfs": {"server": "s", "path": "/"}},
    {"emptyDir": {}},
    {},
    {"iscsi": {"targetPortal": "10.0.0.1:3260", "iqn": "iqn.2001-04.com.example:s", "lun": 0}},
    {"configMap": {"name": "c"}},
    {"persistentVolumeClaim": {"claimName": "c"}},
    {"csi": {"driver": "d"}},
    {"gcePersistentDisk": {"pdName": "d"}},
)
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def _context(**fields: Any) -> Object:  # noqa: ANN401 - any field of a security context
    return {"securityContext": fields}


OF_CONTAINERS: Sequence[Object] = (
    _context(privileged=True),
    _context(privileged=False, procMount="Default"),
    _context(allowPrivilegeEscalation=True),
    _context(capabilities={"add": ["NET_ADMIN", "KILL"]}),
    _context(capabilities={"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]}),
    _context(capabilities={"add": ["CHOWN"], "drop": ["ALL"]}),
    _context(capabilities={"drop": ["KILL"]}),
    _context(runAsNonRoot=False),
    _context(runAsUser=0),
    _context(runAsUser=1000, runAsGroup=0),
    _context(seccompProfile={"type": "Unconfined"}),
    _context(seccompProfile={"type": "Localhost", "localhostProfile": "p.json"}),
    _context(appArmorProfile={"type": "Unconfined"}),
    _context(appArmorProfile={"type": "RuntimeDefault"}),
    _context(seLinuxOptions={"type": "container_engine_t"}),
    _context(seLinuxOptions={"type": "spc_t", "user": "u"}),
    _context(seLinuxOptions={"role": "r"}),
    _context(seLinuxOptions={"level": "s0"}),
    _context(readOnlyRootFilesystem=True),
    {"ports": [{"containerPort": 80, "hostPort": 8080}]},
    {"ports": [{"containerPort": 80}]},
    *({probe: {"httpGet": {"port": 80, "host": "example.com"}}} for probe in _PROBES),
    {"livenessProbe": {"tcpSocket": {"port": 80, "host": "10.0.0.1"}}},
    {"readinessProbe": {"httpGet": {"port": 80}}},
    {"lifecycle": {"preStop": {"httpGet": {"port": 80, "host": "h"}}}},
    {"lifecycle": {"postStart": {"exec": {"command": ["true"]}}}},
)
OF_PODS: Sequence[Object] = (
    {"hostNetwork": True},
    {"hostPID": True},
    {"hostIPC": True},
    {"hostUsers": False},
    {"hostUsers": False, "securityContext": {"runAsUser": 0}},
    _context(runAsNonRoot=True),
    _context(runAsNonRoot=False),
    _context(runAsUser=0),
    _context(seccompProfile={"type": "RuntimeDefault"}),
    _context(seccompProfile={"type": "Unconfined"}),
    _context(appArmorProfile={"type": "Unconfined"}),
    _context(seLinuxOptions={"type": "container_kvm_t"}),
    _context(seLinuxOptions={"user": "u"}),
    _context(fsGroup=0, supplementalGroups=[0]),
    *(
        _context(sysctls=[{"name": name, "value": "1"}])
        for name in ("kernel.shm_rmid_forced", "net.ipv4.tcp_rmem", "net.ipv4.tcp_fin_timeout", "kernel.msgmax")
    ),
    _context(sysctls=[{"name": "net.ipv4.ip_local_reserved_ports", "value": "1"}]),
    *({"volumes": [{"name": "v", **source}]} for source in _SOURCES),
    {"os": {"name": "windows"}},
    {"os": {"name": "windows"}, "hostNetwork": True, "securityContext": {"windowsOptions": {"hostProcess": True}}},
    {"annotations": {_APP_ARMOR: "unconfined"}},
    {"annotations": {_APP_ARMOR: "localhost/p"}},
    {"annotations": {_SECCOMP: "unconfined"}},
    {"annotations": {_SECCOMP: "docker/default"}},
)


def cases() -> Mapping[str, Object]:
    """Return name → Pod: each fragment alone, in a Pod that is sound otherwise and in one that says nothing."""
    found: dict[str, Object] = {}
    for word, sound in (("sound", True), ("bare", False)):
        found |= {f"{word}-container-{n}": made([each], [], sound=sound) for n, each in enumerate(OF_CONTAINERS)}
        found |= {f"{word}-pod-{n}": made([], [each], sound=sound) for n, each in enumerate(OF_PODS)}
    return found


def drawn(seed: int) -> Object:
    """Return a Pod of several fragments."""
    dice = random.Random(seed)  # noqa: S311 - nothing secret
    of_containers, of_pods = (dice.sample(each, dice.randint(0, 3)) for each in (OF_CONTAINERS, OF_PODS))
    return made(of_containers, of_pods, sound=dice.random() < 0.7, inits=dice.random() < 0.3)


def made(of_containers: Sequence[Object], of_pods: Sequence[Object], *, sound: bool, inits: bool = False) -> Object:
    """Return a Pod with these fields of its first container and of its spec."""
    on_windows = any("os" in each for each in of_pods)
    context = _context(runAsNonRoot=True) if sound and on_windows else _context(**_SOUND) if sound else {}
    spec: Object = {"containers": [{"name": "main", "image": "i", **context}]}
    if inits:
        spec["initContainers"] = [{"name": "first", "image": "i", **context}]
    annotations: Object = {}
    for each in of_pods:
        annotations |= each.get("annotations", {})
        _lay(spec, {key: value for key, value in each.items() if key != "annotations"})
    for each in of_containers:
        _lay(spec["initContainers" if inits else "containers"][0], each)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "annotations": annotations}, "spec": spec}


def _lay(under: Object, over: Object) -> None:
    for key, value in over.items():
        under[key] = {**under.get(key, {}), **value} if isinstance(value, dict) else value


def namespace_of(policy: str) -> Object:
    """Return a namespace that enforces a policy."""
    level, version = policy.split(":")
    label = "pod-security.kubernetes.io/enforce"
    name = policy.replace(":", "-").replace(".", "-")
    labels = {label: level, f"{label}-version": version}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def reasons(message: str) -> list[str]:
    """Return the reasons in a message, without what is said of each."""
    _, _, told = message.partition("violates PodSecurity ")
    found = re.sub(r" \(.*?\)(?=, |$)", "", told.partition('": ')[2])
    return [each.replace("profiles", "profile") for each in found.split(", ") if each]


def answered(client: Client, pod: Object, policy: str) -> list[str] | None:
    """Return the reasons for which an API server refuses the Pod; None if it is invalid anyway."""
    path = f"/api/v1/namespaces/{namespace_of(policy)['metadata']['name']}/pods"
    try:
        client.api.request("POST", path, body=pod, query={"dryRun": "All"})
    except ApiError as error:
        return reasons(json.loads(str(error).partition(": ")[2])["message"]) or None
    return []


def recorded() -> Mapping[str, Mapping[str, list[str]]]:
    """Return Pod → policy → the recorded reasons."""
    found: Mapping[str, Mapping[str, str]] = json.loads(RECORDED.read_text())
    return {
        name: {policy: told.split(", ") for told, policies in by_reasons.items() for policy in policies.split()}
        for name, by_reasons in found.items()
    }


def record() -> None:
    """Ask a real API server about all cases, and keep its answers."""
    from tests.controlplane.cluster import Options, control_plane

    found: dict[str, dict[str, str]] = {}
    with control_plane(Options(scheduler=False, controllers=())) as plane:
        client = plane.client()
        client.apply([namespace_of(policy) for policy in POLICIES])
        for name, pod in cases().items():
            told = {policy: answered(client, pod, policy) for policy in POLICIES}
            if None not in told.values():
                words = {policy: ", ".join(each) for policy, each in told.items() if each}
                found[name] = {each: " ".join(p for p in words if words[p] == each) for each in words.values()}
    RECORDED.parent.mkdir(exist_ok=True)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(told)}" for name, told in found.items())
    RECORDED.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    record()

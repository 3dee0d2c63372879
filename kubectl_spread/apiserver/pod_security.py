"""Why PodSecurity admission refuses a Pod in a namespace that enforces a Pod Security Standard.

Not modelled: the defaults and exemptions of the whole cluster, which are in a file on the API server.

Source: pod-security-admission policy/check_*.go, registry.go, helpers.go (v1.33 to v1.37).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from kubectl_spread.apiserver.validation.tables import fields_at
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import plain
from kubectl_spread.objects.meta import Plain
from kubectl_spread.objects.template_rest import field_of, is_whole, put_back
from kubectl_spread.release import Release

Bad: TypeAlias = Callable[[Plain, int], bool]
"""Whether a value, None where it is absent, violates the policy of this minor release."""

_BASELINE = "baseline"
"""The level that ``restricted`` adds rules to."""
_WINDOWS, _USER_NAMESPACE = 25, 35
"""From these minor releases of a policy on, Pods on Windows or in a user namespace are exempt from some rules."""
_APP_ARMOR = ("container.apparmor.security.beta.kubernetes.io/",)
_SECCOMP = ("seccomp.security.alpha.kubernetes.io/", "container.seccomp.security.alpha.kubernetes.io/")
_PROFILES = ("RuntimeDefault", "Localhost")
_CAPABILITIES = (
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP"),
    *("SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
)
_SELINUX_TYPES = {
    **dict.fromkeys(("", "container_t", "container_init_t", "container_kvm_t"), 0),
    "container_engine_t": 31,
}
_SYSCTLS = {
    **dict.fromkeys(("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies"), 0),
    **dict.fromkeys(("net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start"), 0),
    "net.ipv4.ip_local_reserved_ports": 27,
    **dict.fromkeys((f"net.ipv4.tcp_keepalive_{each}" for each in ("time", "intvl", "probes")), 29),
    "net.ipv4.tcp_fin_timeout": 29,
    **dict.fromkeys(("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"), 32),
    **dict.fromkeys(("net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat"), 37),
}
"""Value → the first minor release of a policy that allows it."""
_VOLUMES = ("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected")
_CONTAINERS = ("initContainers[*]", "containers[*]")
_MEANT = {
    "containers": _CONTAINERS,
    "contexts": ("securityContext", *(f"{each}.securityContext" for each in _CONTAINERS)),
}
"""Word in a rule's path → the fields that are meant."""
_HANDLERS = ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle.postStart", "lifecycle.preStop")


class _Rule(msgspec.Struct, frozen=True):
    """A rule of a standard.

    Attributes:
        reason: what is violated, in the API server's words.
        path: the fields: ``containers`` are the init containers too, ``contexts`` the security contexts of all of
            them and of the Pod, and ``[*]`` the items of a list.
        since, until: the minor releases of policies that have it; the last is excluded.
        overridden: from this one on, another rule of ``restricted`` stands in its place.
        inherited: whether a container without the field has the value of the Pod.
        windows, user_namespaces: whether Pods on Windows, or in user namespaces, are never exempt.
    """

    reason: str
    path: str
    bad: Bad
    since: int = 0
    until: int = 99
    overridden: int = 99
    inherited: bool = False
    windows: bool = True
    user_namespaces: bool = True

    def violated(self, values: Plain, level: str, minor: int) -> Iterator[str]:
        """Yield the fields of a Pod that violate it, if the policy has it."""
        spec = field_of(values, "spec")
        windows = minor >= _WINDOWS and field_of(field_of(spec, "os"), "name") == "windows"
        user_namespace = minor >= _USER_NAMESPACE and field_of(spec, "hostUsers") is False
        exempt = (windows and not self.windows) or (user_namespace and not self.user_namespaces)
        overridden = level != _BASELINE and minor >= self.overridden
        if exempt or overridden or not self.since <= minor < self.until:
            return
        inherited: Plain = None
        for field, value in _fields(self.path, values):
            of_pod = "ontainers[" not in field
            if not (self.inherited and value is None and (of_pod or inherited is not None)) and self.bad(value, minor):
                yield field
            inherited = value if of_pod else inherited


def violations(pod: Pod, level: str, version: str, release: Release) -> str:
    """Return the message with which this version of a standard refuses the Pod; empty if it does not.

    If not all fields of the Pod's template are known, only the host's network and ports are judged.
    """
    minor = release.minor if version == "latest" else min(int(version[3:]), release.minor)
    template = pod.template if is_whole(pod.template) else None
    values = plain(msgspec.json.encode({"spec": template.spec if template else pod.spec}))
    if template and template.unkept:
        values = put_back(values, plain(template.unkept.encode()))
    rules = (*_BASELINE_RULES, *(_RESTRICTED_RULES if level != _BASELINE else ())) if template else _KEPT_RULES
    found: dict[str, list[str]] = {}
    for rule in rules:
        for field in rule.violated(values, level, minor):
            found.setdefault(rule.reason, []).append(field)
    told = ", ".join(f"{reason} ({', '.join(fields)})" for reason, fields in found.items())
    return f'violates PodSecurity "{level}:{version}": {told}' if told else ""


def _fields(path: str, values: Plain) -> Iterator[tuple[str, Plain]]:
    """Yield (path, value) of each field; an absent value is None."""
    _, word, *_ = path.split(".")
    for meant in _MEANT.get(word, (word,)):
        yield from fields_at("", values, path.replace(word, meant, 1).split("."), absent=True)


def _is_set(value: Plain, _: int) -> bool:
    return bool(value)


def _is_true(value: Plain, _: int) -> bool:
    return value is True


def _not_in(allowed: Container[Plain]) -> Bad:
    return lambda value, _: value not in allowed


def _adds(allowed: Container[Plain]) -> Bad:
    return lambda value, _: value is not None and value not in allowed


def _newer(allowed: Mapping[str, int]) -> Bad:
    return lambda value, minor: value is not None and allowed.get(str(value), minor + 1) > minor


def _restricted_volume(value: Plain, _: int) -> bool:
    # A volume without a source is an emptyDir.
    sources = {*value} - {"name"} if isinstance(value, dict) else set()
    return bool(sources) and sources.isdisjoint((*_VOLUMES, "secret"))


def _annotated(prefixes: tuple[str, ...], *allowed: str) -> Bad:
    def bad(value: Plain, _: int) -> bool:
        own = value.items() if isinstance(value, dict) else ()
        return any(key.startswith(prefixes) and not str(each).startswith(allowed) for key, each in own)

    return bad


_NETWORK, *_HOST = (
    _Rule("host namespaces", f"spec.{each}", _is_true) for each in ("hostNetwork", "hostPID", "hostIPC")
)
_PORTS = _Rule("hostPort", "spec.containers.ports[*].hostPort", _is_set)
_KEPT_RULES = (_NETWORK, _PORTS)
_PROC_MOUNT = _Rule("procMount", "spec.containers.securityContext.procMount", _not_in((None, "Default")))
_PROFILE = _Rule("seccompProfile", "spec.contexts.seccompProfile.type", _adds(_PROFILES), since=19)
_CAPABILITY = "spec.containers.securityContext.capabilities"
_UNRESTRICTED = _Rule(
    "unrestricted capabilities", f"{_CAPABILITY}.add[*]", _adds(("NET_BIND_SERVICE",)), 22, windows=False
)
_ESCALATION = "spec.containers.securityContext.allowPrivilegeEscalation"
_BASELINE_RULES = (
    _Rule("forbidden AppArmor profile", "spec.contexts.appArmorProfile.type", _adds(_PROFILES)),
    _Rule(
        "forbidden AppArmor profile", "metadata.annotations", _annotated(_APP_ARMOR, "runtime/default", "localhost/")
    ),
    _Rule("non-default capabilities", f"{_CAPABILITY}.add[*]", _adds(_CAPABILITIES), overridden=22),
    *(_NETWORK, *_HOST),
    _Rule("hostPath volumes", "spec.volumes[*].hostPath", lambda value, _: value is not None, overridden=0),
    _PORTS,
    *(
        _Rule("probe or lifecycle host", f"spec.containers.{each}.{kind}.host", _is_set, since=34)
        for each in _HANDLERS
        for kind in ("httpGet", "tcpSocket")
    ),
    _Rule("privileged", "spec.containers.securityContext.privileged", _is_true),
    replace(_PROC_MOUNT, overridden=35, user_namespaces=False),
    _Rule("seLinuxOptions", "spec.contexts.seLinuxOptions.type", _newer(_SELINUX_TYPES)),
    *(_Rule("seLinuxOptions", f"spec.contexts.seLinuxOptions.{each}", _is_set) for each in ("user", "role")),
    _Rule(
        "seccompProfile",
        "metadata.annotations",
        _annotated(_SECCOMP, "runtime/default", "docker/default", "localhost/"),
        until=19,
    ),
    replace(_PROFILE, overridden=19),
    _Rule("forbidden sysctls", "spec.securityContext.sysctls[*].name", _newer(_SYSCTLS)),
    _Rule("hostProcess", "spec.contexts.windowsOptions.hostProcess", _is_true),
)
_RESTRICTED_RULES = (
    _Rule("allowPrivilegeEscalation != false", _ESCALATION, lambda value, _: value is not False, 8, windows=False),
    _UNRESTRICTED,
    replace(
        _UNRESTRICTED,
        path=f"{_CAPABILITY}.drop",
        bad=lambda value, _: not isinstance(value, list) or "ALL" not in value,
    ),
    replace(_PROC_MOUNT, since=35),
    _Rule("restricted volume types", "spec.volumes[*]", _restricted_volume),
    _Rule(
        "runAsNonRoot != true",
        "spec.contexts.runAsNonRoot",
        lambda value, _: value is not True,
        inherited=True,
        user_namespaces=False,
    ),
    _Rule(
        "runAsUser=0",
        "spec.contexts.runAsUser",
        lambda value, _: value == 0 and value is not False,
        since=23,
        user_namespaces=False,
    ),
    replace(_PROFILE, bad=_not_in(_PROFILES), inherited=True, windows=False),
)

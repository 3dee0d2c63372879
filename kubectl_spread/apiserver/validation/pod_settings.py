"""Security contexts, and settings of a Pod that restrict no nodes: DNS, names of hosts and accounts, its system.

Not validated: ``hostnameOverride``, the length of search lists, and what is in ``windowsOptions``.

Source: pkg/apis/core/validation/validation.go ValidateSecurityContext, validatePodSpecSecurityContext, validateSysctls,
validatePodDNSConfig, validateHostUsers, ValidateHostAliases, validateWindows, validateLinux; apimachinery
pkg/util/validation/ip.go parseIP (v1.33 to v1.37).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address

from kubectl_spread.apimachinery import (
    as_json,
    dns_label_faults,
    dns_subdomain_faults,
    label_key_faults,
    quoted,
)
from kubectl_spread.apiserver.validation.field_errors import (
    Errors,
    choice_errors,
    duplicate,
    invalid,
    items,
    required,
    text_errors,
)
from kubectl_spread.apiserver.validation.pods import HOST_USERS_SHORT_SINCE
from kubectl_spread.apiserver.validation.tables import (
    Rules,
    descending_faults,
    id_errors,
    never,
    one_of,
    table_errors,
    worded,
)
from kubectl_spread.objects.manifest_only_fields import Fields
from kubectl_spread.release import SELINUX_MOUNT, STRICT_IPS, Release

_CONTAINERS = ("initContainers[*]", "containers[*]")
_UNMASKED = "Unmasked"
_LOCALHOST = "Localhost"
_PROFILES = (_LOCALHOST, "RuntimeDefault", "Unconfined")
_PROFILE: Fields = {"type": "", "localhostProfile": None}
_WINDOWS_OPTIONS = ("gmsaCredentialSpecName", "gmsaCredentialSpec", "runAsUserName", "hostProcess")
_CONTEXT: Mapping[str, Fields | None] = {
    "capabilities": {"add": None, "drop": None},
    "privileged": None,
    "seLinuxOptions": dict.fromkeys(("user", "role", "type", "level"), ""),
    "windowsOptions": dict.fromkeys(_WINDOWS_OPTIONS),
    **dict.fromkeys(("runAsUser", "runAsGroup", "runAsNonRoot", "readOnlyRootFilesystem")),
    **dict.fromkeys(("allowPrivilegeEscalation", "procMount")),
    **dict.fromkeys(("seccompProfile", "appArmorProfile"), _PROFILE),
}
"""The fields of a container's security context in the order of Go's type, and the defaults of their own fields."""
_NOT_OF_LINUX = never("windows options cannot be set for a linux pod")
_NOT_OF_WINDOWS = never("cannot be set for a windows pod")
_NO_CONTEXT_OF_WINDOWS = (
    "appArmorProfile seLinuxOptions seccompProfile capabilities readOnlyRootFilesystem privileged"
    " allowPrivilegeEscalation procMount runAsUser runAsGroup"
)
_NO_POD_CONTEXT_OF_WINDOWS = (
    "appArmorProfile seLinuxOptions seccompProfile fsGroup fsGroupChangePolicy sysctls runAsUser runAsGroup"
    " supplementalGroups supplementalGroupsPolicy seLinuxChangePolicy"
)
_USERS = ("runAsUser", "runAsGroup")
_MAX_SYSCTL = 253
_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = rf"({_SEGMENT}[\./])*{_SEGMENT}"
_NAMESPACES = {"hostNetwork": r"net\.", "hostIPC": r"kernel\.(sem$|shm|msg)|fs\.mqueue\."}
"""Namespace of the node → the names of its sysctls."""
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_MAX_SERVERS = 3
_WITH_UNDERSCORE = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SEARCH = rf"{_WITH_UNDERSCORE}(\.{_WITH_UNDERSCORE})*"


def context_errors(spec: Fields, path: str, context: Fields) -> Errors:
    """Yield the errors of a container's security context; ``spec`` is its Pod's."""
    users = dict.fromkeys(_USERS, id_errors)
    yield from table_errors({**users, "procMount": one_of("Default", _UNMASKED)}, path, context)
    if context.get("procMount") == _UNMASKED and spec.get("hostUsers", True):
        yield invalid(f"{path}.procMount", quoted(_UNMASKED), "`hostUsers` must be false to use `Unmasked`")
    yield from table_errors({"seccompProfile": _profile_errors}, path, context)
    if context.get("allowPrivilegeEscalation") is False:
        added = context.get("capabilities", {}).get("add", [])
        causes = ["`privileged` to true"] if context.get("privileged") else []
        causes += ["`capabilities.Add` CAP_SYS_ADMIN"] if "CAP_SYS_ADMIN" in added else []
        for cause in causes:
            printed = as_json(_in_go(context, _CONTEXT))
            yield invalid(path, printed, f"cannot set `allowPrivilegeEscalation` to false and {cause}")
    yield from table_errors({"appArmorProfile": _profile_errors}, path, context)


def setting_errors(path: str, spec: Fields, release: Release) -> Errors:
    """Yield the errors of these fields of a Pod's spec."""
    yield from table_errors({"dnsPolicy": one_of(*_DNS_POLICIES)}, path, spec)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        detail = "ShareProcessNamespace and HostPID cannot both be enabled"
        # upstream: reported where the internal type has it.
        yield invalid(f"{path}.securityContext.shareProcessNamespace", "true", detail)
    policies = ("MountOption", "Recursive") if release.enables(SELINUX_MOUNT) else ("Recursive",)
    numbers = dict.fromkeys(("fsGroup", *_USERS, "supplementalGroups[*]"), id_errors)
    of_context: Rules = {
        **numbers,
        "sysctls": partial(_sysctl_errors, spec),
        "fsGroupChangePolicy": one_of("Always", "OnRootMismatch"),
        **dict.fromkeys(("seccompProfile", "appArmorProfile"), _profile_errors),
        "supplementalGroupsPolicy": one_of("Merge", "Strict"),
        "seLinuxChangePolicy": one_of(*policies),
    }
    yield from table_errors({"securityContext": partial(table_errors, of_context)}, path, spec)
    yield from _dns_errors(f"{path}.dnsConfig", spec, release)
    for place, gate in items(f"{path}.readinessGates", spec.get("readinessGates", [])):
        yield from text_errors(f"{place}.conditionType", gate.get("conditionType", ""), label_key_faults)
    if spec.get("hostUsers") is False:
        yield from _host_users_errors(path, spec, release)
    rules: Rules = {
        "serviceAccountName": worded(dns_subdomain_faults),
        **dict.fromkeys(("hostname", "subdomain"), worded(dns_label_faults)),
        "hostAliases[*]": partial(_alias_errors, release),
    }
    yield from table_errors(rules, path, spec)
    if "os" in spec:
        yield from _system_errors(path, spec, spec["os"].get("name", ""))


def _profile_errors(path: str, profile: Fields) -> Errors:
    """Yield the errors of a profile of seccomp or AppArmor."""
    kind, file, place = profile.get("type", ""), profile.get("localhostProfile"), f"{path}.localhostProfile"
    field = path.rpartition(".")[2]
    word, shown = ("seccomp", as_json(_in_go(profile, _PROFILE))) if field == "seccompProfile" else ("AppArmor", "")
    if not kind:
        yield required(f"{path}.type", f"type is required when {field} is set")
    yield from choice_errors(f"{path}.type", kind, _PROFILES, optional=True)
    if kind != _LOCALHOST and file is not None:
        yield invalid(place, shown or quoted(file), f"can only be set when {word} type is Localhost")
    elif kind == _LOCALHOST and (file is None or not (file or shown)):
        yield required(place, f"must be set when {word} type is Localhost")
    elif kind == _LOCALHOST and file is not None:
        yield from text_errors(place, file, descending_faults if shown else _padding_faults)


def _padding_faults(text: str) -> Iterator[str]:
    if text != text.strip():
        yield "must not be padded with whitespace"


def _in_go(values: Fields, defaults: Mapping[str, object]) -> Fields:
    """Return an object as Go's type has it: all fields, with capital letters."""
    found: Fields = {}
    for field, default in defaults.items():
        value = values.get(field, None if field in _CONTEXT else default)
        name = re.sub("^(se(?=L)|gmsa|.)", lambda match: match[0].upper(), field)
        found[name] = _in_go(value, default) if isinstance(value, dict) and isinstance(default, dict) else value
    return found


def _sysctl_errors(spec: Fields, path: str, sysctls: Sequence[Fields]) -> Errors:
    names: set[str] = set()
    for index, sysctl in items(path, sysctls):
        name, place = sysctl.get("name", ""), f"{index}.name"
        if not name:
            yield required(place)
        elif len(name.encode()) > _MAX_SYSCTL or not re.fullmatch(_SYSCTL, name):
            detail = f"must have at most {_MAX_SYSCTL} characters and match regex ^{_SYSCTL}$"
            yield invalid(place, quoted(name), detail)
        elif name in names:
            yield duplicate(place, name)
        for field, pattern in _NAMESPACES.items():
            if spec.get(field) and re.match(pattern, name.replace("/", ".")):
                yield invalid(place, quoted(name), f"may not be specified when '{field}' is true")
        names.add(name)


def _dns_errors(path: str, spec: Fields, release: Release) -> Errors:
    config, without = spec.get("dnsConfig", {}), spec.get("dnsPolicy") == "None"
    servers = config.get("nameservers", [])
    if without and "dnsConfig" not in spec:
        yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
        return
    if without and not servers:
        yield required(f"{path}.nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
        return
    if len(servers) > _MAX_SERVERS:
        yield invalid(f"{path}.nameservers", as_json(servers), f"must not have more than {_MAX_SERVERS} nameservers")
    for place, server in items(f"{path}.nameservers", servers):
        yield from _address_errors(place, server, release)
    for place, search in items(f"{path}.searches", config.get("searches", [])):
        if search != ".":
            yield from text_errors(place, search.removesuffix("."), _search_faults)
    for place, option in items(f"{path}.options", config.get("options", [])):
        if not option.get("name"):
            yield required(place, "must not be empty")


def _search_faults(search: str) -> Iterator[str]:
    if not re.fullmatch(_SEARCH, search):
        yield (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and"
            " must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is"
            f" '{_SEARCH}')"
        )


def _host_users_errors(path: str, spec: Fields, release: Release) -> Errors:
    short = release.minor >= HOST_USERS_SHORT_SINCE
    rule = never(f"when `{'hostUsers' if short else 'pod.Spec.HostUsers'}` is false")
    # upstream: reported with a capital letter.
    for field in ("hostPID", "hostIPC"):
        yield from rule(f"{path}.H{field[1:]}", spec.get(field, False))
    if short:
        yield from table_errors({f"{each}.volumeDevices": rule for each in _CONTAINERS}, path, spec)


def _alias_errors(release: Release, path: str, alias: Fields) -> Errors:
    yield from _address_errors(f"{path}.ip", alias.get("ip", ""), release)
    for place, hostname in items(f"{path}.hostnames", alias.get("hostnames", [])):
        yield from text_errors(place, hostname, dns_subdomain_faults)


def _address_errors(path: str, text: str, release: Release) -> Errors:
    address = _address(text)
    padded = address is None and _address(re.sub("(?<![0-9])0+(?=[0-9])", "", text)) is not None
    if address is None and not padded:
        yield invalid(path, quoted(text), "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")
    elif padded and release.enables(STRICT_IPS):
        yield invalid(path, quoted(text), "must not have leading 0s")
    elif isinstance(address, IPv6Address) and address.ipv4_mapped and release.enables(STRICT_IPS):
        yield invalid(path, quoted(text), "must not be an IPv4-mapped IPv6 address")


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        # Go takes no zone.
        return None if "%" in text else ip_address(text)
    except ValueError:
        return None


def _system_errors(path: str, spec: Fields, name: str) -> Errors:
    if not name:
        yield required(f"{path}.os.name")
        return
    yield from choice_errors(f"{path}.os", name, ("linux", "windows"))
    if name == "linux":
        every = [f"{each}securityContext.windowsOptions" for each in ("", *(f"{each}." for each in _CONTAINERS))]
        yield from table_errors(dict.fromkeys(every, _NOT_OF_LINUX), path, spec)
    elif name == "windows":
        own = [f"securityContext.{field}" for field in _NO_POD_CONTEXT_OF_WINDOWS.split()]
        own += ["hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"]
        own += [f"{each}.securityContext.{field}" for each in _CONTAINERS for field in _NO_CONTEXT_OF_WINDOWS.split()]
        yield from table_errors(dict.fromkeys(own, _NOT_OF_WINDOWS), path, spec)

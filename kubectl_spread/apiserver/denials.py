"""Why validating admission refuses a Pod that mutating admission has completed, except for ResourceQuota.

Source: plugin/pkg/admission/serviceaccount/admission.go Admit, plugin/pkg/admission/limitranger/admission.go Validate,
apiserver pkg/admission/plugin/namespace/lifecycle/admission.go Admit (v1.33 to v1.37), pod-security-admission
policy/check_hostNamespaces.go, check_hostPorts.go (v1.36). What else a Pod Security Standard asks for is not modelled.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.apiserver.admission import Refusal, is_whole
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import LimitRange, Namespace, Pod, ServiceAccount
from kubectl_spread.release import Release
from kubectl_spread.snapshot import Snapshot

_DEFAULT_ACCOUNT = "default"
_ENFORCE = "pod-security.kubernetes.io/enforce"
_NAMESPACES = frozenset(("default", "kube-system", "kube-public", "kube-node-lease"))
"""The Namespaces that an API server creates itself."""


def denials(pod: Pod, snapshot: Snapshot, release: Release) -> Iterator[Refusal]:
    """Yield why admission refuses the Pod, as mutating admission has completed it.

    A kind that was not read refuses nothing.
    """
    if any(snapshot.all(LimitRange)):
        from kubectl_spread.apiserver.limitranges import bound_faults

        yield from (Refusal("", fault, by_policy=True) for fault in bound_faults(pod, snapshot, release))
    namespace, name = pod.metadata.namespace, pod.spec.service_account_name or _DEFAULT_ACCOUNT
    if fault := ending(namespace, snapshot):
        yield Refusal("", fault, by_policy=True)
    level, violations = enforced_standard(namespace, snapshot), [*_standard_violations(pod)]
    if level and violations:
        yield Refusal("", f'violates PodSecurity "{level}:latest": {", ".join(violations)}', by_policy=True)
    # Each namespace gets an account named default soon after it is created.
    exists = name == _DEFAULT_ACCOUNT or snapshot.get(ServiceAccount, namespace, name) is not None
    if not exists and _knows_accounts(namespace, snapshot):
        message = f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found'
        yield Refusal("serviceAccountName", message, by_policy=True, missing=f"ServiceAccount {name}")


def enforced_standard(namespace: str, snapshot: Snapshot) -> str:
    """Return the Pod Security Standard that the namespace enforces; empty for none, or one that forbids nothing."""
    found = snapshot.get(Namespace, "", namespace)
    level = found.metadata.labels.get(_ENFORCE, "") if found else ""
    return "" if level == "privileged" else level


def _standard_violations(pod: Pod) -> Iterator[str]:
    if pod.spec.host_network:
        yield "host namespaces (hostNetwork=true)"
    ports = {
        container.name: [str(port.host_port) for port in container.ports if port.host_port]
        for container in (*pod.spec.init_containers, *pod.spec.containers)
    }
    names = [f'"{name}"' for name, taken in ports.items() if taken]
    numbers = sorted({number for taken in ports.values() for number in taken})
    if names:
        using = f"containers {', '.join(names)} use" if len(names) > 1 else f"container {names[0]} uses"
        yield f"hostPort ({using} hostPort{'s' * (len(numbers) > 1)} {', '.join(numbers)})"


def ending(namespace: str, snapshot: Snapshot) -> str:
    """Return why nothing is created in the namespace, not even an Eviction; empty if it is not being terminated."""
    found = snapshot.get(Namespace, "", namespace)
    ends = found is not None and found.status.phase == "Terminating"
    return f"unable to create new content in namespace {namespace} because it is being terminated" if ends else ""


def lacks_namespace(namespace: str, snapshot: Snapshot, before: Snapshot) -> bool:
    """Whether the namespace is known not to exist.

    ``before`` is the cluster as it was read. If it has no Namespace at all, they were not read.
    """
    if namespace in _NAMESPACES or not is_whole(kinds.NAMESPACE, before):
        return False
    exists = snapshot.get(Namespace, "", namespace) is not None
    # Some files have one Namespace, and Pods of others.
    return not exists and all(pod.metadata.namespace != namespace for pod in before.all(Pod))


def _knows_accounts(namespace: str, snapshot: Snapshot) -> bool:
    """Whether the ServiceAccounts of the namespace were read: then one of them is named default."""
    if any(unread.kind is kinds.SERVICE_ACCOUNT for unread in snapshot.inventory.unread):
        return False
    listed = kinds.SERVICE_ACCOUNT.plural in snapshot.inventory.resource_versions
    return listed or snapshot.get(ServiceAccount, namespace, _DEFAULT_ACCOUNT) is not None

"""Why validating admission would not let in a Pod that mutating admission has completed: all but ResourceQuota.

Source: plugin/pkg/admission/serviceaccount/admission.go Admit, plugin/pkg/admission/limitranger/admission.go Validate,
apiserver pkg/admission/plugin/namespace/lifecycle/admission.go Admit (v1.33 to v1.37).
"""

from __future__ import annotations

from collections.abc import Iterator

from kubectl_spread.apiserver.admission import Refusal, is_whole
from kubectl_spread.objects import kinds
from kubectl_spread.objects.core import LimitRange, Namespace, Pod, PodSpec, ServiceAccount
from kubectl_spread.release import Release
from kubectl_spread.snapshot import Snapshot

DEFAULT_ACCOUNT = "default"
# These an API server makes itself.
_NAMESPACES = frozenset(("default", "kube-system", "kube-public", "kube-node-lease"))
_TERMINATING = "Terminating"


def denials(pod: Pod, snapshot: Snapshot, release: Release) -> Iterator[Refusal]:
    """Yield why admission would not let the Pod in; what was not read refuses nothing.

    The Pod is as admission has completed it.
    """
    if any(snapshot.all(LimitRange)):
        from kubectl_spread.apiserver.limitranges import bound_faults

        yield from (Refusal("", fault, by_policy=True) for fault in bound_faults(pod, snapshot, release))
    namespace, name = pod.metadata.namespace, account_of(pod.spec)
    if fault := ending(namespace, snapshot):
        yield Refusal("", fault, by_policy=True)
    # Each namespace gets an account named default soon after it is created.
    exists = name == DEFAULT_ACCOUNT or snapshot.get(ServiceAccount, namespace, name) is not None
    if not exists and _knows_accounts(namespace, snapshot):
        message = f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found'
        yield Refusal("serviceAccountName", message, by_policy=True, missing=f"ServiceAccount {name}")


def ending(namespace: str, snapshot: Snapshot) -> str:
    """Return why nothing is created in the namespace, Evictions neither; empty where it is not being terminated."""
    found = snapshot.get(Namespace, "", namespace)
    ends = found is not None and found.status.phase == _TERMINATING
    return f"unable to create new content in namespace {namespace} because it is being terminated" if ends else ""


def account_of(spec: PodSpec) -> str:
    """Return the ServiceAccount that the Pod acts as."""
    return spec.service_account_name or DEFAULT_ACCOUNT


def lacks_namespace(namespace: str, snapshot: Snapshot, before: Snapshot) -> bool:
    """Whether the namespace is known not to exist.

    ``before`` is the cluster as it was read: where it holds no Namespace at all, nobody looked for them.
    """
    if namespace in _NAMESPACES or not is_whole(kinds.NAMESPACE, before):
        return False
    exists = snapshot.get(Namespace, "", namespace) is not None
    # Some files hold one Namespace, and Pods of others.
    return not exists and all(pod.metadata.namespace != namespace for pod in before.all(Pod))


def _knows_accounts(namespace: str, snapshot: Snapshot) -> bool:
    """Whether all ServiceAccounts of the namespace are known; each has one named default soon after it is made."""
    if any(unread.kind is kinds.SERVICE_ACCOUNT for unread in snapshot.inventory.unread):
        return False
    listed = kinds.SERVICE_ACCOUNT.plural in snapshot.inventory.resource_versions
    return listed or snapshot.get(ServiceAccount, namespace, DEFAULT_ACCOUNT) is not None

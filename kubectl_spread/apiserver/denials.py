"""Why validating admission refuses a Pod that mutating admission has completed, except for ResourceQuota.

Source: plugin/pkg/admission/serviceaccount/admission.go Admit, plugin/pkg/admission/limitranger/admission.go Validate,
PodValidateLimitFunc, apiserver pkg/admission/plugin/namespace/lifecycle/admission.go Admit (v1.33 to v1.37).
"""

from collections.abc import Iterator

from kubectl_spread.apiserver.admission import Refusal, limit_ranges_of
from kubectl_spread.apiserver.quantities import Amounts, limits_together, read_amounts, requests_together
from kubectl_spread.objects import core, kinds
from kubectl_spread.objects.core import Pod
from kubectl_spread.release import POD_LEVEL_RESOURCES, Release
from kubectl_spread.scheduler.resource import is_pod_level
from kubectl_spread.snapshot import Snapshot

_DEFAULT_ACCOUNT = "default"
# The Namespaces that an API server creates itself.
_NAMESPACES = frozenset(("default", "kube-system", "kube-public", "kube-node-lease"))


def denials(pod: Pod, snapshot: Snapshot, release: Release) -> Iterator[Refusal]:
    """Yield why admission refuses the Pod, as mutating admission has completed it.

    A kind that was not read refuses nothing.
    """
    for limit_range in limit_ranges_of(pod.metadata.namespace, snapshot):
        if faults := tuple(dict.fromkeys(_faults(limit_range, pod, release))):
            # Source: apimachinery pkg/util/errors/errors.go aggregate.Error (v1.36).
            yield Refusal("", faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]", by_policy=True)
    namespace, name = pod.metadata.namespace, pod.spec.service_account_name or _DEFAULT_ACCOUNT
    if fault := ending(namespace, snapshot):
        yield Refusal("", fault, by_policy=True)
    # Each namespace gets an account named default soon after it is created.
    exists = name == _DEFAULT_ACCOUNT or snapshot.get(core.ServiceAccount, namespace, name) is not None
    if not exists and _knows_accounts(namespace, snapshot):
        message = f'error looking up service account {namespace}/{name}: serviceaccount "{name}" not found'
        yield Refusal("serviceAccountName", message, by_policy=True, missing=f"ServiceAccount {name}")


def enforced_standard(namespace: str, snapshot: Snapshot) -> str:
    """Return the Pod Security Standard that the namespace enforces, which is not evaluated here; empty for none.

    Source: pod-security-admission api/helpers.go PolicyToEvaluate (v1.36).
    """
    level = snapshot.namespace_labels(namespace).get("pod-security.kubernetes.io/enforce", "privileged")
    return "" if level == "privileged" else "baseline" if level == "baseline" else "restricted"


def ending(namespace: str, snapshot: Snapshot) -> str:
    """Return why nothing is created in the namespace, not even an Eviction; empty if it is not being terminated."""
    found = snapshot.get(core.Namespace, "", namespace)
    ends = found is not None and found.status.phase == "Terminating"
    return f"unable to create new content in namespace {namespace} because it is being terminated" if ends else ""


def lacks_namespace(namespace: str, snapshot: Snapshot, before: Snapshot) -> bool:
    """Whether the namespace is known not to exist.

    ``before`` is the cluster as it was read. If it has no Namespace at all, they were not read.
    """
    if namespace in _NAMESPACES or not before.inventory.has_all(kinds.NAMESPACE):
        return False
    exists = snapshot.get(core.Namespace, "", namespace) is not None
    # Some files have one Namespace, and Pods of others.
    return not exists and all(pod.metadata.namespace != namespace for pod in before.all(Pod))


def _knows_accounts(namespace: str, snapshot: Snapshot) -> bool:
    """Whether all ServiceAccounts of the namespace are known.

    They were read if one of them is named default. A namespace that did not exist then has none but those added since.
    """
    if snapshot.inventory.refused(kinds.SERVICE_ACCOUNT):
        return False
    listed = kinds.SERVICE_ACCOUNT.plural in snapshot.inventory.resource_versions
    if listed or snapshot.get(core.ServiceAccount, namespace, _DEFAULT_ACCOUNT) is not None:
        return True
    read = snapshot.inventory.objects
    there = {each.metadata.name for each in read.get(kinds.NAMESPACE.name, ())} | _NAMESPACES
    if namespace in there or not snapshot.inventory.has_all(kinds.NAMESPACE):
        return False
    return all(pod.metadata.namespace != namespace for pod in read.get(kinds.POD.name, ()))


def _faults(limit_range: core.LimitRange, pod: Pod, release: Release) -> Iterator[str]:
    for item in limit_range.spec.limits:
        if item.type == "Container":
            for container in (*pod.spec.containers, *pod.spec.init_containers):
                yield from _item_faults(item, *_amounts(container.resources))
        elif item.type == "Pod":
            requests, limits = requests_together(pod.spec), limits_together(pod.spec)
            if pod.spec.resources is not None and release.enables(POD_LEVEL_RESOURCES):
                for amounts, own in zip((requests, limits), _amounts(pod.spec.resources), strict=True):
                    amounts |= {name: amount for name, amount in own.items() if is_pod_level(name)}
            yield from _item_faults(item, requests, limits)


def _amounts(resources: core.ResourceRequirements) -> tuple[Amounts, Amounts]:
    return read_amounts(resources.requests), read_amounts(resources.limits)


def _item_faults(item: core.LimitRangeItem, requests: Amounts, limits: Amounts) -> Iterator[str]:
    """Yield which bounds are broken, by resource; Go's order is random."""
    amounts = {"request": requests, "limit": limits}
    for word, bounds, fields, sign in (
        ("minimum", item.min, ("request", "limit"), 1),
        ("maximum", item.max, ("limit", "request"), -1),
    ):
        for name, bound in read_amounts(bounds).items():
            message = f"{word} {name} usage per {item.type} is {bound}"
            given = {field: amounts[field][name] for field in fields if name in amounts[field]}
            broken = [field for field, amount in given.items() if sign * amount.value < sign * bound.value]
            if fields[0] not in given:
                yield f"{message}.  No {fields[0]} is specified"
            elif broken:
                yield f"{message}, but {broken[0]} is {given[broken[0]]}"
    for name, bound in read_amounts(item.max_limit_request_ratio).items():
        message = f"{name} max limit to request ratio per {item.type} is {bound}"
        zero = [field for field, given in amounts.items() if name not in given or not given[name].value]
        if zero:
            yield f"{message}, but no {zero[0]} is specified or {zero[0]} is 0"
        elif (ratio := limits[name].value / requests[name].value) > bound.value:
            yield f"{message}, but provided ratio is {float(ratio):f}"

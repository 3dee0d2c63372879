"""What tests ask of a cluster: make many objects quickly, and see what the scheduler decided."""

import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from tests.controlplane.api import CONNECTIONS, STRATEGIC_MERGE_PATCH, Api, ApiError, Object
from tests.controlplane.kubectl import Kubectl
from tests.controlplane.waiting import wait_for


@dataclass(frozen=True, kw_only=True, slots=True)
class Client:
    """An administrator's view of a cluster."""

    api: Api
    kubectl: Kubectl

    def apply(self, objects: Iterable[Object]) -> None:
        """Apply objects of any kind, in their order."""
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(listed))

    def create_namespaces(self, names: Iterable[str]) -> None:
        """Create namespaces."""
        self._create("/api/v1/namespaces", [{"metadata": {"name": name}} for name in names])

    def create_nodes(self, nodes: Iterable[Object]) -> None:
        """Create Nodes; the server keeps the status a Node is created with."""
        self._create("/api/v1/nodes", nodes)

    def create_pods(self, pods: Iterable[Object]) -> None:
        """Create Pods in the namespaces they name; one with spec.nodeName needs no scheduler."""
        in_parallel(lambda pod: self.api.request("POST", _pods_path(pod["metadata"]["namespace"]), body=pod), pods)

    def delete_pods(self, pods: Iterable[Object]) -> None:
        """Delete Pods; a bound one stays, terminating, for no kubelet confirms its end."""
        in_parallel(lambda pod: self.api.request("DELETE", _pod_path(pod)), pods)

    def pods(self, namespace: str | None = None) -> Sequence[Object]:
        """Return the Pods of a namespace, or of all."""
        path = _pods_path(namespace) if namespace else "/api/v1/pods"
        listed: Sequence[Object] = self.api.request("GET", path)["items"]
        return listed

    def pod(self, namespace: str, name: str) -> Object:
        """Return a Pod."""
        return self.api.request("GET", f"{_pods_path(namespace)}/{name}")

    def wait_for_decision(self, namespace: str, name: str, *, timeout_s: float = 30.0) -> Object:
        """Return a Pod once the scheduler has bound it or reported why not."""

        def decided() -> Object | None:
            pod = self.pod(namespace, name)
            return pod if is_decided(pod) else None

        what = f"a decision about Pod {namespace}/{name}"
        return wait_for(decided, what=what, timeout_s=timeout_s)

    def failed_scheduling(self, namespace: str, name: str) -> str | None:
        """Return the message of a Pod's newest FailedScheduling event, None when it has none."""
        selector = f"involvedObject.kind=Pod,involvedObject.name={name},reason=FailedScheduling"
        path = f"/api/v1/namespaces/{namespace}/events"
        events = self.api.request("GET", path, query={"fieldSelector": selector})["items"]
        newest = max(events, key=lambda event: int(event["metadata"]["resourceVersion"]), default=None)
        return newest and str(newest["message"])

    def mark_running(self, namespace: str | None = None) -> None:
        """Report every bound Pod in phase Pending as Running and Ready, which a kubelet would do."""
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        in_parallel(
            lambda pod: self.patch_status(pod, status=status),
            [pod for pod in self.pods(namespace) if _awaits_kubelet(pod)],
        )

    def act_as_kubelets(self) -> None:
        """Report bound Pods as running, and terminating ones as gone; what changed meanwhile is met the next time."""
        with suppress(ApiError):
            self.mark_running()
            self.confirm_deletions()

    def confirm_deletions(self) -> None:
        """Let go of bound Pods that are terminating, which a kubelet would do once their containers have ended."""
        in_parallel(
            lambda pod: self.api.request("DELETE", _pod_path(pod), query={"gracePeriodSeconds": "0"}),
            [pod for pod in self.pods() if "deletionTimestamp" in pod["metadata"]],
        )

    def patch_status(self, pod: Object, *, status: Object) -> Object:
        """Return a Pod after its status took the given fields."""
        path = f"{_pod_path(pod)}/status"
        return self.api.request("PATCH", path, body={"status": status}, content_type=STRATEGIC_MERGE_PATCH)

    def _create(self, path: str, objects: Iterable[Object]) -> None:
        """Create objects of one kind."""
        in_parallel(lambda made: self.api.request("POST", path, body=made), objects)


def in_parallel(act: Callable[[Object], object], objects: Iterable[Object]) -> None:
    """Do something for each object, as many at a time as there are connections; the first error is raised."""
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        list(threads.map(act, objects))


def scheduled_condition(pod: Object) -> Object | None:
    """Return the condition PodScheduled of a Pod, None before the scheduler has looked at it."""
    conditions = pod["status"].get("conditions", ())
    return next((condition for condition in conditions if condition["type"] == "PodScheduled"), None)


def is_decided(pod: Object) -> bool:
    """Return whether the Pod has a node, or the scheduler has said why not."""
    condition = scheduled_condition(pod)
    return "nodeName" in pod["spec"] or (condition is not None and condition.get("reason") == "Unschedulable")


def _awaits_kubelet(pod: Object) -> bool:
    """Return whether the Pod is bound, and no kubelet has started it."""
    return "nodeName" in pod["spec"] and pod["status"]["phase"] == "Pending"


def _pods_path(namespace: str) -> str:
    """Return where the Pods of a namespace are."""
    return f"/api/v1/namespaces/{namespace}/pods"


def _pod_path(pod: Object) -> str:
    """Return where a Pod is."""
    metadata = pod["metadata"]
    return f"{_pods_path(metadata['namespace'])}/{metadata['name']}"

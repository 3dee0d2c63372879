"""Situations set up on a real control plane, one at a time: the scheduler sees the Nodes of one alone."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.comparison.situations import DEPLOYMENT, Situation
from tests.comparison.tools import Question
from tests.controlplane.api import ApiError, Object
from tests.controlplane.client import Client, is_decided
from tests.controlplane.waiting import wait_for
from tests.e2e.manifests import pod

SCHEDULER_CONFIG = Path(__file__).parent / "scheduler-config.yaml"

_NUMBERS = itertools.count(1)
_DECIDED_S = 90.0
_FIXED_S = 60.0
_LABEL = {"app": DEPLOYMENT}
_HASH = "pod-template-hash"
_REVISION = "deployment.kubernetes.io/revision"
_OF_A_SERVER = ("nodeName", "tolerations")


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """A situation as it came about."""

    decision: str
    """What the scheduler decided about the Pods of the newest revision, as the table says it."""
    question: Question


@contextmanager
def staged(client: Client, situation: Situation) -> Iterator[Scene]:
    """Set a situation up in a namespace of its own, and leave an empty cluster behind."""
    namespace = f"comparison-{next(_NUMBERS)}"
    client.create_namespaces([namespace])
    client.create_nodes(situation.nodes)
    client.create_pods(
        pod(namespace, name, labels=_LABEL, spec={"nodeName": on}) for name, on in situation.beside.items()
    )
    try:
        for spec in situation.revisions:
            _roll_out(client, namespace, spec)
        with TemporaryDirectory() as folder:
            yield _scene(client, namespace, folder=Path(folder), profile=situation.profile)
    finally:
        _clear(client, namespace)


def fix_works(client: Client, namespace: str, commands: Sequence[str]) -> bool:
    """Return whether, after a fix's commands, every Pod that the Deployment wants is bound."""
    for command in commands:
        subprocess.run(["bash", "-c", command], env=client.kubectl.environment(), capture_output=True, check=True)  # noqa: S607 - whichever is on PATH
    try:
        wait_for(lambda: _is_complete(client, namespace), what="every Pod to be bound", timeout_s=_FIXED_S)
    except TimeoutError:
        return False
    return True


def _roll_out(client: Client, namespace: str, spec: Object) -> None:
    """Apply a revision of the Deployment; return once the scheduler has decided on each of its Pods."""
    before = {made["metadata"]["labels"][_HASH] for made in _owned(client, namespace)}
    metadata = {"name": DEPLOYMENT, "namespace": namespace}
    client.apply([{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}])

    def decided() -> bool:
        made = [each for each in _owned(client, namespace) if each["metadata"]["labels"][_HASH] not in before]
        return len(made) == spec["replicas"] and all(map(is_decided, made))

    wait_for(decided, what=f"{spec['replicas']} decisions in {namespace}", timeout_s=_DECIDED_S)
    client.mark_running(namespace)


def _scene(client: Client, namespace: str, *, folder: Path, profile: bool) -> Scene:
    """Return what the scheduler decided on the newest revision, and the Pod to ask about: a Pending one if any."""
    made = _newest(client, namespace)
    pending = [each for each in made if "nodeName" not in each["spec"]]
    asked = (pending or made)[0]
    name = asked["metadata"]["name"]
    if pending:
        wait_for(lambda: client.failed_scheduling(namespace, name), what=f"an event about {name}", timeout_s=_DECIDED_S)
    manifest = folder / "pod.json"
    manifest.write_text(json.dumps(unborn(asked)))
    question = Question(
        namespace=namespace,
        pod=name,
        pending=bool(pending),
        manifest=manifest,
        scheduler_config=SCHEDULER_CONFIG if profile else None,
    )
    counted, state = (len(pending), "Pending") if pending else (len(made), "bound")
    return Scene(decision=f"{counted} of {len(made)} {state}", question=question)


def unborn(made: Object) -> Object:
    """Return a Pod as one would create it again, without what a server or the scheduler put in."""
    metadata = {name: made["metadata"][name] for name in ("namespace", "labels")}
    spec = {name: value for name, value in made["spec"].items() if name not in _OF_A_SERVER}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**metadata, "name": "one-more"}, "spec": spec}


def _is_complete(client: Client, namespace: str) -> bool:
    """Act as the kubelets; return whether the Deployment has all its Pods, each of the newest revision and bound."""
    client.act_as_kubelets()
    deployment = client.api.request("GET", _deployment_path(namespace))
    if deployment["status"].get("observedGeneration") != deployment["metadata"]["generation"]:
        return False
    newest = _newest(client, namespace)
    bound = [made for made in newest if "nodeName" in made["spec"]]
    return bool(len(bound) == len(_owned(client, namespace)) == deployment["spec"]["replicas"])


def _newest(client: Client, namespace: str) -> Sequence[Object]:
    """Return the Deployment's Pods of its newest revision."""
    path = f"/apis/apps/v1/namespaces/{namespace}/replicasets"
    replica_sets = client.api.request("GET", path)["items"]
    newest = max(replica_sets, key=lambda each: int(each["metadata"]["annotations"][_REVISION]))["metadata"]["labels"]
    return [made for made in _owned(client, namespace) if made["metadata"]["labels"][_HASH] == newest[_HASH]]


def _owned(client: Client, namespace: str) -> Sequence[Object]:
    """Return the Pods of the Deployment."""
    return [made for made in client.pods(namespace) if "ownerReferences" in made["metadata"]]


def _clear(client: Client, namespace: str) -> None:
    """Delete the Deployment, the Pods and all Nodes."""
    client.kubectl("delete", "deployment", DEPLOYMENT, "-n", namespace, "--ignore-not-found", "--wait=false")

    def gone() -> bool:
        with suppress(ApiError):
            client.delete_pods(made for made in client.pods(namespace) if "ownerReferences" not in made["metadata"])
        client.act_as_kubelets()
        return not client.pods(namespace)

    wait_for(gone, what=f"{namespace} to be empty", timeout_s=_DECIDED_S)
    client.kubectl("delete", "nodes", "--all")


def _deployment_path(namespace: str) -> str:
    """Return where the Deployment is."""
    return f"/apis/apps/v1/namespaces/{namespace}/deployments/{DEPLOYMENT}"

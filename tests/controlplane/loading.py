"""What a manifest describes, brought to life: people's objects are made here, the rest by the controllers."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from tests.controlplane.api import Object
from tests.controlplane.client import Client, is_decided
from tests.controlplane.waiting import wait_for

_LOADED_S = 60.0


def load(client: Client, path: Path) -> None:
    """Create the objects of a List; return once its workloads have their Pods, and the scheduler has decided on each.

    What has an owner is left out: its controller makes it anew, under a name of its own.

    Raises:
        TimeoutError: Pods are missing or undecided after a minute.
    """
    listed = [_unborn(made) for made in yaml.safe_load(path.read_text())["items"]]
    wanted = [made for made in listed if "ownerReferences" not in made["metadata"]]
    client.create_nodes(made for made in wanted if made["kind"] == "Node")
    client.apply(made for made in wanted if made["kind"] != "Node")
    replicas = sum(made["spec"]["replicas"] for made in wanted if made["kind"] == "Deployment")
    wait_for(lambda: _all_decided(client.pods(), replicas), what=f"{replicas} decisions", timeout_s=_LOADED_S)


def _unborn(made: Object) -> Object:
    """Return an object without the identity that a server gave it."""
    return {**made, "metadata": {name: value for name, value in made["metadata"].items() if name != "uid"}}


def _all_decided(pods: Sequence[Object], replicas: int) -> bool:
    """Return whether there are that many Pods and the scheduler has decided on each."""
    return len(pods) == replicas and all(is_decided(pod) for pod in pods)

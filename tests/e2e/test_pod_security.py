"""Whether ``check`` refuses the Pods that a real API server refuses by a Pod Security Standard."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.apiserver.security_cases import POLICIES, answered, cases, drawn, namespace_of, reasons, recorded
from tests.build import Object
from tests.build_workloads import workload
from tests.controlplane.client import Client
from tests.program import spread

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def policies(client: Client) -> Client:
    client.apply([namespace_of(policy) for policy in POLICIES])
    return client


def said(pods: list[Object], policy: str, folder: Path, client: Client) -> list[list[str]]:
    """Return for which reasons ``check`` refuses each Pod."""
    file = folder / "pods.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    namespace = namespace_of(policy)["metadata"]["name"]
    ended = spread("check", "-f", file, "-n", namespace, "-o", "json", "--kubeconfig", client.kubectl.kubeconfig)
    told = [[each["message"] for each in item.get("validation", [])] for item in ended.items]
    return [reasons(next((each for each in messages if "PodSecurity" in each), "")) for messages in told]


def test_check_refuses_what_the_api_server_refuses(policies: Client, tmp_path: Path) -> None:
    many = [drawn(seed) for seed in range(40)]
    pods = [{**pod, "metadata": {**pod["metadata"], "name": f"p{n}"}} for n, pod in enumerate(many)]
    for policy in POLICIES:
        theirs = [answered(policies, pod, policy) for pod in pods]
        ours = said(pods, policy, tmp_path, policies)
        assert [mine for mine, their in zip(ours, theirs, strict=True) if their is not None] == [
            their for their in theirs if their is not None
        ]


def test_the_recorded_answers_are_still_given(policies: Client) -> None:
    names = [*recorded()][::10]
    asked = {name: {policy: answered(policies, cases()[name], policy) for policy in POLICIES} for name in names}
    found = {name: {policy: told for policy, told in those.items() if told} for name, those in asked.items()}
    assert found == {name: recorded()[name] for name in names}


def test_a_workload_is_accepted_and_its_pods_are_refused(policies: Client, tmp_path: Path) -> None:
    namespace = namespace_of("restricted:latest")["metadata"]["name"]
    for name, seeds in (("sound", (cases()["sound-container-18"],)), ("bare", (cases()["bare-container-18"],))):
        spec = seeds[0]["spec"]
        manifest = workload("Deployment", name, pods={"metadata": {"labels": {"app": name}}, "spec": spec}, replicas=1)
        manifest["metadata"]["namespace"] = namespace
        manifest["spec"]["selector"] = {"matchLabels": {"app": name}}
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps(manifest))
        ended = spread("check", "-f", file, "-o", "json", "--kubeconfig", policies.kubectl.kubeconfig)
        policies.apply([manifest])
        time.sleep(2)
        pods = [pod for pod in policies.pods(namespace) if pod["metadata"]["name"].startswith(name)]
        assert (ended.item["verdict"] == "FailedCreate", len(pods)) == ((True, 0) if name == "bare" else (False, 1))

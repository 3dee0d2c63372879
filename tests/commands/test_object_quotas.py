"""What ``check`` and ``simulate --apply`` say where a ResourceQuota counts objects that are no Pods."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.build import Object, node
from tests.build_workloads import kubectl_applied, workload
from tests.program import Ended, listed, spread


def quota(hard: Mapping[str, str], used: Mapping[str, str] | None = None, **spec: object) -> Object:
    status = {"status": {"hard": hard, "used": used}} if used else {}
    metadata = {"name": "q", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard, **spec}, **status}


def asked(folder: Path, manifests: Sequence[Object], there: Sequence[Object]) -> tuple[Ended, Ended]:
    file, cluster = folder / "new.json", folder / "cluster.json"
    for path, items in ((file, manifests), (cluster, [node("a1"), *there])):
        listed(path, items)
    both = ("check", "-f", file), ("simulate", "--apply", file)
    return spread(*both[0], "--from", cluster, "-o", "json"), spread(*both[1], "--from", cluster, "-o", "json")


WEB = workload("Deployment", "web", replicas=1)
DEPLOYMENTS, SETS = "count/deployments.apps", "count/replicasets.apps"


@pytest.mark.parametrize(
    ("there", "verdict"),
    [
        ([quota({DEPLOYMENTS: "1"}, {DEPLOYMENTS: "0"})], "Schedulable"),
        ([quota({DEPLOYMENTS: "1"}, {DEPLOYMENTS: "1"})], "Invalid"),
        ([quota({DEPLOYMENTS: "1"}), workload("Deployment", "other", replicas=0)], "Invalid"),
        ([quota({DEPLOYMENTS: "1"})], "Schedulable"),
        ([quota({DEPLOYMENTS: "0"}), kubectl_applied(WEB)], "Schedulable"),
        ([quota({SETS: "0"})], "Incomplete"),
        ([quota({"count/deployments.extensions": "0", "count/services": "0"})], "Schedulable"),
        ([quota({DEPLOYMENTS: "0"}, scopes=["BestEffort"])], "Schedulable"),
    ],
)
def test_an_object_is_refused_if_the_quota_has_no_room(tmp_path: Path, there: Sequence[Object], verdict: str) -> None:
    check, simulated = asked(tmp_path, [WEB], there)
    assert check.item["verdict"] == verdict
    refused = "exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=1"
    assert (refused in simulated.stdout) is (verdict == "Invalid")
    assert simulated.code == {"Schedulable": 0, "Invalid": 1, "Incomplete": 3}[verdict]


def test_documents_before_it_and_quotas_in_the_file_count(tmp_path: Path) -> None:
    more = workload("Deployment", "more", replicas=1)
    check, _ = asked(tmp_path, [quota({DEPLOYMENTS: "1"}), WEB, more], [])
    assert [item["verdict"] for item in check.items] == ["Schedulable", "Invalid"]


def test_claims_of_a_stateful_set_count(tmp_path: Path) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claims = [{"metadata": {"name": "data"}, "spec": spec}]
    db = workload("StatefulSet", "db", replicas=2, volumeClaimTemplates=claims)
    check, _ = asked(tmp_path, [db], [quota({"requests.storage": "1Gi"})])
    assert check.item["verdict"] == "Incomplete"
    assert "requested: requests.storage=2Gi" in json.dumps(check.item["incomplete"])

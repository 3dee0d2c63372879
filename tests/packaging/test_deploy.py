"""What ``deploy`` has: manifests that our own check accepts, the documented rights, and metrics that are served."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

from kubectl_spread.commands.serve import PATHS
from kubectl_spread.contract.audit import AuditReport
from kubectl_spread.render.prometheus import STALE, families, family, missing
from tests.program import spread
from tests.render.reports import page_report
from tests.render.test_prometheus import skew_report

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
METRIC = re.compile(r"kubectl_spread_\w+")


def documents(path: Path) -> list[Any]:
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def served() -> set[str]:
    shown, audited = skew_report("show/shop"), page_report("audit/shop")
    assert isinstance(audited, AuditReport)
    every = (*families(shown), *families(audited), missing(shown), family(STALE, [(0.0, {})]))
    return {each.name for each in every}


def test_the_manifests_can_be_applied() -> None:
    files = (word for name in ("rbac", "deployment") for word in ("-f", DEPLOY / f"{name}.yaml"))
    ended = spread("check", *files, "-n", "kubectl-spread", "--from", ROOT / "examples/shop.yaml", "-o", "json")
    assert ended.code == 0
    assert [(each["name"], each["validation"], each["warnings"]) for each in ended.items] == [
        ("kubectl-spread", [], [])
    ]


def test_every_manifest_is_deployed() -> None:
    (whole,) = documents(DEPLOY / "kustomization.yaml")
    others = {"kustomization.yaml", "alerts.yaml"}
    assert set(whole["resources"]) == {path.name for path in DEPLOY.glob("*.yaml")} - others


def test_the_cluster_role_is_the_one_of_the_page() -> None:
    text = (ROOT / "docs/rights.md").read_text(encoding="utf-8")
    page = re.findall(r"```yaml\n(.*?kind: ClusterRole\n.*?)```", text, re.DOTALL)[0]
    roles = [each for each in documents(DEPLOY / "rbac.yaml") if each["kind"] == "ClusterRole"]
    assert roles == [yaml.safe_load(page)]


def test_the_container_has_no_privileges_and_can_write_nothing() -> None:
    deployment, _ = documents(DEPLOY / "deployment.yaml")
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["readinessProbe"]["httpGet"]["path"] in PATHS
    image = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert f':{container["ports"][0]["containerPort"]}"' in image
    assert f"USER {pod['securityContext']['runAsUser']}:" in image


def test_the_image_runs_what_the_command_line_accepts() -> None:
    image = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    (program,), words = (json.loads(found) for found in re.findall(r"^(?:ENTRYPOINT|CMD) (.*)$", image, re.MULTILINE))
    assert program == "kubectl-spread"
    # What is refused is refused after the flags are parsed.
    assert "serve and --from cannot be used together" in spread(*words, "--from", "examples/shop.yaml").error


def test_alerts_and_dashboard_use_metrics_that_are_served() -> None:
    names = served()
    rules = [rule["expr"] for group in documents(DEPLOY / "alerts.yaml")[0]["groups"] for rule in group["rules"]]
    panels = json.loads((DEPLOY / "dashboard.json").read_text(encoding="utf-8"))["panels"]
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    assert len(rules) + len(expressions) == sum(bool(METRIC.search(it)) for it in (*rules, *expressions)) + 1
    assert {name for each in (*rules, *expressions) for name in METRIC.findall(each)} <= names
    assert len({panel["id"] for panel in panels}) == len(panels)

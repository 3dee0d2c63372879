"""What autoscalers decide, beside the scheduler's verdict."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
import yaml
from msgspec import UNSET
from msgspec.structs import replace

from kubectl_spread.autoscalers.decision import Decision, NotAsked, PoolDecision, Verdict
from kubectl_spread.cluster.reads import Read, whole_namespaces
from kubectl_spread.commands import exit_codes
from kubectl_spread.commands.autoscaling import AutoscalerOptions
from kubectl_spread.commands.check import CheckOptions, check
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import ShowOptions, show
from kubectl_spread.commands.simulate import SimulateOptions, simulate
from kubectl_spread.commands.source import FileSource
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.commands.why_pending import why_pending
from kubectl_spread.contract.form import to_form
from kubectl_spread.diagnosis.autoscaler_answer import AutoscalerAnswer
from kubectl_spread.errors import ManifestError, UsageError
from kubectl_spread.objects.kinds import CONFIG_MAP, DAEMON_SET, EC2_NODE_CLASS, NODE_CLAIM, NODE_POOL, Kind
from kubectl_spread.render.annotations import to_github
from kubectl_spread.render.prometheus import to_prometheus
from kubectl_spread.render.sarif import to_sarif
from kubectl_spread.snapshot import Inventory, Unread
from kubectl_spread.wording.autoscalers import advice_text, decision_text
from kubectl_spread.wording.findings import finding_text
from kubectl_spread.wording.incomplete import entries
from tests.autoscalers.clusters import Object, node, node_class, pod, pool, spread
from tests.program import spread as spread_of

SITUATIONS = Path("tests/testdata/autoscalers")
TYPES = str(SITUATIONS / "instance-types.json")


def explained(path: Path, **options: str) -> Any:  # noqa: ANN401 - made from its type
    """Return the explanation of the Pod that waits in the file, as JSON has it."""
    source = FileSource([str(path)], stdin=None)
    answer = why_pending(
        source, Scope(namespace="default"), SchedulerOptions(), autoscalers=AutoscalerOptions(**options)
    )
    (item,) = answer.report.items
    return to_form(item)


def decided(item: Any) -> Any:  # noqa: ANN401 - made from its type
    """Return what its autoscaler decides; there must be one."""
    assert item.autoscaler
    return to_form(item.autoscaler)


def with_more(tmp_path: Path, name: str, more: Sequence[Object]) -> Path:
    """Return a situation in which these objects are, too."""
    path = tmp_path / "cluster.yaml"
    path.write_text((SITUATIONS / name).read_text() + "---\n" + yaml.safe_dump_all(more))
    return path


def test_no_constraint_is_absolved_that_keeps_the_autoscaler_from_bringing_a_node() -> None:
    item = explained(SITUATIONS / "phantom.yaml", instance_types=TYPES)
    assert decided(item).decision == "Refused"
    assert "No spread constraint is the cause" not in item.summary
    assert decided(item).summary.startswith(
        "Karpenter adds no node: NodePool default offers zones a and b, where maxSkew allows no more Pods; "
    )
    honors, requires = decided(item).fixes
    assert (honors.id, requires.id) == ("HonorTaints", "RequireZones")
    assert honors.commands[0].startswith("kubectl patch deployment web -n default --type=json -p ")
    comes = "Karpenter: nothing that was read forbids a new node from NodePool default (zones a, b)."
    assert (honors.then, requires.then) == (comes, comes)
    assert "what an autoscaler would have to add" not in "".join(fix.summary for fix in item.new_nodes)


def of_two_zones(tmp_path: Path, zones: str, *, min_domains: int = 3) -> Any:  # noqa: ANN401 - made from its type
    """Return the explanation of a third Pod beside one in each of two zones, with a NodePool of these zones."""
    path, constraints = tmp_path / "cluster.yaml", spread(minDomains=min_domains)
    running = [each for zone in "ab" for each in (node(f"n-{zone}", zone), pod(f"web-{zone}", f"n-{zone}"))]
    cluster = [pool("p", zones), node_class("abc"), *running, pod("pend", topologySpreadConstraints=constraints)]
    path.write_text(yaml.safe_dump_all(cluster))
    return explained(path, instance_types=TYPES)


def test_a_change_that_opens_nodes_that_exist_lets_no_node_come(tmp_path: Path) -> None:
    item = of_two_zones(tmp_path, "ab")
    assert (item.fixes[0].id, item.fixes[0].feasible) == ("LowerMinDomains", ("n-a", "n-b"))
    assert not decided(item).fixes
    assert decided(item).advice == ("Add zone c to the requirements of NodePool p.",)


def test_a_node_that_may_come_is_waited_for(tmp_path: Path) -> None:
    item = of_two_zones(tmp_path, "abc")
    assert isinstance(item.waits, tuple)
    assert [(each.kind, each.message) for each in item.waits] == [
        ("NodeAddition", "a node that Karpenter may add from NodePool p (zone c)")
    ]


@pytest.mark.parametrize("joined", [True, False], ids=["it has joined", "it has not joined"])
def test_a_node_that_starts_is_waited_for(joined: bool, tmp_path: Path) -> None:  # noqa: FBT001
    counts = "nodeCounts: {registered: {ready: 1}}, cloudProviderTarget: 2, maxSize: 2"
    status: Object = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"namespace": "kube-system", "name": "cluster-autoscaler-status"},
        "data": {"status": f"nodeGroups:\n- {{name: ng, health: {{{counts}}}}}\n"},
    }
    taints = [
        {"key": key, "effect": "NoSchedule"}
        for key in ("node.cilium.io/agent-not-ready", "node.kubernetes.io/not-ready")
    ]
    nodes = [node("old", "a", cpu="1"), *([node("new", "a", taints=taints)] * joined)]
    for each in nodes:
        each["metadata"]["labels"]["eks.amazonaws.com/nodegroup"] = "ng"
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump_all([status, *nodes, pod("web", "old"), pod("pend")]))
    item = explained(path)
    called = "new" if joined else "a node that starts"
    message = f"{called}: it is not Ready yet, and cluster-autoscaler sees room for the Pod there"
    assert isinstance(item.waits, tuple)
    assert [(each.kind, each.sure, each.nodes, each.message) for each in item.waits] == [
        ("NodeAddition", False, ("new",) * joined, message)
    ]
    assert (item.new_nodes, decided(item).advice) == ((), ())
    taints_of = "tolerating the taints of new (Cilium's agent does not run there; the taints clear on recovery)"
    assert item.left_alone == (taints_of,) * joined


def test_of_a_pod_that_can_be_scheduled_the_decision_is_only_in_json(tmp_path: Path) -> None:
    item = of_two_zones(tmp_path, "ab", min_domains=2)
    assert (decided(item).kind, decided(item).fixes, decided(item).advice) == ("karpenter", (), ())
    told = spread_of("why-pending", "--from", tmp_path / "cluster.yaml", "--instance-types", TYPES).stdout
    assert "it can be scheduled now" in told
    assert "Karpenter" not in told


@pytest.mark.parametrize(
    ("image", "given", "version"),
    [
        ("public.ecr.aws/karpenter/controller:1.12.1@sha256:0", "", "1.12"),
        ("public.ecr.aws/karpenter/controller:1.99.0", "", "1.15"),
        ("public.ecr.aws/karpenter/controller:1.12.1", "1.13", "1.13"),
        ("other:1.12", "", "1.14"),
    ],
)
def test_whose_rules_apply(image: str, given: str, version: str, tmp_path: Path) -> None:
    template = {"spec": {"containers": [{"name": "controller", "image": image}]}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "karpenter", "namespace": "karpenter"},
        "spec": {"template": template},
    }
    path = with_more(tmp_path, "phantom.yaml", [deployment])
    found = decided(explained(path, karpenter_version=given))
    assert found.version == version
    unknown = {"1.15": "those of 1.99 are", "1.14": "its release is"}.get(version)
    note = f" The rules of Karpenter {version} apply, because {unknown} not known."
    assert found.summary.endswith(note) is (unknown is not None)


def test_check_says_what_an_autoscaler_decides_about_the_replica_without_a_node(tmp_path: Path) -> None:
    manifest = tmp_path / "web.yaml"
    for name, decision, codes in (("emptied", "NewNode", (1, 0)), ("phantom", "Refused", (1, 1))):
        documents = yaml.safe_load_all((SITUATIONS / f"{name}.yaml").read_text())
        web = next(each for each in documents if each["kind"] == "Deployment")
        manifest.write_text(yaml.safe_dump(web))
        options = CheckOptions(
            filenames=(str(manifest),),
            namespace="default",
            replicas=4,
            autoscalers=AutoscalerOptions(instance_types=TYPES),
        )
        source = FileSource([str(SITUATIONS / f"{name}.yaml")], stdin=None)
        report = check(source, options, SchedulerOptions(), stdin=None).report
        (item,) = report.items
        assert isinstance(item.autoscaler, AutoscalerAnswer)
        assert item.autoscaler.decision == decision
        assert "No spread constraint is the cause" not in item.summary or decision == "NewNode"
        assert (exit_codes.of_check(report), exit_codes.of_check(report, autoscaling=True)) == codes


@pytest.mark.parametrize(
    ("situation", "expected"),
    [
        ("phantom", "warning PhantomDomain Karpenter counts zone c with 0 Pods, but adds no node there for"),
        ("emptied", "info EmptyPool no node is in zone c, so the scheduler does not count it. When NodePool default"),
        ("maximum", "info GroupAtMaximum zone a has the fewest Pods, and cluster-autoscaler adds no node there: ng-a"),
    ],
)
def test_what_an_autoscaler_will_do_before_a_pod_waits(situation: str, expected: str, tmp_path: Path) -> None:
    path = SITUATIONS / f"{situation}.yaml"
    source = FileSource([str(path)], stdin=None)
    shown = show(source, Scope(namespace="default"), ShowOptions(names=(("deployment", "web"),)), SchedulerOptions())
    (row,) = shown.report.items
    assert isinstance(row.autoscaler, AutoscalerAnswer)
    told = f'kubectl_spread_autoscaler_decision{{autoscaler="{row.autoscaler.kind}",'
    (line,) = (each for each in to_prometheus(shown.report).splitlines() if each.startswith(told))
    assert f',decision="{row.autoscaler.decision}",' in line

    web = next(each for each in yaml.safe_load_all(path.read_text()) if each["kind"] == "Deployment")
    manifest = tmp_path / "web.yaml"
    manifest.write_text(yaml.safe_dump(web))
    options = CheckOptions(filenames=(str(manifest),), namespace="default")
    checked = check(source, options, SchedulerOptions(), stdin=None)
    assert decision_text(row.autoscaler) in to_github(checked.report)
    for findings in (row.findings, checked.report.items[0].findings):
        assert any(f"{each.severity} {each.id} {finding_text(each)}".startswith(expected) for each in findings)
    severity, rule, message = expected.split(" ", 2)
    level = {"warning": "warning", "info": "note"}[severity]
    results = msgspec.json.decode(to_sarif(checked.report))["runs"][0]["results"]
    found = [each for each in results if each["ruleId"] == rule]
    assert [each["level"] for each in found] == [level]
    assert message in found[0]["message"]["text"]
    (annotation,) = [line for line in to_github(checked.report).splitlines() if rule in line]
    assert annotation.startswith(f"::{'notice' if level == 'note' else level} ")


class Forbidden(FileSource):
    """A cluster in which objects of a kind may be listed in one namespace at most."""

    server = "https://cluster.example"
    kind = NODE_POOL

    def read(self, reads: Sequence[Read]) -> Inventory:
        """Return the cluster without what may not be read."""
        refused = [each for each in reads if each.kind == self.kind and (each.name or not each.namespace)]
        allowed = [each for each in reads if each not in refused]
        found = super().read(reads)
        return replace(
            found,
            objects={each.kind.name: found.objects.get(each.kind.name, ()) for each in allowed},
            unread=tuple(Unread(each.kind, "forbidden", each.namespace) for each in refused),
            within=whole_namespaces(allowed),
        )


def forbidden(path: Path, kind: Kind, **options: str) -> Any:  # noqa: ANN401 - made from its type
    """Return the explanation of the Pod that waits in the file to somebody who may not read the kind."""
    source = Forbidden([str(path)], stdin=None)
    source.kind = kind
    scope, given = Scope(namespace="default"), AutoscalerOptions(**options)
    (item,) = why_pending(source, scope, SchedulerOptions(), autoscalers=given).report.items
    whole, without = explained(path), "the autoscaler's decision is made without them"
    assert item.verdict == whole.verdict
    assert tuple(each for each in entries(item.incomplete) if each.consequence != without) == whole.incomplete
    reported = [f"list {kind.plural}"] if item.autoscaler else []
    assert [each.what for each in entries(item.incomplete) if each.consequence == without] == reported
    return item


OF_KARPENTER = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "karpenter-0", "namespace": "default"},
    "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "public.ecr.aws/karpenter/controller:1.14.1"}]},
    "status": {"phase": "Running"},
}
OF_CLUSTER_AUTOSCALER = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "e", "namespace": "default"},
    "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web-5d9c-4"},
    "reason": "NotTriggerScaleUp",
    "message": "no",
    "reportingComponent": "cluster-autoscaler",
}


@pytest.mark.parametrize(
    ("name", "kind", "more", "summary"),
    [
        ("phantom.yaml", NODE_POOL, [], "What Karpenter does is not known: its NodePools could not be read."),
        (
            "maximum.yaml",
            NODE_POOL,
            [OF_KARPENTER],
            "cluster-autoscaler adds no node: node group ng-a (it is at its maximum",
        ),
        (
            "maximum.yaml",
            CONFIG_MAP,
            [OF_CLUSTER_AUTOSCALER],
            "What cluster-autoscaler does is not known: its node groups could not be read.",
        ),
    ],
)
def test_an_autoscaler_whose_pools_are_forbidden(
    name: str, kind: Kind, more: list[Object], summary: str, tmp_path: Path
) -> None:
    item = forbidden(with_more(tmp_path, name, more), kind)
    assert decided(item).summary.startswith(summary)
    assert decided(item).summary.endswith("Not considered: Karpenter, whose NodePools could not be read.") is (
        name == "maximum.yaml" and kind == NODE_POOL
    )
    # It refuses because of a constraint, or perhaps does.
    assert "No spread constraint is the cause" not in item.summary


def test_two_autoscalers(tmp_path: Path) -> None:
    status: Object = next(
        each for each in yaml.safe_load_all((SITUATIONS / "maximum.yaml").read_text()) if each["kind"] == "ConfigMap"
    )
    found = decided(explained(with_more(tmp_path, "phantom.yaml", [status]), karpenter_version="1.14"))
    assert found.kind == "karpenter"
    assert found.summary.endswith(" Not considered: the node groups in cluster-autoscaler's status.")


def test_pods_show_that_karpenter_runs_where_its_objects_are_forbidden(tmp_path: Path) -> None:
    path = with_more(tmp_path, "maximum.yaml", [OF_KARPENTER])
    path.write_text(path.read_text().replace("cluster-autoscaler-status", "other"))
    found = decided(forbidden(path, NODE_POOL))
    assert (found.kind, found.decision) == ("karpenter", "Unknown")
    assert explained(path).autoscaler is UNSET


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (NODE_CLAIM, "NodeClaims could not be read, so nodes that are being added are not considered."),
        (EC2_NODE_CLASS, "EC2NodeClasses could not be read, so the zones of their subnets are not considered."),
        (DAEMON_SET, "Not all DaemonSets could be read, so what their Pods use of nodes is not considered."),
    ],
)
def test_what_is_not_considered_without_the_right_to_read_it(kind: Kind, sentence: str) -> None:
    path = SITUATIONS / "emptied.yaml"
    options = {"instance_types": TYPES, "karpenter_version": "1.14"}
    with_rights, without = explained(path, **options), forbidden(path, kind, **options)
    assert decided(without).summary == f"{decided(with_rights).summary} {sentence}"
    assert [[each.verdict for each in decided(item).pools] for item in (with_rights, without)] == [
        ["chosen"],
        ["possible"],
    ]


def test_a_forbidden_status_of_cluster_autoscaler_leaves_the_verdict_as_it_is() -> None:
    item = forbidden(SITUATIONS / "maximum.yaml", CONFIG_MAP)
    assert item.autoscaler is UNSET
    source = Forbidden([str(SITUATIONS / "maximum.yaml")], stdin=None)
    source.kind = CONFIG_MAP
    (row,) = show(source, Scope(namespace="default"), ShowOptions(), SchedulerOptions()).report.items
    assert "GroupAtMaximum" not in {each.id for each in row.findings}


def test_what_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown Karpenter version"):
        explained(SITUATIONS / "phantom.yaml", karpenter_version="new")
    bad = tmp_path / "types.json"
    bad.write_bytes(msgspec.json.encode({"name": 1}))
    with pytest.raises(ManifestError, match="holds no instance types"):
        explained(SITUATIONS / "phantom.yaml", instance_types=str(bad))


def simulated(name: str, *steps: str, types: str = TYPES) -> Any:  # noqa: ANN401 - made from its type
    """Return the steps that are simulated in a situation, as JSON has them."""
    given = tuple((verb, value) for verb, value in (step.split(" ", 1) for step in steps))
    options = SimulateOptions(steps=given, autoscalers=AutoscalerOptions(instance_types=types))
    source = FileSource([str(SITUATIONS / name)], stdin=None)
    return to_form(simulate(source, Scope(namespace="default"), options, SchedulerOptions())).steps


@pytest.mark.parametrize("name", ["phantom.yaml", "emptied.yaml", "maximum.yaml"])
def test_what_a_step_leaves_pending_has_the_decision_of_why_pending(name: str) -> None:
    (before,) = simulated(name, "uncordon n1")
    after, alone = before.pending[0].autoscaler, explained(SITUATIONS / name, instance_types=TYPES).autoscaler
    assert (after.summary, after.pools, after.constraints) == (alone.summary, alone.pools, alone.constraints)


def test_the_decision_is_that_after_the_step() -> None:
    cordoned, removed = simulated("phantom.yaml", "cordon n1", "remove n1")
    refused, new = cordoned.pending[0], removed.pending[0]
    assert (refused.autoscaler.decision, new.autoscaler.decision) == ("Refused", "NewNode")
    assert "No spread constraint is the cause" not in refused.summary
    assert "No spread constraint is the cause" in new.summary


def test_a_step_says_what_the_autoscaler_may_add_and_why_it_adds_nothing() -> None:
    files = ("--from", SITUATIONS / "phantom.yaml", "--instance-types", TYPES)
    said = " ".join(spread_of("simulate", "--cordon", "n1", "--remove", "n1", *files, "-o", "wide").stdout.split())
    assert (
        "cordon n1: safe. No Pod is newly Pending. 1 Pod stays Pending, as before (default/deployment/web). WORKLOAD"
        in said
    )
    assert "Karpenter adds no node: NodePool default offers zones a and b, where maxSkew allows no more Pods" in said
    may = "too little cpu free). Karpenter may add a node for it from NodePool default (zone a). 1 Pod stays Pending"
    assert may in said
    assert "nothing that was read forbids" not in said
    # The decision rests on it, whichever sentence has the decision.
    assert said.count("The rules of Karpenter 1.14 apply, because its release is not known.") == 2


def test_the_claim_of_a_node_goes_with_it(tmp_path: Path) -> None:
    claim = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {
            "name": "of-n1",
            "labels": {"karpenter.sh/nodepool": "default", "topology.kubernetes.io/zone": "a"},
        },
        "status": {"providerID": "kwok://n1", "nodeName": "n1", "allocatable": {"cpu": "64", "pods": "110"}},
    }
    path = with_more(tmp_path, "phantom.yaml", [claim])
    assert [step.pending[0].autoscaler.decision for step in simulated(str(path.absolute()), "remove n1")] == ["NewNode"]


@pytest.mark.parametrize(
    ("why", "advice"),
    [
        ("fixed size", "Raise spec.replicas of NodePool p, if its nodes suit the Pod: it is static."),
        ("deleted", "NodePool p is being deleted: Pods that need its nodes need another NodePool."),
    ],
)
def test_a_pool_that_is_static_or_goes_has_advice(why: Literal["fixed size", "deleted"], advice: str) -> None:
    pools = (PoolDecision(name="p", verdict=Verdict.REFUSED, reasons=(NotAsked(why),)),)
    assert advice_text(AutoscalerAnswer(kind="karpenter", decision=Decision.REFUSED, pools=pools)) == [advice]

"""51 incidents in 17 kinds, whose first fix is run as printed while another cluster's context is the current one.

Half of them are read live with ``--context``, half with ``--from`` a snapshot. Then the Pods of the workload have to be
in, nobody else may have become Pending, no reserved node may hold a new tenant, and no request may have reached the
other cluster. ``python -m tests.soak incidents [--count 51] [--skip 0]``; ``--seed 7`` varies each.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.controlplane.api import Object
from tests.controlplane.audit import count_requests
from tests.controlplane.client import Client
from tests.controlplane.cluster import ControlPlane, Options, control_plane
from tests.controlplane.kubectl import Kubectl
from tests.e2e import fixes_as_printed as printed
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node, pod_spec

POOL = "karpenter.sh/nodepool"
DEDICATED = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
LABELS = {"app": printed.NAME, "group": "shop"}
SELECTED = match(group="shop")
KINDS_OF_OWNER = ("Deployment", "StatefulSet", "ReplicaSet")
MINE, OTHER = "mine", "other"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Incident:
    """A cluster in which Pods of a workload stay Pending.

    Attributes:
        nodes: the cluster; ``reserved`` are those that somebody set aside.
        beside: what is there first.
        kind: of the workload in question.
        spec: what its Pods' spec has beyond one container.
        cpu: what that container asks for.
        owner: what the workload's spec has.
        runs: how many of its Pods find a node (count) before it grows by ``more``; none for one that comes whole.
        closed: node → what of its spec changes before it grows.
        rolls: whether its template changes as it grows.
    """

    nodes: Sequence[Object]
    reserved: Sequence[str] = ()
    beside: Sequence[Object] = ()
    kind: str = "Deployment"
    spec: Object
    cpu: str = "100m"
    owner: Mapping[str, object] = dataclasses.field(default_factory=dict)
    runs: int = 2
    more: int = 2
    closed: Mapping[str, Object] = dataclasses.field(default_factory=dict)
    rolls: bool = False

    def situation(self, namespace: str) -> printed.Situation:
        """Return it as it is set up."""
        spec: Object = {**asking(self.cpu), **self.spec}

        def sized(number: int, *, version: int = 1, **owner: object) -> Object:
            template: Object = {"metadata": {"labels": LABELS, "annotations": {"version": str(version)}}, "spec": spec}
            size = {"parallelism": number, "completions": 50} if self.kind == "Job" else {"replicas": number}
            return printed.workload(
                self.kind, namespace, name=printed.NAME, template=template, **{**self.owner, **size, **owner}
            )

        running: Mapping[str, Any] = {"paused": False} if "paused" in self.owner else {}
        return printed.Situation(
            namespace=namespace,
            kind=self.kind,
            nodes=self.nodes,
            beside=[{**each, "metadata": {**each["metadata"], "namespace": namespace}} for each in self.beside],
            small=sized(self.runs, **running) if self.runs else None,
            closed=self.closed,
            asked=sized(self.runs + self.more, version=2 if self.rolls else 1),
        )


def asking(cpu: str) -> Object:
    """Return the spec of a Pod that asks for so much."""
    return pod_spec(resources={"requests": {"cpu": cpu}})


def spreading(*keys: str, **fields: object) -> Object:
    """Return the constraints on these keys, ZONE for none."""
    return {"topologySpreadConstraints": [constraint(k, selector=SELECTED, **fields) for k in keys or (ZONE,)]}


def zones(names: str = "abc", each: int = 1, fields: Mapping[str, str] | None = None) -> list[Object]:
    """Return so many nodes in each of these zones."""
    room = {"cpu": "3"}
    return [node(f"{z}{n}", labels={ZONE: z, **(fields or {})}, room=room) for z in names for n in range(1, each + 1)]


def shut(name: str, zone: str = "c", taint: Object = DEDICATED) -> Object:
    """Return a node that somebody set aside."""
    return node(name, labels={ZONE: zone}, taints=[taint], room={"cpu": "3"})


def other(
    name: str,
    kind: str = "Deployment",
    cpu: str = "100m",
    *,
    labels: Mapping[str, str] | None = None,
    spec: Object | None = None,
    **owner: object,
) -> Object:
    """Return what runs beside; the constraint does not count it but for these labels."""
    metadata = {"labels": {"app": name, **(labels or {})}}
    template: Object = {"metadata": metadata, "spec": {**asking(cpu), **(spec or {})}}
    return printed.workload(kind, "", name=name, template=template, **owner)


def policy(api: str, kind: str, name: str, **spec: object) -> Object:
    """Return an object of another kind."""
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": spec}


def reserved_zone(v: int) -> Incident:
    """A zone is set aside by a taint."""
    taint = {**DEDICATED, "key": ("dedicated", "nvidia.com/gpu", "team")[v]}
    nodes = [*zones("ab", each=1 + v % 2), shut("c1", taint=taint)]
    return Incident(nodes=nodes, reserved=["c1"], kind=KINDS_OF_OWNER[v], spec=spreading())


def scaled_by_hpa(v: int) -> Incident:
    """A HorizontalPodAutoscaler has scaled the Deployment."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": printed.NAME}
    scaler = policy("autoscaling/v2", "HorizontalPodAutoscaler", "web", scaleTargetRef=target, maxReplicas=9)
    return dataclasses.replace(reserved_zone(v), kind="Deployment", beside=[scaler], more=2 + v)


def job_beside_a_suspended_one(v: int) -> Incident:
    """A Job grows beside one that is suspended."""
    later = other("later", "Job", suspend=True, parallelism=2 + v, completions=9)
    return dataclasses.replace(reserved_zone(v), kind="Job", owner={"backoffLimit": 0}, beside=[later])


def partitioned(v: int) -> Incident:
    """A StatefulSet keeps its lower ordinals at the older revision."""
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1 + v}}
    owner = {"updateStrategy": strategy, "podManagementPolicy": ("OrderedReady", "Parallel")[v % 2]}
    return dataclasses.replace(reserved_zone(v), kind="StatefulSet", owner=owner, more=1 + v)


def on_delete(v: int) -> Incident:
    """A StatefulSet changes only Pods that somebody deletes."""
    owner = {"updateStrategy": {"type": "OnDelete"}, "podManagementPolicy": ("Parallel", "OrderedReady")[v % 2]}
    return dataclasses.replace(too_few_zones(v), kind="StatefulSet", owner=owner)


def paused(v: int) -> Incident:
    """A Deployment is paused, and grows."""
    return dataclasses.replace(
        (reserved_zone, too_few_zones, reserved_zone)[v](v), kind="Deployment", owner={"paused": True}
    )


def behind_a_budget(v: int) -> Incident:
    """What takes the room is guarded by a budget, and something that is not is as large."""
    beside = [
        other("guarded", cpu="2500m", replicas=1, spec={"nodeSelector": {ZONE: "a"}}),
        other(
            "free",
            ("Deployment", "StatefulSet", "Deployment")[v],
            cpu="2500m",
            replicas=1,
            spec={"nodeSelector": {ZONE: "b"}},
        ),
        policy("policy/v1", "PodDisruptionBudget", "guarded", selector=match(app="guarded"), maxUnavailable=0),
    ]
    nodes = [*zones("abc"[: 2 + v % 2]), *(zones("d") if v else ()), shut("x1", "x")]
    return Incident(nodes=nodes, reserved=["x1"], beside=beside, spec={}, cpu="2", runs=0, more=1 + len(nodes) - 3)


def claim_in_a_closed_zone(v: int) -> Incident:
    """The next ordinal's claim is bound in a zone whose node is cordoned."""
    zone = "abc"[v]
    claim_template = {"metadata": {"name": "data"}, "spec": CLAIMED}
    beside = [made for n, z in enumerate((*"abc", zone)) for made in bound(n, z, f"claims-{v}")]
    owner = {"volumeClaimTemplates": [claim_template], "podManagementPolicy": "Parallel"}
    closed = {f"{zone}1": {"unschedulable": True}}
    return Incident(
        nodes=zones(), beside=beside, kind="StatefulSet", spec=spreading(), owner=owner, runs=3, more=1, closed=closed
    )


CLAIMED: Object = {
    "accessModes": ["ReadWriteOnce"],
    "storageClassName": "none",
    "resources": {"requests": {"storage": "1Gi"}},
}


def bound(ordinal: int, zone: str, prefix: str) -> Iterator[Object]:
    """Yield the claim of an ordinal and the volume behind it, which only the zone's nodes reach."""
    claim, volume = f"data-{printed.NAME}-{ordinal}", f"{prefix}-{ordinal}"
    done = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
    made = policy("v1", "PersistentVolumeClaim", claim, **CLAIMED, volumeName=volume)
    yield {**made, "metadata": {"name": claim, "annotations": done}}
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    yield policy(
        "v1",
        "PersistentVolume",
        volume,
        capacity={"storage": "1Gi"},
        accessModes=["ReadWriteOnce"],
        storageClassName="none",
        csi={"driver": "csi.example.net", "volumeHandle": volume},
        nodeAffinity={"required": {"nodeSelectorTerms": [term]}},
    )


def two_constraints(v: int) -> Incident:
    """Zones and nodes both have a constraint."""
    nodes = [*zones("ab", each=1 + v % 2), shut("c1")]
    return Incident(nodes=nodes, reserved=["c1"], kind=KINDS_OF_OWNER[v], spec=spreading(ZONE, HOSTNAME), more=2)


def cordoned(v: int) -> Incident:
    """Somebody cordoned nodes and forgot them."""
    return Incident(
        nodes=zones(each=1 + v % 2),
        kind=KINDS_OF_OWNER[v],
        spec=spreading(ZONE),
        runs=3,
        more=3,
        closed={f"c{n}": {"unschedulable": True} for n in range(1, 2 + v % 2)},
    )


def neighbours_selector(v: int) -> Incident:
    """The constraint counts the Pods of other workloads, and none in the zone that is set aside."""
    spec = {"topologySpreadConstraints": [constraint(ZONE, selector=match(tier="old"))]}
    beside = [other(f"old-{z}", replicas=2 + v, labels={"tier": "old"}, spec={"nodeSelector": {ZONE: z}}) for z in "ab"]
    nodes = [*zones("ab", each=2), shut("c1")]
    return Incident(nodes=nodes, reserved=["c1"], beside=beside, kind=KINDS_OF_OWNER[v], spec=spec, runs=0)


def too_few_zones(v: int) -> Incident:
    """The constraint asks for more zones than there are."""
    return Incident(
        nodes=zones(each=1 + v), kind=KINDS_OF_OWNER[v], spec=spreading(minDomains=4 + v), runs=3, more=1 + v
    )


def misspelt_key(v: int) -> Incident:
    """No node carries the constraint's key."""
    key = ("topology.kubernetes.io/zones", "topology.kubernetes.io/Zone", "toplogy.kubernetes.io/zone")[v]
    return Incident(
        nodes=zones(), beside=[other("idle", replicas=v)], kind=KINDS_OF_OWNER[v], spec=spreading(key), runs=0
    )


def full_pool(v: int) -> Incident:
    """The nodes of its pool are full, and those of another pool are not."""
    key = (POOL, "eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool")[v]
    nodes = [*zones("ab", fields={key: "web"}), node("d1", labels={ZONE: "a", key: "data"}, room={"cpu": "8"})]
    spec = {**spreading(), "nodeSelector": {key: "web"}}
    return Incident(nodes=nodes, reserved=["d1"], kind=KINDS_OF_OWNER[v], spec=spec, cpu="2", more=1)


def silent_zone(v: int) -> Incident:
    """The kubelet of a zone's only node is gone, and the zone holds the fewest Pods."""
    gone = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    kind = ("ReplicationController", "Deployment", "StatefulSet")[v]
    closed = {"c1": {"taints": [gone]}}
    return Incident(
        nodes=zones(each=1 + v % 2)[: 5 if v % 2 else 3], kind=kind, spec=spreading(), runs=3, more=3, closed=closed
    )


def stuck_rollout(v: int) -> Incident:
    """The Pod more of a rollout may go to no zone that is open: the old Pods count too."""
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1 + v % 2, "maxUnavailable": 0}}
    nodes = [*zones("ab", each=1 + v % 2), shut("c1")]
    return Incident(nodes=nodes, reserved=["c1"], spec=spreading(), owner={"strategy": strategy}, more=0, rolls=True)


def one_a_node(v: int) -> Incident:
    """Every open node has a Pod of the workload, and takes no other: by its port, or by anti-affinity."""
    term = {"topologyKey": HOSTNAME, "labelSelector": SELECTED}
    apart = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    port = pod_spec(ports=[{"containerPort": 80, "hostPort": 80}])
    nodes = [*zones("ab"), shut("c1")]
    spec = {**(port, apart, {**port, **apart})[v], **spreading(maxSkew=2)}
    return Incident(nodes=nodes, reserved=["c1"], kind=KINDS_OF_OWNER[v], spec=spec, more=1)


KINDS: Sequence[Callable[[int], Incident]] = (
    reserved_zone,
    scaled_by_hpa,
    job_beside_a_suspended_one,
    partitioned,
    on_delete,
    paused,
    behind_a_budget,
    claim_in_a_closed_zone,
    two_constraints,
    cordoned,
    neighbours_selector,
    too_few_zones,
    misspelt_key,
    full_pool,
    silent_zone,
    stuck_rollout,
    one_a_node,
)


def varied(incident: Incident, drawn: random.Random) -> Incident:
    """Return the incident with what does not end it: others beside, a budget, soft constraints, taints that evict."""
    beside, spec = [*incident.beside], {**incident.spec}
    for number in range(drawn.randint(0, 2)):
        kind = drawn.choice(("Deployment", "StatefulSet", "ReplicaSet"))
        beside.append(other(f"idle-{number}", kind, replicas=drawn.randint(0, 3)))
    if drawn.random() < 0.3:
        beside.append(
            policy("policy/v1", "PodDisruptionBudget", "own", selector=match(app=printed.NAME), minAvailable=1)
        )
    if drawn.random() < 0.3:
        soft = constraint(HOSTNAME, selector=SELECTED, whenUnsatisfiable="ScheduleAnyway")
        spec["topologySpreadConstraints"] = [*spec.get("topologySpreadConstraints", ()), soft]
    nodes = json.loads(json.dumps(incident.nodes))
    evicts = drawn.random() < 0.3
    for taint in (taint for each in nodes for taint in each["spec"].get("taints", ())):
        taint["effect"] = "NoExecute" if evicts else taint["effect"]
    return dataclasses.replace(incident, beside=beside, spec=spec, nodes=nodes)


def main() -> int:
    """Work the incidents and print what came of each; return 1 where anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak incidents", description=__doc__)
    parser.add_argument("--count", type=int, default=51)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
    asked, _ = parser.parse_known_args()
    numbers = range(asked.skip, asked.skip + asked.count)
    chosen = [(n, KINDS[n % len(KINDS)]) for n in numbers if KINDS[n % len(KINDS)].__name__.startswith(asked.only)]
    wrong: Counter[str] = Counter()
    alone = Options(scheduler=False, controllers=())
    with control_plane(printed.OPTIONS) as mine, control_plane(alone) as other_plane, TemporaryDirectory() as folder:
        pasting = both_contexts(mine, other_plane, Path(folder))
        for number, kind in chosen:
            incident, from_files = kind(number // len(KINDS) % 3), (number // len(KINDS) + number) % 2
            if asked.seed:
                drawn = random.Random(f"{asked.seed}/{number}")  # noqa: S311 - no secret
                incident, from_files = varied(kind(drawn.randrange(3)), drawn), drawn.randrange(2)
            snapshot = Path(folder) if from_files else None
            told, why = worked(mine.client(), pasting, incident, f"incident-{number}", snapshot)
            wrong[kind.__name__] += bool(why)
            sys.stdout.write(f"{number} {kind.__name__}: {told}: {'; '.join(why) or 'well'}\n")
            sys.stdout.flush()
        agents = ("kubectl", "kubectl-spread")
        astray = [each for each in count_requests(other_plane.audit_log) if each.agent.partition("/")[0] in agents]
    sys.stdout.write(
        f"{len(chosen)} incidents of {len({k for _, k in chosen})} kinds, {sum(wrong.values())} wrong,"
        f" {len(astray)} requests to the other cluster\n"
    )
    return int(bool(wrong.total() or astray))


def both_contexts(mine: ControlPlane, other_plane: ControlPlane, folder: Path) -> Kubectl:
    """Return kubectl with a kubeconfig of both clusters, whose current context is the other one."""
    merged: Object = {"apiVersion": "v1", "kind": "Config", "current-context": OTHER}
    for name, plane in ((MINE, mine), (OTHER, other_plane)):
        given = json.loads(plane.kubeconfig.read_text())
        for part in ("clusters", "users"):
            merged.setdefault(part, []).append({**given[part][0], "name": name})
        merged.setdefault("contexts", []).append({"name": name, "context": {"cluster": name, "user": name}})
    path = folder / "kubeconfig"
    path.write_text(json.dumps(merged))
    return dataclasses.replace(mine.client().kubectl, kubeconfig=path, home=folder)


def worked(
    client: Client, pasting: Kubectl, incident: Incident, namespace: str, snapshot: Path | None
) -> tuple[str, Sequence[str]]:
    """Return what was done about an incident, read live or from a snapshot there, and what is wrong after it."""
    situation = incident.situation(namespace)
    with printed.emptied(client, situation.namespace):
        printed.set_up(client, situation)
        before, pending = waiting(client, situation.namespace)
        if not pending:
            return "nothing is Pending", ["no incident"]
        fix, text = first_fix(pasting, situation.namespace, pending[0], snapshot)
        if fix is None and "running Pods of job/" in text:
            why = ended(client, situation.namespace)
            return f"{incident.kind} a Pod of the Job ends", [*why, *(text.splitlines() if why else ())]
        if fix is None:
            return "no fix", ["no fix is printed", *text.splitlines()]
        for made in () if fix["commands"] else fix["changes"]:
            client.create_nodes([{**made["object"], "status": {**made["object"]["status"]}}])
        for command in fix["commands"]:
            printed.run_as_printed(dataclasses.replace(client, kubectl=pasting), command)
        why = settled_wrongs(client, incident, situation, before, left_by(fix))
    some = f", which lets in {fix['admits']} of {fix['siblings']}" if fix["admits"] < fix["siblings"] else ""
    told = f"{incident.kind} {fix['id']}{some}"
    return told, [*why, *(text.splitlines() if why else ())]


def ended(client: Client, namespace: str) -> Sequence[str]:
    """End one of the Pods whose end is to be waited for, and return what is wrong if no other Pod takes its place."""

    def bound() -> list[Object]:
        return [each for each in client.pods(namespace) if printed.is_asked(each) and not printed.waits(each)]

    first, *others = bound()
    client.patch_status(first, status={"phase": "Succeeded"})
    for _ in range(10):
        printed.settle(client, namespace, quiet_s=2.0)
        if len(bound()) > len(others) + 1:
            return []
    return ["no Pod has taken the place"]


def left_by(fix: Object) -> range:
    """Return how many Pods (count) may wait after the fix: all of them behind a partition, or in a stuck rollout."""
    most = fix["siblings"] - fix["admits"]
    surely = re.search(r"in the end, (\d+) Pods? still ha", fix.get("ends", ""))
    return range(int(surely[1]), int(surely[1]) + 1) if surely else range(most + 1)


def waiting(client: Client, namespace: str) -> tuple[Sequence[Object], Sequence[str]]:
    """Return all Pods, and the names of those in question that wait; where machines are slow, they come late."""
    for _ in range(5):
        pods = client.pods(namespace)
        found = sorted(each["metadata"]["name"] for each in pods if printed.is_asked(each) and printed.waits(each))
        if found:
            break
        printed.settle(client, namespace, quiet_s=2.0)
    return pods, found


def first_fix(kubectl: Kubectl, namespace: str, name: str, folder: Path | None) -> tuple[Object | None, str]:
    """Return the first fix and the text that offers it, read live, or from a snapshot in the folder."""
    where = ("--context", MINE)
    if folder:
        kubectl("spread", "snapshot", "-o", str(folder / "cluster.json.gz"), *where)
        where = ("--from", str(folder / "cluster.json.gz"))
    asked = ("spread", "why-pending", name, "-n", namespace, *where)
    ended, report = kubectl.run(*asked), json.loads(kubectl.run(*asked, "-o", "json").stdout)
    text = ended.stdout or ended.stderr
    (item,) = report["items"]
    step = next(
        (step for step in re.findall(r"^  \d+\. (.*)", text, re.MULTILINE) if not step.startswith("Wait for ")), ""
    )
    if step.startswith("Add a node "):
        return item["newNodes"][0], text
    # The first that is shown need not be the first of all.
    # A change of several constraints is named once.
    ids = (("+".join(dict.fromkeys(fix["id"].split("+"))), fix) for fix in item["fixes"])
    shown = (fix for name, fix in ids if step.startswith(f"{name}: "))
    return next((fix for fix in shown if all(command in text for command in fix["commands"])), None), text


def settled_wrongs(
    client: Client, incident: Incident, situation: printed.Situation, before: Sequence[Object], left: range
) -> Sequence[str]:
    """Return what is wrong once all is quiet, looked at up to ten times: the scheduler tries again after a while."""
    for _ in range(10):
        printed.settle(client, situation.namespace, quiet_s=2.0)
        after = client.pods(situation.namespace)
        wrong = [*wrongs(incident, before, after, left), *printed.failed(client, situation.namespace)]
        if not wrong:
            break
    return wrong


def wrongs(incident: Incident, before: Sequence[Object], after: Sequence[Object], left: range) -> Iterator[str]:
    """Yield who still waits, who waits now, and who is where nobody was to go."""
    waited, waits = (Counter(printed.maker(each) for each in pods if printed.waits(each)) for pods in (before, after))
    if waits[printed.NAME] not in left:
        yield f"{waits[printed.NAME]} of {printed.NAME} Pending, {left.start} to {left.stop - 1} told"
    for maker, number in sorted(waits.items()):
        if maker != printed.NAME and number > waited[maker]:
            yield f"{number} of {maker} Pending, {waited[maker]} before"
    runs = sum(printed.is_asked(each) and not printed.waits(each) for each in after)
    if left == range(1) and runs < incident.runs + incident.more:
        yield f"{runs} of {incident.runs + incident.more} Pods have a node"
    there = {each["metadata"]["uid"] for each in before if not printed.waits(each)}
    for each in after:
        if each["spec"].get("nodeName") in incident.reserved and each["metadata"]["uid"] not in there:
            yield f"{each['metadata']['name']} is on {each['spec']['nodeName']}, which is set aside"

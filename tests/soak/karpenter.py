"""Karpenter itself beside a real control plane: what it does about a Pod is what `why-pending` reported before.

While Karpenter is paused, a Pod comes for which there is no node, and `check`, `show` and `why-pending` are asked. Then
Karpenter goes on. Its NodeClaim, or its event about the Pod, has to be the decision, the NodePool and the domains that
were reported; where it refuses, its counts of each domain too. Then the printed change is made, or the advice followed,
and every Pod has to run.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.controlplane.api import Object
from tests.controlplane.client import is_decided
from tests.controlplane.cluster import ControlPlane, control_plane
from tests.controlplane.karpenter import (
    VERSION,
    Karpenter,
    act_as_machines,
    build_karpenter,
    install_crds,
    node_claims,
    start_karpenter,
    wait_for_pools,
)
from tests.controlplane.waiting import wait_for
from tests.e2e import fixes_as_printed as printed
from tests.e2e.manifests import ZONE
from tests.soak.karpenter_situations import NODE_CLASS, SITUATIONS, STARTING, Situation, instance_types

CONTEXT = "mine"
POOL = "karpenter.sh/nodepool"
DECIDED_S = 40.0
SETTLED_S = 120.0
_PAUSE_S = 0.2
INSTALLED: Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "namespace": "kube-system",
        "name": "karpenter",
        "labels": {"app.kubernetes.io/name": "karpenter"},
    },
    "spec": {
        "replicas": 0,
        "selector": {"matchLabels": {"app": "karpenter"}},
        "template": {
            "metadata": {"labels": {"app": "karpenter"}},
            "spec": {"containers": [{"name": "controller", "image": f"public.ecr.aws/karpenter/controller:{VERSION}"}]},
        },
    },
}
"""Tells the release; the controller itself runs beside the cluster."""
REASONS: Mapping[str, str] = {
    "does not tolerate its taint": "did not tolerate taint",
    "the Pod wants": "incompatible requirements",
    "leaves no room": "exceed limits",
    "may take no more Pods": "unsatisfiable topology constraint",
    "instance type": "no instance type",
    "fewer than its minValues": "minValues requirement is not met",
    "pod anti-affinity leaves it no": "unsatisfiable topology constraint for pod anti-affinity",
    "picked first": "no instance type",
    "ignores Pods that select nodes by": "using label kubernetes.io/hostname is not allowed",
}
"""What is in a reason of ours → what is in Karpenter's own about the same NodePool."""
NOT_ASKED = ("it is not Ready", "it keeps a fixed number of nodes")
"""Reasons for which Karpenter does not ask a NodePool at all."""
FINDINGS = ("PhantomDomain", "EmptyPool")
BRINGS = re.compile(r"NodePool (?P<pool>\S+) \(zones? (?P<zones>[^)]*)\)")
COUNTS = re.compile(r"key=(?P<key>\S+) \(counts = (?P<counts>.*?), podDomains")


@dataclass(frozen=True, kw_only=True)
class Did:
    """What Karpenter did about a Pod."""

    decision: str  # as `why-pending` calls it
    node: str = ""  # the node or NodeClaim that exists, on which it sees room
    claim: Object | None = None  # the NodeClaim that it created
    message: str = ""  # its own words
    # Node → the NodeClaim that it came from, as both are after the decision
    claims: Mapping[str, str] = field(default_factory=dict)

    def is_on(self, node: str) -> bool:
        """Whether that Node or NodeClaim is the one on which it sees room: the Node may have come in between."""
        return self.claims.get(node, node) == self.claims.get(self.node, self.node)


class Cluster:
    """A control plane with Karpenter, and kubectl as somebody has it whose kubeconfig has no current context."""

    def __init__(self, plane: ControlPlane, karpenter: Karpenter, folder: Path) -> None:
        """Install Karpenter and start it."""
        self._client = plane.client()
        self._types = folder / "instance-types.json"
        self._types.write_text(instance_types())
        given = json.loads(plane.kubeconfig.read_text())
        context = {**given["contexts"][0], "name": CONTEXT}
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_text(json.dumps({**given, "contexts": [context], "current-context": ""}))
        self._pasting = replace(self._client, kubectl=replace(self._client.kubectl, kubeconfig=kubeconfig, home=folder))
        install_crds(self._client, karpenter)
        self._client.apply([INSTALLED, NODE_CLASS])
        self._karpenter = start_karpenter(plane, karpenter, self._types)

    def work(self, situation: Situation, namespace: str) -> tuple[Did, Sequence[str]]:
        """Return what Karpenter did in a situation, and what is wrong about the reports and the change."""
        with self._emptied(namespace):
            self._set_up(situation, namespace)
            before = node_claims(self._client)
            with self._karpenter.paused():
                item, wrong = self._ask(situation, namespace)
            did = self._wait_for_decision(namespace, item["name"], before)
            wrong += differences(item["autoscaler"], did)
            if situation.decision != item["autoscaler"]["decision"]:
                wrong.append(f"the situation is for {situation.decision}")
            wrong += self._let_in(situation, namespace, item)
        return did, wrong

    @contextmanager
    def _emptied(self, namespace: str) -> Iterator[None]:
        """Fill a namespace for the length of a block; then nothing is left of it, no Node and no NodePool."""
        kubectl = self._client.kubectl
        with printed.emptied(self._client, namespace):
            yield
        for kind in ("daemonsets", "nodepools", "nodeclaims", "nodes"):
            kubectl("delete", kind, "--all", "--wait=false")
        for kind in ("nodeclaims", "nodes"):
            for name in kubectl("get", kind, "-o", "name").split():
                kubectl.run("patch", name, "--type=merge", "-p", json.dumps({"metadata": {"finalizers": None}}))
        wait_for(lambda: not kubectl("get", "nodepools,nodeclaims,nodes", "-o", "name"), what="an empty cluster")

    def _set_up(self, situation: Situation, namespace: str) -> None:
        """Bring the situation about up to the last Pod."""
        self._client.create_nodes(situation.nodes)
        self._client.apply(situation.pools)
        wait_for_pools(self._client)
        self._client.apply([situation.deployment(namespace, situation.runs)])
        if situation.starting:
            wait_for(lambda: has_condition(node_claims(self._client), situation.starting), what="a NodeClaim")
        else:
            self._settle(namespace, situation.runs)
        if situation.later:
            self._client.apply(situation.later)
            wait_for_pools(self._client)

    def _ask(self, situation: Situation, namespace: str) -> tuple[Object, list[str]]:
        """Let the last Pod come; return what is reported of it, and where `show` and `check` report something else."""
        grown = situation.deployment(namespace, situation.runs + 1)
        known = {each["metadata"]["name"] for each in self._client.pods(namespace)}
        wrong = []
        shown = json.loads(self._spread("show", "-n", namespace, "-o", "json", types=False))
        found = {finding["id"] for each in shown["items"] for finding in each["findings"]} & set(FINDINGS)
        if found != {situation.finding} - {""}:
            wrong.append(f"show reports {sorted(found)}")
        (checked,) = json.loads(self._spread("check", "-f", "-", "-o", "json", stdin=json.dumps(grown)))["items"]
        self._client.apply([grown])
        name = wait_for(lambda: self._refused(namespace, known), what="a Pod that the scheduler refuses")
        (item,) = json.loads(self._spread("why-pending", name, "-n", namespace, "-o", "json"))["items"]
        (blind,) = json.loads(self._spread("why-pending", name, "-n", namespace, "-o", "json", types=False))["items"]
        if blind["autoscaler"]["decision"] not in {item["autoscaler"]["decision"], "NewNode", "Unknown"}:
            wrong.append(f"without instance types: {blind['autoscaler']['summary']}")
        said, also = (each.get("autoscaler") or {} for each in (item, checked))
        compared = ("kind", "version", "decision", "node", "pools", "constraints")
        differing = [name for name in compared if said.get(name) != also.get(name)]
        wrong += [f"{name} in check: {also.get(name)}, in why-pending: {said.get(name)}" for name in differing]
        return item, wrong

    def _spread(self, *command: str, stdin: str | None = None, types: bool = True) -> str:
        """Return what `kubectl spread` prints, asked with the instance types or without."""
        given = ("--instance-types", str(self._types)) if types else ()
        return self._pasting.kubectl.run("spread", *command, *given, "--context", CONTEXT, stdin=stdin).stdout

    def _refused(self, namespace: str, known: Container[str]) -> str:
        """Return the name of a Pod that the scheduler refuses, not one of those; empty for none."""
        pods = (each for each in self._client.pods(namespace) if printed.waits(each) and is_decided(each))
        return next((name for each in pods if (name := each["metadata"]["name"]) not in known), "")

    def _wait_for_decision(self, namespace: str, name: str, before: Sequence[Object]) -> Did:
        """Return what Karpenter does about the Pod, by its event and its NodeClaims."""
        path, selector = f"/api/v1/namespaces/{namespace}/events", f"involvedObject.name={name},source=karpenter"
        existed = {each["metadata"]["name"] for each in before}

        def decided() -> Did | None:
            events = self._client.api.request("GET", path, query={"fieldSelector": selector})["items"]
            for event in events:
                if event["reason"] == "FailedScheduling":
                    return Did(decision="Refused", message=event["message"])
                target = dict(part.split("/") for part in event["message"].rpartition(": ")[2].split(", "))
                claim = target.get("nodeclaim", "")
                if event["reason"] == "Nominated" and (claim in existed or not claim):
                    claims = {each.get("status", {}).get("nodeName"): each for each in node_claims(self._client)}
                    return Did(
                        decision="ExistingNode",
                        node=target.get("node") or claim,
                        message=event["message"],
                        claims={node: each["metadata"]["name"] for node, each in claims.items() if node},
                    )
                made = next((each for each in node_claims(self._client) if each["metadata"]["name"] == claim), None)
                return Did(decision="NewNode", claim=made, message=event["message"])
            return None

        return wait_for(decided, what=f"an event of Karpenter about {namespace}/{name}", timeout_s=DECIDED_S)

    def _let_in(self, situation: Situation, namespace: str, item: Object) -> list[str]:
        """Make the change that was printed, or follow the advice; return why the Pods do not all run."""
        before = {each["metadata"]["name"] for each in node_claims(self._client)}
        then = ""
        if situation.fix:
            text = self._spread("why-pending", item["name"], "-n", namespace)
            offered = (each for each in item["autoscaler"]["fixes"] if each["id"] == situation.fix)
            fix = next((each for each in offered if all(command in text for command in each["commands"])), None)
            if fix is None:
                return [f"{situation.fix} is not printed: {text}"]
            then = fix["then"]
            for command in fix["commands"]:
                printed.run_as_printed(self._pasting, command)
        elif situation.remedy:
            if not item["autoscaler"]["advice"]:
                return ["no advice"]
            self._client.apply(situation.remedy)
        elif situation.decision == "Refused":
            return []  # There is nothing to run.
        elif situation.starting == "Registered":
            self._client.kubectl("taint", "nodes", "--all", f"{STARTING['key']}-")
        try:
            self._settle(namespace, situation.runs + 1)
        except TimeoutError as error:
            return [f"not all Pods run: {error}"]
        came = [each for each in node_claims(self._client) if each["metadata"]["name"] not in before]
        return [*after_fix(then, came)] if situation.fix else []

    def _settle(self, namespace: str, replicas: int) -> None:
        """Play machines and kubelets until the newest revision of the Deployment runs with all its replicas."""

        def complete() -> bool:
            act_as_machines(self._client)
            path = f"/apis/apps/v1/namespaces/{namespace}/deployments/{printed.NAME}"
            made = self._client.api.request("GET", path)
            status = made["status"]
            counts = {status.get(name, 0) for name in ("replicas", "updatedReplicas", "availableReplicas")}
            return counts == {replicas} and status.get("observedGeneration") == made["metadata"]["generation"]

        wait_for(complete, what=f"{replicas} Pods that run", timeout_s=SETTLED_S)


def has_condition(claims: Sequence[Object], condition: str) -> bool:
    """Whether a NodeClaim has the condition."""
    conditions = (each for claim in claims for each in claim.get("status", {}).get("conditions", ()))
    return any((each["type"], each["status"]) == (condition, "True") for each in conditions)


def differences(reported: Object, did: Did) -> Iterator[str]:
    """Yield where an autoscaler's decision, as reported, is not what Karpenter did."""
    by_chance = reported["decision"] == "ByChance" and did.decision in {"NewNode", "Refused"}
    if reported["kind"] != "karpenter" or (reported["decision"] != did.decision and not by_chance):
        yield f"{did.decision}, reported: {reported['summary']}"
    elif did.decision == "ExistingNode" and not did.is_on(reported["node"]):
        yield f"room on {did.node}, reported: {reported['node']}"
    elif did.claim:
        yield from _differences_of_claim(reported, did.claim)
    elif did.decision == "Refused" and not by_chance:
        yield from _differences_of_reasons(reported, did.message)
    if VERSION.startswith(f"{reported['version']}.") is False:
        yield f"release {VERSION}, reported: {reported['version']}"


def _differences_of_claim(reported: Object, claim: Object) -> Iterator[str]:
    """Yield where the NodeClaim is not of the pool and the domains that were reported."""
    name = claim["metadata"]["labels"][POOL]
    verdict = "chosen" if reported["decision"] == "NewNode" else "possible"
    chosen = [each for each in reported["pools"] if each["verdict"] == verdict]
    if [each["name"] for each in chosen] != [name]:
        yield f"NodePool {name}, reported: {[each['name'] for each in chosen]}"
        return
    for key, values in chosen[0]["domains"].items():
        made = domains_of(claim, key)
        # One is picked at random among equals, so that more may be reported than came.
        if not made or not made <= set(values):
            yield f"{key} {sorted(made)}, reported: {values}"


def domains_of(claim: Object, key: str) -> set[str]:
    """Return the domains in which the NodeClaim may get its node."""
    required = (each for each in claim["spec"]["requirements"] if each["key"] == key and each["operator"] == "In")
    of_label = claim["metadata"]["labels"].get(key)
    return next((set(each["values"]) for each in required), {of_label} if of_label else set())


def _differences_of_reasons(reported: Object, message: str) -> Iterator[str]:
    """Yield where Karpenter counted something else, or had another reason about a NodePool."""
    counted = {match["key"]: match["counts"] for match in COUNTS.finditer(message)}
    for key, counts in () if "affinity" in message else counted.items():
        seen = dict(each.rpartition(": ")[::2] for each in counts.split(", "))
        ours = [
            {each["value"]: str(each["matching"]) for each in constraint["domains"]}
            for constraint in reported["constraints"]
            if constraint["domains"]
        ]
        if seen not in ours:
            yield f"counts of {key} {seen}, reported: {ours}"
    asked = [each for each in reported["pools"] if not each["reasons"][0].startswith(NOT_ASKED)]
    ignored = any("ignores Pods" in each["reasons"][0] for each in asked)
    said = [message] * len(asked) if ignored else message.split("; ")
    if len(said) != len(asked):
        yield f"reasons of {len(asked)} NodePools, reported: {[each['name'] for each in asked]}"
    for pool, theirs in zip(asked, said, strict=False):
        if not any(our in pool["reasons"][0] and their in theirs for our, their in REASONS.items()):
            yield f"NodePool {pool['name']}: {theirs}, reported: {pool['reasons'][0]}"


def after_fix(then: str, came: Sequence[Object]) -> Iterator[str]:
    """Yield which NodeClaims came though something else was printed of the change, or that none came."""
    expected = {match["pool"]: set(re.split(r", | and ", match["zones"])) for match in BRINGS.finditer(then)}
    if not came:
        yield "no NodeClaim came after the change"
    for claim in came:
        name, made = claim["metadata"]["labels"][POOL], domains_of(claim, ZONE)
        if not made <= expected.get(name, set()):
            yield f"after the change NodePool {name} {sorted(made)}, printed: {then}"


def wrong(_seed: int, _count: int, seen: Counter[str]) -> Iterator[str]:
    """Bring each situation about; yield what is wrong about any."""
    with control_plane(printed.OPTIONS) as plane, TemporaryDirectory() as folder:
        cluster = Cluster(plane, build_karpenter(), Path(folder))
        for number, situation in enumerate(SITUATIONS):
            try:
                did, differing = cluster.work(situation(), f"karpenter-{number}")
            except TimeoutError as error:
                did, differing = Did(decision="unknown"), [str(error)]
            seen[did.decision] += 1
            yield from (f"{situation.__name__}: {each}: {did.message}" for each in differing)

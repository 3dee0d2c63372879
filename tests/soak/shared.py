"""Where a constraint counts the Pods of several workloads, their spread is no worse after the first fix as printed.

The set-ups are those of ``tests/diagnosis/fixes/test_counted_together.py``, brought about on a real control plane: Pods
are created on their nodes, and the ReplicaSets and Deployments that are created after them adopt them.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from tests.build import Object
from tests.build_workloads import workload
from tests.controlplane.client import Client
from tests.controlplane.cluster import control_plane
from tests.diagnosis.fixes.test_counted_together import Setup
from tests.e2e.competing import OPTIONS
from tests.e2e.fixes_as_printed import emptied, offered, run_as_printed, settle, waits

_QUIET_S = 3.0
_READY: Object = {"conditions": [{"type": "Ready", "status": "True"}]}


class Outcome(Struct, frozen=True, kw_only=True):
    """What came of a fix: the constraint, the skew before and after (Pods), and how many Pods of web got a node."""

    setup: Setup
    fix: Object
    constraint: Object
    before: int
    after: int
    gained: int

    @property
    def is_worse(self) -> bool:
        """Whether the skew exceeds what it was, and maxSkew of the constraint, which the fix may have raised."""
        hard: bool = self.constraint["whenUnsatisfiable"] == "DoNotSchedule"
        return hard and self.after > max(self.before, int(self.constraint["maxSkew"]))


def wrong(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Yield the fixes after which the spread is worse, or that let in fewer Pods than promised."""
    with control_plane(OPTIONS) as plane:
        client = plane.client()
        outcomes = ((number, _run(client, number)) for number in itertools.count(seed))
        known = ((number, outcome) for number, outcome in outcomes if outcome)
        for number, each in itertools.islice(known, count):
            seen.update((each.fix["id"], "counting each other" if each.setup.mutual else "counted by mistake"))
            about = "\n  ".join((each.fix["summary"], *each.fix["commands"]))
            if each.is_worse:
                yield f"set-up {number}: skew {each.after}, {each.before} before\n  {about}"
            if not each.fix["admits"] <= each.gained:
                yield f"set-up {number}: {each.gained} fewer Pods wait, promised {each.fix['admits']}\n  {about}"


def _run(client: Client, number: int) -> Outcome | None:
    """Return what came of the first fix of the set-up; None where no Pod of web waits, or no fix has a command."""
    setup, namespace = Setup(number), f"shared-{number}"
    with emptied(client, namespace):
        _bring_about(client, setup, namespace)
        then = client.pods(namespace)
        waiting = sorted(each["metadata"]["name"] for each in then if waits(each) and _app(each) == "web")
        fixes = offered(client, namespace, waiting[0]) if waiting else ()
        fix = next((each for each in fixes if each.get("offered") and each["commands"]), None)
        if fix is None:
            return None
        for command in fix["commands"]:
            run_as_printed(client, command)
        settle(client, namespace, quiet_s=_QUIET_S)
        now, nodes = client.pods(namespace), client.api.request("GET", "/api/v1/nodes")["items"]
        web = client.api.request("GET", f"/apis/apps/v1/namespaces/{namespace}/deployments/web")
        (constraint,) = web["spec"]["template"]["spec"]["topologySpreadConstraints"]
        before, after = (_skew(setup, pods, nodes) for pods in (then, now))
        waited, left = (sum(_app(each) == "web" for each in pods if waits(each)) for pods in (then, now))
        gained = waited - left
        return Outcome(setup=setup, fix=fix, constraint=constraint, before=before, after=after, gained=gained)


def _bring_about(client: Client, setup: Setup, namespace: str) -> None:
    """Create the objects in an order in which each owner finds what it owns; nobody else's Pods are there."""
    by_kind: dict[str, list[Object]] = {}
    for each in setup.objects:
        metadata = {key: each["metadata"][key] for key in ("name", "labels", "annotations") if key in each["metadata"]}
        spec = each["spec"]
        if each["kind"] == "DaemonSet":  # it would put a Pod on every node: who is counted is somebody else's here
            many = sum(_app(pod) == "other" for pod in setup.objects if pod["kind"] == "Pod")
            each = workload("ReplicaSet", "other", pods=setup.template("other"))  # noqa: PLW2901 - instead of it
            spec = {**each["spec"], "selector": {"matchLabels": {"app": "other"}}, "replicas": many}
        made = {**each, "metadata": metadata, "spec": spec}
        if each["kind"] != "Node":
            metadata["namespace"] = namespace
            made.pop("status")
        by_kind.setdefault(each["kind"], []).append(made)
    for old in (each for each in by_kind["ReplicaSet"] if each["metadata"]["name"] == "web-old"):
        old["spec"]["template"]["metadata"]["annotations"] = {"release": "old"}
    client.create_nodes({**each, "status": {**each["status"], **_READY}} for each in by_kind["Node"])
    client.create_pods(by_kind["Pod"])
    settle(client, namespace)
    for kind in ("ReplicaSet", "Deployment"):
        client.apply(by_kind.get(kind, ()))
        settle(client, namespace)


def _app(pod: Object) -> str:
    name: str = pod["metadata"]["labels"]["app"]
    return name


def _skew(setup: Setup, pods: Sequence[Object], nodes: Sequence[Object]) -> int:
    """Return the skew (Pods) of those that count each other, over the domains with nodes that take Pods."""
    names = {"web", "other"} if setup.mutual else {"web"}
    domains = {each["metadata"]["name"]: each["metadata"]["labels"][setup.key] for each in nodes}
    is_open = (each for each in nodes if not (each["spec"].get("unschedulable") or each["spec"].get("taints")))
    counts = {each["metadata"]["labels"][setup.key]: 0 for each in is_open}
    for pod in (each for each in pods if _app(each) in names and not waits(each)):
        if domains[pod["spec"]["nodeName"]] in counts:
            counts[domains[pod["spec"]["nodeName"]]] += 1
    return max(counts.values()) - min(counts.values())

"""What ``simulate`` says of steps, and what becomes of the cluster as they are done on a real control plane.

A cluster is set up and recorded; ``simulate`` is asked of the record; then the steps are done in earnest: kubectl
drains, scales and restarts, the controllers and kube-scheduler do their part, and kubelets are played.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from kubectl_spread.controllers.nodelifecycle import added_names
from kubectl_spread.objects.times import written
from tests.controlplane.api import MERGE_PATCH, ApiError, Object
from tests.controlplane.client import Client, in_parallel, is_decided
from tests.controlplane.cluster import WORKLOAD_CONTROLLERS, Options
from tests.e2e.fixes_as_printed import emptied
from tests.e2e.manifests import HOSTNAME

_NODES_ANSWER_S = 3600
"""How long a node may be silent until its controller notices: none is, until its condition is changed."""
OPTIONS = Options(
    scheduler_config=Path(__file__).parent / "quick-scheduler.yaml",
    controllers=(*WORKLOAD_CONTROLLERS, "node-lifecycle-controller", "taint-eviction-controller"),
    controller_flags={
        "node-monitor-period": "1s",
        "node-monitor-grace-period": f"{_NODES_ANSWER_S}s",
        "node-startup-grace-period": f"{_NODES_ANSWER_S}s",
        "node-eviction-rate": 0.25,
    },
)
PRIORITIES: Sequence[Object] = [
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
    for name, value in (("low", -10), ("high", 1000))
]
GIVE_OR_TAKE = 1  # Pods (count) by which the number of a domain may be beyond the range that was seen
_PAUSE_S = 0.2
_SETTLED_S = 120.0
_NOTICED_S = 10.0
"""How long a step about lost nodes has to be quiet: their controller marks one node every four seconds."""

Step: TypeAlias = tuple[str, str]  # What is done and to what, as the flags of `simulate` name it
Owner: TypeAlias = str  # Kind and name of what makes Pods: `Deployment/web`


class Scenario(Struct, frozen=True, kw_only=True):
    """A cluster and what is done to it."""

    name: str  # of the scenario
    nodes: Sequence[Object]  # of the cluster
    made: Sequence[Object]  # what runs there, in the order in which it comes; none names its namespace
    steps: Sequence[Step]  # steps that are simulated, and done
    before: Sequence[Step] = ()  # steps that are done before the cluster is recorded
    force: bool = False  # whether a drain takes Pods that nothing manages
    drained_s: int = 16  # how long a drain may take; it takes as long where a budget holds it back
    quiet_s: float = 3.0  # how long nothing may change for all to be settled


class State(Struct, frozen=True):
    """The Pods and nodes as a step has ended, and whether Pods that it should have evicted were still there."""

    pods: Sequence[Object]
    nodes: Mapping[str, Object]
    blocked: bool = False


class Came(Struct, frozen=True, kw_only=True):
    """What really came of steps."""

    pods: Sequence[Object]  # Pods of the namespace at the end
    nodes: Mapping[str, Object]  # nodes at the end
    sets: Mapping[str, str]  # ReplicaSet's name → its Deployment's
    evicted: Sequence[Sequence[Object]]  # for each step the Pods that had to go, and did
    blocked: Sequence[Sequence[Object]]  # for each step those that should have gone, and did not
    # for each step the names of the Pods that lay on its nodes as the cluster was recorded
    lay: Sequence[Collection[str]]
    states: Sequence[State] = ()  # the state before the first step, and after each


class Outcome(Struct, frozen=True, kw_only=True):
    """What was said and what came."""

    scenario: Scenario  # the scenario
    said: Object  # the report
    differences: Sequence[str]  # where the two part; empty where they agree
    width: int  # Pods (count) by which the ranges of all domains vary
    strict: bool  # whether what came lies within the ranges, with nothing given or taken
    verdicts: Sequence[str] = ()  # what was said of each step, and whether it was so


class Playing:
    """Plays kubelets, people with kubectl, and what takes nodes away.

    Args:
        client: the cluster, which nobody else uses.
        namespace: where everything runs.
    """

    def __init__(self, client: Client, namespace: str) -> None:
        self.namespace = namespace
        self._client = client
        self._lost: set[str] = set()
        self.kept = False
        """Whether Pods were still there as the last node was taken away, or drained."""

    def nodes(self) -> Mapping[str, Object]:
        """Return the nodes by name."""
        return {each["metadata"]["name"]: each for each in self._client.api.request("GET", "/api/v1/nodes")["items"]}

    def pods(self) -> Sequence[Object]:
        """Return the Pods of the namespace."""
        return self._client.pods(self.namespace)

    def act(self) -> None:
        """Let kubelets report what runs and what has ended; what changed meanwhile is met the next time."""
        there = self.nodes().keys()
        for pod in self.pods():
            bound, ends = pod["spec"].get("nodeName"), "deletionTimestamp" in pod["metadata"]
            path = f"/api/v1/namespaces/{self.namespace}/pods/{pod['metadata']['name']}"
            with suppress(ApiError):
                if (ends and bound not in self._lost) or (bound and bound not in there):
                    if pod["spec"]["restartPolicy"] == "Never" and bound in there:
                        self._client.patch_status(pod, status={"phase": "Failed"})
                    self._client.api.request("DELETE", path, query={"gracePeriodSeconds": "0"})
                elif bound and pod["status"]["phase"] == "Pending" and bound not in self._lost:
                    self._client.patch_status(pod, status={"phase": "Running", "conditions": _ready()})

    def settle(self, quiet_s: float) -> None:
        """Act until nothing has changed for a while, and the scheduler has decided on every Pod."""
        state: object = None
        undecided = False
        since = begun = time.monotonic()
        while (undecided or time.monotonic() - since < quiet_s) and time.monotonic() - begun < _SETTLED_S:
            self.act()
            pods = self.pods()
            now = sorted((p["metadata"]["uid"], is_decided(p), "deletionTimestamp" in p["metadata"]) for p in pods)
            undecided = not all(map(is_decided, pods))
            if now != state:
                state, since = now, time.monotonic()
            time.sleep(_PAUSE_S)

    def kubectl(self, *arguments: str) -> str:
        """Return what a command says on stderr; what it waits for, such as a Pod's end, is played."""
        with ThreadPoolExecutor(1) as shell:
            running = shell.submit(self._client.kubectl.run, *arguments)
            while not running.done():
                self.act()
                time.sleep(_PAUSE_S)
        return running.result().stderr

    def do(self, step: Step, scenario: Scenario) -> None:
        """Do a step and wait until its consequences are there."""
        verb, value = step
        self.kept = False
        _ACTS[verb](self, value, scenario)
        self.settle(max(scenario.quiet_s, _NOTICED_S if verb in {"lose", "return"} else 0))

    def drain(self, value: str, scenario: Scenario) -> None:
        """Drain a node."""
        wanted = ["--ignore-daemonsets", "--delete-emptydir-data", f"--timeout={scenario.drained_s}s"]
        self.kubectl("drain", value, *wanted, *(["--force"] if scenario.force else []))
        self.kept = bool(_leaving(("drain", value), self))

    def remove(self, value: str, scenario: Scenario) -> None:
        """Drain a node and take it away."""
        self.drain(value, scenario)
        self.settle(scenario.quiet_s)
        self.kubectl("delete", "node", value)
        self._lost.discard(value)

    def meant(self, value: str) -> Sequence[str]:
        """Return the nodes that are named, or that carry a label."""
        key, equals, label = value.partition("=")
        labelled = [n for n, node in self.nodes().items() if node["metadata"]["labels"].get(key) == label]
        return labelled if equals else [value]

    def lose(self, value: str, _: Scenario) -> None:
        """Let kubelets fall silent, as the controller of nodes writes it down once it has noticed."""
        silent = self.meant(value)
        self._lost.update(silent)
        self._answer(silent, "Unknown")
        for pod in self.pods():
            if pod["spec"].get("nodeName") in silent:
                with suppress(ApiError):
                    self._client.patch_status(pod, status={"conditions": _ready("False")})

    def bring_back(self, value: str, _: Scenario) -> None:
        """Let kubelets answer again."""
        there = self.meant(value)
        self._answer(there, "True")
        self._lost.difference_update(there)
        for pod in self.pods():
            if pod["spec"].get("nodeName") in there and "deletionTimestamp" not in pod["metadata"]:
                self._client.patch_status(pod, status={"conditions": _ready()})

    def _answer(self, names: Sequence[str], status: str) -> None:
        """Write down of nodes whether they are ready."""
        body = {"status": {"conditions": _ready(status)}}
        paths = [{"path": f"/api/v1/nodes/{name}/status"} for name in names]

        def patch(at: Object) -> None:
            self._client.api.request("PATCH", at["path"], body=body, content_type=MERGE_PATCH)

        in_parallel(patch, paths)

    def add_node(self, value: str, __: Scenario) -> None:
        """Add nodes like one there is, named as simulate names them."""
        like, _, number = value.partition("=")
        nodes = self.nodes()
        labels, room = nodes[like]["metadata"]["labels"], nodes[like]["status"]["allocatable"]
        for name in added_names(like, int(number or 1), nodes):
            status = {"capacity": room, "allocatable": room, "conditions": _ready()}
            metadata = {"name": name, "labels": {**labels, HOSTNAME: name}}
            self._client.create_nodes([{"metadata": metadata, "status": status}])

    def scale(self, value: str, __: Scenario) -> None:
        """Scale a workload."""
        named, _, number = value.partition("=")
        self.kubectl("scale", named, f"--replicas={number}", "-n", self.namespace)


def _ready(status: str = "True") -> Sequence[Object]:
    """Return the condition of a Pod or node that is ready, or not, from now on."""
    return [{"type": "Ready", "status": status, "lastTransitionTime": written(datetime.now(UTC))}]


def _with_kubectl(*arguments: str, namespaced: bool = False) -> Callable[[Playing, str, Scenario], None]:
    """Return the act of running a command about what is named."""

    def act(playing: Playing, value: str, _: Scenario) -> None:
        playing.kubectl(*arguments, value, *(["-n", playing.namespace] if namespaced else []))

    return act


_ACTS: Mapping[str, Callable[[Playing, str, Scenario], None]] = {
    "drain": Playing.drain,
    "remove": Playing.remove,
    "lose": Playing.lose,
    "return": Playing.bring_back,
    "cordon": _with_kubectl("cordon"),
    "uncordon": _with_kubectl("uncordon"),
    "add-node": Playing.add_node,
    "scale": Playing.scale,
    "restart": _with_kubectl("rollout", "restart", namespaced=True),
    "delete": _with_kubectl("delete", "--wait=false", namespaced=True),
}


def run(client: Client, scenario: Scenario, namespace: str) -> Outcome:
    """Return what was said of the steps and what came of them; the cluster is empty before and after."""
    with emptied(client, namespace):
        playing = Playing(client, namespace)
        client.create_nodes(scenario.nodes)
        for each in scenario.made:
            client.apply([{**each, "metadata": {**each["metadata"], "namespace": namespace}}])
            playing.settle(1.0)
        for step in scenario.before:
            playing.do(step, scenario)
        playing.settle(scenario.quiet_s)
        said = _said(client, scenario, namespace)
        return compared(scenario, said, _came(client, playing, scenario))


def _said(client: Client, scenario: Scenario, namespace: str) -> Object:
    """Return what simulate says of a record of the cluster."""
    flags = [word for verb, value in scenario.steps for word in (f"--{verb}", value)]
    forced = ["--force"] if scenario.force else []
    with TemporaryDirectory() as folder:
        record = f"{folder}/cluster.json.gz"
        client.kubectl("spread", "snapshot", "-o", record)
        ended = client.kubectl.run(
            "spread", "simulate", "--from", record, *flags, *forced, "-n", namespace, "-o", "json"
        )
    assert ended.returncode in {0, 1}, ended.stderr
    said: Object = json.loads(ended.stdout)
    return said


def _came(client: Client, playing: Playing, scenario: Scenario) -> Came:
    """Do the steps and return what came of them."""
    evicted, blocked, states = [], [], [State(playing.pods(), playing.nodes())]
    lay = [{pod["metadata"]["name"] for pod in _leaving(step, playing)} for step in scenario.steps]
    for step in scenario.steps:
        leaving = _leaving(step, playing)
        playing.do(step, scenario)
        states.append(State(playing.pods(), playing.nodes(), playing.kept))
        left = {pod["metadata"]["uid"] for pod in playing.pods() if "deletionTimestamp" not in pod["metadata"]}
        evicted.append([pod for pod in leaving if pod["metadata"]["uid"] not in left])
        blocked.append([pod for pod in leaving if pod["metadata"]["uid"] in left] if step[0] == "drain" else [])
    sets = client.api.request("GET", f"/apis/apps/v1/namespaces/{playing.namespace}/replicasets")["items"]
    owners = {each["metadata"]["name"]: each["metadata"].get("ownerReferences") for each in sets}
    named = {name: owner[0]["name"] for name, owner in owners.items() if owner}
    last = states[-1]
    return Came(pods=last.pods, nodes=last.nodes, sets=named, evicted=evicted, blocked=blocked, lay=lay, states=states)


def _leaving(step: Step, playing: Playing) -> Sequence[Object]:
    """Return the Pods that a step about nodes may take."""
    verb, value = step
    if verb not in {"drain", "remove", "lose"}:
        return []
    nodes = playing.meant(value)
    return [
        pod
        for pod in playing.pods()
        if pod["spec"].get("nodeName") in nodes
        and "deletionTimestamp" not in pod["metadata"]
        and not _owner(pod, {}).startswith("DaemonSet/")
    ]


def _owner(pod: Object, sets: Mapping[str, str]) -> Owner:
    """Return what makes the Pod."""
    owners = pod["metadata"].get("ownerReferences")
    if not owners:
        return f"Pod/{pod['metadata']['name']}"
    kind, name = owners[0]["kind"], owners[0]["name"]
    return f"Deployment/{sets[name]}" if kind == "ReplicaSet" and name in sets else f"{kind}/{name}"


def compared(scenario: Scenario, said: Object, came: Came) -> Outcome:
    """Return where what was said of a scenario and what came part."""
    last = said["steps"][-1]
    beyond = list(_beyond(last, came))
    verdicts = [*_verdicts(scenario, said, came)]
    differences = [
        *_pending(last, came),
        *_gone(scenario, said, came),
        *(told for told in verdicts if "said" in told),
        *(told for told, by in beyond if by > GIVE_OR_TAKE),
    ]
    width = sum(most - least for item in last["items"] for least, most in item["ranges"].values())
    return Outcome(
        scenario=scenario, said=said, differences=differences, width=width, strict=not beyond, verdicts=verdicts
    )


def _verdicts(scenario: Scenario, said: Object, came: Came) -> Iterator[str]:
    """Yield what was said of each step: ``safe``, ``not safe``, ``unknown``, and why that is wrong where it is.

    Safe means in any order. What is not safe in some order only may go well, and is ``not safe by chance`` then.
    """
    for number, (step, before, after) in enumerate(zip(said["steps"], came.states, came.states[1:], strict=False)):
        verdict, orders = step["verdict"], step["orders"]
        safe = verdict.get("safe")
        why = [*_unsafe(scenario.steps[number], step, came, before, after)]
        sure = orders == 1 or verdict["withoutNode"][0] or step["blocked"]
        if (safe and why) or (safe is False and sure and not why):
            yield f"step {number} is {', '.join(why) or 'safe'}, said {'safe' if safe else 'not safe'}"
        elif safe is None:
            yield "unknown"
        else:
            yield "safe" if safe else "not safe" if why else "not safe by chance"


def _unsafe(done: Step, step: Object, came: Came, before: State, after: State) -> Iterator[str]:
    """Yield what is worse after a step: Pods without a node, Pods that are missing, broken hard constraints."""
    if after.blocked:
        yield "blocked"
    waited, waits = (Counter(_owner(p, came.sets) for p in each.pods if _waits(p)) for each in (before, after))
    ran, run = (Counter(_owner(p, came.sets) for p in each.pods if runs(p)) for each in (before, after))
    yield from (f"{who} {waits[who]} Pending ({waited[who]} before)" for who in waits if waits[who] > waited[who])
    for who in ran:
        asked = who.startswith(("Pod/", "Job/", "DaemonSet/")) or (
            done[0] == "scale" and done[1].lower().partition("=")[0] == who.lower()
        )
        if run[who] < ran[who] and not asked and waits[who] <= waited[who]:
            yield f"{who} {run[who]} on nodes ({ran[who]} before)"
    for item in step["items"]:
        constraint, who = item["constraint"], f"{item['workload']['kind']}/{item['workload']['name']}"
        then, now = (_skew(item, step["items"], replace(came, pods=s.pods, nodes=s.nodes)) for s in (before, after))
        hard, most = constraint["whenUnsatisfiable"] == "DoNotSchedule", constraint["maxSkew"]
        if hard and then <= most < now and not waited[who]:
            yield f"{who} {constraint['topologyKey']} skew {now} ({then} before)"


def runs(pod: Object) -> bool:
    """Whether the Pod is on a node to stay."""
    ended = "deletionTimestamp" in pod["metadata"] or pod["status"]["phase"] in {"Succeeded", "Failed"}
    return "nodeName" in pod["spec"] and not ended


def _skew(item: Object, items: Sequence[Object], came: Came) -> int:
    """Return the skew of a constraint (Pods), 0 where no Pod has it."""
    newest = _newest(item, items, came)
    if newest is None:
        return 0
    constraint = newest["spec"]["topologySpreadConstraints"][item["constraint"]["index"]]
    counts = _counts(item, newest, came)
    domains = {
        node["metadata"]["labels"][constraint["topologyKey"]]
        for node in came.nodes.values()
        if _is_counted(node, newest["spec"], constraint)
    }
    least = min((counts[each] for each in domains), default=0)
    return max(counts.values(), default=0) - (0 if len(domains) < constraint.get("minDomains", 1) else least)


def _pending(last: Object, came: Came) -> Iterator[str]:
    """Yield which workloads have another number of Pods that wait for a node."""
    waits = Counter(_owner(p, came.sets) for p in came.pods if _waits(p))
    told = {f"{each['workload']['kind']}/{each['workload']['name']}": each for each in last["pending"]}
    for owner in sorted(waits.keys() | told.keys()):
        least, most = told[owner].get("range") or [told[owner]["count"]] * 2 if owner in told else (0, 0)
        if not least <= waits[owner] <= most:
            yield f"{owner}: {waits[owner]} Pending, said {least} to {most}"


def _waits(pod: Object) -> bool:
    """Whether the Pod has no node, and is to have one."""
    return "nodeName" not in pod["spec"] and "deletionTimestamp" not in pod["metadata"]


def _gone(scenario: Scenario, said: Object, came: Came) -> Iterator[str]:
    """Yield at which steps other Pods had to go, or could not, of those that lay on the nodes in the record.

    By number where a budget lets only some go: anyone may be among them.
    """
    for number, (step, (verb, _)) in enumerate(zip(said["steps"], scenario.steps, strict=True)):
        evicted, blocked = came.evicted[number], came.blocked[number]
        gone = [*step["evicted"], *step["lost"]] if verb in {"drain", "remove", "lose"} else []
        stays = step["blocked"] if verb == "drain" else []
        by_name = not (evicted and blocked)
        for what, told, real in (("evicted", gone, evicted), ("blocked", stays, blocked)):
            expected = sorted(each["pod"] for each in told if each["pod"] in came.lay[number])
            found = sorted(name for pod in real if (name := pod["metadata"]["name"]) in came.lay[number])
            if (expected != found) if by_name else (len(expected) != len(found)):
                yield f"step {number} {what} {found}, said {expected}"


def _beyond(last: Object, came: Came) -> Iterator[tuple[str, int]]:
    """Yield (what, Pods by which) where more or fewer Pods lie in a domain than was seen."""
    for item in last["items"]:
        key = item["constraint"]["topologyKey"]
        newest = _newest(item, last["items"], came)
        counts = _counts(item, newest, came) if newest else Counter(item["after"])
        for domain in sorted(counts.keys() | item["ranges"].keys()):
            least, most = item["ranges"].get(domain, (0, 0))
            by = max(least - counts[domain], counts[domain] - most)
            if by > 0:
                told = f"{item['workload']['name']} [{item['constraint']['index']}] {key}={domain}"
                yield f"{told}: {counts[domain]}, said {least} to {most}", by


def _counts(item: Object, newest: Object, came: Came) -> Counter[str]:
    """Return domain → Pods that the newest Pod's constraint counts there."""
    constraint = newest["spec"]["topologySpreadConstraints"][item["constraint"]["index"]]
    counted = {name: node for name, node in came.nodes.items() if _is_counted(node, newest["spec"], constraint)}
    return Counter(
        counted[pod["spec"]["nodeName"]]["metadata"]["labels"][constraint["topologyKey"]]
        for pod in came.pods
        if pod["spec"].get("nodeName") in counted and _selects(constraint["labelSelector"], pod)
    )


def _newest(item: Object, items: Sequence[Object], came: Came) -> Object | None:
    """Return the Pod of a workload, and of the item's revision, that came last; None where it has none.

    The hash of a revision that the step makes is only known to the real controller: it is that of no other item.
    """
    owner = f"{item['workload']['kind']}/{item['workload']['name']}"
    pods = [pod for pod in came.pods if _owner(pod, came.sets) == owner]
    hashes = {pod["metadata"]["name"]: pod["metadata"]["labels"].get("pod-template-hash") for pod in pods}
    of_revision = [pod for pod in pods if hashes[pod["metadata"]["name"]] == item.get("revision")]
    known = {each.get("revision") for each in items}
    of_new = [pod for pod in pods if hashes[pod["metadata"]["name"]] not in known]
    return max(
        of_revision or of_new or pods,
        key=lambda pod: (pod["metadata"]["creationTimestamp"], int(pod["metadata"]["resourceVersion"])),
        default=None,
    )


def _is_counted(node: Object, spec: Object, constraint: Object) -> bool:
    """Whether a node is a domain's, for a Pod that tolerates no taint against scheduling."""
    labels = node["metadata"]["labels"]
    chosen = all(labels.get(key) == value for key, value in spec.get("nodeSelector", {}).items())
    tainted = any(taint["effect"] != "PreferNoSchedule" for taint in node["spec"].get("taints", ()))
    return (
        constraint["topologyKey"] in labels
        and chosen
        and not (tainted and constraint.get("nodeTaintsPolicy") == "Honor")
    )


def _selects(selector: Object, pod: Object) -> bool:
    """Whether the constraint counts the Pod; matchLabelKeys have been merged into its selector."""
    labels = pod["metadata"].get("labels", {})
    told = all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())
    merged = all(labels.get(each["key"]) in each["values"] for each in selector.get("matchExpressions", ()))
    ended = "deletionTimestamp" in pod["metadata"] or pod["status"]["phase"] in {"Succeeded", "Failed"}
    return told and merged and not ended

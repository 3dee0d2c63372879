"""What ``audit --suggest`` suggests, as printed, on a real control plane: the rollout ends, and less is lost.

Workloads come while a cluster has only some of its zones; the others come later, so that most Pods are in few zones.
After every second suggestion the worst domain is lost: what is Pending then is what ``audit`` said of it.
"""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.controlplane.api import Object
from tests.controlplane.client import Client
from tests.controlplane.cluster import control_plane
from tests.e2e.fixes_as_printed import emptied, maker, run_as_printed, waits, workload
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node, pod_spec
from tests.e2e.simulated import OPTIONS, Playing, Scenario, runs
from tests.e2e.simulated_scenarios import LEAVES, budget, rolling

_QUIET_S = 3.0


def bring_about(client: Client, playing: Playing, rng: random.Random) -> None:
    """Bring about a cluster of two to four zones with two to four workloads, the last once all nodes are there."""
    zones, cpu = rng.choice(("ab", "abc", "abc", "abcd")), rng.choice((("1500m", "2"), ("2", "3", "4")))
    names = [(f"{zone}{number}", zone) for zone in zones for number in range(1, rng.choice((2, 3)) + 1)]
    nodes = [node(name, labels={ZONE: zone}, room={"cpu": rng.choice(cpu)}) for name, zone in names]
    if rng.random() < 0.3:
        taint = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
        nodes.append(node("gpu", labels={ZONE: rng.choice(zones)}, taints=[taint]))
    first = zones[: rng.randint(1, len(zones) - 1)]
    made = [workload_with_budget(rng, playing.namespace, f"app-{number}") for number in range(rng.randint(2, 4))]
    for early, some in ((True, made[:-1]), (False, made[-1:])):
        client.create_nodes(each for each in nodes if (each["metadata"]["labels"][ZONE] in first) is early)
        client.apply(itertools.chain(*some))
        playing.settle(_QUIET_S)


def workload_with_budget(rng: random.Random, namespace: str, name: str) -> Sequence[Object]:
    """Return a workload, with its budget if it has one."""
    kind, replicas, own = rng.choice(("Deployment", "Deployment", "StatefulSet")), rng.randint(2, 6), match(app=name)
    constraints: Sequence[Sequence[Object]] = (
        (),
        (),
        (constraint(ZONE, selector=own, whenUnsatisfiable="ScheduleAnyway"),),
        (constraint(ZONE, selector=own, maxSkew=rng.choice((2, 3))),),
        (constraint(ZONE, selector=match(app="other")),),
        (constraint(HOSTNAME, selector=own, maxSkew=2),),
    )
    spec = {
        **pod_spec(resources={"requests": {"cpu": rng.choice(("100m", "500m", "700m", "1"))}}),
        "tolerations": LEAVES,
        "topologySpreadConstraints": rng.choice(constraints),
    }
    fields: Object = {"podManagementPolicy": rng.choice(("OrderedReady", "Parallel"))}
    if kind == "Deployment":
        fields = {"strategy": rng.choice((rolling("25%", "25%"), rolling(1), rolling(0, 1), {"type": "Recreate"}))}
    template = {"metadata": {"labels": {"app": name}}, "spec": spec}
    made = workload(kind, namespace, name=name, template=template, replicas=replicas, **fields)
    some = rng.choice(({}, {}, {"minAvailable": replicas - 1}, {"maxUnavailable": 1}, {"minAvailable": "60%"}))
    protected = budget(name, **some)
    return [made, *([{**protected, "metadata": {"name": name, "namespace": namespace}}] if some else [])]


def wrong(seed: int, count: int, seen: Counter[str]) -> Iterator[str]:
    """Yield what is wrong after so many suggestions, and after the loss that follows every second of them."""
    with control_plane(OPTIONS) as plane:
        client, numbers, done = plane.client(), itertools.count(), 0
        while done < count:
            namespace = f"suggested-{next(numbers)}"
            rng = random.Random(f"{seed}/{namespace}")  # noqa: S311 - no secret
            with emptied(client, namespace):
                playing = Playing(client, namespace)
                bring_about(client, playing, rng)
                found = [each for each in _audit(client, namespace, "--suggest") if "suggestion" in each]
                seen["set-ups"] += 1
                if found:
                    done += 1
                    item = rng.choice(found)
                    about = [*_applied(client, playing, item, seen)]
                    about += _lost(client, playing, item, seen) if done % 2 else ()
                    yield from (f"{namespace} {_name(item)}: {each}\n  {item['suggestion']}" for each in about)


def _name(item: Object) -> str:
    return f"{item['workload']['kind'].lower()}/{item['workload']['name']}"


def _audit(client: Client, namespace: str, *words: str) -> Sequence[Object]:
    found: Object = json.loads(client.kubectl("spread", "audit", *words, "-n", namespace, "-o", "json"))
    return list(found["items"])


def _applied(client: Client, playing: Playing, item: Object, seen: Counter[str]) -> Iterator[str]:
    """Run the commands of a suggestion, and yield what did not become of it."""
    suggested, before = item["suggestion"], playing.pods()
    key, said = suggested["topologyKey"], suggested["lossAfter"]
    for command in suggested["commands"]:
        run_as_printed(client, command)
    playing.settle(_QUIET_S)
    after, nodes = playing.pods(), playing.nodes()
    own = [pod for pod in after if maker(pod) == item["workload"]["name"]]
    ended = client.kubectl.run("rollout", "status", _name(item), "-n", playing.namespace, "--timeout=5s")
    if ended.returncode or not all(map(runs, own)):
        yield f"{sum(map(runs, own))} of {len(own)} Pods run: {ended.stdout}{ended.stderr}"
    if sum(map(waits, after)) > sum(map(waits, before)):
        yield f"{sum(map(waits, after))} Pods are Pending, {sum(map(waits, before))} before"
    there = Counter(nodes[pod["spec"]["nodeName"]]["metadata"]["labels"].get(key) for pod in own if runs(pod))
    loss, was = max(there.values(), default=0), next(k["loss"] for k in item["keys"] if k["topologyKey"] == key)
    kind = suggested["constraint"]["whenUnsatisfiable"]
    seen.update(("suggestions", item["workload"]["kind"], f"of {item['risk']}", kind))
    seen.update({"weaker": suggested["weakens"], "the loss as said": loss == said, "the loss is lower": loss < was})
    if loss > said:
        yield f"{loss} Pods in one domain of {key}, said {said}, {was} before"


def _lost(client: Client, playing: Playing, item: Object, seen: Counter[str]) -> Iterator[str]:
    """Lose the worst domain of the key, and yield where other Pods wait, or end and are not replaced, than was said."""
    key = item["suggestion"]["topologyKey"]
    names = [_name(each) for each in _audit(client, playing.namespace, "--all")]
    found = {each["workload"]["name"]: each for each in _audit(client, playing.namespace, *names, "--key", key)}
    said = {name: each["keys"][0]["after"] for name, each in found.items()}
    domain = said[item["workload"]["name"]]["domain"]
    playing.do(("lose", f"{key}={domain}"), Scenario(name="", nodes=(), made=(), steps=(), quiet_s=_QUIET_S))
    pods = playing.pods()
    for name, after in said.items():
        if after["domain"] == domain:
            own = [pod for pod in pods if maker(pod) == name]
            waiting, ending = sum(map(waits, own)), sum("deletionTimestamp" in pod["metadata"] for pod in own)
            least, most = after["pending"]["range"] if "pending" in after else (0, 0)
            seen.update({"losses": 1, "Pods Pending after losses": waiting, "Pods that stay": after["notReplaced"]})
            if not least <= waiting <= most:
                yield f"{waiting} Pods of {name} are Pending without {domain}, said {least} to {most}"
            if found[name]["workload"]["kind"] == "StatefulSet" and ending != after["notReplaced"]:
                yield f"{ending} Pods of {name} stay without {domain}, said {after['notReplaced']}"

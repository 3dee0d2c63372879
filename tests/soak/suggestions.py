"""What ``audit --suggest`` suggests, as printed, on a real control plane: the rollout ends, and less is lost.

Workloads come while a cluster has only some of its zones; the others come later, so that most Pods are in few zones.
After every second suggestion the worst domain is lost: what is Pending then is what ``audit`` said of it.
"""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tests.controlplane.api import Object
from tests.controlplane.client import Client
from tests.controlplane.cluster import control_plane
from tests.e2e.fixes_as_printed import emptied, maker, run_as_printed, waits, workload
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node, pod_spec
from tests.e2e.simulated import OPTIONS, Playing, Scenario, runs
from tests.e2e.simulated_scenarios import LEAVES, budget, rolling

_QUIET_S = 3.0


def _bring_about(client: Client, playing: Playing, rng: random.Random) -> None:
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
        client, done, number = plane.client(), 0, 0
        while done < count:
            rng = random.Random(f"{seed}/{number}")  # noqa: S311 - no secret
            namespace, number = f"suggested-{number}", number + 1
            with emptied(client, namespace):
                playing = Playing(client, namespace)
                _bring_about(client, playing, rng)
                found = [each for each in _audit(client, namespace, "--suggest") if _commands(each)]
                seen["set-ups"] += 1
                if not found:
                    continue
                item = rng.choice(found)
                about = [*_applied(client, playing, item, seen)]
                if done % 2 == 0:
                    about += _lost(client, playing, item, seen)
                done += 1
                suggested = item["suggestion"]
                yield from (f"{namespace} {_name(item)}: {each}\n  {suggested['commands']}" for each in about)


def _commands(item: Object) -> Sequence[str]:
    commands: Sequence[str] = item.get("suggestion", {}).get("commands", ())
    return commands


def _name(item: Object) -> str:
    return f"{item['workload']['kind'].lower()}/{item['workload']['name']}"


def _audit(client: Client, namespace: str, *words: str) -> Sequence[Object]:
    items: Sequence[Object] = json.loads(client.kubectl("spread", "audit", *words, "-n", namespace, "-o", "json"))[
        "items"
    ]
    return items


def _applied(client: Client, playing: Playing, item: Object, seen: Counter[str]) -> Iterator[str]:
    """Run the commands of a suggestion, and yield what did not become of it."""
    name, key, said = item["workload"]["name"], item["suggestion"]["topologyKey"], item["suggestion"]["lossAfter"]
    before = playing.pods()
    for command in _commands(item):
        run_as_printed(client, command)
    playing.settle(_QUIET_S)
    after, soft = playing.pods(), item["suggestion"]["constraint"]["whenUnsatisfiable"] == "ScheduleAnyway"
    own = [pod for pod in after if maker(pod) == name]
    owner = json.loads(client.kubectl("get", _name(item), "-n", playing.namespace, "-o", "json"))
    if why := _unfinished(owner):
        yield why
    if sum(map(runs, own)) != owner["spec"]["replicas"] or len(own) != owner["spec"]["replicas"]:
        yield f"{sum(map(runs, own))} of {owner['spec']['replicas']} Pods run, of {len(own)}"
    if sum(map(waits, after)) > sum(map(waits, before)):
        yield f"{sum(map(waits, after))} Pods are Pending, {sum(map(waits, before))} before"
    loss = max(_counts(own, key, playing.nodes()).values(), default=0)
    was = next(each["loss"] for each in item["keys"] if each["topologyKey"] == key)
    seen.update(("suggestions", item["workload"]["kind"], f"of {item['risk']}", "soft" if soft else "hard"))
    seen.update(
        {"the loss as said": loss == said, "the loss is lower": loss < was, "weaker": item["suggestion"]["weakens"]}
    )
    if loss > said:
        yield f"{loss} Pods in one domain of {key}, said {said}, {was} before"


def _unfinished(owner: Object) -> str:
    """Return why a rollout has not ended; empty if it has."""
    status, wanted = owner["status"], owner["spec"]["replicas"]
    seen = status["observedGeneration"] == owner["metadata"]["generation"]
    numbers = [status.get(each, 0) for each in ("updatedReplicas", "readyReplicas", "replicas")]
    revised = status.get("currentRevision") == status.get("updateRevision")
    return "" if seen and revised and numbers == [wanted] * 3 else f"the rollout has not ended: {status}"


def _counts(pods: Sequence[Object], key: str, nodes: Mapping[str, Object]) -> Counter[str]:
    """Return domain → Pods there."""
    there = (pod["spec"]["nodeName"] for pod in pods if runs(pod))
    return Counter(nodes[name]["metadata"]["labels"].get(key, "") for name in there)


def _lost(client: Client, playing: Playing, item: Object, seen: Counter[str]) -> Iterator[str]:
    """Lose the worst domain of the key, and yield where other Pods wait, or end and are not replaced, than was said."""
    key = item["suggestion"]["topologyKey"]
    names = [_name(each) for each in _audit(client, playing.namespace)]
    said = {
        each["workload"]["name"]: next(found["after"] for found in each["keys"] if found["topologyKey"] == key)
        for each in _audit(client, playing.namespace, *names, "--key", key)
    }
    domain = said[item["workload"]["name"]]["domain"]
    playing.do(("lose", f"{key}={domain}"), Scenario(name="", nodes=(), made=(), steps=(), quiet_s=_QUIET_S))
    pods = playing.pods()
    for name, after in said.items():
        if after["domain"] != domain:
            continue
        least, most = after["pending"]["range"] if "pending" in after else (0, 0)
        own = [pod for pod in pods if maker(pod) == name]
        waiting, ending = sum(map(waits, own)), sum("deletionTimestamp" in pod["metadata"] for pod in own)
        seen.update({"losses": 1, "Pods Pending after losses": waiting, "Pods that stay": after["notReplaced"]})
        if not least <= waiting <= most:
            yield f"{waiting} Pods of {name} are Pending without {domain}, said {least} to {most}"
        stateful = any(each["kind"] == "StatefulSet" for pod in own for each in pod["metadata"]["ownerReferences"])
        if stateful and ending != after["notReplaced"]:
            yield f"{ending} Pods of {name} stay without {domain}, said {after['notReplaced']}"

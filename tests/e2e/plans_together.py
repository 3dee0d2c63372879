"""Workloads that only evictions at the same time spread evenly, on a real control plane: the printed script, run."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Iterator, Mapping

from tests.build import HOSTNAME, ZONE, app, spread
from tests.build import node as drawn_node
from tests.controlplane.client import Client
from tests.e2e.fixes_as_printed import emptied, settle, workload
from tests.e2e.manifests import constraint, match, node, pod, pod_spec
from tests.e2e.plans_as_printed import Outcome, Situation, at_the_end, planned
from tests.rebalance.lying import planned as plan_of
from tests.rebalance.lying import web

DONE = "All evictions are done, and the Pods are spread as planned.\n"


def situations(seed: int) -> Iterator[Situation]:
    """Yield clusters without end whose plan has evictions at the same time, the same for the same seed."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    number = 0
    while True:
        names = [f"{zone}{at}" for zone in "abc"[: rng.choice((2, 3))] for at in range(1, rng.choice((2, 3, 4)))]
        weights = [rng.random() ** 2 for _ in names]
        on = dict.fromkeys(names, 0)
        for name in rng.choices(names, weights, k=rng.randint(3, 8)):
            on[name] += 1
        skews = {ZONE: rng.choice((1, 1, 2)), HOSTNAME: 1}
        asked = [spread(key, selector=app("web"), maxSkew=most) for key, most in skews.items()]
        found = plan_of([*(drawn_node(name, zone=name[0]) for name in names), *web(on, *asked)])
        if any(each.step for each in found.evictions):
            yield _situation(f"together-{number}", on, skews, rng.choice(("ReplicaSet", "ReplicationController")))
            number += 1


def _situation(namespace: str, on: Mapping[str, int], skews: Mapping[str, int], kind: str) -> Situation:
    """Return a cluster of these nodes, and Pods on them that their owner adopts."""
    spec = pod_spec(resources={"requests": {"cpu": "100m"}})
    selected = match(app="web")
    spec["topologySpreadConstraints"] = [
        constraint(key, selector=selected, maxSkew=most) for key, most in skews.items()
    ]
    labels, places = {"app": "web"}, [name for name, pods in on.items() for _ in range(pods)]
    pods = [
        pod(namespace, f"web-{at}", labels=labels, spec={**spec, "nodeName": name}) for at, name in enumerate(places)
    ]
    template = {"metadata": {"labels": labels}, "spec": spec}
    owner = workload(kind, namespace, name="web", template=template, replicas=len(pods))
    nodes = [node(name, labels={ZONE: name[0]}) for name in on]
    return Situation(namespace=namespace, early=nodes, late=(), objects=[*pods, owner], kinds=[kind])


def run(client: Client, situation: Situation) -> Outcome:
    """Return what came of the plan's script."""
    namespace = situation.namespace
    with emptied(client, namespace):
        client.create_nodes(situation.early)
        client.create_pods(situation.objects[:-1])
        client.apply(situation.objects[-1:])
        settle(client, namespace)
        report = planned(client, situation)
        script = client.kubectl.run("spread", "rebalance", "-n", namespace, "--script").stdout
        code, printed = run_script(client, script)
        settle(client, namespace)
        wrong = [] if code == 0 and printed.endswith(DONE) else [printed]
        if not any(each.get("together") for each in report["evictions"]):
            wrong.append("nothing is evicted together")
        wrong += [
            f"{item['constraint']} is {item['verdict']}" for item in report["items"] if item["verdict"] != "Planned"
        ]
        return Outcome(situation=situation, report=report, wrong=[*wrong, *at_the_end(client, situation, report)])


def run_script(client: Client, script: str, **environment: str) -> tuple[int, str]:
    """Return the script's exit code, and what it prints, while kubelets do their work."""
    with subprocess.Popen(
        ["/bin/sh", "-c", script],
        env={**client.kubectl.environment(), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        while running.poll() is None:
            client.act_as_kubelets()
            time.sleep(0.1)
        printed = running.stdout.read() if running.stdout else ""
    return running.returncode, printed

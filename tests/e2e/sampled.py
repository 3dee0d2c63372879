"""Soft placement where the scheduler scores only some of the nodes: what was said of it, and where real Pods go.

``check`` is asked about a workload, which is then applied; ``simulate`` about a larger scale, to which it is then
scaled; and ``rebalance --soft`` about Pods that are all in the first zone, whose evictions are then run as printed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.controlplane.api import Object
from tests.controlplane.client import Client
from tests.e2e.fixes_as_printed import emptied, settle, workload
from tests.e2e.manifests import HOSTNAME, ZONE, constraint, match, node, pod_spec
from tests.e2e.plans_as_printed import Situation, run

FEWER, MORE = 7, 13  # Replicas (count) at first and then
_NOT_READY: Sequence[Object] = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]


def _zones(*, shut: int = 0, **sizes: int) -> Sequence[Object]:
    """Return so many nodes a zone, of which the first so many are not ready."""
    return [
        node(f"{zone}-{number:03}", labels={ZONE: zone}, taints=_NOT_READY if number < shut else ())
        for zone, size in sizes.items()
        for number in range(size)
    ]


SHAPES: Mapping[str, Sequence[Object]] = {
    "even-121": _zones(a=41, b=40, c=40),
    "even-301": _zones(a=101, b=100, c=100),
    "uneven-301": _zones(a=281, b=10, c=10),
    "unready-301": _zones(a=201, b=60, c=40, shut=20),
    "one-zone-301": _zones(a=301),
}
"""Cluster's name → its nodes."""
PLANS: Mapping[str, Sequence[Object]] = {name: SHAPES[name] for name in ("even-121", "even-301")}


def _web(namespace: str, name: str, replicas: int, kind: str = "Deployment") -> Object:
    """Return a workload that is spread softly over zones, and over nodes."""
    soft: Object = {"whenUnsatisfiable": "ScheduleAnyway", "selector": match(app=name)}
    spec = {**pod_spec(), "topologySpreadConstraints": [constraint(ZONE, **soft), constraint(HOSTNAME, **soft)]}
    template = {"metadata": {"labels": {"app": name}}, "spec": spec}
    return workload(kind, namespace, name=name, template=template, replicas=replicas)


def placements(client: Client, name: str, runs: int) -> Iterator[str]:
    """Yield where real Pods went beyond what was said, as often as that is tried in a cluster of this shape.

    Nobody else uses the cluster, which is empty before and after.
    """
    namespace = f"sampled-{name}"
    zones = {each["metadata"]["name"]: each["metadata"]["labels"][ZONE] for each in SHAPES[name]}
    with emptied(client, namespace), TemporaryDirectory() as folder:
        client.create_nodes(SHAPES[name])
        for number in range(runs):
            kind = "StatefulSet" if number % 4 == 3 else "Deployment"
            web, path = _web(namespace, f"web{number}", FEWER, kind), Path(folder, "web.json")
            path.write_text(json.dumps(web), encoding="utf-8")
            (item,) = _asked(client, namespace, "check", "-f", str(path))["items"]
            client.apply([web])
            settle(client, namespace)
            yield from _beyond(f"{name} check {number}", _said_by_check(item), _counted(client, namespace, zones))
            scaled = f"{kind.lower()}/web{number}"
            (step,) = _asked(client, namespace, "simulate", "--scale", f"{scaled}={MORE}")["steps"]
            client.kubectl("scale", scaled, f"--replicas={MORE}", "-n", namespace)
            settle(client, namespace)
            ranges = next(each["ranges"] for each in step["items"] if each["constraint"]["topologyKey"] == ZONE)
            yield from _beyond(f"{name} simulate {number}", ranges, _counted(client, namespace, zones))
            client.kubectl("delete", "deploy,rs,sts", "--all", "-n", namespace, "--cascade=orphan")
            client.kubectl("delete", "pod", "--all", "-n", namespace, "--force", "--grace-period=0")


def _asked(client: Client, namespace: str, *words: str) -> Object:
    """Return what the program answers."""
    ended = client.kubectl.run("spread", *words, "-n", namespace, "-o", "json")
    assert ended.returncode in {0, 1}, ended.stderr
    said: Object = json.loads(ended.stdout)
    return said


def _said_by_check(item: Object) -> Mapping[str, Sequence[int]]:
    """Return zone → the fewest and the most Pods there in the end, as the first constraint counts them."""
    one = Counter(each["node"][0] for each in item["placements"])
    zones = {domain["value"] for domain in item["after"][0]["domains"]}
    varied = {each["value"]: (each["minimum"], each["maximum"]) for each in item["ranges"] if each["constraint"] == 0}
    return {zone: varied.get(zone, (one[zone], one[zone])) for zone in zones}


def _counted(client: Client, namespace: str, zones: Mapping[str, str]) -> Counter[str]:
    """Return zone → the Pods there; empty for those without a node."""
    return Counter(zones.get(pod["spec"].get("nodeName", ""), "") for pod in client.pods(namespace))


def _beyond(about: str, said: Mapping[str, Sequence[int]], came: Mapping[str, int]) -> Iterator[str]:
    """Yield the zones that hold more or fewer Pods than was said."""
    for zone in sorted({*said, *came}):
        least, most = said.get(zone, (0, 0))
        if not least <= came.get(zone, 0) <= most:
            yield f"{about}: zone {zone or 'none'} holds {came.get(zone, 0)}, {least} to {most} was said"


def plans(client: Client, name: str, runs: int) -> Iterator[str]:
    """Yield what went otherwise than a plan of ``rebalance --soft`` said, run as printed so many times.

    Nobody else uses the cluster, which is empty before and after.
    """
    early = [each for each in PLANS[name] if each["metadata"]["labels"][ZONE] == "a"]
    late = [each for each in PLANS[name] if each["metadata"]["labels"][ZONE] != "a"]
    for number in range(runs):
        namespace = f"soft-{name}-{number}"
        web = _web(namespace, "web", FEWER)
        situation = Situation(
            namespace=namespace, early=early, late=late, objects=[web], kinds=["Deployment"], soft=True
        )
        outcome = run(client, situation)
        yield from (f"{name} plan {number}: {wrong}" for wrong in (outcome.wrong if outcome else ["no plan"]))

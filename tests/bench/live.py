"""How long answers about a live cluster take, beside kubectl and beside a bare read of the same pages.

Run it as ``python -m tests.bench.live [--nodes 30] [--pods 300]``. It starts a real control plane (Go is needed), fills
it with Pods of the size real ones have, and prints each command's time as a ratio within the run, its processor time
and its peak memory.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.bench.measuring import bare_read, measure
from tests.controlplane.api import Object
from tests.controlplane.binaries import Binaries, build_binaries
from tests.controlplane.cluster import ControlPlane, Options, control_plane
from tests.controlplane.identity import ADMIN
from tests.controlplane.waiting import wait_for
from tests.e2e.fixes_as_printed import workload
from tests.e2e.manifests import ZONE, constraint, match, node, pod, pod_spec

ZONES = 3
DEPLOYMENTS = 10
FILLED_SECONDS = 120.0
PADDING = "x" * 10_000  # What managedFields, environments and probes make of a real Pod (bytes)


def fill(plane: ControlPlane, *, nodes: int, pods: int) -> None:
    """Create Nodes, Deployments whose Pods are bound and ready, and one Pod that no node takes."""
    client = plane.client()
    client.create_nodes(node(f"node-{index}", labels={ZONE: f"zone-{index % ZONES}"}) for index in range(nodes))
    client.create_namespaces(["shop"])
    client.apply(
        _deployment(name, pods // DEPLOYMENTS) for name in ("web", *map("app-{}".format, range(1, DEPLOYMENTS)))
    )
    nowhere = constraint("nowhere", selector=match(app="web"))
    client.create_pods([pod("shop", "waiting", labels={"app": "web"}, spec={"topologySpreadConstraints": [nowhere]})])

    def ready() -> bool:
        client.act_as_kubelets()
        running = [each for each in client.pods("shop") if each["status"]["phase"] == "Running"]
        return len(running) == pods // DEPLOYMENTS * DEPLOYMENTS

    wait_for(ready, what="all Pods to run", timeout_s=FILLED_SECONDS)


def _deployment(name: str, replicas: int) -> Object:
    """Return a Deployment whose Pods are as large as real ones."""
    even = constraint(ZONE, selector=match(app=name))
    metadata = {"labels": {"app": name}, "annotations": {"padding": PADDING}}
    template = {"metadata": metadata, "spec": pod_spec() | {"topologySpreadConstraints": [even]}}
    return workload("Deployment", "shop", name=name, template=template, replicas=replicas)


def _commands(plane: ControlPlane, binaries: Binaries, manifest: Path) -> Mapping[str, Sequence[str]]:
    """Return what is measured; the first is what the others are compared with."""
    kubectl, spread = str(binaries.kubectl), [sys.executable, "-m", "kubectl_spread"]
    paths = ("/api/v1/nodes", "/api/v1/pods")
    return {
        "bare read of Nodes and Pods": bare_read(plane.server, ADMIN.token, str(plane.certificate_authority), *paths),
        "kubectl get pods -A": [kubectl, "get", "pods", "-A"],
        "kubectl describe pod": [kubectl, "describe", "pod", "waiting", "-n", "shop"],
        "kubectl get pods -l": [kubectl, "get", "pods", "-n", "shop", "-l", "app=web"],
        "spread show -n shop": [*spread, "show", "-n", "shop"],
        "spread why-pending POD": [*spread, "why-pending", "waiting", "-n", "shop"],
        "spread check -f": [*spread, "check", "-n", "shop", "-f", str(manifest)],
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=30)
    parser.add_argument("--pods", type=int, default=300)
    asked = parser.parse_args()
    manifest = Path(__file__).parents[2] / "examples" / "checkout.yaml"
    binaries = build_binaries()
    with control_plane(Options(), binaries=binaries) as plane, tempfile.TemporaryDirectory() as home:
        fill(plane, nodes=asked.nodes, pods=asked.pods)
        environment = {**os.environ, "KUBECONFIG": str(plane.kubeconfig), "HOME": home}
        found = list(measure(_commands(plane, binaries, manifest), environment))
    sys.stdout.write(f"{asked.nodes} nodes, {asked.pods} Pods\n")
    for each in found:
        ratio = each.seconds / found[0].seconds
        cost = f"{each.cpu_seconds:7.2f} s CPU {each.memory:6.0f} MiB"
        sys.stdout.write(f"{each.name:28} {each.seconds:7.2f} s {ratio:6.2f} x {cost}\n")


if __name__ == "__main__":
    main()

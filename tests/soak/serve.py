"""``serve`` beside a changing cluster: at each moment of quiet a scrape is what ``show`` and ``audit`` print.

It is scraped all the time. The API server is killed and comes back, the second time with etcd's history compacted.
"""

from __future__ import annotations

import random
import re
import subprocess
import sysconfig
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.cli.test_serve import Serving, series
from tests.controlplane.client import Client
from tests.controlplane.cluster import ControlPlane, control_plane
from tests.e2e.competing import OPTIONS
from tests.e2e.fixes_as_printed import settle
from tests.e2e.manifests import ZONE, node
from tests.soak.suggestions import workload_with_budget

NAMESPACE = "changing"
_QUIET_S = 2.0
_FOLLOWS = "kubectl_spread_stale_seconds 0.0"
_GROWTH = 1.15  # By what the memory at the end may exceed that after a sixth of the time (factor)


def wrong(seed: int, minutes: int, seen: Counter[str]) -> Iterator[str]:
    """Yield what is wrong within so many minutes."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    with control_plane(OPTIONS) as plane:
        client = plane.client()
        client.create_namespaces([NAMESPACE])
        client.create_nodes(node(f"{z}{n}", labels={ZONE: z}, room={"cpu": "3"}) for z in "abc" for n in (1, 2))
        client.apply(each for number in range(5) for each in workload_with_budget(rng, NAMESPACE, f"app-{number}"))
        typed = (f"{sysconfig.get_path('scripts')}/kubectl-spread", "serve", "-A", "--listen", "127.0.0.1:0")
        process = subprocess.Popen(typed, env=client.kubectl.environment(), stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr
            serving = Serving(process, int(process.stderr.readline().rstrip("/\n").rpartition(":")[2]))
            serving.wait_until(lambda: serving.get("/metrics")[0] == 200)
            yield from _followed(plane, serving, minutes * 60.0, rng, seen)
        finally:
            process.kill()
            process.communicate()


def _followed(
    plane: ControlPlane, serving: Serving, seconds: float, rng: random.Random, seen: Counter[str]
) -> Iterator[str]:
    client, begun, failed, ended = plane.client(), time.monotonic(), list[str](), threading.Event()
    threading.Thread(target=_scrape, args=(serving, seen, failed, ended), daemon=True).start()
    marks, restarts, sizes = [1 / 6, 1 / 2, 1.0], [1 / 4, 2 / 3], list[int]()
    while marks:
        part = (time.monotonic() - begun) / seconds
        if part >= marks[0]:
            status = Path(f"/proc/{serving.process.pid}/status").read_text()
            sizes += map(int, re.findall(r"VmRSS:\s+(\d+) kB", status))
            seen[f"KiB resident after {marks.pop(0):.0%}"] = sizes[-1]
        if restarts and part >= restarts[0]:
            restarts.pop(0)
            yield from _restarted(plane, serving, seen, compact=not restarts)
        _change(client, rng)
        settle(client, NAMESPACE, quiet_s=_QUIET_S)
        yield from _compared(client, serving, seen)
        yield from failed
        failed.clear()
    ended.set()
    if sizes[-1] > sizes[0] * _GROWTH:
        yield f"the memory grows: {sizes} KiB"


def _scrape(serving: Serving, seen: Counter[str], failed: list[str], ended: threading.Event) -> None:
    """Scrape each second, and add what is wrong with a scrape."""
    while not ended.wait(1):
        seen["scrapes"] += 1
        try:
            status, text = serving.get("/metrics")
            samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
            unique = {(each.name, *sorted(each.labels.items())) for each in samples}
            if status != 200 or len(unique) != len(samples):
                failed.append(f"a scrape has status {status}, {len(samples)} samples, {len(unique)} unique")
        except (ValueError, OSError) as error:
            failed.append(f"a scrape cannot be read: {error!r}")


def _compared(client: Client, serving: Serving, seen: Counter[str]) -> Iterator[str]:
    """Yield where a scrape differs from what the commands print; a change may take two seconds to arrive."""
    for when in ("at once", "late"):
        both = (client.kubectl("spread", command, "-A", "-o", "prom") for command in ("show", "audit"))
        asked, served = [line for printed in both for line in series(printed)], serving.metrics()
        if asked == served:
            seen.update({f"compared: equal {when}": 1, "compared: series": len(asked)})
            return
        time.sleep(_QUIET_S)
    yield f"served, not asked: {sorted({*served} - {*asked})}; asked, not served: {sorted({*asked} - {*served})}"


def _restarted(plane: ControlPlane, serving: Serving, seen: Counter[str], *, compact: bool) -> Iterator[str]:
    """Kill the API server and start it again, and yield what is wrong with the answers meanwhile."""
    before = serving.metrics()
    plane.kube_apiserver.kill()
    serving.wait_until(lambda: _FOLLOWS not in serving.get("/metrics")[1])
    if serving.metrics() != before:
        yield "without the API server the last answer is not served"
    if compact:
        plane.compact_etcd()
    plane.restart_kube_apiserver()
    began = time.monotonic()
    serving.wait_until(lambda: _FOLLOWS in serving.get("/metrics")[1])
    seen.update({"restarts": 1, "restarts: seconds until it follows again": round(time.monotonic() - began)})


def _change(client: Client, rng: random.Random) -> None:
    """Change something, as people do."""
    owners = client.kubectl("get", "deploy,sts", "-n", NAMESPACE, "-o", "name").split()
    name, app = f"{rng.choice('abc')}{rng.choice('12')}", f"app-{rng.randint(5, 7)}"
    own, there = ("-n", NAMESPACE), "--ignore-not-found"
    rng.choice(
        (
            lambda: client.kubectl("scale", rng.choice(owners), f"--replicas={rng.randint(1, 8)}", *own),
            lambda: client.kubectl("rollout", "restart", rng.choice(owners), *own),
            lambda: client.delete_pods(client.pods(NAMESPACE)[:2]),
            lambda: client.kubectl(rng.choice(("cordon", "uncordon")), name),
            lambda: client.kubectl("taint", "node", name, "x=y:NoSchedule", "--overwrite"),
            lambda: client.kubectl.run("taint", "node", "--all", "x-"),
            lambda: client.apply([node(f"{name}-x", labels={ZONE: name[0]}, room={"cpu": "2"})]),
            lambda: client.kubectl("delete", "node", f"{name}-x", there),
            lambda: client.kubectl("delete", "pdb", "--all", *own),
            lambda: client.apply(workload_with_budget(rng, NAMESPACE, app)),
            lambda: client.kubectl("delete", "deploy,sts", app, *own, there),
        )
    )()

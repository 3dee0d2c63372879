"""``serve`` beside a changing cluster: at each moment of quiet a scrape is what ``show`` and ``audit`` print.

A thread scrapes all the time; the API server is killed and comes back, once with etcd's history compacted.
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

from msgspec import Struct
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
_STALE_0 = "kubectl_spread_stale_seconds 0.0"
_GROWTH = 1.15
"""By what the memory of the last half may exceed that of the first sixth (factor)."""


class Scraping(Struct):
    """What a thread that scrapes each second has seen: how many scrapes, and what was wrong with them."""

    serving: Serving
    seen: Counter[str]
    wrong: list[str]
    over: bool = False

    def run(self) -> None:
        """Scrape until it is over."""
        while not self.over:
            try:
                self.seen["scrapes"] += 1
                status, text = self.serving.get("/metrics")
                samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
                unique = {(each.name, *sorted(each.labels.items())) for each in samples}
                if status != 200 or len(unique) != len(samples):
                    self.wrong.append(f"a scrape has status {status}, {len(samples)} samples, {len(unique)} unique")
            except (ValueError, OSError) as error:
                self.wrong.append(f"a scrape cannot be read: {error!r}")
            time.sleep(1)


def wrong(seed: int, minutes: int, seen: Counter[str]) -> Iterator[str]:
    """Yield what is wrong within so many minutes."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    with control_plane(OPTIONS) as plane:
        client = plane.client()
        client.create_namespaces([NAMESPACE])
        client.create_nodes(
            node(f"{zone}{n}", labels={ZONE: zone}, room={"cpu": "3"}) for zone in "abc" for n in (1, 2)
        )
        client.apply(each for number in range(5) for each in workload_with_budget(rng, NAMESPACE, f"app-{number}"))
        settle(client, NAMESPACE, quiet_s=_QUIET_S)
        typed = (f"{sysconfig.get_path('scripts')}/kubectl-spread", "serve", "-A", "--listen", "127.0.0.1:0")
        process = subprocess.Popen(typed, env=client.kubectl.environment(), stderr=subprocess.PIPE, text=True)
        try:
            yield from _followed(plane, process, minutes * 60.0, rng, seen)
        finally:
            process.kill()
            process.communicate()


def _followed(
    plane: ControlPlane, process: subprocess.Popen[str], seconds: float, rng: random.Random, seen: Counter[str]
) -> Iterator[str]:
    assert process.stderr
    found = re.search(r":(\d+)/$", process.stderr.readline())
    assert found
    serving, client, begun = Serving(process, int(found[1])), plane.client(), time.monotonic()
    serving.wait_until(lambda: serving.get("/metrics")[0] == 200)
    scraping = Scraping(serving, seen, [])
    threading.Thread(target=scraping.run, daemon=True).start()
    marks, restarts, sizes = [1 / 6, 1 / 2, 1.0], [1 / 4, 2 / 3], list[int]()
    while marks:
        part = (time.monotonic() - begun) / seconds
        if part >= marks[0]:
            sizes.append(_resident_kib(process.pid))
            seen[f"KiB resident after {marks.pop(0):.0%}"] = sizes[-1]
        if restarts and part >= restarts[0]:
            yield from _restarted(plane, serving, seen, compact=len(restarts) == 1)
            restarts.pop(0)
        _change(client, rng)
        settle(client, NAMESPACE, quiet_s=_QUIET_S)
        yield from _compared(client, serving, seen)
        yield from scraping.wrong
        scraping.wrong.clear()
    scraping.over = True
    if sizes[-1] > sizes[0] * _GROWTH:
        yield f"the memory grows: {sizes} KiB"


def _compared(client: Client, serving: Serving, seen: Counter[str]) -> Iterator[str]:
    """Yield where a scrape differs from what the commands print; a change may take two seconds to arrive."""
    for when in ("at once", "late", ""):
        both = (client.kubectl("spread", command, "-A", "-o", "prom") for command in ("show", "audit"))
        asked, served = [line for printed in both for line in series(printed)], serving.metrics()
        if asked == served:
            seen[f"compared: equal {when}"] += 1
            seen["compared: series"] += len(asked)
            return
        time.sleep(_QUIET_S)
    yield f"served, not asked: {sorted({*served} - {*asked})}; asked, not served: {sorted({*asked} - {*served})}"


def _restarted(plane: ControlPlane, serving: Serving, seen: Counter[str], *, compact: bool) -> Iterator[str]:
    """Kill the API server and start it again, and yield what is wrong with the answers meanwhile, and after."""
    before = serving.metrics()
    plane.kube_apiserver.kill()
    serving.wait_until(lambda: _STALE_0 not in serving.get("/metrics")[1])
    if serving.metrics() != before:
        yield "without the API server the last answer is not served"
    if compact:
        plane.compact_etcd()
    plane.restart_kube_apiserver()
    began = time.monotonic()
    serving.wait_until(lambda: _STALE_0 in serving.get("/metrics")[1])
    seen["restarts"] += 1
    seen["restarts: seconds until it follows again"] += round(time.monotonic() - began)


def _resident_kib(pid: int) -> int:
    """Return the resident memory of a process (KiB)."""
    line = next(each for each in Path(f"/proc/{pid}/status").read_text().splitlines() if each.startswith("VmRSS"))
    return int(line.split()[1])


def _change(client: Client, rng: random.Random) -> None:
    """Change something, as people do."""
    owners = client.kubectl("get", "deploy,sts", "-n", NAMESPACE, "-o", "name").split()
    owner, name = rng.choice(owners), f"{rng.choice('abc')}{rng.choice('12')}"
    extra = node(f"{name}-x", labels={ZONE: name[0]}, room={"cpu": "2"})
    rng.choice(
        (
            lambda: client.kubectl("scale", owner, f"--replicas={rng.randint(1, 8)}", "-n", NAMESPACE),
            lambda: client.kubectl("rollout", "restart", owner, "-n", NAMESPACE),
            lambda: client.delete_pods(client.pods(NAMESPACE)[:2]),
            lambda: client.kubectl("cordon" if rng.random() < 0.5 else "uncordon", name),
            lambda: client.kubectl("taint", "node", name, "x=y:NoSchedule", "--overwrite"),
            lambda: client.kubectl("taint", "node", "--all", "x-", "y-"),
            lambda: client.apply([extra]),
            lambda: client.kubectl("delete", "node", f"{name}-x", "--ignore-not-found"),
            lambda: client.kubectl("delete", "pdb", "--all", "-n", NAMESPACE),
            lambda: client.apply(workload_with_budget(rng, NAMESPACE, f"app-{rng.randint(5, 7)}")),
            lambda: client.kubectl(
                "delete", "deploy,sts", f"app-{rng.randint(5, 7)}", "-n", NAMESPACE, "--ignore-not-found"
            ),
        )
    )()

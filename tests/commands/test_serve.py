"""``serve`` where the cluster takes longer to evaluate than a request waits."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from kubectl_spread.cluster.access.client_config import connect
from kubectl_spread.cluster.access.options import ConnectionOptions
from kubectl_spread.commands import serve
from kubectl_spread.commands.audit import audit
from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.source import ClusterSource
from kubectl_spread.commands.view import SchedulerOptions
from tests.cluster.api_server import Seen, status
from tests.cluster.kubeconfigs import write_kubeconfig
from tests.cluster.watched import Watched
from tests.faults.raw_server import Said, http, speaking
from tests.faults.shop import shop_objects


def until(served: serve.Served, *words: str) -> str:
    """Return the first metrics in which the words are."""
    for _ in range(600):
        found = served.answer("/metrics").body.decode()
        if all(word in found for word in words):
            return found
        time.sleep(0.05)
    raise AssertionError(found)


def test_who_asks_does_not_wait_for_a_slow_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_end, cluster = threading.Event(), Watched()

    def answer(seen: Seen) -> Said:
        missing = seen.path.endswith("/configmaps/cluster-autoscaler-status")
        return [http(status(404, "NotFound"))] if missing else cluster(seen)

    evaluated = []

    def slow(*asked: Any) -> Any:  # noqa: ANN401 - as it is called
        evaluated.append(asked)
        assert may_end.wait(30)
        return audit(*asked)

    monkeypatch.setattr(serve, "audit", slow)
    monkeypatch.setattr(serve, "PATIENCE", 0.05)
    cluster.put(*shop_objects())
    with speaking(answer) as server:
        path = write_kubeconfig(tmp_path / "config", server=server.url, name="test", namespace="shop")
        source = ClusterSource(connect(ConnectionOptions(kubeconfig=str(path))), progress=None)
        served = serve.Served(source, Scope(namespace=""), SchedulerOptions(), lambda _: None)
        threading.Thread(target=served.follow, args=(time.sleep,), daemon=True).start()
        until(served, "for the first time")
        assert served.answer("/metrics").status == 503
        may_end.set()
        first = until(served, "stale_seconds 0.0")
        assert until(served, "stale_seconds 0.0") == first
        assert len(evaluated) == 1
        may_end.clear()
        cluster.delete(next(each for each in shop_objects() if each["kind"] == "Pod"))
        while (late := served.answer("/metrics").body.decode()).endswith("stale_seconds 0.0\n"):
            time.sleep(0.05)
        assert late.rpartition(" ")[0] == first.rpartition(" ")[0]
        may_end.set()
        assert until(served, "stale_seconds 0.0") != first
        cluster.over = cluster.down = True
        cluster.end_watches()

"""`kubectl spread show --watch` while a cluster churns: in the end it says what `show`, asked afresh, says.

Threads create, bind, patch and delete Pods, Nodes and Deployments; meanwhile the API server is restarted, etcd forgets,
and the program is held up until what it has seen has expired.
"""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import urllib3
import yaml

from tests.cli.test_serve import Serving, series
from tests.controlplane.api import MERGE_PATCH, Api, ApiError, Object
from tests.controlplane.binaries import Binaries
from tests.controlplane.client import Client
from tests.controlplane.cluster import ControlPlane, Options, control_plane
from tests.controlplane.identity import User
from tests.controlplane.waiting import wait_for
from tests.e2e.manifests import ZONE, constraint, match, node, pod, pod_spec

pytestmark = pytest.mark.e2e

READER = User(name="reader")  # Has exactly the documented ClusterRole
LISTER = User(name="lister")  # Has it without the verb watch
OF_ONE_NAMESPACE = User(name="of-one-namespace")  # Has the documented Role, and that for Nodes

SHOP, BANK = "shop", "bank"
NODES, ZONES = 9, "abc"
APPS = ("web", "api", "db")
CHURNERS, CHURN_SECONDS = 4, 12.0
PAUSE_SECONDS = 0.02  # Between the acts of a churner: as many changes as two cores bear beside the watcher


@pytest.fixture(scope="module")
def plane(binaries: Binaries) -> Iterator[ControlPlane]:
    """A control plane of its own, which is restarted here, with Nodes, Deployments and users."""
    with control_plane(Options(users=(READER, LISTER, OF_ONE_NAMESPACE)), binaries=binaries) as running:
        client = running.client()
        client.create_nodes([_node(number) for number in range(NODES)])
        client.create_namespaces([SHOP, BANK])
        client.apply([*_rights(), *(_deployment(namespace, name) for namespace in (SHOP, BANK) for name in APPS)])
        yield running


@pytest.fixture(scope="module")
def client(plane: ControlPlane) -> Client:
    """An administrator."""
    return plane.client()


class Watcher:
    """`kubectl spread show --watch -o json`, running."""

    def __init__(self, client: Client, folder: Path, *words: str) -> None:
        self._reports, self._said = folder / "reports", folder / "said"
        command = [str(client.kubectl.binary), "spread", "show", "--watch", "-o", "json", *words]
        with self._reports.open("wb") as stdout, self._said.open("wb") as stderr:
            # kubectl becomes its plugin, so that signals reach that.
            self.process = subprocess.Popen(
                command, env=client.kubectl.environment(), stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr
            )

    @property
    def reports(self) -> Sequence[str]:
        """The whole lines that it has printed."""
        return self._reports.read_text().split("\n")[:-1]

    @property
    def said(self) -> str:
        """What it has said besides."""
        return self._said.read_text()

    def last(self) -> Object | None:
        """Return its newest report; None before the first."""
        lines = self.reports
        newest: Object | None = json.loads(lines[-1]) if lines else None
        return newest


@contextmanager
def watching(client: Client, folder: Path, *words: str) -> Iterator[Watcher]:
    """Yield the program once it has answered; it is interrupted afterwards, and ends as it should."""
    watcher = Watcher(client, folder, *words)
    try:
        wait_for(lambda: watcher.last() or watcher.process.poll() is not None, what="the first report", timeout_s=60)
        assert watcher.process.poll() is None, watcher.said
        yield watcher
        watcher.process.send_signal(signal.SIGINT)
        assert watcher.process.wait(30) == 130
    finally:
        watcher.process.kill()
        watcher.process.wait()


@dataclass
class Churn:
    """Threads that change a cluster."""

    api: Api
    seed: int
    done: Counter[str] = field(default_factory=Counter)  # what was done → how often
    failed: int = 0  # attempts that the server did not answer or refused, as happens while it restarts
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the threads run as long as the block does."""
        threads = [threading.Thread(target=self._run, args=(number,)) for number in range(CHURNERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            for thread in threads:
                thread.join()

    def _run(self, number: int) -> None:
        """Do one thing after another."""
        rng = random.Random(self.seed * CHURNERS + number)  # noqa: S311 - a seed
        names: list[tuple[str, str]] = []
        for count in range(1_000_000):
            if self._stopped.wait(PAUSE_SECONDS):
                return
            act = rng.choices([*_ACTS], weights=[weight for weight, _ in _ACTS.values()])[0]
            try:
                _ACTS[act][1](self.api, rng, names, f"p{number}-{count}")
            except (ApiError, urllib3.exceptions.HTTPError):
                with self._lock:
                    self.failed += 1
            else:
                with self._lock:
                    self.done[act] += 1


def test_what_is_shown_in_the_end_is_what_is_there(plane: ControlPlane, client: Client, tmp_path: Path) -> None:
    churn = Churn(client.api, seed=int(time.time()))
    with watching(client, tmp_path, "-A", "-v", "1", "--context", READER.name) as watcher:
        with churn.running():
            time.sleep(CHURN_SECONDS)
            plane.restart_kube_apiserver()
            time.sleep(CHURN_SECONDS)
            # Held up, until nobody remembers what it has last seen.
            watcher.process.send_signal(signal.SIGSTOP)
            time.sleep(CHURN_SECONDS / 4)
            plane.compact_etcd()
            plane.restart_kube_apiserver()
            time.sleep(CHURN_SECONDS / 4)
            watcher.process.send_signal(signal.SIGCONT)
            time.sleep(CHURN_SECONDS)
        _settle(client)
        fresh = _fresh(client, "-A")
        _assert_agrees(watcher, fresh)
        reports, said = watcher.reports, watcher.said
    figures = f"seed {churn.seed}: {dict(churn.done)}, {churn.failed} failed; {len(reports)} reports, {len(fresh)} rows"
    print(figures, _tally(said), sep="\n")  # noqa: T201 - for who runs it with -s
    assert churn.done.total() > 300, figures
    assert len(reports) > 10
    assert "trying again until it works" in said
    assert "the server answers again" in said
    assert "too old resource version" in said


def test_what_is_served_is_what_is_there(plane: ControlPlane, client: Client) -> None:
    churn = Churn(client.api, seed=int(time.time()))
    command = [str(client.kubectl.binary), "spread", "serve", "-A", "--listen", "127.0.0.1:0", "--context", READER.name]
    process = subprocess.Popen(
        command, env=client.kubectl.environment(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr
        served = Serving(process, int(process.stderr.readline().rpartition(":")[2].strip("/\n")))
        served.wait_until(lambda: served.get("/healthz")[0] == 200)
        with churn.running():
            for _ in range(3):
                time.sleep(CHURN_SECONDS / 3)
                assert served.get("/metrics")[0] == 200
            plane.restart_kube_apiserver()
            time.sleep(CHURN_SECONDS)
        _settle(client)
        both = (client.kubectl("spread", name, "-A", "-o", "prom") for name in ("show", "audit"))
        fresh = [line for text in both for line in series(text)]
        served.wait_until(lambda: "kubectl_spread_stale_seconds 0.0" in served.get("/metrics")[1])
        assert served.metrics() == fresh
        assert churn.done.total() > 100
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.communicate()


def test_a_namespace_is_watched_with_its_own_pods(client: Client, tmp_path: Path) -> None:
    with watching(client, tmp_path, "-n", SHOP, "--context", OF_ONE_NAMESPACE.name) as watcher:
        client.create_pods([pod(SHOP, "one-more", labels={"app": "web"}, spec={"nodeName": "n0"})])
        _settle(client)
        _assert_agrees(watcher, _fresh(client, "-n", SHOP, "--context", OF_ONE_NAMESPACE.name))
        assert len(watcher.reports) > 1


def test_who_may_only_list_is_told_which_verb_lacks(client: Client) -> None:
    ended = client.kubectl.run("spread", "show", "-w", "-n", SHOP, "--context", LISTER.name)
    assert (ended.returncode, ended.stdout) == (3, "")
    (line,) = ended.stderr.splitlines()
    assert re.search(r"not allowed to watch \w+ .*needs a (Cluster)?Role .*verbs: \[watch\]\}$", line)


def _settle(client: Client) -> None:
    """Return once nothing is decided or made any more: twice the same Pods, a while apart."""
    before: Sequence[Object] = ()

    def is_calm() -> bool:
        nonlocal before
        time.sleep(2)
        previous, before = before, client.pods()
        return [each["metadata"]["resourceVersion"] for each in previous] == [
            each["metadata"]["resourceVersion"] for each in before
        ]

    wait_for(is_calm, what="the cluster to be calm", timeout_s=120)


def _fresh(client: Client, *words: str) -> Sequence[Object]:
    """Return the rows of a report that is asked for now."""
    rows: Sequence[Object] = json.loads(client.kubectl("spread", "show", "-o", "json", *words))["items"]
    return rows


def _assert_agrees(watcher: Watcher, fresh: Sequence[Object]) -> None:
    """Assert that the newest report has these rows, now or soon."""

    def agrees() -> bool:
        newest = watcher.last()
        return newest is not None and newest["items"] == fresh

    with suppress(TimeoutError):
        wait_for(agrees, what="the rows of a fresh report", timeout_s=30)
    newest = watcher.last()
    assert newest is not None
    assert newest["items"] == fresh


def _tally(said: str) -> Mapping[str, int]:
    """Return what was said → how often, kinds and numbers left out."""
    return Counter(re.sub(r"(watch|list) \w+|\d+(\.\d+)?", "_", line) for line in said.splitlines())


def _node(number: int) -> Object:
    """Return a Node, in one of the zones."""
    return node(f"n{number}", labels={ZONE: ZONES[number % len(ZONES)]})


def _deployment(namespace: str, name: str) -> Object:
    """Return a Deployment whose Pods lie evenly over zones."""
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {**pod_spec(), "topologySpreadConstraints": [constraint(ZONE, selector=match(app=name))]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": 2, "selector": match(app=name), "template": template},
    }


def _rights() -> Iterator[Object]:
    """Yield what gives each user its rights."""
    rules = _rules("ClusterRole", "kubectl-spread")
    yield from _granted(READER, rules)
    yield from _granted(LISTER, [{**rule, "verbs": ["list"]} for rule in rules])
    yield from _granted(OF_ONE_NAMESPACE, _rules("ClusterRole", "kubectl-spread-nodes"))
    yield from _granted(OF_ONE_NAMESPACE, _rules("Role", "kubectl-spread"), namespace=SHOP)


def _rules(kind: str, name: str) -> Sequence[Object]:
    """Return the rules of a role that the documentation asks for."""
    page = (Path(__file__).parents[2] / "docs/rights.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    roles: list[Object] = [role for block in blocks for role in yaml.safe_load_all(block)]
    (rules,) = (role["rules"] for role in roles if (role["kind"], role["metadata"]["name"]) == (kind, name))
    return [*rules]


def _granted(user: User, rules: Sequence[Object], *, namespace: str = "") -> Iterator[Object]:
    """Yield a role of these rules and its binding to the user, in one namespace or (empty) all."""
    kind = "Role" if namespace else "ClusterRole"
    group = "rbac.authorization.k8s.io"
    metadata = {"name": user.name, **({"namespace": namespace} if namespace else {})}
    common = {"apiVersion": f"{group}/v1", "metadata": metadata}
    yield {**common, "kind": kind, "rules": rules}
    yield {
        **common,
        "kind": f"{kind}Binding",
        "roleRef": {"apiGroup": group, "kind": kind, "name": user.name},
        "subjects": [{"apiGroup": group, "kind": "User", "name": user.name}],
    }


Names = list[tuple[str, str]]  # (namespace, name) of the Pods of one churner
Act = Callable[[Api, random.Random, Names, str], None]


def _create(api: Api, rng: random.Random, names: Names, name: str) -> None:
    """Create a Pod, on a Node already or for the scheduler to bind."""
    namespace, app = rng.choice([SHOP, BANK]), rng.choice(APPS)
    bound = {"nodeName": f"n{rng.randrange(NODES)}"} if rng.random() < 0.6 else {}
    spec = {**bound, "topologySpreadConstraints": [constraint(ZONE, selector=match(app=app))]}
    api.request(
        "POST", f"/api/v1/namespaces/{namespace}/pods", body=pod(namespace, name, labels={"app": app}, spec=spec)
    )
    names.append((namespace, name))


def _relabel(api: Api, rng: random.Random, names: Names, _: str) -> None:
    """Give a Pod to another application."""
    api.request(
        "PATCH",
        _path(*rng.choice(names or [(SHOP, "none")])),
        body=_labels(app=rng.choice(APPS)),
        content_type=MERGE_PATCH,
    )


def _finish(api: Api, rng: random.Random, names: Names, _: str) -> None:
    """Report a Pod as Succeeded."""
    path = f"{_path(*rng.choice(names or [(SHOP, 'none')]))}/status"
    api.request("PATCH", path, body={"status": {"phase": "Succeeded"}}, content_type=MERGE_PATCH)


def _delete(api: Api, rng: random.Random, names: Names, _: str) -> None:
    """Delete a Pod, at once."""
    if names:
        api.request("DELETE", _path(*names.pop(rng.randrange(len(names)))), query={"gracePeriodSeconds": "0"})


def _scale(api: Api, rng: random.Random, _: Names, __: str) -> None:
    """Give a Deployment another number of replicas."""
    path = f"/apis/apps/v1/namespaces/{rng.choice([SHOP, BANK])}/deployments/{rng.choice(APPS)}"
    api.request("PATCH", path, body={"spec": {"replicas": rng.randrange(1, 7)}}, content_type=MERGE_PATCH)


def _move(api: Api, rng: random.Random, _: Names, __: str) -> None:
    """Move a Node to another zone, cordoned or not."""
    body = {**_labels(**{ZONE: rng.choice(ZONES)}), "spec": {"unschedulable": rng.random() < 0.3}}
    api.request("PATCH", f"/api/v1/nodes/n{rng.randrange(NODES)}", body=body, content_type=MERGE_PATCH)


def _labels(**labels: str) -> Object:
    """Return a patch of an object's labels."""
    return {"metadata": {"labels": labels}}


def _path(namespace: str, name: str) -> str:
    """Return where a Pod is."""
    return f"/api/v1/namespaces/{namespace}/pods/{name}"


_ACTS: Mapping[str, tuple[float, Act]] = {
    "create": (5, _create),
    "relabel": (3, _relabel),
    "finish": (1, _finish),
    "delete": (4, _delete),
    "scale": (0.3, _scale),
    "move": (0.3, _move),
}
"""What is done → how often beside the others, and by what."""

"""One right is taken away after the other: an answer is the same as with all rights, or says what it could not see."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pytest

from kubectl_spread.objects import kinds
from kubectl_spread.objects.kinds import BY_API, KINDS, Kind
from tests.build import ZONE, Object, app, node, object_of, spread
from tests.build_storage import claim, storage_class, volume
from tests.build_workloads import owned, revision, scaler, template, workload
from tests.cluster.api_server import Response, Seen, serving, status
from tests.cluster.kubeconfigs import write_kubeconfig
from tests.program import Ended
from tests.program import spread as run

OWNERS = (
    *(kinds.DEPLOYMENT, kinds.REPLICA_SET, kinds.CRON_JOB, kinds.JOB, kinds.DAEMON_SET),
    *(kinds.POD_DISRUPTION_BUDGET, kinds.HORIZONTAL_POD_AUTOSCALER),
)
"""Kinds that decide whose Pods are whose, and what becomes of them."""
OTHERS = [kind for kind in KINDS if kind not in {kinds.NODE, kinds.POD, *OWNERS}]
ALL, NO_FIXES = "why-pending -A", "--fix-budget 0"
COMMANDS = (
    ALL,
    "show -A",
    "show deployment/web",
    "show cronjobs",
    f"check -f {{manifest}} {NO_FIXES}",
    f"why-pending deployment/web {NO_FIXES}",
    f"why-pending cronjob/tick {NO_FIXES}",
    f"why-pending job/tick-1 {NO_FIXES}",
    "simulate --drain b1",
    "simulate --scale deployment/web=6",
    "rebalance -A",
)
BY_KIND = (f"why-pending deployments {NO_FIXES}", f"why-pending cronjobs {NO_FIXES}")
CASES = [
    *((command, kind) for command in COMMANDS for kind in OWNERS),
    *(pytest.param(command, kind, marks=pytest.mark.e2e) for command in BY_KIND for kind in OWNERS),
    *((f"{ALL} {NO_FIXES}", kind) for kind in OTHERS),
]
INCOMPLETE = "Incomplete"
LEFT_OUT = {"metadata", "incomplete", "evaluatedFilters"}
"""Fields that say of a report how it was made: not what the answer is."""
READY: Object = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def pods(controller: str, name: str, app_name: str, nodes: Sequence[str], **more: Any) -> list[Object]:  # noqa: ANN401 - any field of the Pods
    """Return the Pods of a controller, Pending where the node is empty, with a constraint on zones."""
    labels = {"app": app_name, **more.pop("labels", {})}
    more["topologySpreadConstraints"] = [spread(ZONE, selector=app(app_name))]
    statuses = [READY if on else {"phase": "Pending"} for on in nodes]
    made = zip(nodes, statuses, strict=True)
    return [
        owned(f"{name}-{number}", controller, name, on=on, labels=labels, status=status_of, **more)
        for number, (on, status_of) in enumerate(made)
    ]


def made(name: str, **more: Any) -> Object:  # noqa: ANN401 - any field of the Pods
    """Return a template with a constraint on zones."""
    return template(spread(ZONE, selector=app(name)), **more)


def cluster() -> list[Object]:
    """Return a Deployment in the middle of a rollout, and workloads of other kinds, some with Pending Pods."""
    old, new = (revision("web", number, pods=made("web", image=f"app:{number}")) for number in (1, 2))
    job = workload("Job", "tick-1", pods=made("tick"))
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "controller": True, "uid": "u"}
    job["metadata"]["ownerReferences"] = [owner]
    claims = [{"metadata": {"name": "v"}, "spec": {"storageClassName": "zonal"}}]
    claimed = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "v-db-1"}}]}
    return [
        *(node(f"{zone}1", zone=zone, unschedulable=zone == "c") for zone in "abc"),
        object_of("Namespace", "default"),
        object_of("ServiceAccount", "default"),
        *(workload("Deployment", "web", pods=made("web", image="app:2"), replicas=4), old, new, scaler(4, 8)),
        *pods("ReplicaSet", "web-h1", "web", ("a1", "b1", "a1"), labels={"pod-template-hash": "h1"}),
        *pods("ReplicaSet", "web-h2", "web", ("b1", ""), labels={"pod-template-hash": "h2"}),
        *(workload("CronJob", "tick", pods=made("tick")), job, *pods("Job", "tick-1", "tick", ("a1", ""))),
        workload("StatefulSet", "db", pods=made("db"), replicas=2, volumeClaimTemplates=claims),
        *pods("StatefulSet", "db", "db", ("a1", ""), **claimed),
        claim("v-db-1", class_name="zonal", bound_to="pv"),
        *(volume("pv", usable_on={ZONE: ["c"]}), storage_class("zonal")),
        workload("DaemonSet", "agent", pods=template()),
        object_of("PodDisruptionBudget", "web", spec={"minAvailable": 4, "selector": app("web")}),
    ]


class Restricted:
    """A server that lets nobody list one kind."""

    def __init__(self) -> None:
        self.forbidden: Kind | None = None
        self.objects = cluster()

    def __call__(self, seen: Seen) -> Response:
        """Return a list, or that it is forbidden."""
        if seen.path == "/version":
            return Response(body={"gitVersion": "v1.36.2"})
        for kind in KINDS:
            if seen.path in {kind.path(), kind.path("default")}:
                if kind == self.forbidden:
                    return status(403, "Forbidden")
                items = [each for each in self.objects if BY_API[each["apiVersion"], each["kind"]] == kind]
                return Response(body={"metadata": {"resourceVersion": "7"}, "items": items})
        return status(404, "NotFound")


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, Kind | None], Ended]]:
    """Yield what asks the server without the right to list a kind; None for all rights."""
    folder, answer = tmp_path_factory.mktemp("rights"), Restricted()
    manifest = folder / "web.json"
    manifest.write_text(
        json.dumps(workload("Deployment", "new", pods=template(spread(ZONE, selector=app("web"))), replicas=2))
    )
    with serving(answer) as server:
        write_kubeconfig(folder / "kubeconfig", server=server.url, namespace="default")

        @cache
        def asked(command: str, forbidden: Kind | None) -> Ended:
            answer.forbidden = forbidden
            words = command.format(manifest=manifest).split()
            return run(*words, "-o", "json", env={"KUBECONFIG": str(folder / "kubeconfig")})

        yield asked


def said_of(ended: Ended) -> tuple[Any, set[str]]:
    """Return the answer without what it could not see, and what that is."""
    missing: set[str] = set()

    def without(value: Any) -> Any:  # noqa: ANN401 - any JSON
        if isinstance(value, dict):
            if value.get("status") == INCOMPLETE:
                return INCOMPLETE
            missing.update(each["what"] for each in value.get("incomplete", ()))
            return {key: without(each) for key, each in value.items() if key not in LEFT_OUT}
        return [without(each) for each in value] if isinstance(value, list) else value

    return (without(json.loads(ended.stdout)) if ended.stdout else None), missing


def agrees(answer: Any, full: Any) -> bool:  # noqa: ANN401 - any JSON
    """Whether they are the same, but for rows that are incomplete."""
    if isinstance(answer, dict) and isinstance(full, dict):
        return answer.keys() == full.keys() and all(agrees(each, full[key]) for key, each in answer.items())
    if isinstance(answer, list) and isinstance(full, list):
        return len(answer) == len(full) and all(map(agrees, answer, full))
    return bool(answer in (full, INCOMPLETE))


def verdicts_of(answer: Any) -> Mapping[tuple[str, ...], str]:  # noqa: ANN401 - any JSON
    """Return what each item of an answer says, by what it is about."""
    items = [it for it in (answer or {}).get("items", ()) if it != INCOMPLETE]
    return {
        (str(it["namespace"]), str(it.get("name")), str(it["workload"]), str(it.get("revision")), str(at)): verdict
        for at, it in enumerate(items)
        if (verdict := it.get("verdict") or it.get("status"))
    }


@pytest.mark.parametrize(("command", "kind"), CASES, ids=lambda it: it if isinstance(it, str) else it.plural)
def test_without_a_right_an_answer_is_the_same_or_names_it(
    command: str, kind: Kind, ask: Callable[[str, Kind | None], Ended]
) -> None:
    whole, partial = ask(command, None), ask(command, kind)
    (full, _), (answer, missing) = said_of(whole), said_of(partial)
    if answer is None:
        assert partial.code == 3
        assert f"list {kind.plural}" in partial.stderr
    elif not agrees(answer, full) or partial.stderr != whole.stderr:
        assert f"list {kind.plural}" in missing
    before, after = verdicts_of(full), verdicts_of(answer)
    assert all(after[key] in {before[key], INCOMPLETE} for key in before.keys() & after.keys())


@pytest.mark.parametrize("named", ["cronjobs", "cronjob/tick"])
def test_whose_pods_are_not_known_is_no_answer(named: str, ask: Callable[[str, Kind | None], Ended]) -> None:
    ended = ask(f"why-pending {named} {NO_FIXES}", kinds.JOB)
    assert ended.code == 3
    assert "has no Pods" not in ended.stderr
    assert "list jobs" in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    "command", [f"why-pending deployments {NO_FIXES}", f"why-pending deployment/web {NO_FIXES}", "show deployment/web"]
)
def test_the_name_of_a_replica_set_has_that_of_its_deployment(
    command: str, ask: Callable[[str, Kind | None], Ended]
) -> None:
    answers = (json.loads(ask(command, kind).stdout)["items"] for kind in (None, kinds.REPLICA_SET))
    told = [[(it["workload"], it.get("name")) for it in items] for items in answers]
    assert told[0] == told[1]
    assert told[0]

"""``--watch``: which changes of a cluster make another answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from kubectl_spread.commands.scope import Scope
from kubectl_spread.commands.show import ShowAnswer, ShowOptions, follow
from kubectl_spread.commands.source import FileSource
from kubectl_spread.commands.view import SchedulerOptions
from kubectl_spread.commands.why_pending import PendingAnswer, why_pending
from kubectl_spread.commands.why_pending import follow as follow_pending
from kubectl_spread.diagnosis.evaluation import Verdict
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.errors import ClusterError, UsageError
from tests.build import ZONE, Object, app, node, spread
from tests.build_workloads import owned, template, workload
from tests.commands.memory import Memory, TheEndError
from tests.program import encoded

NODES = [node("a1", zone="a"), node("b1", zone="b")]
WEB = workload("Deployment", "web", pods=template(spread(ZONE, selector=app("web"))))
CLUSTER = [*NODES, WEB]
WEB_NAMED = ShowOptions(names=(("deployment", "web"),))


def replica(number: int, *, on: str) -> Object:
    return owned(f"web-{number}", "Deployment", "web", on=on)


def answers(source: Memory, options: ShowOptions | None = None) -> list[ShowAnswer]:
    """Return every answer until nothing happens any more."""
    found: list[ShowAnswer] = []
    following = follow(source, Scope(namespace="default"), options or ShowOptions(), SchedulerOptions(), say=_nothing)
    with pytest.raises(TheEndError):
        found.extend(following)  # what comes before the error stays
    return found


def _nothing(_: str) -> None:
    """Say nothing."""


def counts(found: Sequence[ShowAnswer]) -> list[dict[str, int]]:
    """Return, of the only row of each answer, domain → Pods."""
    rows = [item for answer in found for item in answer.report.items]
    return [{domain.value: domain.matching for domain in item.constraint.domains} for item in rows]


def test_each_change_is_another_answer() -> None:
    first, second = replica(1, on="a1"), replica(2, on="b1")
    found = answers(Memory(CLUSTER, later=[[*CLUSTER, first], [*CLUSTER, first, second], [*CLUSTER, second]]))
    assert counts(found) == [{"a": 0, "b": 0}, {"a": 1, "b": 0}, {"a": 1, "b": 1}, {"a": 0, "b": 1}]
    for answer in found:
        encoded(answer.report)


def test_what_makes_no_difference_is_no_answer() -> None:
    other = workload("Deployment", "other", pods=template(spread(ZONE)), namespace="elsewhere")
    found = answers(Memory(CLUSTER, later=[[*CLUSTER, other], CLUSTER, [*CLUSTER, replica(1, on="b1")]]))
    assert counts(found) == [{"a": 0, "b": 0}, {"a": 0, "b": 1}]


def test_a_node_that_changes_is_another_answer() -> None:
    found = answers(Memory(CLUSTER, later=[[node("a1", zone="a"), node("b1", zone="c"), WEB]]))
    assert counts(found) == [{"a": 0, "b": 0}, {"a": 0, "c": 0}]


def test_a_workload_comes_and_goes() -> None:
    found = answers(Memory(NODES, later=[CLUSTER, NODES]))
    assert [len(answer.report.items) for answer in found] == [0, 1, 0]


def test_a_workload_that_is_named_may_go_later() -> None:
    found = answers(Memory(CLUSTER, later=[NODES, CLUSTER]), WEB_NAMED)
    assert [len(answer.report.items) for answer in found] == [1, 0, 1]


def test_a_workload_that_is_named_must_exist_now() -> None:
    with pytest.raises(ClusterError, match="deployment/web not found"):
        answers(Memory(NODES, later=[CLUSTER]), WEB_NAMED)


def test_problems_come_and_go() -> None:
    crowded = [*CLUSTER, replica(1, on="a1"), replica(2, on="a1")]
    found = answers(Memory(CLUSTER, later=[crowded, CLUSTER]), ShowOptions(problems=True))
    assert [[item.status for item in answer.report.items] for answer in found] == [[], [SpreadStatus.VIOLATED], []]


def test_the_server_is_asked_once_for_its_release_and_its_size() -> None:
    source = Counting(CLUSTER, said_version="v1.36.2", server="https://x", later=[NODES, CLUSTER])
    answers(source)
    assert (source.versions, source.counts) == (1, 1)


class Counting(Memory):
    """A cluster that counts how often it is asked what does not change."""

    versions = 0
    counts = 0

    def version(self) -> str:
        """Return what the server says of itself."""
        self.versions += 1
        return super().version()

    def count_pods(self, namespace: str = "") -> int:
        """Return how many Pods it says it has."""
        self.counts += 1
        return super().count_pods(namespace)


def test_why_pending_follows_pods_until_they_have_nodes() -> None:
    full = [*CLUSTER, replica(1, on=""), node("c1", zone="c", allocatable={"cpu": "0"})]
    source = Memory([WEB, replica(1, on="")], later=[full, full, CLUSTER])
    scope, found = Scope(namespace="default"), list[PendingAnswer]()
    ask = partial(why_pending, scope=scope, scheduler=SchedulerOptions(), read="watched")
    with pytest.raises(TheEndError):
        found.extend(follow_pending(source, ask, say=_nothing))
    assert [[item.verdict for item in each.report.items] for each in found] == [
        [Verdict.UNSCHEDULABLE],
        [Verdict.SCHEDULABLE],
        [],
    ]


def test_files_are_not_watched() -> None:
    source = FileSource(["none"], stdin=None)
    following = follow(source, Scope(namespace="default"), ShowOptions(), SchedulerOptions(), say=_nothing)
    with pytest.raises(UsageError, match="--watch and --from cannot be used together"):
        next(following)

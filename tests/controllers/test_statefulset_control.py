"""Which Pods of a StatefulSet come, and which go.

Source: the situations follow kube-controller-manager statefulset/stateful_set_control.go (v1.36, v1.37).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kubectl_spread.controllers.statefulset import work
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.workloads import StatefulSet
from kubectl_spread.release import Release
from tests.build import Object, typed_pod
from tests.build_workloads import owned, workload

READY: Object = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
FAILED: Object = {"phase": "Failed"}
STATUS: Mapping[str, Object] = {
    "ready": READY,
    "unready": {"phase": "Running"},
    "failed": FAILED,
    "succeeded": {"phase": "Succeeded"},
}


def next_work(described: str, *, replicas: int = 0, minor: int = 36, **spec: Any) -> tuple[list[int], list[str]]:  # noqa: ANN401 - any field of the spec
    """Return the ordinals that come and the Pods that go.

    Args:
        described: of each ordinal what is there, ``old unready`` or ``new failed``, ``-`` for none.
        replicas: how many there are to be; as many as are described unless said.
        minor: the release.
        **spec: further fields of the spec.
    """
    each = [words.split() for words in described.split(", ")]
    made = workload("StatefulSet", "db", replicas=replicas or len(each), status={"updateRevision": "new"}, **spec)
    pods = [
        typed_pod(
            owned(
                f"db-{ordinal}",
                "StatefulSet",
                "db",
                on="n",
                labels={"controller-revision-hash": words[0]},
                status=STATUS[words[1]],
                terminating="going" in words,
            )
        )
        for ordinal, words in enumerate(each)
        if len(words) > 1
    ]
    todo = work(convert(made, StatefulSet), pods, Release(minor))
    return list(todo.makes), [pod.metadata.name for pod in todo.deletes]


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
@pytest.mark.parametrize("ended", ["failed", "succeeded"])
def test_what_has_ended_is_deleted(policy: str, ended: str) -> None:
    todo = next_work(f"new ready, new {ended}, new ready", podManagementPolicy=policy)
    assert todo == ([], ["db-1"])


def test_what_has_ended_is_not_deleted_before_its_turn() -> None:
    assert next_work("new unready, new failed") == ([], [])
    assert next_work("new failed going, new ready") == ([], [])


def test_a_parallel_one_deletes_what_has_ended_and_makes_what_is_missing_at_once() -> None:
    assert next_work("new failed, -, new failed, -", podManagementPolicy="Parallel") == ([1, 3], ["db-0", "db-2"])


def test_a_parallel_one_waits_for_the_unready_above_alone() -> None:
    assert next_work("old unready, old ready, old ready", podManagementPolicy="Parallel") == ([], ["db-2"])
    assert next_work("old ready, old ready, new unready", podManagementPolicy="Parallel") == ([], [])
    assert next_work("old ready, old unready, new ready", podManagementPolicy="Parallel") == ([], ["db-1"])


@pytest.mark.parametrize(
    ("described", "most", "gone"),
    [
        pytest.param("old ready, old ready, old ready, old ready", 2, ["db-3", "db-2"], id="as many as may"),
        pytest.param("old unready, old ready, old ready, old ready", 2, ["db-0", "db-3"], id="unready ones first"),
        pytest.param("old unready, old unready, old ready", 1, ["db-1", "db-0"], id="more unready ones than may"),
        pytest.param("old ready, old ready, new unready", 1, [], id="a new one that is not ready"),
        pytest.param("old ready, old unready, new unready", 1, ["db-1"], id="an old one beside it"),
    ],
)
def test_from_1_37_on_unready_pods_of_a_parallel_one_are_renewed_at_any_time(
    described: str, most: int, gone: list[str]
) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": most}}
    fields: Object = {"podManagementPolicy": "Parallel", "updateStrategy": strategy}
    assert next_work(described, minor=37, **fields) == ([], gone)


def test_before_1_37_one_goes_at_a_time() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}
    assert next_work("old ready, old ready, old ready", updateStrategy=strategy) == ([], ["db-2"])
    assert next_work("old ready, old ready, old ready", updateStrategy=strategy, minor=37) == ([], ["db-2", "db-1"])

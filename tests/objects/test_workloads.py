"""The kinds that make Pods."""

from __future__ import annotations

import pytest

from kubectl_spread.objects.core import Condition
from kubectl_spread.objects.decoding import decode
from kubectl_spread.objects.workloads import Deployment, Job, JobStatus, RollingUpdate, StatefulSet


def test_replicas_left_out_are_told_from_none_at_all() -> None:
    assert Deployment().spec.replicas is None


@pytest.mark.parametrize(
    ("condition", "finished"),
    [
        (Condition(type="Complete", status="True"), True),
        (Condition(type="Failed", status="True"), True),
        (Condition(type="Failed", status="False"), False),
        (Condition(type="FailureTarget", status="True"), True),
        (Condition(type="SuccessCriteriaMet", status="True"), True),
        (Condition(type="Suspended", status="True"), False),
    ],
)
def test_which_jobs_make_no_further_pods(*, condition: Condition, finished: bool) -> None:
    assert not Job().finished
    assert Job(status=JobStatus(conditions=(Condition(type="x", status="True"), condition))).finished is finished


def test_a_deployment_names_its_strategy_otherwise_than_the_others() -> None:
    document = b'{"spec": {"%s": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%%", "partition": 2}}}}'
    assert decode(document % b"strategy", Deployment).spec.strategy.rolling_update == RollingUpdate(
        max_surge="25%", partition=2
    )
    updated = decode(document % b"updateStrategy", StatefulSet).spec.update_strategy.rolling_update
    assert updated is not None
    assert updated.partition == 2
    assert decode(b"{}", Deployment).spec.strategy.type == ""

"""The kinds that make Pods."""

from __future__ import annotations

import pytest

from kubectl_spread.objects.core import Condition, PodTemplateSpec
from kubectl_spread.objects.decoding import decode
from kubectl_spread.objects.meta import LabelSelector, ObjectMeta
from kubectl_spread.objects.template_rest import template_digest
from kubectl_spread.objects.workloads import (
    CronJob,
    Deployment,
    Job,
    JobStatus,
    RollingUpdate,
    StatefulSet,
)


def test_a_deployment_keeps_its_annotations_and_template() -> None:
    deployment = decode(
        b'{"metadata": {"name": "web", "annotations": {"deployment.kubernetes.io/revision": "3"}},'
        b' "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}},'
        b' "template": {"metadata": {"labels": {"app": "web"}}}}}',
        Deployment,
    )
    assert deployment.metadata.annotations == {"deployment.kubernetes.io/revision": "3"}
    assert deployment.spec.replicas == 0
    assert deployment.spec.selector == LabelSelector(match_labels={"app": "web"})
    template = PodTemplateSpec(metadata=ObjectMeta(labels={"app": "web"}), rest=template_digest({}))
    assert deployment.spec.template == template


def test_replicas_left_out_are_told_from_none_at_all() -> None:
    assert Deployment().spec.replicas is None


def test_a_stateful_set_says_between_which_revisions_it_moves() -> None:
    status = decode(b'{"status": {"currentRevision": "a", "updateRevision": "b"}}', StatefulSet).status
    assert (status.current_revision, status.update_revision) == ("a", "b")


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


def test_a_stateful_set_numbers_its_pods_and_has_claims_for_each() -> None:
    spec = decode(
        b'{"spec": {"ordinals": {"start": 3}, "volumeClaimTemplates": [{"metadata": {"name": "data"}}]}}', StatefulSet
    ).spec
    assert spec.ordinals.start == 3
    assert [claim.metadata.name for claim in spec.volume_claim_templates] == ["data"]
    assert StatefulSet().spec.ordinals.start == 0


def test_a_cron_jobs_template_is_that_of_its_jobs() -> None:
    cron_job = decode(
        b'{"spec": {"jobTemplate": {"spec": {"parallelism": 3, "template": {"spec": {"nodeName": "a"}}}}}}', CronJob
    )
    assert cron_job.spec.job_template.spec.parallelism == 3
    assert cron_job.spec.job_template.spec.template.spec.node_name == "a"

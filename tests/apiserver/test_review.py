"""What an API server says to an object that is submitted, stage by stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kubectl_spread.apiserver.fields import Api
from kubectl_spread.apiserver.review import Review, Submission, review
from kubectl_spread.commands.manifests import tables
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import BY_API
from kubectl_spread.release import Release
from tests.build import Object, namespace, node, pod, snapshot
from tests.build_workloads import template, workload


def reviewed(described: Object, *live: Object, validated: bool = False) -> Review:
    kind = BY_API[described["apiVersion"], described["kind"]]
    obj, before = convert(described, kind.struct), snapshot([node("a"), *live])
    submission = Submission(
        api_version=kind.api_version,
        kind=kind.name,
        values=described,
        obj=obj,
        existing=before.get(kind.struct, *obj.key),
        namespace=described["metadata"].get("namespace", ""),
    )
    return review(submission, before, before, Api(tables(), 36), Release(36), validated=validated)


def fields(errors: Sequence[Any]) -> list[str]:
    return [error.field for error in errors]


def test_a_sound_object_is_accepted() -> None:
    answer = reviewed(pod("web"))
    assert (answer.namespace_errors, answer.errors, answer.change_errors) == ((), (), ())


def test_a_field_that_cannot_be_decoded_is_reported_once() -> None:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1x"}}}
    answer = reviewed(pod("web", containers=[container]))
    assert fields(answer.errors) == ["spec.containers[0].resources.requests[cpu]"]


def test_nothing_new_is_created_in_a_namespace_that_is_being_terminated() -> None:
    ends = {**namespace("shop"), "status": {"phase": "Terminating"}}
    web = workload("Deployment", "web", namespace="shop")
    assert [str(error) for error in reviewed(web, ends).namespace_errors] == [
        "metadata.namespace: unable to create new content in namespace shop because it is being terminated"
    ]
    assert reviewed(web, ends, web).namespace_errors == ()


def test_a_namespace_that_does_not_exist() -> None:
    answer = reviewed(pod("web", namespace="shop"), namespace("blog"))
    assert [(str(error), error.reason) for error in answer.namespace_errors] == [
        ('metadata.namespace: namespaces "shop" not found', "NotFound")
    ]
    assert reviewed(pod("web", namespace="shop"), namespace("shop")).namespace_errors == ()


def test_what_may_not_change_of_the_object_that_exists() -> None:
    live = workload("Deployment", "web", pods=template())
    changed = workload("Deployment", "web", pods=template(), selector={"matchLabels": {"app": "other"}})
    assert fields(reviewed(changed, live).change_errors) == ["spec.selector"]
    assert reviewed(changed).change_errors == ()


def test_what_the_server_has_validated_is_only_decoded() -> None:
    described = pod("web", restartPolicy="Sometimes", nosuch=1)
    assert fields(reviewed(described).errors) == ["spec.nosuch", "spec.restartPolicy"]
    assert fields(reviewed(described, validated=True).errors) == ["spec.nosuch"]

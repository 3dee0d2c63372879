"""The digest of what is not kept of a Pod template: alike as the API server stores it, and different for any change."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import msgspec
import pytest

from kubectl_spread.objects.core import PodTemplateSpec
from kubectl_spread.objects.decoding import convert, decode
from kubectl_spread.objects.meta import Plain
from kubectl_spread.objects.template_rest import (
    UNKNOWN,
    kept_of,
    keyed,
    merged_rest,
    put_back,
    rest_of,
    same_rest,
    template_digest,
)
from kubectl_spread.objects.workloads import CronJob, Deployment
from tests.build import Object

CONTAINER: Object = {"name": "web", "image": "web:1"}


def template(metadata: Object | None = None, container: Object | None = None, **spec: Plain) -> Object:
    return {"metadata": metadata or {}, "spec": {"containers": [{**CONTAINER, **(container or {})}], **spec}}


def volume(**source: Plain) -> Object:
    return template(volumes=[{"name": "v", **source}])


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        (template(), template(dnsPolicy="ClusterFirst", terminationGracePeriodSeconds=30, securityContext={})),
        (template(), template({"creationTimestamp": None}, {"resources": {}})),
        (template(), template(None, {"imagePullPolicy": "IfNotPresent", "terminationMessagePolicy": "File"})),
        (template(None, {"image": "web"}), template(None, {"image": "web", "imagePullPolicy": "Always"})),
        (template(None, {"tty": False, "env": []}), template(None, {"terminationMessagePath": "/dev/termination-log"})),
        (template(serviceAccountName="a"), template(serviceAccountName="a", serviceAccount="a")),
        (template({"labels": {"app": "web"}}), template({"labels": {"app": "web", "pod-template-hash": "x"}})),
        (
            template(None, {"livenessProbe": {"httpGet": {"port": 80}}}),
            template(
                None,
                {
                    "livenessProbe": {
                        "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
                        "timeoutSeconds": 1,
                        "periodSeconds": 10,
                        "successThreshold": 1,
                        "failureThreshold": 3,
                    }
                },
            ),
        ),
        (volume(configMap={"name": "c"}), volume(configMap={"name": "c", "defaultMode": 420})),
        (volume(hostPath={"path": "/x"}), volume(hostPath={"path": "/x", "type": ""})),
        (volume(emptyDir={"sizeLimit": "1024Mi"}), volume(emptyDir={"sizeLimit": "1Gi"})),
    ],
)
def test_what_the_api_server_stores_is_what_was_written(written: Object, stored: Object) -> None:
    assert template_digest(written) == template_digest(stored)


@pytest.mark.parametrize(
    "changed",
    [
        template({"annotations": {"restarted": "now"}}),
        template(None, {"env": [{"name": "A", "value": "1"}]}),
        template(None, {"args": ["-v"]}),
        template(None, {"imagePullPolicy": "Always"}),
        template(None, {"livenessProbe": {"httpGet": {"port": 80}}}),
        template(None, {"securityContext": {"runAsUser": 0}}),
        template(None, {"securityContext": {}}),
        template(terminationGracePeriodSeconds=0),
        template(automountServiceAccountToken=False),
        template(dnsPolicy="Default"),
        volume(configMap={"name": "c"}),
        volume(emptyDir={"sizeLimit": "1Gi"}),
    ],
)
def test_any_other_field_makes_another_digest(changed: Object) -> None:
    assert template_digest(changed) != template_digest(template())


def test_it_is_of_nothing_that_is_kept() -> None:
    kept = template({"labels": {"app": "web"}}, {"image": "web:2"}, nodeSelector={"disk": "ssd"}, priority=7)
    assert rest_of(kept) == {"metadata": {}, "spec": {}}


def test_which_container_it_is_counts() -> None:
    first: list[Plain] = [{"name": "a", "args": ["-v"]}, {"name": "b"}]
    second: list[Plain] = [{"name": "a"}, {"name": "b", "args": ["-v"]}]
    assert template_digest({"spec": {"containers": first}}) != template_digest({"spec": {"containers": second}})


def test_a_key_hides_what_it_is_of() -> None:
    plain = template_digest(template(None, {"args": ["-v"]}))
    one, other = keyed(plain, b"1" * 16), keyed(plain, b"2" * 16)
    assert one != other
    assert plain.partition("web=")[2] not in one
    assert [same_rest(one, each) for each in (plain, one, other, "")] == [True, True, None, None]
    assert same_rest(one, template_digest(template(None, {"args": ["-w"]}))) is False


A, B, C, NONE = (template_digest(template(None, {"args": [arg]} if arg else None)) for arg in ("a", "b", "c", ""))


@pytest.mark.parametrize(
    ("live", "applied", "manifest", "merged"),
    [
        (A, A, B, B),
        (A, A, A, A),
        (A, A, NONE, NONE),
        (B, A, A, None),
        (B, A, B, B),
        (NONE, A, B, B),
        (NONE, NONE, A, A),
        (B, NONE, NONE, B),
        (A, None, A, A),
        (A, None, NONE, A),
        (NONE, None, A, A),
        (A, B, C, None),
        (A, B, NONE, None),
        (A, NONE, B, None),
        (A, None, B, None),
        ("", A, A, None),
    ],
)
@pytest.mark.parametrize("key", [b"", b"k" * 16])
def test_apply_merges_digests_or_cannot_tell(
    live: str, applied: str | None, manifest: str, merged: str | None, key: bytes
) -> None:
    under = (lambda digest: keyed(digest, key) if key and digest else digest) if key else str
    found = merged_rest(under(live), applied and under(applied), manifest)
    assert (UNKNOWN in found) is (merged is None)
    assert merged is None or same_rest(found, merged)


def test_a_container_that_nobody_touched_is_known_beside_one_that_is_not() -> None:
    def two(first: str, second: str) -> str:
        containers: list[Plain] = [{"name": "a", "args": [first]}, {"name": "b", "args": [second]}]
        return template_digest({"spec": {"containers": containers}})

    found = merged_rest(two("by hand", "b"), two("a", "b"), two("a", "c"))
    assert UNKNOWN in found
    assert same_rest(found, two("by hand", "b")) is False
    assert same_rest(found, two("by hand", "c")) is None


def test_what_is_not_kept_can_be_put_back() -> None:
    values = template({"annotations": {"a": "b"}}, {"env": [{"name": "A", "value": "x"}]}, hostPID=True)
    kept = kept_of(values, PodTemplateSpec)
    assert "env" not in str(kept)
    assert template_digest(put_back(kept, cast("Plain", rest_of(values)))) == template_digest(values)


@pytest.mark.parametrize("read", [convert, lambda values, into: decode(msgspec.json.encode(values), into)])
def test_objects_have_it_however_they_are_read(read: Callable[..., Deployment | CronJob]) -> None:
    changed = template(None, {"args": ["-v"]})
    deployment = read({"metadata": {"name": "web"}, "spec": {"template": changed}}, Deployment)
    assert isinstance(deployment, Deployment)
    assert deployment.spec.template.rest == template_digest(changed)
    cron = read({"spec": {"jobTemplate": {"spec": {"template": changed}}}}, CronJob)
    assert isinstance(cron, CronJob)
    assert cron.spec.job_template.spec.template.rest == template_digest(changed)
    again = decode(msgspec.json.encode(deployment), Deployment)
    assert again == deployment, "a digest that was written stays"
    bare = read({"metadata": {"name": "web"}}, Deployment)
    assert isinstance(bare, Deployment)
    assert bare.spec.template.rest == ""

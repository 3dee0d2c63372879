"""Which Pods a Pod Security Standard refuses, as a real API server answered."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_spread.apiserver.pod_security import violations
from kubectl_spread.objects.core import Pod, PodTemplateSpec
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.template_rest import with_unkept
from kubectl_spread.release import Release
from tests.apiserver import security_cases
from tests.build import Object

RECORDED = security_cases.recorded()


def said(values: Object, policy: str, *, minor: int = 36) -> str:
    pod = convert(values, Pod)
    pod = replace(pod, template=with_unkept(PodTemplateSpec(spec=pod.spec), values))
    level, version = policy.split(":")
    return violations(pod, level, version, Release(minor=minor))


@pytest.mark.parametrize("name", RECORDED)
def test_the_reasons_are_those_of_a_real_api_server(name: str) -> None:
    values = security_cases.cases()[name]
    found = {policy: security_cases.reasons(said(values, policy)) for policy in security_cases.POLICIES}
    assert {policy: told for policy, told in found.items() if told} == RECORDED[name]


def test_most_cases_are_refused_by_some_policy_and_allowed_by_some() -> None:
    refused = [len(told) for told in RECORDED.values()]
    assert sum(0 < number < len(security_cases.POLICIES) for number in refused) > 60
    assert sum(not number for number in refused) > 5


@pytest.mark.parametrize(("minor", "refused"), [(36, True), (37, False)])
def test_a_policy_is_never_newer_than_the_api_server(minor: int, refused: bool) -> None:  # noqa: FBT001 - a table
    sysctls = [{"name": "net.ipv4.tcp_notsent_lowat", "value": "1"}]
    pod = security_cases.made([], [{"securityContext": {"sysctls": sysctls}}], sound=True)
    assert [bool(said(pod, f"baseline:{each}", minor=minor)) for each in ("latest", "v1.99")] == [refused] * 2


def test_the_message_names_the_fields() -> None:
    pod = security_cases.made([{"securityContext": {"privileged": True}}], [{"hostPID": True}], sound=False)
    assert said(pod, "baseline:latest") == (
        'violates PodSecurity "baseline:latest": host namespaces (spec.hostPID), privileged'
        " (spec.containers[0].securityContext.privileged)"
    )


def test_of_a_pod_whose_other_fields_are_not_known_only_host_networks_and_ports_are_judged() -> None:
    values = security_cases.made([{"ports": [{"containerPort": 8, "hostPort": 8}]}], [{"hostPID": True}], sound=False)
    told = violations(convert(values, Pod), "restricted", "latest", Release(minor=36))
    assert security_cases.reasons(told) == ["hostPort"]

"""What an API server cannot decode, by the tables that ship."""

from collections.abc import Sequence
from importlib.resources import files

import msgspec
import pytest
import yaml

from kubectl_spread.apiserver.fields import Api, Tables

TABLES = msgspec.json.decode(files("kubectl_spread").joinpath("schema", "fields.json").read_bytes(), type=Tables)


def errors(api_version: str, kind: str, text: str = "{}", *, minor: int = 36) -> Sequence[tuple[str, str]]:
    found = Api(TABLES, minor).object_errors(api_version, kind, yaml.safe_load(text))
    return [(error.field, error.message) for error in found]


def of_pod(spec: str, *, minor: int = 36) -> Sequence[tuple[str, str]]:
    return errors("v1", "Pod", f"spec: {spec}", minor=minor)


def test_a_sound_object_has_no_errors() -> None:
    text = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, labels: {app: db}, creationTimestamp: null, generation: 3}
spec:
  replicas: 3
  updateStrategy: {rollingUpdate: {partition: 1, maxUnavailable: 30%}}
  template:
    metadata: {annotations: {checked-at: "2026-01-31"}}
    spec:
      containers: [{name: c, image: i, resources: {limits: {cpu: 0.5, memory: 2Gi}}, ports: [null]}]
      overhead: {cpu: 1}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]
status: {replicas: 3}
"""
    assert not errors("apps/v1", "StatefulSet", text)


def test_unknown_fields_wherever_they_stand_in_the_order_of_their_names() -> None:
    text = """
specs: {}
metadata: {label: {}}
spec: {ports: [{port: 80}, {port: 81, tragetPort: 81}], selectors: {app: web}}
"""
    assert errors("v1", "Service", text) == [
        ("metadata.label", 'unknown field "metadata.label", did you mean "labels"?'),
        ("spec.ports[1].tragetPort", 'unknown field "spec.ports[1].tragetPort", did you mean "targetPort"?'),
        ("spec.selectors", 'unknown field "spec.selectors", did you mean "selector"?'),
        ("specs", 'unknown field "specs", did you mean "spec"?'),
    ]


def test_a_field_is_told_from_one_written_in_other_letters() -> None:
    assert of_pod("{hostnetwork: true}") == [
        ("spec.hostnetwork", 'unknown field "spec.hostnetwork", did you mean "hostNetwork"?')
    ]


def test_nothing_is_meant_by_what_resembles_nothing() -> None:
    assert of_pod("{zzz: 1}") == [("spec.zzz", 'unknown field "spec.zzz"')]


def test_a_null_is_as_good_as_absent() -> None:
    assert not of_pod("{zzz: null, tolerations: null, priority: null}")


@pytest.mark.parametrize(
    ("minor", "message"),
    [
        (35, 'unknown field "spec.schedulingGroup": v1.35 does not know it, it is there from v1.36 on'),
        (30, 'unknown field "spec.schedulingGroup": v1.30 does not know it, it is there from v1.36 on'),
        (36, None),
        (38, None),
    ],
)
def test_fields_by_release(minor: int, message: str | None) -> None:
    assert [said for _, said in of_pod("{schedulingGroup: {}}", minor=minor)] == ([message] if message else [])


def test_a_field_that_a_later_release_dropped() -> None:
    message = 'unknown field "spec.workloadRef": v1.36 does not know it, it is there up to v1.35'
    assert of_pod("{workloadRef: {name: a}}") == [("spec.workloadRef", message)]


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ("{hostNetwork: 'yes'}", "spec.hostNetwork", "must be a boolean, not a string"),
        ("{subdomain: 1}", "spec.subdomain", "must be a string, not an integer (quote it)"),
        ("{priority: 2147483648}", "spec.priority", "must be an integer of 32 bits"),
        ("{activeDeadlineSeconds: 1.5}", "spec.activeDeadlineSeconds", "must be an integer of 64 bits, not a number"),
        ("{volumes: {}}", "spec.volumes", "must be a list, not a mapping"),
        ("{affinity: []}", "spec.affinity", "must be a mapping, not a list"),
        ("{nodeSelector: [a]}", "spec.nodeSelector", "must be a mapping, not a list"),
        ("{nodeSelector: {a: true}}", "spec.nodeSelector[a]", "must be a string, not a boolean (quote it)"),
        ("{overhead: {cpu: 1x}}", "spec.overhead[cpu]", "must be a quantity such as 500m or 2Gi"),
        ("{overhead: {cpu: []}}", "spec.overhead[cpu]", "must be a quantity such as 500m or 2Gi, not a list"),
        (
            "{containers: [{livenessProbe: {httpGet: {port: 1.5}}}]}",
            "spec.containers[0].livenessProbe.httpGet.port",
            "must be an integer or a string, not a number",
        ),
    ],
)
def test_values_of_the_wrong_type(spec: str, field: str, message: str) -> None:
    assert of_pod(spec) == [(field, message)]


def test_a_time_is_one_of_rfc_3339() -> None:
    assert errors("v1", "Pod", "metadata: {creationTimestamp: yesterday}") == [
        ("metadata.creationTimestamp", "must be a time such as 2026-01-31T12:00:00Z")
    ]
    assert not errors("v1", "Pod", 'metadata: {creationTimestamp: "2026-01-31T12:00:00+01:00"}')


@pytest.mark.parametrize(
    ("api_version", "kind", "hint"),
    [
        ("extensions/v1beta1", "Deployment", ": v1.36 serves it in apps/v1"),
        ("extensions/v1beta1", "Ingress", ": v1.36 serves it in networking.k8s.io/v1"),
        ("apps/v1beta2", "StatefulSet", ": v1.36 serves it in apps/v1"),
        ("policy/v1beta1", "PodDisruptionBudget", ": v1.36 serves it in policy/v1"),
        ("policy/v1beta1", "PodSecurityPolicy", ": v1.36 serves no PodSecurityPolicy"),
        ("autoscaling/v2beta2", "HorizontalPodAutoscaler", ": v1.36 serves it in autoscaling/v1 and autoscaling/v2"),
        ("v1", "Deployment", ": v1.36 serves it in apps/v1"),
        ("apps/v1", "Deploymnt", ', did you mean "Deployment"?'),
    ],
)
def test_kinds_that_are_not_served(api_version: str, kind: str, hint: str) -> None:
    message = f'no matches for kind "{kind}" in version "{api_version}"{hint}'
    assert errors(api_version, kind) == [("apiVersion", message)]


def test_nothing_is_known_of_the_kinds_of_other_apis() -> None:
    assert not errors("argoproj.io/v1alpha1", "Rollout", "spec: {replcas: 3}")


def test_templates_of_other_apis_may_have_fields_of_their_own() -> None:
    template = yaml.safe_load("spec: {containerConcurrency: 1, topologySpreadConstraint: [], hostNetwork: 1}")
    found = Api(TABLES, 36).template_errors("spec.template", template)
    assert [error.field for error in found] == [
        "spec.template.spec.hostNetwork",
        "spec.template.spec.topologySpreadConstraint",
    ]

"""What the API server changes in an object after admission."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.apiserver.creation import job_as_created, name_as_created, pod_as_created, prepared
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from kubectl_spread.objects.workloads import Job
from kubectl_spread.release import Release
from tests.build import HOSTNAME, ZONE, Object, app, pod, spread

HASH = "pod-template-hash"
LABELS = {"app": "web", HASH: "abc"}


def made(minor: int = 36, gates: dict[str, bool] | None = None, **spec: Any) -> Pod:  # noqa: ANN401 - any field of the spec
    """Return the Pod of a Deployment's revision as it is created."""
    return pod_as_created(convert(pod("web", labels=LABELS, **spec), Pod), Release(minor, gates or {}))


def selector(operator: str | None = None) -> LabelSelector:
    """Return the selector of the application, with an expression about the revision where an operator is given."""
    about = () if operator is None else (LabelSelectorRequirement(key=HASH, operator=operator, values=("abc",)),)
    return LabelSelector(match_labels={"app": "web"}, match_expressions=about)


@pytest.mark.parametrize(("minor", "operator"), [(33, None), (34, "In")])
def test_label_keys_of_constraints_are_merged_from_1_34_on(minor: int, operator: str | None) -> None:
    (constraint,) = made(
        minor, topologySpreadConstraints=[spread(ZONE, selector=app("web"), matchLabelKeys=[HASH, "absent"])]
    ).spec.topology_spread_constraints
    assert constraint.label_selector == selector(operator)
    assert constraint.match_label_keys == (HASH, "absent")


def test_label_keys_of_a_constraint_without_selector_have_nowhere_to_go() -> None:
    (constraint,) = made(
        topologySpreadConstraints=[spread(ZONE, matchLabelKeys=[HASH])]
    ).spec.topology_spread_constraints
    assert constraint.label_selector is None


def test_label_keys_of_affinity_are_merged_in_both_senses_required_or_preferred() -> None:
    near: Object = {"topologyKey": HOSTNAME, "labelSelector": app("web"), "matchLabelKeys": [HASH]}
    apart: Object = {"topologyKey": HOSTNAME, "labelSelector": app("web"), "mismatchLabelKeys": [HASH]}
    affinity = made(
        affinity={
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]},
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": apart}]
            },
        }
    ).spec.affinity
    assert affinity is not None
    assert affinity.pod_affinity is not None
    assert affinity.pod_anti_affinity is not None
    (required,) = affinity.pod_affinity.required
    (preferred,) = affinity.pod_anti_affinity.preferred
    assert required.label_selector == selector("In")
    assert preferred.pod_affinity_term.label_selector == selector("NotIn")


def test_fields_whose_feature_is_off_are_dropped() -> None:
    off = ("PodLevelResources", "ImageVolume", "MatchLabelKeysInPodTopologySpread", "DynamicResourceAllocation")
    spec = made(
        gates=dict.fromkeys(off, False),
        resources={"limits": {"cpu": "1"}},
        volumes=[{"name": "model", "image": {"reference": "model:1"}}, {"name": "tmp"}],
        topologySpreadConstraints=[spread(ZONE, selector=app("web"), matchLabelKeys=[HASH])],
        resourceClaims=[{"name": "gpu"}],
    ).spec
    assert spec.resources is None
    assert [volume.name for volume in spec.volumes] == ["tmp"]
    assert spec.topology_spread_constraints[0].match_label_keys == ()
    assert spec.topology_spread_constraints[0].label_selector == selector()
    assert spec.resource_claims == ()


@pytest.mark.parametrize(("minor", "policy"), [(33, "Never"), (34, None), (35, "Never")])
def test_restart_policies_of_containers_go_in_the_release_that_knows_them_but_has_them_off(
    minor: int, policy: str | None
) -> None:
    (container,) = made(minor, containers=[{"name": "c", "restartPolicy": "Never"}]).spec.containers
    assert container.restart_policy == policy


def test_preparing_sets_no_defaults() -> None:
    described = pod("web", containers=[{"name": "c", "resources": {"limits": {"cpu": "1"}}}])
    assert prepared(convert(described, Pod), Release()).spec.containers[0].resources.requests == {}
    assert pod_as_created(convert(described, Pod), Release()).spec.containers[0].resources.requests == {"cpu": "1"}


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        (ObjectMeta(name="web", generate_name="other-"), "web"),
        (ObjectMeta(generate_name="web-"), "web-xxxxx"),
        (ObjectMeta(generate_name="w" * 63), "w" * 58 + "xxxxx"),
        (ObjectMeta(), ""),
    ],
)
def test_a_name_is_generated_where_none_is_given(metadata: ObjectMeta, name: str) -> None:
    assert name_as_created(metadata) == name


def test_a_job_and_its_pods_carry_its_name() -> None:
    template: Object = {"metadata": {"labels": {"app": "batch"}}, "spec": {}}
    created = job_as_created(convert({"metadata": {"name": "sum"}, "spec": {"template": template}}, Job))
    labels = {"job-name": "sum", "batch.kubernetes.io/job-name": "sum", "app": "batch"}
    assert created.spec.template.metadata.labels == labels
    assert created.metadata.labels == labels


def test_a_job_that_brings_its_selector_gets_no_labels() -> None:
    spec: Object = {"template": {"metadata": {"labels": {"app": "batch"}}, "spec": {}}, "selector": app("batch")}
    created = job_as_created(convert({"metadata": {"name": "sum", "labels": {"own": "1"}}, "spec": spec}, Job))
    assert created.spec.template.metadata.labels == {"app": "batch"}
    assert created.metadata.labels == {"own": "1"}

"""Nodes, Pods, and what is said of them."""

from __future__ import annotations

import pytest

from kubectl_spread.objects.core import (
    AzureDiskVolumeSource,
    Container,
    ContainerPort,
    EphemeralVolumeSource,
    GCEPersistentDiskVolumeSource,
    ISCSIVolumeSource,
    LimitRange,
    LimitRangeItem,
    Node,
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodStatus,
    RBDVolumeSource,
    Service,
    Taint,
    TopologySpreadConstraint,
    Volume,
    VolumeIDSource,
)
from kubectl_spread.objects.decoding import convert, decode
from kubectl_spread.objects.meta import LabelSelector, ObjectMeta


def test_a_pod_is_read_as_far_as_scheduling_goes() -> None:
    pod = convert(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {
                "nodeName": "node-1",
                "containers": [
                    {
                        "name": "web",
                        "resources": {"requests": {"cpu": "100m", "memory": 1024, "example.com/gpu": 0.5}},
                        "ports": [{"containerPort": 80, "hostPort": 8080, "hostIP": "10.0.0.1"}],
                        "livenessProbe": {},
                    }
                ],
                "topologySpreadConstraints": [
                    {
                        "maxSkew": 1,
                        "topologyKey": "zone",
                        "whenUnsatisfiable": "DoNotSchedule",
                        "labelSelector": {"matchLabels": {"app": "web"}},
                        "minDomains": 3,
                        "nodeTaintsPolicy": "Honor",
                        "matchLabelKeys": ["pod-template-hash"],
                    }
                ],
            },
            "status": {"phase": "Running"},
        },
        Pod,
    )
    assert pod.key == ("shop", "web")
    assert pod.spec.scheduler_name == "default-scheduler"
    (container,) = pod.spec.containers
    assert container.resources.requests == {"cpu": "100m", "memory": 1024, "example.com/gpu": 0.5}
    assert container.ports == (ContainerPort(container_port=80, host_port=8080, host_ip="10.0.0.1"),)
    assert pod.spec.topology_spread_constraints == (
        TopologySpreadConstraint(
            max_skew=1,
            topology_key="zone",
            when_unsatisfiable="DoNotSchedule",
            label_selector=LabelSelector(match_labels={"app": "web"}),
            min_domains=3,
            node_taints_policy="Honor",
            match_label_keys=("pod-template-hash",),
        ),
    )


def test_an_absent_label_selector_is_not_an_empty_one() -> None:
    spec = b'{"spec": {"topologySpreadConstraints": [{}, {"labelSelector": null}, {"labelSelector": {}}]}}'
    selectors = [each.label_selector for each in decode(spec, Pod).spec.topology_spread_constraints]
    assert selectors == [None, None, LabelSelector()]


def test_a_service_without_selector_is_not_one_that_selects_all() -> None:
    assert decode(b'{"spec": {}}', Service).spec.selector is None
    assert decode(b'{"spec": {"selector": {}}}', Service).spec.selector == {}


@pytest.mark.parametrize(
    ("phase", "finished"),
    [("", False), ("Pending", False), ("Running", False), ("Unknown", False), ("Succeeded", True), ("Failed", True)],
)
def test_which_pods_have_ended(*, phase: str, finished: bool) -> None:
    assert Pod(status=PodStatus(phase=phase)).finished is finished


def test_a_pod_that_is_being_deleted_is_terminating() -> None:
    assert not Pod().terminating
    assert Pod(metadata=ObjectMeta(deletion_timestamp="2026-01-02T03:04:05Z")).terminating


@pytest.mark.parametrize(
    ("taint", "text"),
    [
        (Taint(key="gpu", value="yes", effect="NoSchedule"), "gpu=yes:NoSchedule"),
        (
            Taint(key="node.kubernetes.io/unschedulable", effect="NoExecute"),
            "node.kubernetes.io/unschedulable:NoExecute",
        ),
    ],
)
def test_taints_are_written_as_kubectl_writes_them(taint: Taint, text: str) -> None:
    assert str(taint) == text


CLAIM = PersistentVolumeClaimVolumeSource(claim_name="data")
VOLUMES = [
    (Volume(), "nothing"),
    (Volume(persistent_volume_claim=CLAIM), "claims"),
    (Volume(ephemeral=EphemeralVolumeSource()), "claims"),
    (Volume(gce_persistent_disk=GCEPersistentDiskVolumeSource()), "in tree"),
    (Volume(aws_elastic_block_store=VolumeIDSource()), "in tree"),
    (Volume(cinder=VolumeIDSource()), "in tree"),
    (Volume(azure_disk=AzureDiskVolumeSource()), "in tree"),
    (Volume(portworx_volume=VolumeIDSource()), "in tree"),
    (Volume(iscsi=ISCSIVolumeSource()), "restricts"),
    (Volume(rbd=RBDVolumeSource()), "restricts"),
]


@pytest.mark.parametrize(("volume", "expected"), VOLUMES)
def test_which_volumes_can_keep_a_pod_off_a_node(volume: Volume, expected: str) -> None:
    assert volume.claims is (expected == "claims")
    assert volume.in_tree is (expected == "in tree")
    assert volume.restricts_nodes is (expected != "nothing")


def test_volumes_of_other_sources_restrict_nothing() -> None:
    volumes = b'{"spec": {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "c"}}]}}'
    assert not any(volume.restricts_nodes for volume in decode(volumes, Pod).spec.volumes)


def test_a_node_is_read_with_what_it_offers() -> None:
    node = decode(
        b'{"metadata": {"name": "node-1"}, "spec": {"unschedulable": true, "taints": [{"key": "gpu"}]},'
        b' "status": {"allocatable": {"cpu": "3500m", "pods": "110"}, "nodeInfo": {"kubeletVersion": "v1.36.2"},'
        b' "images": [{"names": ["registry.example/web:1"], "sizeBytes": 1000}], "declaredFeatures": ["A"]}}',
        Node,
    )
    assert node.spec.unschedulable
    assert node.spec.taints == (Taint(key="gpu"),)
    assert node.status.allocatable == {"cpu": "3500m", "pods": "110"}
    assert node.status.node_info.kubelet_version == "v1.36.2"
    assert node.status.images[0].size_bytes == 1000
    assert node.status.declared_features == ("A",)


def test_containers_hold_what_admission_and_ports_need() -> None:
    assert Container().resources.requests == {}
    assert ContainerPort().protocol == "TCP"


def test_a_limit_range_has_defaults_and_bounds() -> None:
    item = b'{"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "100m"}, "max": {"cpu": 2}}'
    (limits,) = decode(b'{"spec": {"limits": [%s]}}' % item, LimitRange).spec.limits
    assert limits == LimitRangeItem(
        type="Container", default={"cpu": "1"}, default_request={"cpu": "100m"}, max={"cpu": 2}
    )

"""In-tree volumes are known to their CSI drivers by the handles and topologies that csi-translation-lib gives them.

Where they are refused or found on a node stands in tests/testdata/{nodevolumelimits,volumebinding}.
"""

from __future__ import annotations

import pytest

from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.meta import Plain
from kubectl_spread.objects.storage import PersistentVolume
from kubectl_spread.scheduler.csitranslation import InTreePlugin, csi_node_selector, plugin_of, volume_handle
from tests.build import Object
from tests.build_storage import volume

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
EBS_ZONE = "topology.ebs.csi.aws.com/zone"

EBS = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
GCE = {"gcePersistentDisk": {"pdName": "disk"}}
CINDER = {"cinder": {"volumeID": "c"}}
AZURE = {"azureDisk": {"diskName": "d", "diskURI": "/d", "kind": "managed"}}
PORTWORX = {"portworxVolume": {"volumeID": "p"}}


def typed(source: Object, **fields: Plain | Object) -> PersistentVolume:
    return convert(volume("pv", source=source, **fields), PersistentVolume)  # type: ignore[arg-type] # any field, by the builder's own names


def plugin(of: PersistentVolume) -> InTreePlugin:
    """Return the volume's plugin, which it must have."""
    found = plugin_of(of.spec)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("source", "name", "driver"),
    [
        (EBS, "kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
        (GCE, "kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
        (CINDER, "kubernetes.io/cinder", "cinder.csi.openstack.org"),
        (AZURE, "kubernetes.io/azure-disk", "disk.csi.azure.com"),
        (PORTWORX, "kubernetes.io/portworx-volume", "pxd.portworx.com"),
    ],
)
def test_a_csi_driver_has_taken_over_from_each_plugin(source: Object, name: str, driver: str) -> None:
    found = plugin(typed(source))
    assert (found.name, found.driver) == (name, driver)


@pytest.mark.parametrize("source", [{"nfs": {"server": "s"}}, {"azureFile": {"shareName": "s"}}, {"vsphereVolume": {}}])
def test_other_volumes_have_no_plugin(source: Object) -> None:
    assert plugin_of(typed(source).spec) is None


@pytest.mark.parametrize(
    ("source", "labels", "handle"),
    [
        (EBS, {}, "vol-1"),
        ({"awsElasticBlockStore": {"volumeID": "aws://us-east-1a/vol-1"}}, {}, "vol-1"),
        ({"awsElasticBlockStore": {"volumeID": "aws:///vol-1/"}}, {}, "vol-1"),
        (GCE, {}, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk"),
        (GCE, {ZONE: "us-east1-a"}, "projects/UNSPECIFIED/zones/us-east1-a/disks/disk"),
        (GCE, {ZONE: "us-east1-a", BETA_ZONE: "us-east1-b"}, "projects/UNSPECIFIED/zones/us-east1-b/disks/disk"),
        (GCE, {ZONE: "us-east1-a__us-east1-b"}, "projects/UNSPECIFIED/regions/us-east1/disks/disk"),
        (CINDER, {}, "c"),
        (AZURE, {}, "/d"),
        (PORTWORX, {}, "p"),
    ],
)
def test_the_handle_is_the_drivers(source: Object, labels: dict[str, str], handle: str) -> None:
    assert volume_handle(typed(source, labels=labels)) == handle


@pytest.mark.parametrize(
    ("source", "labels", "problem"),
    [
        (
            {"awsElasticBlockStore": {"volumeID": "aws://z/disk"}},
            {},
            "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/disk)",
        ),
        (
            GCE,
            {ZONE: "us-east1-a__z2"},
            "failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: z2",
        ),
        (
            GCE,
            {ZONE: "us-w1-a__us-e1-a"},
            "failed to get region from zones: multiple or no regions gotten from zones, got: map[us-e1:{} us-w1:{}]",
        ),
        ({"azureDisk": {"diskName": "d", "diskURI": "/d"}}, {}, "kind(Shared) is not supported in csi migration"),
    ],
)
def test_a_volume_the_driver_cannot_know_is_an_error(source: Object, labels: dict[str, str], problem: str) -> None:
    unknown = typed(source, labels=labels)
    with pytest.raises(ValueError) as of_handle:  # noqa: PT011 - compared below
        volume_handle(unknown)
    with pytest.raises(ValueError) as of_nodes:  # noqa: PT011 - compared below
        csi_node_selector(unknown, plugin(unknown))
    assert str(of_handle.value) == str(of_nodes.value) == problem


def affinity(*terms: dict[str, list[str]]) -> Object:
    """Return a node affinity of one term each: label → its values."""
    return {
        "required": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": key, "operator": "In", "values": values} for key, values in term.items()]}
                for term in terms
            ]
        }
    }


@pytest.mark.parametrize(
    ("required", "labels", "translated"),
    [
        (affinity({ZONE: ["z1"]}), {}, affinity({EBS_ZONE: ["z1"]})),
        (
            affinity({ZONE: ["z1"], "rack": ["r"]}, {"rack": ["s"]}),
            {},
            affinity({EBS_ZONE: ["z1"], "rack": ["r"]}, {"rack": ["s"]}),
        ),
        (affinity({ZONE: ["z1"], BETA_ZONE: ["z2"]}), {}, affinity({EBS_ZONE: ["z1"], BETA_ZONE: ["z2"]})),
        (affinity({BETA_ZONE: ["z1"], BETA_REGION: ["r"]}), {}, affinity({EBS_ZONE: ["z1"], REGION: ["r"]})),
        (affinity({ZONE: ["z1"], BETA_REGION: ["r"]}), {}, affinity({EBS_ZONE: ["z1"], BETA_REGION: ["r"]})),
        (affinity({ZONE: ["z1"]}), {ZONE: "z2"}, affinity({EBS_ZONE: ["z1"]})),
        (affinity({"rack": ["r"]}), {ZONE: "z2__z1 "}, affinity({"rack": ["r"], EBS_ZONE: ["z1", "z2"]})),
        (affinity({BETA_REGION: ["r"]}), {BETA_ZONE: "z1"}, affinity({REGION: ["r"], EBS_ZONE: ["z1"]})),
        (affinity({ZONE: []}), {ZONE: "z1"}, affinity({ZONE: [], EBS_ZONE: ["z1"]})),
        (affinity({"rack": ["r"]}), {ZONE: "__"}, affinity({"rack": ["r"]})),
        ({}, {ZONE: "z1"}, affinity({EBS_ZONE: ["z1"]})),
        ({}, {}, {}),
        (affinity(), {}, affinity()),
    ],
)
def test_zones_are_the_drivers_own(required: Object, labels: dict[str, str], translated: Object) -> None:
    in_tree = typed(EBS, labels=labels, nodeAffinity=required)
    expected = typed(EBS, nodeAffinity=translated).spec.node_affinity
    assert expected is not None
    assert csi_node_selector(in_tree, plugin(in_tree)) == expected.required


def test_a_volume_without_affinity_and_zones_is_usable_everywhere() -> None:
    in_tree = typed(EBS)
    assert csi_node_selector(in_tree, plugin(in_tree)) is None


@pytest.mark.parametrize("source", [AZURE, PORTWORX])
def test_other_drivers_keep_the_node_affinity(source: Object) -> None:
    in_tree = typed(source, labels={ZONE: "z2"}, nodeAffinity=affinity({ZONE: ["z1"]}))
    assert in_tree.spec.node_affinity is not None
    assert csi_node_selector(in_tree, plugin(in_tree)) == in_tree.spec.node_affinity.required

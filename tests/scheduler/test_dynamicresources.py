"""What DynamicResources allocates, and of what it cannot know enough to say more than that nodes may do."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kubectl_spread.scheduler import dynamicresources
from kubectl_spread.scheduler.framework import PreFilterResult, Status
from kubectl_spread.scheduler.profile import default_profile
from tests.build import Object, handle, node, pod, typed_pod
from tests.build_devices import CLAIMING, OPEN, device_class, resource_claim, resource_claim_template, resource_slice

TEMPLATE: Object = {"resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}]}
PLUGIN = node("a", allocatable={"example.com/gpu": "1"})


@pytest.mark.parametrize(
    ("described", "objects", "minor", "expected"),
    [
        (pod("p"), [node("a")], 36, ""),
        (pod("p", **CLAIMING), [node("a"), *OPEN], 36, "ResourceClaim g"),
        (pod("p", **CLAIMING), [node("a")], 36, ""),
        (pod("p", **CLAIMING), [node("a"), resource_claim(has=["x/d0"])], 36, ""),
        (pod("p", **CLAIMING), [node("a"), resource_claim(classes=[])], 36, ""),
        (pod("p", requests={"example.com/gpu": "1"}), [node("a")], 36, ""),
        (
            pod("p", requests={"example.com/gpu": "1"}),
            [node("a"), device_class(stands_for="example.com/gpu")],
            36,
            "example.com/gpu",
        ),
        (pod("p", requests={"example.com/gpu": "1"}), [PLUGIN, device_class(stands_for="example.com/gpu")], 36, ""),
    ],
    ids=["no claim", "waits", "missing", "has its devices", "asks for nothing", "no class", "class", "device plugin"],
)
def test_what_is_not_decided(described: Object, objects: Sequence[Object], minor: int, expected: str) -> None:
    profile = default_profile(minor)
    seen = handle(objects, profile)
    nodes = seen.node_infos.values()
    assert dynamicresources.undecided(typed_pod(described, profile), seen, nodes) == expected
    assert dynamicresources.undecided(typed_pod(described, profile), seen, ()) == ""


@pytest.mark.parametrize(("minor", "expected"), [(35, ""), (36, "ResourceClaim g")])
def test_conditions_of_binding_go_by_the_clock(minor: int, expected: str) -> None:
    claim = resource_claim(has=["x/d0"])
    claim["status"]["allocation"]["devices"]["results"][0]["bindingConditions"] = ["example.com/ready"]
    profile = default_profile(minor)
    asked, seen = typed_pod(pod("p", **CLAIMING), profile), handle([node("a"), claim], profile)
    assert dynamicresources.undecided(asked, seen, seen.node_infos.values()) == expected


@pytest.mark.parametrize(
    ("objects", "reason"),
    [
        ([resource_claim_template()], "request r0: device class gpu does not exist"),
        ([resource_claim_template(), pod("new", **TEMPLATE)], 'pod "default/new": ResourceClaim not created yet'),
        ([], 'pod "default/new": ResourceClaim not created yet'),
    ],
    ids=["a Pod that is to be made gets a claim", "one that exists waits for it", "without a template there is none"],
)
def test_the_claim_of_a_template(objects: Sequence[Object], reason: str) -> None:
    said = dynamicresources.pre_filter(typed_pod(pod("new", **TEMPLATE)), handle([node("a"), *objects]))
    assert isinstance(said, Status)
    assert said.reasons == (reason,)


def test_a_claim_of_v1beta1_asks_in_the_request_itself() -> None:
    claim = resource_claim()
    claim["apiVersion"] = "resource.k8s.io/v1beta1"
    (request,) = claim["spec"]["devices"]["requests"]
    claim["spec"]["devices"]["requests"] = [{"name": "r", **request["exactly"]}]
    offered = resource_slice("a")
    offered["apiVersion"] = "resource.k8s.io/v1beta1"
    offered["spec"] |= {"perDeviceNodeSelection": True, "devices": [{"name": "d0", "basic": {"nodeName": "a"}}]}
    del offered["spec"]["nodeName"]
    seen = handle([node("a"), node("b"), device_class(), claim, offered])
    said = dynamicresources.pre_filter(typed_pod(pod("p", **CLAIMING)), seen)
    assert isinstance(said, PreFilterResult)
    assert [said.filter_node(info).rejected for info in seen.node_infos.values()] == [False, True]


def test_a_device_for_many_is_never_taken() -> None:
    offered = resource_slice("a")
    offered["spec"]["devices"][0]["allowMultipleAllocations"] = True
    objects = [
        node("a"),
        device_class(),
        resource_claim(classes=["gpu", "gpu"]),
        offered,
        resource_claim("h", has=["a/d0"]),
    ]
    seen = handle(objects)
    said = dynamicresources.pre_filter(typed_pod(pod("p", **CLAIMING)), seen)
    assert isinstance(said, PreFilterResult)
    assert not said.filter_node(seen.node_infos["a"]).rejected


def test_alternatives_need_a_gate() -> None:
    claim = resource_claim()
    claim["spec"]["devices"]["requests"] = [{"name": "r", "firstAvailable": [{"name": "x", "deviceClassName": "gpu"}]}]
    profile = default_profile(34, gates={"DRAPrioritizedList": False})
    said = dynamicresources.pre_filter(
        typed_pod(pod("p", **CLAIMING), profile), handle([node("a"), device_class(), claim], profile)
    )
    assert isinstance(said, Status)
    why = "has subrequests, but the DRAPrioritizedList feature is disabled"
    assert said.reasons == (f"resource claim default/g, request r: {why}",)

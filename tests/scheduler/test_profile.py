"""Which plugins run in which release, with which weights and arguments."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kubectl_spread.objects.configuration import InterPodAffinityArgs
from kubectl_spread.objects.decoding import DecodeError
from kubectl_spread.objects.meta import Plain
from kubectl_spread.release import Release
from kubectl_spread.scheduler.profile import (
    SYSTEM_CONSTRAINTS,
    Behaviour,
    behaviours,
    configured_profiles,
    default_profile,
    known_gates,
)
from tests.build import configured_profile

VOLUMES = ["VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"]
NODE_FIRST = ["NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts"]
NAME_FIRST = ["NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts"]
FIT_TO_PODS = ["NodeResourcesFit", *VOLUMES, "PodTopologySpread", "InterPodAffinity"]

PREEMPTION = {"InPlacePodVerticalScalingSchedulerPreemption": True}


@pytest.mark.parametrize(
    ("minor", "gates", "filters"),
    [
        (33, {}, [*NODE_FIRST, *FIT_TO_PODS]),
        (33, {"DynamicResourceAllocation": True}, [*NODE_FIRST, *FIT_TO_PODS, "DynamicResources"]),
        (34, {}, [*NODE_FIRST, *FIT_TO_PODS, "DynamicResources"]),
        (35, {}, [*NODE_FIRST, *FIT_TO_PODS, "DynamicResources"]),
        (36, {}, [*NODE_FIRST, *FIT_TO_PODS, "DynamicResources", "NodeDeclaredFeatures"]),
        (36, {"NodeDeclaredFeatures": False}, [*NODE_FIRST, *FIT_TO_PODS, "DynamicResources"]),
        (37, {}, [*NAME_FIRST, *FIT_TO_PODS, "DynamicResources", "NodeDeclaredFeatures"]),
        (
            37,
            PREEMPTION,
            [*NAME_FIRST, "DeferredPodScheduling", *FIT_TO_PODS, "DynamicResources", "NodeDeclaredFeatures"],
        ),
    ],
)
def test_filters_of_a_release(minor: int, gates: Mapping[str, bool], filters: list[str]) -> None:
    assert [*default_profile(minor, gates=gates).filters] == filters


def test_weights() -> None:
    assert default_profile().weights == {
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "NodeResourcesFit": 1,
        "VolumeBinding": 1,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "DynamicResources": 2,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
    }


@pytest.mark.parametrize("behaviour", Behaviour)
def test_a_behaviour_holds_from_its_first_release_to_its_last(behaviour: Behaviour) -> None:
    switch = behaviour.value
    gates = {switch.gate.name: True} if switch.gate else {}
    since = max(switch.since, switch.gate.since if switch.gate else 0)
    holds = [minor for minor in range(24, 38) if behaviour in behaviours(Release(minor, gates))]
    assert holds == [minor for minor in range(24, 38) if since <= minor <= switch.until]
    assert holds
    assert switch.source


@pytest.mark.parametrize("behaviour", [found for found in Behaviour if found.value.gate])
def test_a_gate_is_on_by_default_from_some_release(behaviour: Behaviour) -> None:
    switch = behaviour.value
    gate = switch.gate
    assert gate is not None
    on = [minor for minor in range(24, 38) if behaviour in behaviours(Release(minor))]
    since = 99 if gate.on_since is None else max(switch.since, gate.on_since)
    assert on == [minor for minor in range(24, 38) if since <= minor <= switch.until]
    assert behaviour not in behaviours(Release(37, {gate.name: False}))


def test_releases_that_are_not_known_are_read_as_the_nearest() -> None:
    assert behaviours(Release(3)) == behaviours(Release(24))
    assert behaviours(Release(99)) == behaviours(Release(37))


def test_known_gates() -> None:
    assert {"NodeDeclaredFeatures", "TaintTolerationComparisonOperators"} <= known_gates()
    assert "" not in known_gates()


def configuration(**profile: Plain) -> Plain:
    """Return a configuration of one profile, fields by the API's names."""
    return {"profiles": [{**profile}]}


def arguments(plugin: str, **values: Plain) -> Plain:
    """Return a configuration of one plugin's arguments."""
    return configuration(pluginConfig=[{"name": plugin, "args": {**values}}])


def test_without_a_configuration_there_is_the_default_profile() -> None:
    assert configured_profiles({"profiles": []}) == (default_profile(),)
    assert configured_profile({}, minor=33) == default_profile(33)


def test_each_profile_has_its_name() -> None:
    profiles = configured_profiles({"profiles": [{"schedulerName": "batch"}, {"schedulerName": "web"}]})
    assert [profile.scheduler_name for profile in profiles] == ["batch", "web"]


def test_default_constraints() -> None:
    assert configured_profile({}).default_constraints == SYSTEM_CONSTRAINTS
    constraint: Plain = {"topologyKey": "rack", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    profile = configured_profile(arguments("PodTopologySpread", defaultingType="List", defaultConstraints=[constraint]))
    assert [found.topology_key for found in profile.default_constraints] == ["rack"]
    assert not profile.system_defaulted


def test_other_arguments() -> None:
    assert configured_profile({}).inter_pod_affinity == InterPodAffinityArgs(hard_pod_affinity_weight=1)
    weighed = configured_profile(arguments("InterPodAffinity", hardPodAffinityWeight=50))
    assert weighed.inter_pod_affinity.hard_pod_affinity_weight == 50
    most = configured_profile(arguments("NodeResourcesFit", scoringStrategy={"type": "MostAllocated"}))
    assert most.fit.scoring_strategy.type == "MostAllocated"
    assert [resource.name for resource in most.fit.scoring_strategy.resources] == ["cpu", "memory"]


def test_arguments_of_a_wrong_type() -> None:
    with pytest.raises(DecodeError, match="hardPodAffinityWeight"):
        configured_profile(arguments("InterPodAffinity", hardPodAffinityWeight="much"))

"""A configuration enables and disables plugins, everywhere or at one extension point."""

from __future__ import annotations

import pytest

from kubectl_spread.objects.configuration import Plugins
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.meta import Plain
from kubectl_spread.release import Release
from kubectl_spread.scheduler import profile
from kubectl_spread.scheduler.profile import behaviours, default_plugins

DEFAULTS = [*profile.filters(default_plugins(behaviours(Release(36))), Plugins())]


def filters(described: Plain) -> list[str]:
    return [*profile.filters(default_plugins(behaviours(Release(36))), convert(described, Plugins))]


def weights(described: Plain) -> dict[str, int]:
    return {**profile.weights(default_plugins(behaviours(Release(36))), convert(described, Plugins))}


def without(*names: str) -> list[str]:
    return [name for name in DEFAULTS if name not in names]


@pytest.mark.parametrize("point", ["multiPoint", "filter"])
def test_a_filter_is_disabled(point: str) -> None:
    assert filters({point: {"disabled": [{"name": "NodePorts"}]}}) == without("NodePorts")


@pytest.mark.parametrize("point", ["multiPoint", "filter"])
def test_all_but_one_are_disabled(point: str) -> None:
    described: Plain = {point: {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeName"}]}}
    assert filters(described) == ["NodeName"]


def test_a_plugin_of_somebody_else_is_taken_for_a_filter() -> None:
    assert filters({"multiPoint": {"enabled": [{"name": "Coscheduling"}]}}) == [*DEFAULTS, "Coscheduling"]


def test_plugins_that_say_nothing_about_nodes_are_no_filters() -> None:
    enabled: Plain = [{"name": "DefaultPreemption"}, {"name": "ImageLocality", "weight": 3}]
    assert filters({"multiPoint": {"enabled": enabled}}) == DEFAULTS


def test_a_filter_that_is_named_again_comes_first() -> None:
    described: Plain = {"filter": {"enabled": [{"name": "NodePorts"}]}}
    assert filters(described) == ["NodePorts", *without("NodePorts")]


def test_a_filter_that_is_disabled_and_enabled_comes_last() -> None:
    again: Plain = {"disabled": [{"name": "NodePorts"}], "enabled": [{"name": "NodePorts"}]}
    assert filters({"filter": again}) == [*without("NodePorts"), "NodePorts"]
    assert filters({"multiPoint": again}) == [*without("NodePorts"), "NodePorts"]


@pytest.mark.parametrize("point", ["multiPoint", "score"])
def test_weights(point: str) -> None:
    enabled: Plain = [{"name": "PodTopologySpread", "weight": 10}]
    assert weights({point: {"enabled": enabled}})["PodTopologySpread"] == 10


def test_a_weight_of_nothing_is_one() -> None:
    assert weights({"multiPoint": {"enabled": [{"name": "PodTopologySpread"}]}})["PodTopologySpread"] == 1


def test_a_score_is_disabled_and_its_filter_goes_on() -> None:
    described: Plain = {"score": {"disabled": [{"name": "PodTopologySpread"}]}}
    assert "PodTopologySpread" not in weights(described)
    assert filters(described) == DEFAULTS


def test_filters_alone_have_no_weight() -> None:
    assert "NodePorts" not in weights({})

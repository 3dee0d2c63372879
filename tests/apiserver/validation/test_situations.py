"""Every rule both ways: what the API server would say of objects that are sound but for a change."""

from collections.abc import Sequence

import pytest

from kubectl_spread.apiserver.validation import validate, validate_template
from kubectl_spread.objects.core import Node, PodTemplateSpec
from kubectl_spread.objects.decoding import convert
from kubectl_spread.release import Release
from tests.apiserver.validation.situations import Situation, changed, differences, errors_of, situations, sound


@pytest.mark.parametrize("situation", situations(), ids=str)
def test_errors(situation: Situation) -> None:
    errors = errors_of(situation.object, minor=situation.minor, gates=situation.gates)
    assert differences(map(str, errors), situation.errors) == []


def test_names_of_situations_are_different_within_a_file() -> None:
    places = [(situation.file, situation.name) for situation in situations()]
    assert len(places) == len(set(places))


def test_other_kinds_have_no_rules() -> None:
    assert validate(Node(), Release()) == ()


@pytest.mark.parametrize("minor", range(30, 40))
@pytest.mark.parametrize("kind", ["Pod", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"])
def test_sound_objects_are_sound_in_every_release(kind: str, minor: int) -> None:
    assert errors_of(sound(kind), minor=minor) == ()


def test_template_of_an_unknown_kind() -> None:
    faulty = changed(sound("Pod"), {"/spec/topologySpreadConstraints/0/labelSelector": None})
    template = convert(faulty, PodTemplateSpec)
    path = "spec.workload.template"
    without = Release(gates={"MatchLabelKeysInPodTopologySpread": False})
    constraint = f"{path}.spec.topologySpreadConstraints[0]"
    assert _lines(validate_template(template, Release(), path=path)) == [
        f"{constraint}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"
    ]
    assert validate_template(template, without, path=path) == ()


def test_what_has_a_path_of_its_own_is_reported_once() -> None:
    labels = {"app": "web", "a": "no value", "b": "no value"}
    faulty = changed(sound("Pod"), {"/metadata/labels": labels})
    assert len(errors_of(faulty)) == 1


def _lines(errors: Sequence[object]) -> list[str]:
    return [str(error) for error in errors]

"""Situations of the API server's validation: a sound object, what is changed in it, and what is then wrong.

tests/testdata/validation/sound.yaml holds the sound objects, every other file there the situations of one subject.
A situation's ``set`` maps JSON pointers to values; null removes, ``-`` appends. ``{a*64}`` stands for 64 letters. An
error that ends with an ellipsis stands for every longer one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from kubectl_spread.apiserver.validation import FieldError, validate
from kubectl_spread.objects.decoding import convert
from kubectl_spread.objects.kinds import BY_API, Kind
from kubectl_spread.objects.meta import KubernetesObject
from kubectl_spread.release import Release

Object = dict[str, Any]  # A Kubernetes object, or part of one, as JSON has it

REFERENCE_MINOR = 36

_FOLDER = Path(__file__).parents[2] / "testdata" / "validation"
_SOUND = "sound"
_ELLIPSIS = "…"
_JOB_KINDS = ("Job", "CronJob")
_REPEATED = re.compile(r"\{(\w)\*(\d+)\}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Situation:
    """An object that is changed, and what the API server then says."""

    name: str  # what holds
    kind: str = "Pod"  # of the object that is changed
    changes: Mapping[str, object] = field(default_factory=dict)  # JSON pointer → value
    errors: Sequence[str] = ()  # as kubectl prints them; none for an object that stays sound
    minor: int = REFERENCE_MINOR  # the API server's minor release
    gates: Mapping[str, bool] = field(default_factory=dict)  # feature gates that differ from the release's defaults
    offline: str = ""  # why an API server is not asked about it; empty where it is
    generated: str = ""  # which text of the messages the API server makes anew each time; empty for none
    any_order: bool = False  # whether the API server may report the errors in any order, for they are in a map
    file: str = ""  # the file it stands in

    @property
    def object(self) -> Object:
        return changed(sound(self.kind), self.changes)

    @property
    def default(self) -> bool:
        """Whether it is about the reference release as it is installed."""
        return self.minor == REFERENCE_MINOR and not self.gates

    @property
    def fits_template(self) -> bool:
        """Whether a Pod's changes can be made in a template, which has no name."""
        return all(pointer.startswith(("/spec/", "/metadata/labels")) for pointer in self.changes)

    def __str__(self) -> str:
        """Return what holds."""
        return self.name


@cache
def situations() -> Sequence[Situation]:
    found: list[Situation] = []
    for path in sorted(_FOLDER.glob("*.yaml")):
        if path.stem != _SOUND:
            found += (_situation(entry, path.stem) for entry in _loaded(path))
    return found


def sound(kind: str) -> Object:
    """Return a sound object of the kind, with the sound Pod's template where it is a workload."""
    objects = _sound_objects()
    made: Object = deepcopy(objects[kind])
    if kind != "Pod":
        pod = objects["Pod"]
        template = {"metadata": {"labels": pod["metadata"]["labels"]}, "spec": pod["spec"]}
        changes: Object = {template_pointer(kind): template}
        if kind in _JOB_KINDS:
            changes[f"{template_pointer(kind)}/spec/restartPolicy"] = "Never"
        made = changed(made, changes)
    return made


def template_pointer(kind: str) -> str:
    """Return where a workload has its Pod template."""
    return "/spec/jobTemplate/spec/template" if kind == "CronJob" else "/spec/template"


def in_template(situation: Situation, kind: str) -> Mapping[str, object]:
    """Return a Pod's changes as they are made in a workload."""
    root = template_pointer(kind)
    return {f"{root}{pointer}": value for pointer, value in situation.changes.items()}


def changed(made: Object, changes: Mapping[str, object]) -> Object:
    made = deepcopy(made)
    for pointer, value in changes.items():
        *way, last = (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
        parent: Any = made
        for step in way:
            parent = parent[int(step) if isinstance(parent, list) else step]
        _put(parent, last, deepcopy(value))
    return made


def kind_of(made: Object) -> Kind:
    return BY_API[made["apiVersion"], made["kind"]]


def decoded(made: Object) -> KubernetesObject:
    """Return the object as the program reads it."""
    return convert(deepcopy(made), kind_of(made).struct)


def errors_of(
    made: Object, *, minor: int = REFERENCE_MINOR, gates: Mapping[str, bool] | None = None
) -> Sequence[FieldError]:
    """Return what the program says is wrong with the object."""
    obj, release = decoded(made), Release(minor, gates or {})
    return validate(obj, release)


def differences(actual: Iterable[str], wanted: Iterable[str]) -> Sequence[str]:
    """Return the lines in which the errors part from those that are wanted, in order; none when they agree."""
    actual, wanted = list(actual), list(wanted)
    if len(actual) == len(wanted) and all(map(_agrees, actual, wanted)):
        return []
    return [f"wanted: {wanted}", f"actual: {actual}"]


def _agrees(actual: str, wanted: str) -> bool:
    if wanted.endswith(_ELLIPSIS):
        return actual.startswith(wanted.removesuffix(_ELLIPSIS))
    return actual == wanted


def _situation(entry: Object, file: str) -> Situation:
    renamed = {"set": "changes"}
    return Situation(file=file, **{renamed.get(key, key): value for key, value in entry.items()})


@cache
def _sound_objects() -> Object:
    """Return kind → sound object, workloads without their template."""
    objects: Object = _loaded(_FOLDER / f"{_SOUND}.yaml")
    return objects


def _loaded(path: Path) -> Any:  # noqa: ANN401 - a list or a mapping
    """Return a file's values, repeated letters written out."""
    return yaml.safe_load(_REPEATED.sub(lambda match: match[1] * int(match[2]), path.read_text()))


def _put(parent: Any, step: str, value: object) -> None:  # noqa: ANN401 - a list or a mapping
    """Set, append or (null) remove one value."""
    if isinstance(parent, list):
        if step == "-":
            parent.append(value)
        else:
            parent[int(step)] = value
    elif value is None:
        parent.pop(step, None)
    else:
        parent[step] = value

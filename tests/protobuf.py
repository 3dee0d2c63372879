"""Which number is which field in Protocol Buffers, as the package carries it in ``objects/protobuf_fields.py``.

``python -m tests.protobuf`` writes the module anew from the ``generated.proto`` files that the modules k8s.io/api and
k8s.io/apimachinery hold for each release of `tests/gobuild.py`: of all messages that a list of Pods or Nodes and a
Status are made of, the fields that the package decodes.
"""

from __future__ import annotations

import json
import re
import subprocess
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, get_args

import msgspec

from kubectl_spread.cluster.net.failures import Status
from kubectl_spread.objects import core
from kubectl_spread.objects.decoding import ListMeta
from tests.gobuild import RELEASES

MODULE = Path(__file__).parent.parent / "kubectl_spread" / "objects" / "protobuf_fields.py"
ROOTS: Mapping[str, object] = {"Pod": core.Pod, "Node": core.Node, "ListMeta": ListMeta, "Status": Status}
"""Message → the type that is decoded from it."""

NOT_OF_PODS = {("VolumeMount", "name"), ("VolumeMount", "mountPath"), ("PodSpec", "serviceAccount")}
"""(message, field) that are read of templates alone: replicas differ in them, or the API server repeats another."""
_FILES = {"k8s.io/api": ("core/v1",), "k8s.io/apimachinery": ("pkg/apis/meta/v1", "pkg/api/resource")}
_COMMENT = re.compile(r"//.*")
_MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^ *(optional|repeated|map<string, *([\w.]+)>) +(?:([\w.]+) +)?(\w+) = (\d+);", re.MULTILINE)
_HEAD = '''"""Which number is which field: of the messages that Pods, Nodes and a Status are made of, the fields in use.

Written by ``python -m tests.protobuf`` from the releases' generated.proto; numbers never change. Of each field: its
number, its name, then its type as upstream has it. A field that no object has stands for fields of the object's own.
"""

from __future__ import annotations

from collections.abc import Mapping

_TABLE = """
'''
_TAIL = '''
"""

MESSAGES: Mapping[str, Mapping[str, tuple[int, str]]] = {
    name.strip(): {field: (int(number), " ".join(kind)) for number, field, *kind in map(str.split, fields.split(","))}
    for name, fields in (message.split(":") for message in _TABLE.split(";")[:-1])
}
"""Message → field → its number, and its type."""
'''


class Field(NamedTuple):
    """A field of a message: its number, and its type with what stands before it where it may come several times."""

    number: int
    type: str

    @property
    def message(self) -> str:
        """The message that it is made of, or a type that is none."""
        return self.type.rpartition(" ")[2]


Messages = Mapping[str, Mapping[str, Field]]  # Message → field → what it is


def released() -> Messages:
    """Return the messages of all releases together, out of Go's module cache, where they are put first if need be."""
    found: dict[str, dict[str, Field]] = {}
    for version in RELEASES.values():
        for module, folders in _FILES.items():
            for folder in folders:
                text = (_module(f"{module}@v0.{version.removeprefix('1.')}") / folder / "generated.proto").read_text()
                for name, fields in parsed(text).items():
                    together = found.setdefault(name, {})
                    assert fields.items() >= {(field, of) for field, of in together.items() if field in fields}
                    together.update(fields)
    return found


def _module(module: str) -> Path:
    command = ["go", "mod", "download", "-json", module]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    return Path(json.loads(ran.stdout)["Dir"])


def parsed(text: str) -> Messages:
    return {
        name: {field[4]: Field(int(field[5]), _type(field)) for field in _FIELD.finditer(body)}
        for name, body in _MESSAGE.findall(_COMMENT.sub("", text))
    }


def _type(field: re.Match[str]) -> str:
    """Return a field's type without the package it is from."""
    label, value, kind = field[1], field[2], field[3]
    name = (value or kind).rpartition(".")[2]
    return name if label == "optional" else f"{'map' if value else label} {name}"


def used(messages: Messages) -> Messages:
    """Return the messages that the roots are made of, with the fields that are decoded."""
    found: dict[str, dict[str, Field]] = {}
    waiting = list(ROOTS.items())
    while waiting:
        message, of = waiting.pop()
        for field, below, inner in _fields(message, of, messages):
            found.setdefault(message, {})[field] = messages[message][field]
            waiting += [(below, inner)] if inner else []
    return {name: dict(sorted(found[name].items(), key=lambda item: item[1])) for name in sorted(found)}


def _fields(message: str, of: object, messages: Messages) -> Iterator[tuple[str, str, object]]:
    """Yield (field, its message, what that is decoded to) of each field that a Struct has, itself or inlined."""
    wanted = {field.encode_name: field.type for field in msgspec.structs.fields(of)}  # type: ignore[arg-type]
    for field, kind in messages[message].items():
        if field in wanted and (message, field) not in NOT_OF_PODS:
            yield field, kind.message, struct_of(wanted[field])
        elif _is_inlined(kind) and wanted.keys() & messages[kind.message].keys() - messages[message].keys():
            yield field, kind.message, of


def _is_inlined(field: Field) -> bool:
    """Return whether the fields of a message stand in JSON where it stands itself."""
    return field.type in {"VolumeSource", "EphemeralContainerCommon"}


def struct_of(kind: object) -> type[msgspec.Struct] | None:
    """Return the Struct in a type such as ``tuple[Container, ...]``; None where there is none."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind
    return next((found for each in get_args(kind) if (found := struct_of(each))), None)


def text_of(messages: Messages) -> str:
    """Return the module with the table."""
    listed = (
        f"{name}: {', '.join(f'{of.number} {field} {of.type}' for field, of in fields.items())};"
        for name, fields in messages.items()
    )
    lines = (textwrap.fill(message, 120, subsequent_indent="  ", break_on_hyphens=False) for message in listed)
    return _HEAD + "\n".join(lines) + _TAIL


if __name__ == "__main__":
    MODULE.write_text(text_of(used(released())))

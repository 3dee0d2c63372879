"""The fields of ``-o json``, as their types describe them: what ``explain`` says of names that stand nowhere else."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import get_args, get_type_hints

import msgspec

from kubectl_spread.render.schema import REPORTS

COMMON: Mapping[str, str] = MappingProxyType(
    {
        "apiVersion": "the version of the contract",
        "kind": "what it is: a report, an object of Kubernetes, a requirement",
        "metadata": "where the answer comes from",
        "items": "what there is to say, an item for each Pod, manifest, or workload and constraint",
        "steps": "what becomes of Pods, step by step",
        "incomplete": "what the answer does not rest on",
        "what": "what was not read or is not modelled",
        "why": "why it is so",
        "consequence": "what is not known without it",
        "namespace": "the namespace",
        "name": "the name",
        "pod": "the Pod's name",
        "pods": "the Pods it is about",
        "node": "the node's name",
        "nodes": "every node, with what becomes of the Pod there",
        "source": "the file it comes from; empty for the cluster",
        "workload": "the topmost owner that can be read",
        "verdict": "whether it can be scheduled: explain the verdict by its name",
        "status": "the state of the constraint: explain the status by its name",
        "default": "whether the constraint is one of the cluster's",
        "constraint": "the constraint it is about",
        "constraints": "the Pod's topology spread constraints, those of the cluster where it has none",
        "index": "the constraint's place in the Pod's spec",
        "topologyKey": "the node label whose values are the domains",
        "maxSkew": "how many more Pods a domain may hold than the emptiest one",
        "minDomains": "how many domains there have to be for the minimum to count",
        "whenUnsatisfiable": "whether the constraint is a rule or a preference",
        "domains": "the values of the topologyKey, each with its nodes and Pods",
        "bypassedNodes": "the nodes that the constraint does not count, and why",
        "findings": "what is worth knowing: explain a finding by its id",
        "id": "the name by which explain knows it",
        "severity": "error, warning or info",
        "path": "the field it is about",
        "field": "the field it is about",
        "message": "what is said of it, in the words of the component that says it",
        "reason": "the API server's word for it",
        "reasons": "the scheduler's words for it",
        "feasible": "whether no filter rejects it",
        "code": "the scheduler's code: whether preemption may help",
        "plugin": "the scheduler's plugin",
        "detail": "the same with its number or its name",
        "requirement": "the constraint or filter that is meant",
        "target": "the object to change",
        "jsonPatch": "the change, as RFC 6902 writes it",
        "op": "what is done",
        "value": "what is written there",
        "key": "the label or field",
        "operator": "how it is compared",
        "values": "what it is compared with",
        "matchExpressions": "conditions on labels",
        "matchFields": "conditions on fields",
        "holders": "the Pods that hold it",
        "ports": "ports of the node, with their protocol",
        "claim": "the PersistentVolumeClaim's name",
        "claims": "the Pod's PersistentVolumeClaims",
        "storageClass": "the StorageClass's name",
        "requirements": "the fewest requirements that together leave no node",
        "object": "the object to create",
    }
)
"""Field → what it means in every type that says nothing more of it."""

_ATTRIBUTES = re.compile(r"^Attributes:\n(?P<lines>(?: {4}.*\n?|\n)*)", re.MULTILINE)
_ATTRIBUTE = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


class JsonField(msgspec.Struct, frozen=True, kw_only=True):
    """A field of a report, or of what stands within one.

    Attributes:
        of: the type that has it, as the schema names it.
        name: as it stands in JSON.
        meaning: what it holds.
    """

    of: str
    name: str
    meaning: str


def json_fields() -> Iterator[JsonField]:
    """Yield every field of every type of the schema."""
    structs = dict[str, type[msgspec.Struct]]()
    for each in REPORTS:
        _collect_structs(each, structs)
    _, definitions = msgspec.json.schema_components(REPORTS, ref_template="#/$defs/{name}")
    for name in filter(structs.get, definitions):
        documented = _attributes(structs[name])
        if (tag := structs[name].__struct_config__.tag_field) is not None:
            yield JsonField(of=name, name=tag, meaning=COMMON[tag])
        for field in msgspec.structs.fields(structs[name]):
            meaning = documented.get(field.name) or COMMON[field.encode_name]
            yield JsonField(of=name, name=field.encode_name, meaning=meaning)


def _collect_structs(annotation: object, structs: dict[str, type[msgspec.Struct]]) -> None:
    for argument in get_args(annotation):
        _collect_structs(argument, structs)
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct) and annotation.__name__ not in structs:
        structs[annotation.__name__] = annotation
        for field_type in get_type_hints(annotation).values():
            _collect_structs(field_type, structs)


def fields_named(name: str) -> tuple[JsonField, ...]:
    """Return the fields of that name, in any case; of a path such as ``.items[0].replicas`` the last name counts."""
    wanted = name.rpartition(".")[2].lower()
    return tuple(field for field in json_fields() if field.name.lower() == wanted)


def _attributes(described: type) -> dict[str, str]:
    told = dict[str, str]()
    for each in reversed(described.__mro__):
        if found := _ATTRIBUTES.search(inspect.cleandoc(each.__doc__ or "")):
            told |= {name: " ".join(text.split()) for name, text in _ATTRIBUTE.findall(found["lines"])}
    return told

"""Kubernetes objects out of files: manifests for ``check -f``, a whole cluster for ``--from``.

Every document of every source is read before one error lists all that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, TypeVar

from msgspec.structs import replace

from kubectl_spread.cluster.files.documents import Document, contents, read_objects
from kubectl_spread.cluster.files.sources import MOST_OF_A_CLUSTER, Input, read_inputs
from kubectl_spread.cluster.log import READS, SILENT, Log
from kubectl_spread.cluster.reads import counted
from kubectl_spread.errors import ManifestError, ManifestProblem
from kubectl_spread.objects.core import Pod
from kubectl_spread.objects.decoding import DecodeError, Plain
from kubectl_spread.objects.kinds import BY_API, KINDS, NODE, POD, Kind, KubernetesObject
from kubectl_spread.snapshot import Inventory, Unread

__all__ = [
    "Document",
    "documents_of",
    "pod_template_values",
    "read_documents",
    "read_inventory",
    "read_settings",
    "read_sound_documents",
]

DEFAULT_NAMESPACE = "default"
NOT_IN_FILES = "not in the files"
"""Why a kind is unread that files cannot hold."""
MOST_PROBLEMS = 100
"""How many problems are named before reading ends."""
MOST_OBJECTS = 100_000
"""How many objects manifests may hold; each of them costs more than it does in a cluster."""


T = TypeVar("T")


def read_documents(
    sources: Sequence[str], *, recursive: bool = False, stdin: BinaryIO | None = None
) -> tuple[Document, ...]:
    """Return the objects of the sources in their order, of any kind; those of known kinds decoded.

    Raises:
        ManifestError: with everything that is wrong.
    """
    return documents_of(read_inputs(sources, recursive=recursive, urls=True, stdin=stdin))


def read_sound_documents(
    sources: Sequence[str], *, recursive: bool = False, stdin: BinaryIO | None = None
) -> tuple[tuple[Document, ...], tuple[ManifestProblem, ...]]:
    """Return the objects of the documents in which nothing is wrong, as `read_documents` does, and what is in others.

    Of a key that YAML gives twice the last value counts.

    Raises:
        ManifestError: too much is wrong.
    """
    inputs = read_inputs(sources, recursive=recursive, urls=True, stdin=stdin)
    documents, problems = _sorted_out(
        _decoded(_countable(read_objects(inputs, strict=True, repeats=True), MOST_OBJECTS))
    )
    return tuple(documents), tuple(problems)


def documents_of(inputs: Iterable[Input | ManifestProblem], *, most: int = MOST_OBJECTS) -> tuple[Document, ...]:
    """Return the objects of what was read, of any kind; those of known kinds decoded.

    Raises:
        ManifestError: with everything that is wrong.
    """
    return _sound(_decoded(_countable(read_objects(inputs, strict=True), most)))


def read_settings(source: str, *, stdin: BinaryIO | None = None) -> tuple[Document, ...]:
    """Return the documents of a file of ours, which need not be Kubernetes objects.

    Raises:
        ManifestError: with everything that is wrong.
    """
    inputs = read_inputs([source], recursive=False, urls=True, stdin=stdin)
    return _sound(
        each
        for found in inputs
        for each in ([found] if isinstance(found, ManifestProblem) else contents(found, strict=True))
    )


def pod_template_values(document: Document) -> tuple[str, Plain] | None:
    """Return (field path within the object, Pod template) of a kind we do not know, such as Rollout, if it has one."""
    if (document.api_version, document.kind) in BY_API:
        return None
    template = _field(_field(document.values, "spec"), "template")
    has_containers = isinstance(_field(_field(template, "spec"), "containers"), list)
    return ("spec.template", template) if has_containers else None


def read_inventory(sources: Sequence[str], *, stdin: BinaryIO | None = None, log: Log = SILENT) -> Inventory:
    """Return the cluster that the sources hold; directories are read with all that is in them, URLs are not read.

    Objects of unknown kinds are left out. A namespaced object without a namespace is in ``default``. An object that
    is given twice, by kind, namespace and name, is taken as it stands last. Kinds that the
    sources cannot hold are unread.

    Raises:
        ManifestError: with everything that is wrong.
    """
    objects: dict[str, dict[tuple[str, str], KubernetesObject]] = {kind.name: {} for kind in KINDS}
    inputs = read_inputs(sources, recursive=True, urls=False, stdin=stdin, most=MOST_OF_A_CLUSTER)
    lists: set[Kind] = set()
    for kind, each in _sound(_cluster_objects(read_objects(_logged(inputs, log), strict=False, lists=lists))):
        objects[kind][each.metadata.namespace, each.metadata.name] = each
    unread = tuple(Unread(kind, NOT_IN_FILES) for kind in _not_held(objects, lists))
    inventory = Inventory({kind: tuple(named.values()) for kind, named in objects.items()}, unread=unread)
    log.say(READS, f"found {counted(inventory)}")
    return inventory


def _not_held(objects: Mapping[str, Mapping[tuple[str, str], KubernetesObject]], lists: set[Kind]) -> Iterator[Kind]:
    """Yield the kinds that the sources hold no object of, though the cluster may have some.

    A list of one kind, as the API server answers and ``kubectl cluster-info dump`` writes it, tells nothing of others.
    Pods that are on nodes tell that there are Nodes.
    """
    on_nodes = any(isinstance(pod, Pod) and pod.spec.node_name for pod in objects[POD.name].values())
    for kind in KINDS:
        if not objects[kind.name] and kind not in lists and (lists or (kind == NODE and on_nodes)):
            yield kind


def _logged(inputs: Iterable[Input | ManifestProblem], log: Log) -> Iterator[Input | ManifestProblem]:
    for each in inputs:
        if isinstance(each, Input):
            log.say(READS, f"read {each.source}: {len(each.content):,} bytes")
        yield each


def _sound(results: Iterable[T | ManifestProblem]) -> tuple[T, ...]:
    """Return the results if there is no problem among them.

    Raises:
        ManifestError: with all problems, or the first hundred.
    """
    sound, problems = _sorted_out(results)
    if problems:
        raise ManifestError(problems)
    return tuple(sound)


def _sorted_out(results: Iterable[T | ManifestProblem]) -> tuple[list[T], list[ManifestProblem]]:
    """Return the results, and the problems among them.

    Raises:
        ManifestError: with the first hundred problems.
    """
    sound: list[T] = []
    problems: list[ManifestProblem] = []
    for result in results:
        if not isinstance(result, ManifestProblem):
            sound.append(result)
            continue
        problems.append(result)
        if len(problems) == MOST_PROBLEMS:
            raise ManifestError(problems, hint="there may be more: reading ended here")
    return sound, problems


def _countable(found: Iterable[Document | ManifestProblem], most: int) -> Iterator[Document | ManifestProblem]:
    for number, each in enumerate(found):
        if number == most and isinstance(each, Document):
            yield ManifestProblem(each.source, f"no more than {most} objects are taken", document=each.number)
            return
        yield each


def _decoded(found: Iterable[Document | ManifestProblem]) -> Iterator[Document | ManifestProblem]:
    for each in found:
        if isinstance(each, ManifestProblem):
            yield each
            continue
        try:
            yield each.decoded()
        except DecodeError as error:
            yield each.problem(error.reason, error.field_path)


def _cluster_objects(
    found: Iterable[Document | ManifestProblem],
) -> Iterator[tuple[str, KubernetesObject] | ManifestProblem]:
    for each in _decoded(found):
        if isinstance(each, ManifestProblem):
            yield each
        elif (each.api_version, each.kind) == ("v1", "Status"):
            yield each.problem(f"is an answer of the API server, not an object: {_field(each.values, 'message')}")
        elif each.obj is not None:
            yield _in_namespace(each, each.obj)


def _in_namespace(document: Document, obj: KubernetesObject) -> tuple[str, KubernetesObject] | ManifestProblem:
    """Return (kind, object); the object has a name, and a namespace if its kind lives in one."""
    metadata = obj.metadata
    if not metadata.name:
        return document.problem("is missing", "metadata.name")
    if not metadata.namespace and BY_API[document.api_version, document.kind].namespaced:
        metadata = replace(metadata, namespace=DEFAULT_NAMESPACE)
        obj = replace(obj, metadata=metadata)
    return document.kind, obj


def _field(values: Plain, name: str) -> Plain:
    return values.get(name) if isinstance(values, dict) else None

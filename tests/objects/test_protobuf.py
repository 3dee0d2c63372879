"""What comes in Protocol Buffers is what would have come as JSON, and what is no such thing is one clean error."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from kubectl_spread.objects.core import (
    Container,
    Node,
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodCondition,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    Volume,
    VolumeMount,
)
from kubectl_spread.objects.decoding import DecodeError, ListMeta, convert, decode
from kubectl_spread.objects.meta import ObjectMeta
from kubectl_spread.objects.protobuf import PREFIX, ListDecoder, read_list, read_object
from tests.fuzz.shapes import shaped
from tests.protobuf import NOT_OF_PODS
from tests.protobuf_writing import document, list_of, message, varint, written

CORPORA = sorted((Path(__file__).parents[1] / "conformance" / "corpus").glob("*.jsonl.gz"))
KINDS: dict[str, type[Pod | Node]] = {"Pod": Pod, "Node": Node}
SHAPES = {kind: shaped(kind) for kind in KINDS.values()}


def there_and_back(held: Pod | Node) -> Pod | Node:
    """Return an object after it was written and read."""
    kind, _, raw = read_list(list_of([held]))
    assert kind == f"{type(held).__name__}List"
    (found,) = ListDecoder(type(held)).items(raw)
    return found


def recorded(corpus: Path) -> Iterator[Pod | Node]:
    """Yield the Pods and Nodes of every fourth case of a corpus, quantities as an API server writes them."""
    for line in gzip.decompress(corpus.read_bytes()).splitlines()[::4]:
        case = json.loads(line)
        for made in (*case["objects"], case.get("pod", {})):
            if struct := KINDS.get(made.get("kind", "")):
                yield decode(json.dumps(made).encode(), struct)


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_recorded_objects_are_the_same_in_both_encodings(corpus: Path) -> None:
    objects = [*recorded(corpus)]
    assert len(objects) > 100
    for kind in KINDS.values():
        held = [each for each in objects if isinstance(each, kind)]
        assert [*ListDecoder(kind).items(read_list(list_of(held))[2])] == held


MESSAGE_OF = {"volumeMounts": "VolumeMount", "spec": "PodSpec"}
QUANTITIES = {"requests", "limits", "capacity", "allocatable", "overhead", "allocatedResources"}
NEVER_EMPTY = {"schedulerName", "restartPolicy", "protocol", "kind", "pool", "volumeMode"}
"""What an API server sets where it is empty, and otherwise leaves out of JSON."""


def served(values: object, field: str = "") -> object:
    """Return values as an API server has them: times that are times, quantities as text, numbers of 64 bits."""
    if field.endswith(("Time", "Timestamp")):
        return "2026-01-05T09:30:00Z"
    if isinstance(values, dict):
        unread = {name for message, name in NOT_OF_PODS if MESSAGE_OF.get(field) == message}
        said = {
            key: each for key, each in values.items() if key not in unread and (each != "" or key not in NEVER_EMPTY)
        }
        return {key: str(each) if field in QUANTITIES else served(each, key) for key, each in said.items()}
    if isinstance(values, list):
        return [served(each, field) for each in values]
    return max(min(values, 2**63 - 1), -(2**63)) if type(values) is int else values


@st.composite
def objects(draw: st.DrawFn) -> Pod | Node:
    """Return a Pod or a Node of any shape that an API server may send."""
    kind = KINDS[draw(st.sampled_from(("Pod", "Node")))]
    values = draw(SHAPES[kind])
    if not isinstance(values, dict):
        reject()
    try:
        return convert(served(values), kind)  # type: ignore[arg-type]
    except DecodeError:
        reject()


@given(objects())
@settings(max_examples=30, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_any_object_is_the_same_in_both_encodings(held: Pod | Node) -> None:
    assert there_and_back(held) == held


REAL = decode(
    json.dumps(
        {
            "metadata": {
                "name": "web-1",
                "namespace": "shop",
                "uid": "u",
                "labels": {"app": "web", "empty": ""},
                "annotations": {"karpenter.sh/do-not-disrupt": "true"},
                "creationTimestamp": "2026-01-05T09:30:00Z",
                "deletionGracePeriodSeconds": 0,
                "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "uid": "r", "controller": True}],
            },
            "spec": {
                "priority": -1_000,
                "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-1"}}],
                "ephemeralContainers": [{"name": "debug", "image": "busybox"}],
                "containers": [{"name": "main", "resources": {"requests": {"cpu": "500m"}}, "volumeMounts": [{}, {}]}],
                "topologySpreadConstraints": [
                    {"maxSkew": 1, "topologyKey": "zone", "labelSelector": {}, "minDomains": 0, "nodeTaintsPolicy": ""}
                ],
                "hostUsers": False,
                "tolerations": [{"operator": "Exists", "tolerationSeconds": 300}],
            },
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }
    ).encode(),
    Pod,
)


def test_zeros_that_were_said_are_told_from_those_that_were_not() -> None:
    found = there_and_back(REAL)
    assert found == REAL
    assert isinstance(found, Pod)
    assert found.spec.host_users is False
    assert found.spec.runtime_class_name is None
    assert found.metadata.deletion_timestamp is None
    assert found.metadata.deletion_grace_period_seconds == 0


def test_what_a_field_leaves_out_is_its_default() -> None:
    written = document("PodList", b"\x0a\x00\x12" + varint(6) + b"\x12\x04\x9a\x01\x01x")
    (found,) = ListDecoder(Pod).items(read_list(written)[2])
    assert found == Pod(spec=PodSpec(scheduler_name="x"))


def test_annotations_that_nobody_reads_are_dropped() -> None:
    noted = msgspec.structs.replace(REAL.metadata, annotations={"karpenter.sh/do-not-disrupt": "true", "else": "x"})
    found = there_and_back(msgspec.structs.replace(REAL, metadata=noted))
    assert found.metadata.annotations == {"karpenter.sh/do-not-disrupt": "true"}


def test_objects_share_what_is_equal_across_pages() -> None:
    decoder = ListDecoder(Pod)
    others = [
        msgspec.structs.replace(REAL, metadata=msgspec.structs.replace(REAL.metadata, name=name)) for name in "abc"
    ]
    pages = [decoder.items(read_list(list_of(page))[2]) for page in (others[:2], others[2:])]
    first, second, third = (pod for page in pages for pod in page)
    assert first.spec.containers is second.spec.containers
    assert first.metadata.labels is third.metadata.labels
    assert [pod.metadata.name for pod in (first, second, third)] == ["a", "b", "c"]


def test_a_decoder_that_has_forgotten_reads_on() -> None:
    decoder = ListDecoder(Pod)
    pods = [Pod(metadata=ObjectMeta(name=name, labels={"app": "web"})) for name in ("a", "b")]
    raw = read_list(list_of(pods))[2]
    before = decoder.items(raw)
    decoder.forget()
    after = decoder.items(raw)
    assert [*before] == [*after] == pods
    assert before[0].metadata.labels is not after[0].metadata.labels


def test_what_looks_alike_is_not_taken_for_another() -> None:
    statuses = [PodStatus(phase="a", nominated_node_name=name) for name in ("b", "", "c")]
    containers = [Container(name="a", image="b"), Container(name="b", image="a"), Container(name="ab")]
    pods = [
        Pod(metadata=ObjectMeta(name="p"), spec=PodSpec(containers=(container,)), status=status)
        for container in containers
        for status in statuses
    ]
    assert [*ListDecoder(Pod).items(read_list(list_of(pods))[2])] == pods


def test_the_head_of_a_list_says_where_it_goes_on() -> None:
    written = list_of([REAL], resourceVersion="7", remainingItemCount=49_500, **{"continue": "t"})
    kind, metadata, _ = read_list(written)
    assert kind == "PodList"
    assert metadata == ListMeta(resource_version="7", remaining_item_count=49_500, continue_="t")


WRITTEN = list_of([REAL, REAL], resourceVersion="7")


def read_all(written: bytes) -> tuple[Pod, ...]:
    return ListDecoder(Pod).items(read_list(written)[2])


@given(st.integers(0, WRITTEN.rindex(REAL.status.phase.encode())))
def test_a_list_that_is_cut_short_never_passes_for_a_whole_one(end: int) -> None:
    with pytest.raises(DecodeError, match="not valid Protocol Buffers") as refused:
        read_all(WRITTEN[:end])
    assert "\n" not in str(refused.value)


@given(st.integers(0, len(WRITTEN) - 1), st.integers(0, 255))
def test_a_list_with_a_wrong_byte_is_read_or_refused(place: int, byte: int) -> None:
    broken = bytes((*WRITTEN[:place], byte, *WRITTEN[place + 1 :]))
    with suppress(DecodeError):
        assert all(isinstance(pod, Pod) for pod in read_all(broken))


LONG = msgspec.structs.replace(
    REAL,
    spec=PodSpec(
        containers=(
            Container(
                name="main",
                image="registry.example/shop/web:1.0" * 4,
                resources=ResourceRequirements(requests={"cpu": "500m"}),
                volume_mounts=(VolumeMount(), VolumeMount(bind_mount_options=("noexec",))),
            ),
        )
    ),
)
LONG_BYTES = message(LONG, "Pod")


@given(st.integers(0, len(LONG_BYTES) - 1), st.integers(0, 255))
def test_a_pod_is_read_alike_whatever_was_read_before_it(place: int, byte: int) -> None:
    other = written(2, bytes((*LONG_BYTES[:place], byte, *LONG_BYTES[place + 1 :])))
    try:
        (alone,) = ListDecoder(Pod).items(other)
    except DecodeError:
        with pytest.raises(DecodeError):
            ListDecoder(Pod).items(written(2, LONG_BYTES) + other)
    else:
        assert ListDecoder(Pod).items(written(2, LONG_BYTES) + other) == (LONG, alone)


def test_parts_that_differ_in_what_nobody_reads_are_one() -> None:
    pods = written(2, LONG_BYTES) + written(2, LONG_BYTES.replace(b"new", b"old"))
    first, second = ListDecoder(Pod).items(pods)
    assert first.spec.containers is second.spec.containers


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (b"\x0b\x0c", "there is no wire type 3"),
        (b"\x12\xff\xff\xff\xff\x0f", "cut short"),
        (b"\x12" + b"\xff" * 11, "a number does not end"),
        (b"\x12", "cut short"),
        (b"\x09\x00", "cut short"),
        (b"\x12\x0e\x0a\x0c\x42\x0a\x08" + b"\xff" * 8 + b"\x7f", "a time is not valid"),
    ],
)
def test_what_is_wrong_is_said(part: bytes, why: str) -> None:
    with pytest.raises(DecodeError, match=why):
        read_all(document("PodList", part))


def test_what_is_no_document_of_kubernetes_is_refused() -> None:
    with pytest.raises(DecodeError, match="not valid Protocol Buffers of Kubernetes"):
        read_object(b'{"kind": "Pod"}', Pod)
    with pytest.raises(DecodeError, match="not valid Protocol Buffers: cut short"):
        read_object(PREFIX, Pod)


def test_one_object_is_read_with_its_kind() -> None:
    assert read_object(document("Pod", message(REAL, "Pod")), Pod) == ("Pod", REAL)


def test_text_that_is_none_is_replaced_as_the_server_does_in_json() -> None:
    (found,) = read_all(document("PodList", b"\x12\x07\x0a\x05\x0a\x03a\xffb"))
    assert found.metadata.name == "a\ufffdb"


LETTERS = st.sampled_from("abc")  # Texts as long as each other, so that messages which hold them are laid out alike


@st.composite
def replicas(draw: st.DrawFn) -> Pod:
    """Return a Pod that is laid out as many others are, but for what replicas seldom differ in."""
    conditions = tuple(PodCondition(type=draw(LETTERS), status="True") for _ in range(draw(st.integers(1, 2))))
    claim = PersistentVolumeClaimVolumeSource(claim_name=draw(LETTERS))
    return Pod(
        metadata=ObjectMeta(
            name=draw(LETTERS),
            namespace="one-and-the-same",
            labels={key: draw(LETTERS) for key in draw(st.sampled_from(("xy", "yx", "xz")))},
            deletion_grace_period_seconds=draw(st.sampled_from((None, 0, 30))),
        ),
        spec=PodSpec(
            node_name=draw(LETTERS),
            host_network=draw(st.booleans()),
            priority=draw(st.sampled_from((0, 5, 300))),
            scheduler_name=draw(LETTERS),
            volumes=(Volume(name=draw(LETTERS), persistent_volume_claim=claim), Volume(name=draw(LETTERS))),
            overhead={draw(LETTERS): draw(st.sampled_from("123"))},
        ),
        status=PodStatus(phase=draw(LETTERS), conditions=conditions),
    )


@given(st.lists(replicas(), min_size=2, max_size=12))
def test_pods_that_are_laid_out_alike_are_told_apart(pods: list[Pod]) -> None:
    assert [*ListDecoder(Pod).items(read_list(list_of(pods))[2])] == pods


def test_of_pods_that_are_laid_out_alike_only_what_differs_is_read() -> None:
    metadata = [msgspec.structs.replace(REAL.metadata, name=name) for name in ("web-1", "web-2", "web-3")]
    written = list_of([msgspec.structs.replace(REAL, metadata=each) for each in metadata])
    _, second, third = ListDecoder(Pod).items(read_list(written)[2])
    assert third.metadata == metadata[2]
    assert third.spec is second.spec
    assert third.status is second.status

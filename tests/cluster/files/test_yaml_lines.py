"""Where fields stand in a file."""

from __future__ import annotations

import io

import pytest

from kubectl_spread.cluster.files.yaml_values import lines_of, split
from tests.cluster.files.reading import read_documents

TEXT = """\
# a comment
apiVersion: v1
kind: Pod
---

# another
apiVersion: v1
kind: Pod
metadata:
  labels:
    app.kubernetes.io/name: web
spec:
  containers:
  - name: a
    image: b
  - {name: c,
     image: d}
  anchored: &here
    x: 1
  alias: *here
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("", 7),
        ("kind", 8),
        ("metadata.labels", 10),
        ("metadata.labels[app]", 10),
        ("metadata.missing.deeper", 9),
        ("spec.containers", 13),
        ("spec.containers[0]", 14),
        ("spec.containers[0].image", 15),
        ("spec.containers[1].image", 17),
        ("spec.containers[1].ports[0]", 16),
        ("spec.containers[7].image", 13),
        ("spec.alias.x", 19),
        ("spec.containers[0].{topologyKey, whenUnsatisfiable}", 14),
        ("missing", 7),
    ],
)
def test_a_field_is_found_or_the_nearest_around_it(path: str, line: int) -> None:
    _, document = split(TEXT)
    assert lines_of(document, [path]) == {path: line}


def test_items_of_a_list_are_found_within_it() -> None:
    text = "kind: List\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n"
    (pod,) = read_documents(["-"], stdin=io.BytesIO(text.encode()))
    assert pod.lines(["", "metadata.name"]) == {"": 4, "metadata.name": 7}


def test_json_has_no_lines() -> None:
    (pod,) = read_documents(["-"], stdin=io.BytesIO(b'{"apiVersion": "v1",\n "kind": "Pod", "metadata": {}}'))
    assert pod.lines(["", "kind"]) == {}


def test_a_key_that_is_no_text_is_passed_over() -> None:
    (document,) = split("1: 2\n? [a]\n: b\nc: d\n")
    assert lines_of(document, ["c"]) == {"c": 4}

"""A change and a fix in the one line that a tool shows beside a manifest."""

from __future__ import annotations

import pytest

from kubectl_spread.diagnosis.fixes.change import ManifestEdit
from kubectl_spread.wording.annotations import edit_line, fix_sentence


@pytest.mark.parametrize(
    ("edit", "line"),
    [
        (
            ManifestEdit(path="spec.replicas", line=7, before="replicas: 2", after="replicas: 3\n"),
            "line 7: replicas: 3",
        ),
        (ManifestEdit(path="spec.a", document=2, before="", after="a:\n  b: 1\n"), "document 2, spec.a: a: b: 1"),
        (ManifestEdit(path="spec.a", line=3, before="a: 1", after=""), "line 3: remove it"),
    ],
)
def test_a_change_in_one_line(edit: ManifestEdit, line: str) -> None:
    assert edit_line(edit) == line


def test_a_fix_as_a_sentence() -> None:
    assert fix_sentence("raise maxSkew", ["line 7: maxSkew: 2", "kubectl apply"]) == (
        "Fix: raise maxSkew (line 7: maxSkew: 2; kubectl apply)."
    )

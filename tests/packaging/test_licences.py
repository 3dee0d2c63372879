"""The licences of others: everyone's is there, and one that is not known stops the release."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from release import licences
from release.licences import third_party_licences


def test_every_distribution_is_named_with_its_text() -> None:
    text = third_party_licences(["yaml", "typer", "os"])
    assert "\nPyYAML 6." in text
    assert "Copyright (c) 2017-2021 Ingy döt Net" in text
    assert "\ntyper 0." in text
    assert "pytest" not in text


def test_python_and_its_libraries_are_named() -> None:
    text = third_party_licences(["libcrypto", "libssl"])
    assert f"\nPython {sys.version.split()[0]}\n" in text
    assert "PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2" in text
    assert text.count("OpenSSL, Apache License 2.0") == 1


def test_the_notices_of_libraries_are_those_of_this_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libffi8").mkdir()
    (tmp_path / "libffi8" / "copyright").write_text("Copyright of libffi\n", encoding="utf-8")
    monkeypatch.setattr(licences, "DOCUMENTS", tmp_path)
    assert "Copyright of libffi\n" in third_party_licences(["libffi", "libz"])
    assert "Copyright of libffi\n" not in third_party_licences(["libz"])
    assert licences.NOTICES.keys() == licences.LIBRARIES.keys()


def test_this_program_is_not_third_party() -> None:
    assert "kubectl-spread 0" not in third_party_licences(["kubectl_spread"])


def test_what_has_no_package_can_be_named() -> None:
    assert "\npytest " in third_party_licences([], besides=["pytest"])


def test_an_unknown_licence_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = tmp_path / "silent-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: silent\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ValueError, match=r"silent 1\.0 does not say what its licence is"):
        third_party_licences([], besides=["silent"])

"""The alerts of deploy/, as Prometheus itself reads them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from tests import gobuild

pytestmark = pytest.mark.e2e

ALERTS = Path(__file__).parents[2] / "deploy/alerts.yaml"
SOURCES = Path(__file__).parent / "go/rules"


def test_prometheus_reads_every_alert() -> None:
    reader = gobuild.build(name="rules", sources=SOURCES, release=None, packages={"rules": "."})["rules"]
    read = subprocess.run([reader, ALERTS], capture_output=True, text=True, check=False)
    assert read.stderr == ""
    written = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"]
    assert read.stdout.split() == [rule["alert"] for group in written for rule in group["rules"]]

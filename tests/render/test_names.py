"""Names of objects, one a line."""

from __future__ import annotations

import msgspec

from kubectl_spread.contract.check import CheckItem, CheckReport
from kubectl_spread.contract.pending import PendingItem, PendingReport
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.render.structured import to_names
from tests.build import HOSTNAME, ZONE, app, spread
from tests.build_workloads import template, workload
from tests.diagnosis.judged import ABC, METADATA, incoming, report_of, rows_of

ON_ZONES = spread(ZONE, selector=app("web"))


def test_names_are_printed_once() -> None:
    made = workload("Deployment", "web", pods=template(ON_ZONES, spread(HOSTNAME, selector=app("web"))))
    assert to_names(SkewReport(metadata=METADATA, items=rows_of([*ABC, made]))) == "deployment/web\n"
    item = PendingItem(**msgspec.structs.asdict(report_of(incoming(), ABC)) | {"scheduler_name": "default-scheduler"})
    assert to_names(PendingReport(metadata=METADATA, items=(item, item))) == "pod/new\n"
    assert to_names(PendingReport(metadata=METADATA, items=())) == ""
    values = msgspec.structs.asdict(report_of(incoming(), ABC)) | {"kind": "StatefulSet", "name": "db"}
    assert to_names(CheckReport(metadata=METADATA, items=(CheckItem(**values),))) == "statefulset/db\n"

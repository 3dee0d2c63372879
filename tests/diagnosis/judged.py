"""Pods put to the diagnosis, in clusters of a few nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from kubectl_spread.contract.evaluation import EvaluationReport, evaluation_report
from kubectl_spread.contract.pending import PendingItem, PendingReport
from kubectl_spread.contract.report import Metadata
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.controllers.workloads import workloads
from kubectl_spread.diagnosis import skew
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis
from kubectl_spread.diagnosis.evaluation import judge
from kubectl_spread.diagnosis.skew import SkewItem
from kubectl_spread.objects.core import Pod
from kubectl_spread.render.outline.skew import SKEW_COLUMNS
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.scheduler.profile import Profile
from tests import build
from tests.build import ZONE, Object, app, configured_profile, node, pod, spread, typed_pod
from tests.program import encoded

METADATA = Metadata(version="0.1.0", kube_version="v1.36", kube_version_from="default")
GPU = "dedicated=gpu:NoSchedule"
ABC = (node("a1", zone="a"), node("a2", zone="a"), node("b1", zone="b"), node("c1", zone="c"))
"""Four nodes in three zones."""
TAINTED = (*ABC[:3], node("c1", zone="c", taints=[GPU]))  # The same, where a taint keeps Pods out of zone c

SERVICE: Object = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"selector": {"app": "web"}},
}
"""The Service of the application web."""


def list_defaults(*constraints: Object) -> Profile:
    args: Object = {"defaultingType": "List", "defaultConstraints": [*constraints]}
    return configured_profile({"profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": args}]}]})


HARD_ZONE_DEFAULT = list_defaults(spread(build.ZONE))


def evaluated(pod: Pod, handle: Handle) -> EvaluationReport:
    """Return what the scheduler decides about the Pod, as a report has it."""
    return evaluation_report(judge(pod, handle))


def report_of(described: Object, objects: Iterable[Object], profile: Profile | None = None) -> EvaluationReport:
    """Return what is said of the Pod in the cluster of these objects; the schema that ships must allow it."""
    report = evaluated(typed_pod(described, profile), build.handle(objects, profile))
    item = PendingItem(**msgspec.structs.asdict(report), scheduler_name="default-scheduler")
    encoded(PendingReport(metadata=METADATA, items=(item,)))
    return report


def constraint_of(described: Object, objects: Iterable[Object], profile: Profile | None = None) -> ConstraintDiagnosis:
    """Return what is said of the Pod's first constraint."""
    return report_of(described, objects, profile).constraints[0]


def rows_of(
    objects: Iterable[Object], profile: Profile | None = None, *, defaults: bool = False
) -> tuple[SkewItem, ...]:
    """Return every workload's rows; the schema that ships must allow them, and the table must say the same."""
    handle = build.handle(objects, profile)
    found = list(workloads(handle.snapshot))
    rows = tuple(row for each in found for row in skew.rows(each, handle, defaults=defaults))
    encoded(SkewReport(metadata=METADATA, items=rows))
    brief = [row for each in found for row in skew.rows(each, handle, defaults=defaults, detail=skew.Detail.BRIEF)]
    assert list(map(in_brief, brief)) == list(map(in_brief, rows))
    counted = [{each.value: each.matching for each in row.constraint.domains if each.eligible} for row in rows]
    assert [row.constraint.skew for row in rows] == [row.state.skew for row in brief]
    assert counted == [row.state.matching for row in brief]
    return rows


def varied(item: SkewItem, **values: object) -> SkewItem:
    """Return the row with other values of its properties."""
    made = msgspec.structs.replace(item)
    vars(made).update(values)
    return made


def in_brief(item: SkewItem) -> tuple[str, ...]:
    """Return what the table has to say of the row."""
    return tuple((column.narrow or column.cell)(item) for column in SKEW_COLUMNS if not column.wide)


def web(*on: str, **fields: object) -> list[Object]:
    """Return Pods of the application web, one on each of these nodes."""
    return [pod(f"web-{n}", on=where, labels={"app": "web"}, **fields) for n, where in enumerate(on)]  # type: ignore[arg-type] # a typo fails the test


def zoned(**fields: Any) -> Object:  # noqa: ANN401 - any field of a constraint
    """Return a constraint on zones that counts the application web, or as the fields say."""
    return spread(ZONE, **({"selector": app("web")} | fields))


def incoming(*constraints: Object, **fields: object) -> Object:
    """Return a Pod of the application web that waits, with these constraints or one on zones."""
    own = constraints or (spread(build.ZONE, selector=app("web")),)
    labels = {"labels": {"app": "web"}} | fields
    return pod("new", topologySpreadConstraints=[*own], **labels)  # type: ignore[arg-type] # a typo fails the test

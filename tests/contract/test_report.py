"""The contract of ``-o json``: its names, its version, and the schema that ships."""

from __future__ import annotations

from importlib.resources import files

import jsonschema
import msgspec
import pytest

from kubectl_spread.contract.any_report import AnyReport
from kubectl_spread.contract.check import CheckReport
from kubectl_spread.contract.pending import PendingReport
from kubectl_spread.contract.report import API_VERSION, Metadata
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.controllers.workloads import WorkloadRef
from kubectl_spread.diagnosis.domains import ConstraintDiagnosis, Domain
from kubectl_spread.diagnosis.requirements import ConstraintRequirement
from kubectl_spread.diagnosis.statuses import SpreadStatus
from release.schema import schema
from tests.program import encoded, valid

METADATA = Metadata(version="0.1.0", kube_version="v1.36", kube_version_from="default")
EMPTY: list[AnyReport] = [
    SkewReport(metadata=METADATA, items=()),
    PendingReport(metadata=METADATA, items=()),
    CheckReport(metadata=METADATA, items=()),
]


def test_the_schema_that_ships_is_the_one_the_types_make() -> None:
    shipped = files("kubectl_spread").joinpath("schema", "report.v1alpha2.json").read_text(encoding="utf-8")
    assert shipped == schema()


def test_the_schema_is_itself_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(msgspec.json.decode(schema()))


@pytest.mark.parametrize("report", EMPTY, ids=lambda report: report.kind)
def test_every_report_says_what_it_is(report: AnyReport) -> None:
    values = encoded(report)
    beside = ["notCreated", "starting"] if isinstance(report, PendingReport) else []
    assert list(values) == ["apiVersion", "kind", "metadata", "items", *beside, "incomplete"]
    assert values["apiVersion"] == API_VERSION
    assert values["kind"] == type(report).__name__


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "Pod"},
        {"metadata": {}},
        {"items": [{}]},
        {"apiVersion": "spread.kubectl.dev/v2"},
        {"incomplete": [{"what": "list pods"}]},
    ],
    ids=str,
)
def test_the_schema_refuses_what_the_contract_does_not_allow(wrong: dict[str, object]) -> None:
    values = encoded(EMPTY[0]) | wrong
    with pytest.raises(jsonschema.ValidationError):
        valid(values)


def test_names_on_the_wire_are_camel_case_and_unset_fields_are_absent() -> None:
    assert msgspec.to_builtins(ConstraintRequirement(0)) == {"kind": "constraint", "index": 0}
    assert msgspec.to_builtins(METADATA)["kubeVersionFrom"] == "default"


def test_statuses_come_worst_first() -> None:
    assert [status.value for status in SpreadStatus] == [
        "NoDomains",
        "Blocked",
        "FailedCreate",
        "Unschedulable",
        "Violated",
        "NoEffect",
        "Incomplete",
        "Uneven",
        "OK",
    ]


def test_a_workload_is_named_as_kubectl_takes_it() -> None:
    assert str(WorkloadRef(kind="StatefulSet", name="db")) == "statefulset/db"


@pytest.mark.parametrize(
    ("domains", "skew"), [((), 0), (((3, True), (0, True)), 3), (((3, False), (1, True)), 1), (((2, False),), 0)]
)
def test_the_skew_is_that_of_the_eligible_domains(domains: tuple[tuple[int, bool], ...], skew: int) -> None:
    constraint = ConstraintDiagnosis(
        index=0,
        topology_key="zone",
        max_skew=1,
        min_domains=1,
        when_unsatisfiable="DoNotSchedule",
        selector="app=web",
        self_match=True,
        default=False,
        global_minimum=0,
        minimum_domains=(),
        domains=tuple(domain(str(i), skew=each, eligible=ok) for i, (each, ok) in enumerate(domains)),
        bypassed_nodes=(),
    )
    assert constraint.skew == skew


def domain(value: str, *, skew: int, eligible: bool) -> Domain:
    return Domain(
        value=value, nodes=(), eligible=eligible, matching=skew, skew=skew, skew_if_placed=skew + 1, allowed=True
    )

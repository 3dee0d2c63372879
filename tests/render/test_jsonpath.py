"""JSONPath templates: what kubectl prints, this program prints."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_spread.contract.pending import PendingReport
from kubectl_spread.contract.report import Metadata
from kubectl_spread.errors import UsageError
from kubectl_spread.render import jsonpath
from tests.render.jsonpath_templates import REFUSED, TEMPLATES, VALUES

REPORT = PendingReport(metadata=Metadata(version="0", kube_version="v1.36", kube_version_from="default"), items=())


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_is_filled_as_kubectl_fills_it(template: str) -> None:
    assert jsonpath.fill(jsonpath.parse(template), VALUES) == TEMPLATES[template]


@pytest.mark.parametrize("template", REFUSED)
def test_what_makes_no_sense_is_refused(template: str) -> None:
    with pytest.raises(UsageError, match="error parsing jsonpath: "):
        jsonpath.parse(template)


@pytest.mark.parametrize("template", [".rows[0].name", "rows[0].name", "$.rows[0].name"])
def test_a_path_needs_no_braces(template: str) -> None:
    assert jsonpath.fill(jsonpath.parse(template), VALUES) == "web"


@pytest.mark.parametrize("template", ["{.rows[7].name}", "{.kind[0]}", "{.rows[?(@.name>1)].name}"])
def test_data_of_another_shape_holds_nothing(template: str) -> None:
    assert jsonpath.fill(jsonpath.parse(template), VALUES) == ""


def test_reports_are_read_as_programs_read_them() -> None:
    assert jsonpath.printer('{.kind} {.metadata.kubeVersion}{"\\n"}')(REPORT) == "PendingReport v1.36\n"


@given(st.text(alphabet="{}[]()?@$.*,:'\"\\ab1 =<>!&|\n-", max_size=30))
def test_any_template_is_filled_or_refused(template: str) -> None:
    try:
        parts = jsonpath.parse(template)
    except UsageError:
        return
    assert isinstance(jsonpath.fill(parts, VALUES), str)

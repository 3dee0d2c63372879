"""Fields that server-side apply takes away: those that client-side apply alone had set."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_spread.apiserver.apply import without_left_fields
from kubectl_spread.objects.meta import LAST_APPLIED
from tests.build import Object

BY_CLIENT: Object = {"f:metadata": {"f:annotations": {".": {}, f"f:{LAST_APPLIED}": {}}}}


def applied(spec: Object, client: Object, *others: Object) -> Any:  # noqa: ANN401 - any value
    """Return the spec of what was applied on the server, after what client-side apply managed was handed over."""
    entries = [
        {"manager": "kubectl-client-side-apply", "operation": "Update", "fieldsV1": {**BY_CLIENT, "f:spec": client}},
        *({"manager": "other", "operation": "Apply", "fieldsV1": {"f:spec": each}} for each in others),
    ]
    values: Object = {"metadata": {"managedFields": entries, "annotations": {LAST_APPLIED: "{}"}}, "spec": spec}
    left: Any = without_left_fields(values)["spec"]
    assert values["spec"] == spec
    return left


@pytest.mark.parametrize(
    ("spec", "client", "other", "left"),
    [
        ({"replicas": 3, "paused": True}, {"f:replicas": {}}, {}, {"paused": True}),
        ({"replicas": 3}, {"f:replicas": {}}, {"f:replicas": {}}, {"replicas": 3}),
        ({"template": {"a": 1, "b": 2}}, {"f:template": {"f:a": {}}}, {}, {"template": {"b": 2}}),
        ({"template": {"a": 1}}, {"f:template": {"f:a": {}}}, {}, {}),
        ({"strategy": {"type": "x"}}, {"f:strategy": {".": {}, "f:type": {}}}, {}, {}),
        ({"gone": 1}, {"f:absent": {}}, {}, {"gone": 1}),
        (
            {"items": [{"name": "a", "x": 1}, {"name": "b"}]},
            {"f:items": {'k:{"name":"a"}': {".": {}, "f:name": {}, "f:x": {}}, 'k:{"name":"b"}': {".": {}}}},
            {"f:items": {'k:{"name":"a"}': {".": {}, "f:name": {}}}},
            {"items": [{"name": "a"}]},
        ),
        (
            {"items": [{"name": "a", "x": 1}]},
            {"f:items": {'k:{"name":"a"}': {".": {}, "f:name": {}}}},
            {"f:items": {'k:{"name":"a"}': {"f:x": {}}}},
            {"items": []},
        ),
        ({"set": ["a", "b"]}, {"f:set": {'v:"a"': {}}}, {}, {"set": ["b"]}),
    ],
)
def test_what_only_client_side_apply_had_set_goes(spec: Object, client: Object, other: Object, left: Object) -> None:
    assert applied(spec, client, other) == left


def test_other_updates_stay() -> None:
    values: Object = {
        "metadata": {"managedFields": [{"operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]},
        "spec": {"replicas": 3},
    }
    assert without_left_fields(values) == values

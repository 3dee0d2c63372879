"""HorizontalPodAutoscalers: the replicas that a step sets last only within their bounds.

Source: kube-controller-manager pkg/controller/podautoscaler/horizontal.go reconcileAutoscaler (v1.36).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kubectl_spread.commands import exit_codes
from kubectl_spread.exit_code import ExitCode
from kubectl_spread.gaps import NOT_IN_SNAPSHOT, Purpose, UnreadKind
from kubectl_spread.objects.kinds import HORIZONTAL_POD_AUTOSCALER as HPA
from kubectl_spread.snapshot import Unread
from tests.build import ZONE, Object, app, spread
from tests.build_workloads import scaler
from tests.simulation.generated import forms
from tests.simulation.test_apply import applied, manifest
from tests.simulation.test_steps import SIX, deployment, item, last, simulated

ON_ZONES = spread(ZONE, selector=app("web"))


def four(*scalers: Object) -> list[Object]:
    """Return a cluster with four Pods of web, and autoscalers."""
    return [*SIX, *deployment(["a1", "a2", "b1", "c1"], ON_ZONES), *scalers]


SCALES = "HorizontalPodAutoscaler web scales deployment/web between"


@pytest.mark.parametrize(
    ("scalers", "asked", "pods", "note"),
    [
        ([scaler(4, 8)], 2, 4, f"{SCALES} 4 and 8 replicas: it changes 2 to 4, and the step goes on with 4"),
        ([scaler(1, 5)], 9, 5, f"{SCALES} 1 and 5 replicas: it changes 9 to 5, and the step goes on with 5"),
        ([scaler(None, 3)], 6, 3, f"{SCALES} 1 and 3 replicas: it changes 6 to 3, and the step goes on with 3"),
        ([scaler(4, 8)], 6, 6, f"{SCALES} 4 and 8 replicas: it may change 6 again"),
        ([scaler(4, 8)], 0, 0, f"{SCALES} 4 and 8 replicas, but it does not scale it up from 0 replicas"),
        ([scaler(4, 8, api_version="apps/v1beta2")], 2, 4, "it changes 2 to 4"),
        ([scaler(4, 8, api_version="example.com/v1")], 2, 2, ""),
        ([scaler(4, 8), scaler(6, 8, "other")], 2, 2, ""),
        ([], 2, 2, ""),
    ],
)
def test_a_scaling_goes_on_with_the_bound_that_is_restored(
    scalers: Sequence[Object], asked: int, pods: int, note: str
) -> None:
    step = last(four(*scalers), f"scale deployment/web={asked}")
    assert sum(item(step).after.values()) == pods
    said = [each for each in step.notes if "HorizontalPodAutoscaler" in each]
    assert [note in each for each in said] == [True] * bool(note)


def test_pods_are_deleted_before_the_bound_is_restored() -> None:
    step = last(four(scaler(4, 8)), "scale deployment/web=1")
    assert item(step).before == {"a": 2, "b": 1, "c": 1}
    assert set(item(step).ranges.values()) == {(1, 2)}


def test_an_autoscaler_that_is_applied_scales_what_exceeds_it(tmp_path: Path) -> None:
    step = applied(tmp_path, four(), scaler(6, 8))
    assert item(step).after == {"a": 2, "b": 2, "c": 2}
    assert f"{SCALES} 6 and 8 replicas: it changes 4 to 6, and the step goes on with 6" in step.notes
    assert not applied(tmp_path, four(), scaler(1, 4)).notes


def test_a_manifest_may_leave_replicas_to_the_autoscaler(tmp_path: Path) -> None:
    step = applied(tmp_path, four(scaler(4, 8)), manifest("Deployment", ON_ZONES, replicas=2))
    assert sum(item(step).after.values()) == 4
    advice = "leave replicas out of the manifest. Applying it changes 4 to 2, which the autoscaler changes to 4"
    assert any(f"{SCALES} 4 and 8 replicas: {advice}" in each for each in step.notes)
    assert not any("Autoscaler" in each for each in applied(tmp_path, four(scaler(4, 8)), manifest("Deployment")).notes)


@pytest.mark.parametrize("step", ["scale deployment/web=6", "drain a1"])
def test_where_they_may_not_be_read_a_scaling_is_incomplete(step: str) -> None:
    report, scales = simulated(four(), step, unread=(Unread(HPA, "forbidden"),)), step != "drain a1"
    missing = UnreadKind(kind=HPA, why="forbidden", purpose=Purpose.SIMULATION)
    assert report.incomplete == (missing,) * scales
    assert (exit_codes.of_simulate(report) is ExitCode.UNDETERMINED) == scales


def test_an_older_snapshot_is_complete_without_them() -> None:
    report = simulated(four(), "scale deployment/web=6", unread=(Unread(HPA, NOT_IN_SNAPSHOT),))
    assert exit_codes.of_simulate(report) is ExitCode.ANSWERED
    assert not report.incomplete
    one = (
        "HorizontalPodAutoscalers are not in the snapshot: one that scales deployment/web may change its replicas again"
    )
    assert forms(report)[-1].notes == (one,)

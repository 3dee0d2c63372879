"""Which profile is asked about a Pod, by its schedulerName and the profiles there are."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_spread.scheduler.framework import NO_SCHEDULER, Handles
from kubectl_spread.scheduler.profile import default_profile
from tests.build import node, pod, snapshot, typed_pod


def handles(*scheduler_names: str) -> Handles:
    """Return one node as these schedulers see it."""
    profiles = (replace(default_profile(), scheduler_name=name) for name in scheduler_names)
    return Handles.build(snapshot([node("n")]), profiles)


@pytest.mark.parametrize(
    ("profiles", "scheduler_name", "asked"),
    [
        (["default-scheduler"], "default-scheduler", "default-scheduler"),
        (["default-scheduler"], "", "default-scheduler"),
        (["default-scheduler"], "volcano", "default-scheduler"),
        (["packed", "default-scheduler"], "packed", "packed"),
        (["packed", "default-scheduler"], "volcano", "default-scheduler"),
        (["packed", "plain", NO_SCHEDULER], "plain", "plain"),
        (["packed", "plain", NO_SCHEDULER], "volcano", NO_SCHEDULER),
        (["packed", "plain", NO_SCHEDULER], "default-scheduler", NO_SCHEDULER),
    ],
)
def test_a_scheduler_without_a_profile_is_judged_by_the_default_one(
    profiles: list[str], scheduler_name: str, asked: str
) -> None:
    found = handles(*profiles)
    assert found.named(scheduler_name).profile.scheduler_name == asked
    assert found.of(typed_pod(pod("p", schedulerName=scheduler_name))).profile.scheduler_name == asked


def test_a_change_is_made_for_every_profile() -> None:
    found = handles("packed", "default-scheduler").each(lambda handle: handle.without_node("n"))
    assert [dict(each.node_infos) for each in (found.default, *found.others.values())] == [{}, {}]
    assert found.snapshot.nodes == {}

"""What holds of every simulation, on clusters that are made from seeds."""

from __future__ import annotations

import pytest

from tests.build import ZONE
from tests.sampling import first
from tests.simulation.generated import ALONE, cluster, report_of, steps_for, there, wanted

SEEDS = first(12, range(24))


@pytest.mark.parametrize("seed", SEEDS)
def test_each_workload_has_the_pods_it_wants_or_waits_for_them(seed: int) -> None:
    objects = [each for each in cluster(seed) if each["metadata"]["name"] != ALONE]
    for each in objects:
        # What no constraint counts is on no node that is counted.
        for constraint in each["spec"].get("topologySpreadConstraints", ()):
            constraint["nodeTaintsPolicy"] = "Ignore"
    steps = steps_for(seed, objects)
    assert there(report_of(objects, *steps).steps[-1]) == wanted(objects, steps)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_nothing_makes_again_is_lost_or_stays(seed: int) -> None:
    objects = cluster(seed)
    (on,) = (each["spec"]["nodeName"] for each in objects if each["metadata"]["name"] == ALONE)
    kept, forced = report_of(objects, f"drain {on}"), report_of(objects, f"drain {on}", force=True)
    assert ALONE in {each.pod.metadata.name for each in kept.steps[0].blocked}
    assert [each.pod for each in forced.steps[0].lost] == [ALONE]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_that_changes_nothing_changes_nothing(seed: int) -> None:
    objects = cluster(seed)
    report = report_of(objects, *steps_for(seed, objects), "uncordon b0", "uncordon b0", "scale replicaset/web-0=3")
    again = report_of(objects, *steps_for(seed, objects), "uncordon b0", "scale replicaset/web-0=3")
    idle = report.steps[3]
    assert not any(each.changed and each.before != each.after for each in idle.items)
    assert (idle.evicted, idle.blocked, idle.lost, idle.preempted) == ((), (), (), ())
    assert report.steps[-1].items == again.steps[-1].items


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_steps_that_have_nothing_to_do_with_each_other_does_not_matter(seed: int) -> None:
    objects = cluster(seed)
    for each in objects:
        if each["kind"] in {"ReplicaSet", "Pod"} and each["metadata"]["name"].startswith(("web-0", "web-1")):
            spec = each["spec"]["template"]["spec"] if each["kind"] == "ReplicaSet" else each["spec"]
            spec["nodeSelector"] = {ZONE: "a" if each["metadata"]["name"].startswith("web-0") else "b"}
    first, second = "scale replicaset/web-0=4", "cordon c0"
    one, other = report_of(objects, first, second), report_of(objects, second, first)
    assert there(one.steps[-1]) == there(other.steps[-1])
    waiting = [[(str(p.workload), p.range) for p in each.steps[-1].pending] for each in (one, other)]
    assert waiting[0] == waiting[1]

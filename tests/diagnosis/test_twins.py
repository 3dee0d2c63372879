"""The judgement of a Pod, made from that of its twin."""

from __future__ import annotations

import pytest

from kubectl_spread.contract.evaluation import evaluation_report
from kubectl_spread.diagnosis.evaluation import Judgement, findings_for, judge, judgement_for
from kubectl_spread.objects.core import Pod
from kubectl_spread.scheduler.framework import Handle
from kubectl_spread.wording.pending import summary_of
from tests import build
from tests.build import ZONE, Object, app, node, spread
from tests.build_storage import claim, storage_class
from tests.diagnosis.judged import ABC, TAINTED, web

EPHEMERAL: Object = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "fast"}}}}
OTHER = spread(ZONE, selector=app("other"))


def waiting(name: str, fields: Object) -> Pod:
    """Return a Pod that waits for a node."""
    return build.typed_pod(build.pod(name, labels={"app": "web"}, **fields))


def judged(pod: Pod, handle: Handle) -> Judgement:
    """Return what the scheduler decides about it."""
    return judge(pod, handle)


def unbound(*names: str) -> list[Object]:
    """Return the claims of ephemeral volumes of these Pods, for which no volume can be made in any zone there is."""
    claims = [claim(f"{name}-scratch", class_name="fast", owner_uid=f"default/{name}") for name in names]
    return [storage_class("fast", topologies=[{ZONE: ["z9"]}]), *claims]


@pytest.mark.parametrize(
    ("fields", "objects"),
    [
        ({"topologySpreadConstraints": [OTHER]}, [*TAINTED, *web("a1", "b1")]),
        ({"requests": {"cpu": "9"}}, [*ABC]),
        ({"schedulerName": "volcano"}, [*ABC]),
        ({"volumes": [EPHEMERAL]}, [*ABC]),
        ({"volumes": [EPHEMERAL]}, [*ABC, *unbound("new-1", "new-10")]),
        ({}, [node("n")]),
    ],
    ids=["ghost", "full", "another scheduler", "a claim that is missing", "a claim without a volume", "feasible"],
)
def test_a_pod_is_judged_like_its_twin_under_its_own_name(fields: Object, objects: list[Object]) -> None:
    handle = build.handle(objects)
    first, second = waiting("new-1", fields), waiting("new-10", fields)
    twin = judged(first, handle)
    assert evaluation_report(twin).summary or twin.evaluation.feasible
    derived = judgement_for(second, twin)
    wanted = evaluation_report(judged(second, handle))
    assert findings_for(second, twin.findings) == derived.findings
    assert (derived.message, summary_of(derived.conclusion)) == (wanted.message, wanted.summary)
    assert evaluation_report(derived).cause == wanted.cause


@pytest.mark.parametrize("owner", ["", "another"], ids=["a claim that is missing", "a claim of another Pod"])
def test_the_words_of_a_filter_name_the_pods_own_claim(owner: str) -> None:
    claims = [claim(f"{name}-scratch", owner_uid=owner) for name in ("new-1", "new-10") if owner]
    volume_limits_alone: Object = {"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "VolumeBinding"}]}}}]}
    handle = build.handle([*ABC, *claims], build.configured_profile(volume_limits_alone))
    first, second = (waiting(name, {"volumes": [EPHEMERAL]}) for name in ("new-1", "new-10"))
    derived, wanted = judgement_for(second, judged(first, handle)), judged(second, handle)
    assert "new-10-scratch" in str(wanted.message)
    assert evaluation_report(derived) == evaluation_report(wanted)

"""Why a constraint does not hold after a plan, as facts."""

from __future__ import annotations

import pytest

from kubectl_spread.apiserver.eviction import EvictionRefused
from kubectl_spread.diagnosis.reasons import RejectedByConstraint, UntoleratedTaints
from kubectl_spread.diagnosis.remaining_skew import (
    DomainShut,
    NotBegun,
    PodsStay,
    RemainingCause,
    RemainingSkew,
    TooFewDomains,
    TooFewEvictions,
    is_left,
    remaining_skew,
    unsure_of,
)
from kubectl_spread.gaps import OtherScheduler
from kubectl_spread.rebalance.movable import StayCause, Stays
from kubectl_spread.rebalance.plan import Outcome
from kubectl_spread.rebalance.search import Ended
from tests.build import HOSTNAME, ZONE, Object, app, node, spread
from tests.build_storage import claim, volume
from tests.rebalance.lying import BY_ZONE, planned, web, zones
from tests.rebalance.test_waves import budget

BY_HOST = spread(HOSTNAME, selector=app("web"))
USED_UP = EvictionRefused("The disruption budget web does not allow evicting pods currently")


def outcome(objects: list[Object], *, most: int | None = None) -> Outcome:
    """Return what becomes of the last constraint of a cluster."""
    return planned(objects, most=most).outcomes[-1]


@pytest.mark.parametrize(
    ("objects", "cause"),
    [
        (
            [*zones("a", "b"), *web({"a1": 3}), budget("web", 0)],
            PodsStay(("default", "web-0"), "a", USED_UP, others=2, alike=True),
        ),
        (
            [*zones("a", "b", "c"), *web({"a1": 2, "b1": 2}), budget("web", 0)],
            PodsStay(("default", "web-0"), "a", USED_UP, others=3, alike=True),
        ),
        ([*zones("a", "b"), *web({"a1": 4}, {**BY_ZONE, "minDomains": 3})], TooFewDomains(2, 3)),
        (
            [*zones("a"), *zones("b", each=8), *web({"a1": 2, "b1": 1, "b2": 1}, BY_ZONE, BY_HOST)],
            DomainShut("b3", (RejectedByConstraint(index=0, topology_key=ZONE),)),
        ),
    ],
    ids=["budget", "budget in two domains", "minDomains", "another constraint"],
)
def test_why_it_does_not_hold(objects: list[Object], cause: RemainingCause) -> None:
    assert remaining_skew(outcome(objects)) == RemainingSkew(cause)


def test_pods_of_a_workload_that_was_not_asked_about_stay() -> None:
    both = [*zones("a", "b"), *web({"a1": 1}), *web({"a1": 3}, name="api")]
    asked = planned(both, wanted=lambda each: each.ref.name == "web", may_go=lambda pod: "web" in pod.metadata.name)
    api = Stays(StayCause.NOT_ASKED_ABOUT, "replicaset/api")
    assert remaining_skew(asked.outcomes[0]) == RemainingSkew(PodsStay(("default", "api-0"), "a", api, 2, alike=True))


@pytest.mark.parametrize(
    ("others", "most", "ended"),
    [(2, None, Ended.FOUND_ALL), (2, 1, Ended.FOUND_ALL), (3, 1, Ended.EVICTIONS)],
    ids=["without a limit", "no number of evictions helps", "more evictions help a little"],
)
def test_pods_of_one_fullest_domain_stay_while_others_may_go(others: int, most: int | None, ended: Ended) -> None:
    keep = others + others // 3
    stays = [*zones("a", "b", "c", "d"), *web({"a1": keep}), *web({"b1": others}, name="api")]
    found = planned(stays, may_go=lambda pod: "api" in pod.metadata.name, most=most).outcomes[-1]
    why = Stays(StayCause.NOT_ASKED_ABOUT, "replicaset/web")
    cause = PodsStay(("default", "web-0"), "a", why, keep - 1, alike=True)
    assert remaining_skew(found) == RemainingSkew(cause, ended)


@pytest.mark.parametrize(("others", "evictions"), [({}, 0), ({"a1": 1}, 1)], ids=["alone", "with one that may go"])
def test_claims_that_are_bound_keep_pods_in_a_domain(others: dict[str, int], evictions: int) -> None:
    """The other domain is open: that the volume of one Pod is elsewhere does not shut it."""
    uses = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    modes = ["ReadWriteMany"]
    disk = volume("disk", kept_for={"name": "data"}, modes=modes, usable_on={ZONE: ["a"]})
    pods = [*web({"a1": 3}, volumes=uses), *(web(others, name="api") if others else ())]
    found = planned([*zones("a", "b", "c"), claim("data", modes=modes, bound_to="disk"), disk, *pods])
    cause = PodsStay(("default", "web-0"), "a", Stays(StayCause.VOLUME_THERE), others=2, alike=True)
    assert remaining_skew(found.outcomes[-1]) == RemainingSkew(cause)
    assert len(found.evictions) == evictions


def test_no_number_of_evictions_makes_up_for_too_few_domains() -> None:
    found = remaining_skew(outcome([*zones("a", "b"), *web({"a1": 4}, {**BY_ZONE, "minDomains": 3})], most=0))
    assert found == RemainingSkew(TooFewDomains(2, 3), Ended.EVICTIONS)


def test_a_filter_shuts_the_emptiest_domain() -> None:
    found = remaining_skew(outcome([*zones("a"), node("c1", zone="c", taints=["x=y:NoSchedule"]), *web({"a1": 3})]))
    assert found is not None
    assert isinstance(found.cause, DomainShut)
    (by,) = found.cause.by
    taints = UntoleratedTaints(taints=("x=y:NoSchedule",))
    assert (found.cause.domain, by) == ("c", taints)


def test_a_constraint_that_holds_leaves_nothing() -> None:
    found = outcome([*zones("a", "b"), *web({"a1": 2})])
    assert (is_left(found), remaining_skew(found), unsure_of(found)) == (False, None, None)


def test_fewer_evictions_than_it_takes() -> None:
    found = remaining_skew(outcome([*zones("a", "b"), *web({"a1": 6})], most=1))
    assert found == RemainingSkew(TooFewEvictions(), Ended.EVICTIONS)


def test_no_number_of_evictions_opens_a_domain() -> None:
    closed = node("c1", zone="c", taints=["x=y:NoSchedule"])
    pods = web({"a1": 6, "b1": 1}, {**BY_ZONE, "maxSkew": 3})
    found = remaining_skew(outcome([*zones("a", "b"), closed, *pods], most=1))
    assert found == RemainingSkew(DomainShut("c", (UntoleratedTaints(taints=("x=y:NoSchedule",)),)), Ended.EVICTIONS)


def test_what_is_not_known() -> None:
    uneven = [*zones("a", "b"), *web({"a1": 3}, schedulerName="volcano")]
    assert unsure_of(outcome(uneven)) == OtherScheduler(scheduler_name="volcano")
    alone = spread(ZONE, selector=app("api"))
    both = [*zones("a", "b"), *web({"a1": 3}), *web({"a1": 2}, alone, name="api", labels={"app": "api"})]
    assert NotBegun() in {unsure_of(each) for each in planned(both, most_work=1).outcomes}

"""An autoscaler's decision about a Pod, as reports have it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from kubectl_spread.autoscalers.counts import CountedConstraint
from kubectl_spread.contract.report import Report
from kubectl_spread.diagnosis.fixes.conclusion import Fix

if TYPE_CHECKING:
    from kubectl_spread.autoscalers.decision import AutoscalerDecision, PoolDecision
    from kubectl_spread.diagnosis.fixes.node_pools import PoolChange


class PoolReport(Report, frozen=True, kw_only=True):
    """A NodePool or node group.

    Attributes:
        verdict: whether it adds a node.
        domains: topology key → the domains in which it may add a node, or would if it were not refused.
        reasons: why it is refused or unknown; a few words each.
    """

    name: str
    verdict: Literal["chosen", "possible", "refused", "unknown"]
    domains: dict[str, tuple[str, ...]] = {}
    reasons: tuple[str, ...] = ()


class AutoscalerEvent(Report, frozen=True, kw_only=True):
    """The autoscaler's own last message about the Pod.

    Attributes:
        reason: of the event, such as ``FailedScheduling``.
        message: as in the event.
        time: RFC 3339 text; empty if unknown.
    """

    reason: str
    message: str
    time: str = ""


class AutoscalerReport(Report, frozen=True, kw_only=True):
    """An autoscaler's decision about a Pod that has no node.

    Attributes:
        kind: which autoscaler.
        version: the release whose rules apply; empty if all have the same rules.
        decision: ``NewNode`` (nothing that was read forbids one), ``ExistingNode`` (it sees room where the scheduler
            sees none), ``Refused``, ``ByChance`` or ``Unknown``.
        node: the node on which it sees room; empty for none.
        summary: the decision in a sentence.
        pools: its NodePools or node groups, in the order in which it tries them.
        constraints: the Pod's constraints as it counts them; empty if it counts as the scheduler does.
        fixes: changes of the Pod after which a node may be added; they open no existing node.
        advice: what to change in its NodePools, verified by simulation, or in its node groups, a sentence each.
        event: its own last message; None for none.
    """

    kind: Literal["karpenter", "cluster-autoscaler"]
    version: str = ""
    decision: Literal["NewNode", "ExistingNode", "Refused", "ByChance", "Unknown"]
    node: str = ""
    summary: str
    pools: tuple[PoolReport, ...] = ()
    constraints: tuple[CountedConstraint, ...] = ()
    fixes: tuple[Fix, ...] = ()
    advice: tuple[str, ...] = ()
    event: AutoscalerEvent | None = None


def autoscaler_report(
    decision: AutoscalerDecision,
    event: AutoscalerEvent | None,
    *,
    fixes: Iterable[Fix] = (),
    changes: Iterable[PoolChange] = (),
) -> AutoscalerReport:
    """Return a decision as reports have it, with changes of the Pod or of a NodePool."""
    # A cluster without an autoscaler needs no such imports.
    from kubectl_spread.wording.autoscalers import advice_text, decision_text, reason_text

    def pool_report(pool: PoolDecision) -> PoolReport:
        reasons = tuple(map(reason_text, pool.reasons))
        return PoolReport(name=pool.name, verdict=pool.verdict.value, domains=dict(pool.domains), reasons=reasons)

    return AutoscalerReport(
        kind=decision.kind,
        version=decision.version,
        decision=decision.decision.value,
        node=decision.node,
        summary=decision_text(decision),
        pools=tuple(map(pool_report, decision.pools)),
        constraints=decision.constraints,
        fixes=tuple(fixes),
        advice=tuple(advice_text(decision, changes)),
        event=event,
    )

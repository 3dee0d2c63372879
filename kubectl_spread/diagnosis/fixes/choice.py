"""What is offered first of all that lets a Pod in: decided once, so that every format offers the same."""

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto
from typing import Protocol

from msgspec.structs import replace

from kubectl_spread.diagnosis.fixes import conclusion, constraints, demands, moves, nodes, strategy
from kubectl_spread.diagnosis.fixes.change import Disturbance, Override
from kubectl_spread.diagnosis.fixes.proposals import Proposal
from kubectl_spread.diagnosis.unlabelled_nodes import UnlabelledNodes
from kubectl_spread.objects.meta import grouped

MOST = 2  # Fixes (count) that are offered first; the others come when all are asked for
WEAKENING = (constraints.RaiseMaxSkew, constraints.MakeSoft)
# Fixes that give up a part of the spread, the place of another Pod or a release: a further node costs none of them.
AFTER_A_NODE = (*WEAKENING, constraints.LowerMinDomains, moves.MovePod, moves.RollBack)
AGAINST_TAINTS = (demands.AddToleration, nodes.RemoveTaint)
NAMING_A_LABEL = (nodes.LabelNode, constraints.FixTopologyKey)


# The classes of changes, in the order in which fixes of one rank come.
EQUALLY_GOOD = (
    nodes.AddNode,
    constraints.FixSelector,
    constraints.HonorTaints,
    constraints.AddMatchLabelKeys,
    moves.MovePod,
    moves.RecreatePod,
    demands.ChangeHostPort,
    demands.RelaxNodeSelector,
    strategy.ChangeStrategy,
    moves.RollBack,
    demands.RequireZones,
    nodes.LabelNode,
    constraints.AddPodLabel,
    constraints.LowerMinDomains,
    demands.LowerRequests,
    demands.RelaxPodAffinity,
    constraints.RaiseMaxSkew,
    nodes.RemoveTaint,
    constraints.HonorAffinity,
    constraints.IgnoreAffinity,
    constraints.MakeSoft,
    demands.AddToleration,
    nodes.Uncordon,
    constraints.FixTopologyKey,
)


class Searched(Protocol):
    """What lets a Pod in: the result of a search, or an item of a report that has it."""

    @property
    def fixes(self) -> Sequence[conclusion.Fix]:
        """The fixes, by rank."""

    @property
    def new_nodes(self) -> Sequence[conclusion.Fix]:
        """New nodes in the form of fixes."""

    @property
    def waits(self) -> Sequence[conclusion.Wait]:
        """What happens without any action."""

    @property
    def left_alone(self) -> Sequence[conclusion.NotOffered]:
        """What is not offered, although it would let the Pod in."""


class Hidden(Enum):
    """Why a fix is not offered first."""

    IN_VAIN = auto()
    OVERRIDING = auto()
    LOSING = auto()
    FOR_OTHERS = auto()  # Other workloads take all the room that it makes
    NEEDLESS = auto()  # It ends running Pods, and waiting is enough


def ranked(fixes: Iterable[conclusion.Fix], *, final: bool = False) -> tuple[conclusion.Fix, ...]:
    """Return the fixes, the safest first.

    ``final``: no other one is simulated in the whole cluster. Where one breaks a constraint there, none comes before it
    only because it was not tried.
    """
    some = [*fixes]
    doubted = final and any(fix.breaks_spread for fix in some)
    return tuple(sorted(some, key=lambda fix: (*fix.rank(doubted=doubted), [*map(_order, fix.proposals)])))


def _order(proposal: Proposal) -> tuple[int, tuple[str, ...]]:
    return EQUALLY_GOOD.index(type(proposal)), proposal.values


def with_offered(searched: Searched) -> tuple[conclusion.Fix, ...]:
    """Return the fixes, those marked that are offered first."""
    first = offered_first(searched)
    return tuple(replace(fix, offered=True) if any(fix is each for each in first) else fix for fix in searched.fixes)


def offered_first(searched: Searched) -> tuple[conclusion.Fix, ...]:
    """Return the first fix, and its equal for another constraint, or the next of another kind that lets in Pods.

    None that takes the Pod from its node pool, or replaces Pods in vain. Where anything else lets the Pod in, none that
    overrides a decision or deletes Pods for good, and where it is only a matter of time, none that ends running Pods:
    those come when all are asked for.
    """
    fixes = searched.fixes
    forward = (fix for fix in fixes if not (fix.in_vain or _is_only(fix, moves.RollBack)))
    otherwise = bool(searched.waits) or any(is_safe(fix) and fix.admits for fix in forward)
    alone = all(fix.siblings <= 1 for fix in fixes)
    soon = any(wait.sure and (alone or wait.workload) for wait in searched.waits)
    kept = [
        fix
        for fix in fixes
        if not (fix.in_vain or fix.for_others)
        and fix.overrides is not Override.NODE_POOL
        and not (searched.new_nodes and any(isinstance(part, AGAINST_TAINTS) for part in fix.proposals))
        and not (otherwise and fix.overrides is not Override.NOTHING)
        and not ((otherwise or searched.new_nodes) and fix.disturbs is Disturbance.LOST)
        and not (soon and fix.disturbs is not Disturbance.NOTHING)
    ]
    others = [fix for fix in kept[1:] if are_equal(kept[0], fix)]
    others = others or [fix for fix in kept if fix.id != kept[0].id] or kept[1:]
    helping = [fix for fix in others if fix.admits or kept[0].admits]
    return (*kept[:1], *(helping or others)[: MOST - 1])


def are_equal(first: conclusion.Fix, second: conclusion.Fix) -> bool:
    """Whether each weakens another constraint, equally far: one of them is enough."""
    return _is_only(first, *WEAKENING) and (first.id, first.admits) == (second.id, second.admits)


def is_safe(fix: conclusion.Fix) -> bool:
    """Whether the fix keeps what somebody decided, and ends no Pod for good."""
    return fix.overrides is Override.NOTHING and fix.disturbs is not Disturbance.LOST


def is_on_purpose(fix: conclusion.Fix) -> bool:
    """Whether somebody wanted what the fix overrides. Too little room keeps Pods off too, but nobody wanted that."""
    return fix.overrides is not Override.NOTHING and fix.id != demands.LowerRequests.__name__


def nodes_come_first(shown: Sequence[conclusion.Fix]) -> bool:
    """Whether a new node is better than the first of the fixes that are shown."""
    if not shown or shown[0].breaks_spread or not is_safe(shown[0]):
        return True
    return any(isinstance(part, AFTER_A_NODE) for part in shown[0].proposals)


def awaits_node(searched: Searched) -> bool:
    """Whether the cluster's autoscaler adds a node by itself."""
    return any(isinstance(wait, conclusion.NodeAddition) for wait in searched.waits)


def comes_before_waits(searched: Searched, fix: conclusion.Fix) -> bool:
    """Whether the fix only uncordons a healthy node where others have to recover: no repair is worth waiting for."""
    repairs = bool(searched.waits) and all(isinstance(wait, conclusion.NodeRecovery) for wait in searched.waits)
    uncordons = _is_only(fix, nodes.Uncordon) and fix.overrides is Override.NOTHING
    return repairs and uncordons and fix.admits == fix.siblings


def why_hidden(fix: conclusion.Fix) -> Hidden:
    """Return why the fix is not offered first."""
    if fix.in_vain:
        return Hidden.IN_VAIN
    if fix.for_others:
        return Hidden.FOR_OTHERS
    if fix.overrides is not Override.NOTHING:
        return Hidden.OVERRIDING
    return Hidden.LOSING if fix.disturbs is Disturbance.LOST else Hidden.NEEDLESS


def not_proposed(searched: Searched) -> Iterator[tuple[conclusion.NotOffered, bool]]:
    """Yield what is not offered, and whether there is another Pod like it; of nodes, only those that nobody awaits."""
    awaited = {
        wait.trouble
        for wait in searched.waits
        if isinstance(wait, conclusion.NodeRemoval)
        or (isinstance(wait, conclusion.NodeRecovery) and wait.taints and not wait.problems)
    }
    others = (
        each
        for each in searched.left_alone
        if not (isinstance(each, conclusion.SufferingNodes) and each.trouble in awaited)
    )
    for alike in grouped(others, lambda each: each.why if isinstance(each, conclusion.StayingPod) else each).values():
        yield alike[0], bool(alike[1:])


def nodes_to_label(searched: Searched, unlabelled: Sequence[UnlabelledNodes]) -> Sequence[UnlabelledNodes]:
    """Return the nodes to label: none if a fix names their label."""
    named = any(isinstance(part, NAMING_A_LABEL) for fix in searched.fixes for part in fix.proposals)
    return () if named else unlabelled


def _is_only(fix: conclusion.Fix, *classes: type[Proposal]) -> bool:
    return len(fix.proposals) == 1 and isinstance(fix.proposals[0], classes)

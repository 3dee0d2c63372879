"""How the Pods of workloads are spread over the domains of their constraints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.diagnosis.constraint_state import SimulatedItem
from kubectl_spread.diagnosis.skew import SkewItem
from kubectl_spread.diagnosis.statuses import SpreadStatus
from kubectl_spread.render.outline import (
    STATUSES,
    Block,
    Column,
    Extent,
    FindingLine,
    Findings,
    Headline,
    Item,
    Note,
    Outline,
)
from kubectl_spread.render.outline.access import outline_with
from kubectl_spread.render.outline.domains import constraint_block
from kubectl_spread.wording import statuses as wording
from kubectl_spread.wording.reasons import alike_text
from kubectl_spread.wording.words import between, capital, first_and_more, in_cluster, moved, scores_few, seen

if TYPE_CHECKING:  # One command's report needs no other's types.
    from kubectl_spread.diagnosis.planned_evictions import RebalanceItem

FEW_DOMAINS = 5  # Domains (count) up to which each is shown with its Pods
FEW_COUNTS = 3  # Different counts of Pods in domains that do not change (count) up to which each is shown
MOST_COUNTS = 6  # Different counts of Pods (count) up to which each is shown with the number of domains that have it
# Pods (count) that one of many domains must have more than another for so many of the fullest to be named.
UNEVEN, MOST_NAMED = 2, 2


def skew_outline(report: SkewReport, extent: Extent) -> Outline:
    """Return each row's domain table and ghosts; once a workload, its findings and where its next replica may go."""
    last = {_owner(item): item for item in report.items}
    shown = set[tuple[object, ...]]()
    items = []
    for item in report.items:
        new = {
            key: each
            for each in Findings.of(item.findings).findings
            if (key := (*_owner(item), each.id, each.message)) not in shown
        }
        shown.update(new)
        flags = report.metadata.flags_for(item.cluster)
        items.append(_item(item, extent, tuple(new.values()), flags, last=last[_owner(item)] is item))
    return outline_with(items, report)


def _owner(item: SkewItem) -> tuple[str, ...]:
    """Return what the rows of one next replica share."""
    return item.cluster or "", item.namespace, str(item.workload), item.revision


def _item(
    item: SkewItem, extent: Extent, findings: tuple[FindingLine, ...], flags: Sequence[str], *, last: bool
) -> Item:
    """Return a row with those of its findings that no row before it has; the next replica stands in the last row."""
    revision = f" revision {item.revision}" if item.revision else ""
    subject = in_cluster(f"{item.namespace}/{item.workload}{revision}", item.cluster)
    reason = wording.status_text(item.now)
    skew, domains = wording.skew_text(item.constraint.skew, item.constraint.max_skew), item.constraint.domains
    # The words of the cluster with which a reason may begin.
    nodes = {*(name for each in domains for name in each.nodes), *(it.name for it in item.constraint.bypassed_nodes)}
    names = {item.constraint.topology_key.rpartition("/")[2], *(each.value for each in domains), *nodes}
    return Item(
        item=item,
        headline=Headline(
            subject=subject,
            lead=f"{subject}: ",
            line=f"{item.current}: {reason}" if reason else item.current.value,
            sentence=capital(reason, names) or skew,
            tone=STATUSES[item.current][0],
        ),
        paragraphs=(
            (
                constraint_block(item.constraint, extent, rejected=_rejected(item) if extent.by_node else {}),
                *_counted(item),
                *((Note(line=wording.ghosts_text(item.ghosts)),) if item.ghosts else ()),
                *(Note(line=line) for line in left_behind([item] * last)),
                *(Note(line=line) for line in wording.way_back(item, flags)),
                *((Findings(findings=findings),) if findings else ()),
                *(_upcoming(item) if last else ()),
            ),
        ),
    )


def left_behind(items: Iterable[SkewItem]) -> Iterator[str]:
    """Yield, once for each workload, which of its Pods are on nodes that do not exist: no constraint counts them."""
    for (namespace, workload), item in {(each.namespace, each.workload): each for each in items}.items():
        of = item.judged.revision
        if pods := [pod for pod in of.workload.pods if of.handle.is_orphan(pod)]:
            names, nodes = [pod.metadata.name for pod in pods], [*dict.fromkeys(pod.spec.node_name for pod in pods)]
            yield wording.left_behind_text(f"{namespace}/{workload}", names, nodes)


def _counted(item: SkewItem) -> Iterator[Block]:
    if item.pods != item.own_pods:
        yield Note(
            line=wording.counted_text(
                item.pods, item.own_pods, counts_text(item.own_matching, item.state.constraint.topology_key)
            )
        )


def _rejected(item: SkewItem) -> Mapping[str, str]:
    """Return node that cannot take the next Pod → the filter at which the scheduler stops."""
    verdicts = item.judged.decision.evaluation.nodes.values() if item.judged.revision.is_next else ()
    return {verdict.name: verdict.first.plugin for verdict in verdicts if verdict.first is not None}


def _upcoming(item: SkewItem) -> Iterator[Block]:
    known = item.status is not SpreadStatus.INCOMPLETE
    nodes = item.next if known else ()
    if item.pending_pod:
        preempting = any(domain.next == "Preemption" for domain in item.constraint.domains)
        line = wording.pending_pod(item.pending_pod, nodes, item.held_by, known=known, preempting=preempting)
        yield Note(line=line)
        if not isinstance(item.autoscaler, UnsetType):
            from kubectl_spread.wording.autoscalers import decision_text

            yield Note(line=decision_text(item.autoscaler))
    # Only the newest revision has a next replica.
    elif stop := _stop(item):
        yield Note(line=f"One more Pod: {stop}")
    elif (known and not item.revision) or item.next or wording.next_reason(item):
        yield Note(line=wording.next_replica(item.next, wording.next_reason(item), some_read=bool(item.proved_on)))
    if not isinstance(item.scored, UnsetType):
        yield Note(line=scores_few(item.scored, len(item.next)))
    if (headroom := headroom_text(item)) and (item.next or not item.pending_pod):
        yield Note(line=f"Headroom: {headroom}.")


def headroom_text(item: SkewItem) -> str:
    """Return how many more replicas find a node, and what stops the next; empty where that is not known."""
    return "" if isinstance(item.headroom, UnsetType) else wording.headroom_text(item.headroom)


def counts_text(matching: Mapping[str, int], key: str) -> str:
    """Return the count of each domain of the key; of many, how many have which, or from where to where."""
    if len(matching) <= FEW_DOMAINS:
        return " ".join(f"{seen(domain)}:{pods}" for domain, pods in sorted(matching.items()))
    return alike_text(_domains_of_counts(matching.values()), key, most=MOST_COUNTS)


def _domains_of_counts(pods: Iterable[int]) -> Mapping[str, int]:
    return {str(number): domains for number, domains in Counter(pods).items()}


def _with_fullest(matching: Mapping[str, int], key: str) -> str:
    """Return the count of each domain of the key; of many, which have far more than another, and how many the rest."""
    most = max(matching.values(), default=0)
    fullest = [domain for domain, pods in matching.items() if pods == most]
    if len(matching) <= FEW_DOMAINS or most - min(matching.values()) < UNEVEN or len(fullest) > MOST_NAMED:
        return counts_text(matching, key)
    others = _domains_of_counts(pods for pods in matching.values() if pods < most)
    named = counts_text(dict.fromkeys(fullest, most), key)
    return f"{named}, {alike_text(others, key, most=FEW_COUNTS, other=True)}"


def moved_text(before: Mapping[str, int], after: Mapping[str, tuple[int, int]], key: str) -> str:
    """Return the count of each domain of the key before → after, a range; of many those that change, or as above."""
    was = {domain: (pods, pods) for domain, pods in before.items()}
    every = sorted({*was, *after})
    changed = [domain for domain in every if was.get(domain) != after.get(domain)]
    shown = changed if len(every) > FEW_DOMAINS >= len(changed) > 0 else every
    if len(shown) <= FEW_DOMAINS:
        pods = ((domain, _pods(was.get(domain), "new"), _pods(after.get(domain), "gone")) for domain in shown)
        named = " ".join(f"{seen(domain)}:{moved(first, last)}" for domain, first, last in pods)
        others = Counter(between(*after[domain]) for domain in every if domain not in shown)
        return ", ".join(filter(None, (named, alike_text(others, key, other=True, most=FEW_COUNTS))))
    then = alike_text(Counter(between(*each) for each in after.values()), key, most=MOST_COUNTS)
    return " → ".join(dict.fromkeys(text or "-" for text in (counts_text(before, key), then)))


def _pods(ends: tuple[int, int] | None, absent: str) -> str:
    return between(*ends) if ends else absent


def workload_text(item: SkewItem | RebalanceItem | SimulatedItem) -> str:
    """Return the workload of a row, and its revision if there are several; after a step, whether it is an old one."""
    revision = item.revision
    if isinstance(item, SimulatedItem) and (revision or item.old):
        revision = f"{'old' if item.old else 'new'} {revision}".rstrip()
    return f"{item.workload} ({revision})" if revision else str(item.workload)


def _stop(item: SkewItem) -> str:
    """Return what one more Pod meets that the Pods there are do not; empty for nothing."""
    reason = wording.status_text(item.worst)
    told = f"{item.status}: {reason}" if reason else item.status.value
    return told if item.status is not item.current else ""


def _next(item: SkewItem) -> str:
    """Return the node of the next Pod or what stops it, and whether its template names it."""
    if stop := _stop(item):
        return stop
    by_name = " (by spec.nodeName)" if wording.next_reason(item) else ""
    return first_and_more(item.next) + by_name if item.next else ""


# What a row says of a workload and one of its constraints.
SKEW_COLUMNS: Sequence[Column[SkewItem]] = (
    Column("CLUSTER", lambda i: i.cluster or "", optional=True),
    Column("NAMESPACE", lambda i: i.namespace),
    Column("WORKLOAD", workload_text),
    Column("KEY", lambda i: i.state.constraint.topology_key + (" (default)" if i.default else "")),
    Column("WHEN", lambda i: i.state.constraint.when_unsatisfiable.value),
    Column("MAX-SKEW", lambda i: str(i.state.constraint.max_skew), spare=True),
    Column("SKEW", lambda i: str(i.state.skew), spare=True),
    Column("PODS", lambda i: wording.pods_text(i.pods, i.own_pods), wide=True),
    Column("READY", lambda i: f"{i.ready}/{i.wanted}" if i.wanted is not UNSET else str(i.ready), wide=True),
    Column("PENDING", lambda i: str(i.pending), wide=True),
    Column("STATUS", lambda i: i.current.value, tone=lambda i: STATUSES[i.current][0]),
    Column("DOMAINS", lambda i: _with_fullest(i.state.matching, i.state.constraint.topology_key)),
    Column("SELECTOR", lambda i: str(i.state.constraint.selector), wide=True, below=True),
    Column("NEXT", _next, narrow=_stop, below=True),
    Column("HEADROOM", headroom_text, wide=True, below=True),
    Column("REASON", lambda i: wording.status_text(i.now), tone=lambda i: STATUSES[i.current][0], below=True),
)

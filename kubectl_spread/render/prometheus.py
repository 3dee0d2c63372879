"""``show`` and ``audit`` as metrics, in Prometheus' text format.

They are for the textfile collector, a push gateway or a CronJob's log, and for scrapes of ``serve``.

Metrics are gauges: what was true when the cluster was read.
Series are few: one for the status of a row, and none for each node unless that is asked for.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Generic, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, UnsetType
from prometheus_client import Metric as MetricFamily
from prometheus_client import generate_latest

from kubectl_spread.contract.audit import AuditReport
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.diagnosis.skew import SkewItem
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.render.cells import clean
from kubectl_spread.render.outline.audit import Row, rows
from kubectl_spread.wording.incomplete import entries

Labels: TypeAlias = dict[str, str]
Sample: TypeAlias = tuple[Labels, float]
Missing: TypeAlias = tuple[str | UnsetType, int]  # A cluster, and how much of the answer about it is missing (count)


RowT = TypeVar("RowT", SkewItem, Row, Missing, float)


class Metric(msgspec.Struct, Generic[RowT], frozen=True):
    """One gauge, by its name without the prefix that all share.

    ``samples``: the values of one row, with the labels that tell them apart within the row.
    """

    name: str
    help: str
    samples: Callable[[RowT], Iterable[Sample]]


def to_prometheus(report: SkewReport | AuditReport, *, by_node: bool = False) -> str:
    """Return the report as metrics; a report without rows still says what it could not read.

    Where nodes are the domains it has their Pods only with ``by_node``: a thousand nodes are a thousand series a
    workload.
    """
    return exposition((*families(report, by_node=by_node), missing(report)))


def families(report: SkewReport | AuditReport, *, by_node: bool = False) -> Iterator[MetricFamily]:
    """Yield the metrics of a report; ``by_node`` as for ``to_prometheus``."""
    if report.kind == "AuditReport":
        audited = [(row, _labels_of_key(row)) for row in rows(report, every=True)]
        yield from (family(metric, audited) for metric in AUDIT)
    else:
        shown = [(item, _labels_of_row(item)) for item in report.items]
        metrics = (*METRICS, _domain_pods(by_node=by_node), STATUS, CURRENT, DECISION)
        yield from (family(metric, shown) for metric in metrics)


def missing(report: SkewReport | AuditReport) -> MetricFamily:
    """Return how much of the answer is missing; of several clusters, of each."""
    gaps = Counter(each.cluster for each in entries(report.incomplete))
    read = [UNSET] if isinstance(report.clusters, UnsetType) else [each.source for each in report.clusters]
    return family(INCOMPLETE, [((name, gaps[name]), _cluster(name)) for name in dict.fromkeys((*read, *gaps))])


def exposition(found: Iterable[MetricFamily]) -> str:
    """Return the metrics as text."""

    class Collected:
        def collect(self) -> Iterable[MetricFamily]:
            return found

    return generate_latest(Collected()).decode()


to_prometheus_by_node = partial(to_prometheus, by_node=True)


def family(metric: Metric[RowT], items: Iterable[tuple[RowT, Labels]]) -> MetricFamily:
    """Return the metric of rows and the labels of each."""
    made = MetricFamily(f"kubectl_spread_{metric.name}", metric.help, "gauge")
    for item, row in items:
        for labels, value in metric.samples(item):
            made.add_sample(made.name, {key: clean(text) for key, text in (row | labels).items()}, value)
    return made


def _labels_of_row(item: SkewItem) -> Labels:
    return _cluster(item.cluster) | {
        "namespace": item.namespace,
        "workload": str(item.workload),
        "revision": item.revision,
        "constraint": str(item.state.constraint.index),
        "key": item.state.constraint.topology_key,
        "when": item.state.constraint.when_unsatisfiable.value,
    }


def _labels_of_key(row: Row) -> Labels:
    item, key = row
    return _cluster(item.cluster) | {
        "namespace": item.namespace,
        "workload": str(item.workload),
        "key": key.topology_key,
    }


def _cluster(name: str | UnsetType) -> Labels:
    return {} if isinstance(name, UnsetType) else {"cluster": name}


def _domain_pods(*, by_node: bool) -> Metric[SkewItem]:
    def samples(item: SkewItem) -> Iterator[Sample]:
        if by_node or item.state.constraint.topology_key != HOSTNAME:
            yield from (({"domain": value}, number) for value, number in sorted(item.state.matching.items()))

    return Metric("domain_pods", "Matching Pods in a domain that is counted.", samples)


def _only(value: Callable[[RowT], float]) -> Callable[[RowT], Iterable[Sample]]:
    return lambda item: [({}, value(item))]


# The numbers of a row, in the order in which they are printed.
METRICS: Sequence[Metric[SkewItem]] = (
    Metric("skew", "Most matching Pods in a domain minus the fewest.", _only(lambda i: i.state.skew)),
    Metric("max_skew", "maxSkew of the constraint.", _only(lambda i: i.state.constraint.max_skew)),
    Metric(
        "min_domains", "minDomains of the constraint, 1 where unset.", _only(lambda i: i.state.constraint.min_domains)
    ),
    Metric("global_minimum", "Fewest matching Pods in any domain.", _only(lambda i: i.state.counts.global_minimum)),
    Metric("pods", "Pods that the constraint counts.", _only(lambda i: i.pods)),
    Metric("own_pods", "Pods of the workload among them.", _only(lambda i: i.own_pods)),
    Metric(
        "ghost_pods", "Pods of the workload that their own constraint does not count.", _only(lambda i: len(i.ghosts))
    ),
    Metric("next_nodes", "Nodes that the next replica may go to.", _only(lambda i: len(i.next))),
    Metric("domains", "Domains that are counted.", _only(lambda i: len(i.state.matching))),
)


def _decision(item: SkewItem) -> Iterator[Sample]:
    if not isinstance(item.autoscaler, UnsetType):
        yield {"autoscaler": item.autoscaler.kind, "decision": item.autoscaler.decision}, 1


DECISION = Metric("autoscaler_decision", "1 for what the autoscaler decides about the row's Pending Pod.", _decision)
STALE: Metric[float] = Metric(
    "stale_seconds",
    "How much older than the cluster the answers of serve are, 0 while it is followed and evaluated in time.",
    _only(lambda seconds: seconds),
)
INCOMPLETE: Metric[Missing] = Metric(
    "incomplete", "What could not be read or is not modelled (count).", _only(lambda missing: missing[1])
)
STATUS = Metric(
    "status", "1 for the status of the row, one more Pod included.", lambda i: [({"status": i.status.value}, 1)]
)
CURRENT = Metric("current", "1 for the status of the Pods there are.", lambda i: [({"status": i.current.value}, 1)])
# What is printed of a workload and one of its keys.
AUDIT: Sequence[Metric[Row]] = (
    Metric("audit_pods", "Pods of the workload on nodes.", _only(lambda row: row.item.pods)),
    Metric("audit_loss", "Most Pods that an outage of one domain takes.", _only(lambda row: row.key.loss)),
    Metric("audit_fair", "Least loss in an even spread over the usable domains.", _only(lambda row: row.key.fair)),
    Metric("audit_usable", "Domains that the workload can use.", _only(lambda row: len(row.key.usable))),
    Metric("audit_risk", "1 for the risk of the workload on the key.", lambda row: [({"risk": row.key.risk.value}, 1)]),
)

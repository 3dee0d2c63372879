"""``show`` as metrics, in Prometheus' text format: for the textfile collector, a push gateway or a CronJob's log.

Every row is told apart by the labels of ``_row_labels``. Metrics are gauges: what was true when the cluster was read.
Series are few: one for the status of a row, and none for each node unless that is asked for.

Source: prometheus.io/docs/instrumenting/exposition_formats (version 0.0.4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kubectl_spread.contract.constraints import ConstraintReport
from kubectl_spread.contract.skew import SkewItem, SkewReport
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.render.cells import clean

Labels: TypeAlias = Mapping[str, str]
Sample: TypeAlias = tuple[Labels, int]


@dataclass(frozen=True, slots=True)
class Metric:
    """One gauge.

    Attributes:
        name: without the prefix that all share.
        help: what it counts.
        samples: the values of one row, with the labels that tell them apart within the row.
    """

    name: str
    help: str
    samples: Callable[[SkewItem], Iterable[Sample]]


def to_prometheus(report: SkewReport) -> str:
    """Return the report as metrics; a report without rows still says what it could not read.

    Of nodes that are domains by themselves it has the sum alone: a thousand nodes are a thousand series a workload.
    """
    return _metrics(report, (*METRICS, _domain_pods(_of_several_nodes), STATUS))


def to_prometheus_by_node(report: SkewReport) -> str:
    """Return the same with the Pods of each node where nodes are the domains."""
    return _metrics(report, (*METRICS, _domain_pods(_any), STATUS))


def _metrics(report: SkewReport, metrics: Iterable[Metric]) -> str:
    lines = [line for metric in metrics for line in _lines(metric, report.items)]
    missing = "kubectl_spread_incomplete"
    lines += [f"# HELP {missing} What could not be read or is not modelled (count).", f"# TYPE {missing} gauge"]
    return "\n".join([*lines, f"{missing} {len(report.incomplete)}", ""])


def _lines(metric: Metric, items: Sequence[SkewItem]) -> Iterator[str]:
    name = f"kubectl_spread_{metric.name}"
    yield f"# HELP {name} {metric.help}"
    yield f"# TYPE {name} gauge"
    for item in items:
        row = _row_labels(item)
        for labels, value in metric.samples(item):
            yield f"{name}{{{_labels({**row, **labels})}}} {value}"


def _row_labels(item: SkewItem) -> Labels:
    """Return what tells a row from all others."""
    return {
        "namespace": item.namespace,
        "workload": str(item.workload),
        "revision": item.revision,
        "constraint": str(item.constraint.index),
        "key": item.constraint.topology_key,
        "when": item.constraint.when_unsatisfiable,
    }


def _labels(labels: Labels) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(value: str) -> str:
    return clean(value).replace("\\", "\\\\").replace('"', '\\"')


def _any(_constraint: ConstraintReport) -> bool:
    """Whether the domains of a constraint have a series each: always."""
    return True


def _of_several_nodes(constraint: ConstraintReport) -> bool:
    return constraint.topology_key != HOSTNAME


def _domain_pods(wanted: Callable[[ConstraintReport], bool]) -> Metric:
    def samples(item: SkewItem) -> Iterator[Sample]:
        for domain in item.constraint.domains if wanted(item.constraint) else ():
            if domain.eligible:
                yield {"domain": domain.value}, domain.matching

    return Metric("domain_pods", "Matching Pods in a domain that is counted.", samples)


def _counted(item: SkewItem) -> int:
    return sum(domain.eligible for domain in item.constraint.domains)


def _only(value: Callable[[SkewItem], int]) -> Callable[[SkewItem], Iterable[Sample]]:
    return lambda item: [({}, value(item))]


METRICS: Sequence[Metric] = (
    Metric("skew", "Most matching Pods in a domain minus the fewest.", _only(lambda i: i.constraint.skew)),
    Metric("max_skew", "maxSkew of the constraint.", _only(lambda i: i.constraint.max_skew)),
    Metric("min_domains", "minDomains of the constraint, 1 where unset.", _only(lambda i: i.constraint.min_domains)),
    Metric("global_minimum", "Fewest matching Pods in any domain.", _only(lambda i: i.constraint.global_minimum)),
    Metric("pods", "Pods that the constraint counts.", _only(lambda i: i.pods)),
    Metric("own_pods", "Pods of the workload among them.", _only(lambda i: i.own_pods)),
    Metric(
        "ghost_pods", "Pods of the workload that their own constraint does not count.", _only(lambda i: len(i.ghosts))
    ),
    Metric("next_nodes", "Nodes that the next replica may go to.", _only(lambda i: len(i.next))),
    Metric("domains", "Domains that are counted.", _only(_counted)),
)
"""The numbers of a row, in the order in which they are printed."""
STATUS = Metric("status", "1 for the status of the row.", lambda i: [({"status": i.status.value}, 1)])

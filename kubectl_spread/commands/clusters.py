"""Several clusters: each is asked as if it were alone, a few at once, and their answers become one report."""

from collections.abc import Callable, Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from msgspec.structs import fields, replace

from kubectl_spread import __version__
from kubectl_spread.cluster.access.options import ConnectionOptions, connection_flags, secret_flags
from kubectl_spread.cluster.net.background import Background
from kubectl_spread.contract.audit import AuditReport
from kubectl_spread.contract.pending import PendingReport
from kubectl_spread.contract.report import ClusterAccess, Metadata
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.errors import SpreadError
from kubectl_spread.gaps import InCluster, UnansweredCluster

AT_ONCE = 4  # Clusters (count) that are asked at once

T = TypeVar("T")
ReportT = TypeVar("ReportT", SkewReport, PendingReport, AuditReport)


def side_by_side(contexts: Sequence[str], ask: Callable[[str], T]) -> Mapping[str, T | SpreadError]:
    """Return context → its answer, or the error that this cluster alone has."""
    waiting: SimpleQueue[str] = SimpleQueue()
    for context in contexts:
        waiting.put(context)

    def work() -> dict[str, T | SpreadError]:
        found = dict[str, T | SpreadError]()
        while True:
            try:
                context = waiting.get_nowait()
                found[context] = ask(context)
            except SpreadError as error:
                found[context] = error
            except Empty:
                return found

    workers = [Background(work) for _ in contexts[:AT_ONCE]]
    found = {context: answer for worker in workers for context, answer in worker.result().items()}
    return {context: found[context] for context in contexts}


def together(
    kind: type[ReportT], reports: Mapping[str, ReportT], failed: Mapping[str, SpreadError], options: ConnectionOptions
) -> ReportT:
    """Return the reports (context → report) as one in which each item and each gap names its cluster.

    ``options``: with which each cluster was asked, beside its context.
    """
    each = tuple(report.metadata for report in reports.values())
    shared = replace(options, context="")
    metadata = Metadata(
        version=__version__,
        server=", ".join(found.server for found in each),
        kube_version="",
        kube_version_from="clusters",
        source=", ".join((*reports, *failed)),
        access=ClusterAccess(flags=tuple(connection_flags(shared)), secret_flags=secret_flags(shared)),
    )
    gaps = tuple(InCluster(cluster=name, gap=UnansweredCluster(why=error.message)) for name, error in failed.items())
    whole = kind(metadata=metadata, items=(), clusters=each, incomplete=gaps)
    for name, report in reports.items():
        whole = replace(whole, **{field.name: _added(whole, report, field.name, name) for field in fields(kind)})
    return whole


def _added(whole: ReportT, report: ReportT, field: str, cluster: str) -> Any:  # noqa: ANN401 - a field of any type
    """Return a field of all clusters so far with what one more has: more items, or a larger number."""
    so_far: Any = getattr(whole, field)
    more: Any = getattr(report, field)
    if field in {"metadata", "clusters"} or isinstance(so_far, str):
        return so_far
    if isinstance(so_far, int):
        return so_far + more
    if field == "incomplete":
        return (*so_far, *(InCluster(cluster=cluster, gap=gap) for gap in more))
    return (*so_far, *(replace(each, cluster=cluster) for each in more))

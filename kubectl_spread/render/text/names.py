"""What ``-o name`` prints."""

from __future__ import annotations

from kubectl_spread.contract.any_report import AnyReport
from kubectl_spread.render.cells import clean


def names(report: AnyReport) -> str:
    """Return the objects' names, each once."""
    if report.kind == "SkewReport":
        found = [str(item.workload) for item in report.items]
    elif report.kind == "SimulateReport":
        found = [str(item.workload) for step in report.steps for item in step.items if item.changed]
    elif report.kind == "RebalanceReport":
        found = [f"pod/{each.pod}" for each in report.evictions]
    else:
        found = [f"{item.kind.lower()}/{item.name}" for item in report.items]
    return "".join(f"{clean(name)}\n" for name in dict.fromkeys(found))

"""What ``audit`` prints: a table of all workloads with totals, or each in full."""

from kubectl_spread.contract.audit import AuditReport
from kubectl_spread.render.outline import table_of
from kubectl_spread.render.outline.access import node_names
from kubectl_spread.render.outline.audit import AUDIT_COLUMNS, audit_outline, rows
from kubectl_spread.render.text import outline_text
from kubectl_spread.render.text.screen import Screen
from kubectl_spread.render.text.show import table_screen
from kubectl_spread.wording.audit import totals_text


def audit_text(report: AuditReport, screen: Screen, *, detailed: bool, wide: bool, headers: bool) -> str:
    """Return the report as text; ``detailed``: every workload by itself."""
    if detailed:
        return outline_text(audit_outline(report), screen)
    table = table_of(AUDIT_COLUMNS, rows(report, every=wide), wide=wide)
    totals = totals_text(report.items, report.left_out) if headers else ""
    return table_screen(report, table, screen, headers=headers, nodes=node_names(report), totals=totals)

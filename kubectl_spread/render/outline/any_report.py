"""The reports of all commands, and what each says."""

from kubectl_spread.contract.any_report import AnyReport
from kubectl_spread.contract.audit import AuditReport
from kubectl_spread.contract.check import CheckReport
from kubectl_spread.contract.pending import PendingReport
from kubectl_spread.contract.rebalance import RebalanceReport
from kubectl_spread.contract.simulate import SimulateReport
from kubectl_spread.contract.skew import SkewReport
from kubectl_spread.render.outline import Extent, Outline
from kubectl_spread.render.outline.audit import audit_outline
from kubectl_spread.render.outline.check import check_outline
from kubectl_spread.render.outline.pending import pending_outline
from kubectl_spread.render.outline.rebalance import rebalance_outline
from kubectl_spread.render.outline.simulate import simulate_outline
from kubectl_spread.render.outline.skew import skew_outline


def outline_of(report: AnyReport, extent: Extent) -> Outline:
    """Return what the report says, item by item."""
    match report:
        case SkewReport():
            return skew_outline(report, extent)
        case PendingReport():
            return pending_outline(report, extent)
        case CheckReport():
            return check_outline(report, extent)
        case SimulateReport():
            return simulate_outline(report, extent)
        case AuditReport():
            return audit_outline(report)
        case RebalanceReport():
            return rebalance_outline(report, extent)

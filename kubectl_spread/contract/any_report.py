"""The reports, by what may be done with them."""

from typing import TypeAlias

from kubectl_spread.contract.audit import AuditReport
from kubectl_spread.contract.check import CheckReport
from kubectl_spread.contract.pending import PendingReport
from kubectl_spread.contract.rebalance import RebalanceReport
from kubectl_spread.contract.simulate import SimulateReport
from kubectl_spread.contract.skew import SkewReport

# The reports whose items have nodes and domains that can be drawn.
ItemsReport: TypeAlias = SkewReport | PendingReport | CheckReport
ClustersReport: TypeAlias = SkewReport | PendingReport | AuditReport  # The reports that may be about several clusters
AnyReport: TypeAlias = ItemsReport | SimulateReport | RebalanceReport | AuditReport

"""What is worth knowing about a constraint, a Pod or the cluster."""

from __future__ import annotations

from enum import StrEnum

from kubectl_spread.contract.report import Report


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Finding(Report, frozen=True, kw_only=True):
    """Something worth knowing about a constraint, a Pod or the cluster, and what to do."""

    id: str
    severity: Severity
    path: str = ""
    message: str

"""The findings about a constraint, a Pod or the cluster, and what an answer could not take into account."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_spread.contract.report import Report
from kubectl_spread.diagnosis import findings
from kubectl_spread.diagnosis.findings import Severity
from kubectl_spread.wording.findings import FINDINGS


class Finding(Report, frozen=True, kw_only=True):
    """A fact about a constraint, a Pod or the cluster that matters besides the verdict, and what to do."""

    id: str
    severity: Severity
    path: str = ""
    message: str

    @classmethod
    def of(cls, finding: findings.Finding) -> Finding:
        """Return a finding with its text."""
        return cls(id=finding.id, severity=finding.severity, path=finding.path, message=FINDINGS.text(finding))


def distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings of one Pod, those of two constraints with one text once."""
    return tuple({(each.id, each.message): each for each in findings}.values())

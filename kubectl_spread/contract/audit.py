"""The report of ``audit``, and what ``-o json`` adds to its items."""

from typing import Literal

from msgspec import UNSET, UnsetType

from kubectl_spread.contract.fixes import commands, source, yaml
from kubectl_spread.contract.leaf import Leaf
from kubectl_spread.contract.report import Metadata, Report
from kubectl_spread.diagnosis.audit import AuditedKey, AuditItem, Suggestion
from kubectl_spread.gaps import Gap
from kubectl_spread.wording.audit import risk_text
from kubectl_spread.wording.fixes.routes import sets_off


class AuditReport(Report, frozen=True, kw_only=True):
    """The answer of ``audit``."""

    api_version: Literal["spread.kubectl.dev/v1alpha2"] = "spread.kubectl.dev/v1alpha2"
    kind: Literal["AuditReport"] = "AuditReport"
    metadata: Metadata
    items: tuple[AuditItem, ...]  # the workloads, worst first
    left_out: int = 0  # how many workloads with one Pod are not among them
    not_searched: int = 0  # for how many of the items the time for suggestions was too short
    # of several clusters each that answered; absent if one cluster was read
    clusters: tuple[Metadata, ...] | UnsetType = UNSET
    incomplete: tuple[Gap, ...] = ()


def reason(key: AuditedKey) -> str:
    """Why the loss cannot be lowered, or which budget it breaks; empty where the numbers say it."""
    return risk_text(key.why, key.topology_key)


AUDITED = Leaf(added=(reason,), left_out=frozenset({"why"}))


def starts(suggestion: Suggestion) -> str:
    """What the commands trigger."""
    return "; ".join(sets_off(suggestion.route))


SUGGESTION = Leaf(added=(commands, yaml, source, starts), left_out=frozenset({"route"}))

"""What an outage of one domain takes of workloads."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import UnsetType
from msgspec.structs import replace

from kubectl_spread.contract.audit import AuditReport
from kubectl_spread.diagnosis.audit import AuditedKey, AuditItem, Suggestion
from kubectl_spread.diagnosis.fixes.shell import command_line
from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.render.outline import STATUSES, Column, Headline, Item, Outline, Step, Steps, table_of
from kubectl_spread.render.outline.access import outline_with
from kubectl_spread.render.outline.skew import FEW_DOMAINS, counts_text
from kubectl_spread.wording import audit as wording
from kubectl_spread.wording import fixes
from kubectl_spread.wording.fixes.routes import fragment_text, sets_off
from kubectl_spread.wording.words import capital, in_cluster


class Row(NamedTuple):
    """A workload and one of its keys."""

    item: AuditItem
    key: AuditedKey


def rows(report: AuditReport, *, every: bool) -> Iterator[Row]:
    """Yield the rows of the table: the keys that are as bad as the workload; ``every``: all."""
    for item in report.items:
        yield from (Row(item, key) for key in item.keys if every or key.risk is item.risk)


def audit_outline(report: AuditReport) -> Outline:
    """Return each workload with a row for each of its keys."""
    items = [_item(item, report.metadata.flags_for(item.cluster)) for item in report.items]
    return replace(outline_with(items, report), totals=wording.not_searched_text(report.not_searched))


def _item(item: AuditItem, flags: Sequence[str]) -> Item:
    subject = in_cluster(f"{item.namespace}/{item.workload}", item.cluster)
    worst = next(key for key in item.keys if key.risk is item.risk)
    sentence = wording.sentence(worst, item.pods)
    return Item(
        item=item,
        headline=Headline(
            subject=subject,
            lead=f"{subject}: ",
            line=f"{item.risk}: {sentence}",
            sentence=capital(sentence),
            tone=STATUSES[item.risk][0],
        ),
        paragraphs=(
            (table_of(AUDIT_COLUMNS[3:], [Row(item, key) for key in item.keys]),),
            *([] if isinstance(item.suggestion, UnsetType) else [(_steps(item.suggestion, item.pods, flags),)]),
        ),
    )


def _steps(suggestion: Suggestion, pods: int, flags: Sequence[str]) -> Steps:
    """Return the suggestion as fixes are shown: as YAML where the source of the workload is elsewhere."""
    step = Step(
        summary=wording.suggestion_text(suggestion),
        notes=(wording.loss_after_text(suggestion, pods),),
        yaml=tuple(fragment_text(suggestion.fragment).splitlines())
        if suggestion.keeper and suggestion.fragment
        else (),
        commands=tuple(command_line(command, flags) for command in suggestion.commands),
        starts=fixes.sentences([*sets_off(suggestion.route)]),
    )
    return Steps(title=fixes.title(1, more="", verified=True, none_safe=False), steps=(step,))


def _counts(row: Row) -> dict[str, int]:
    return {**dict.fromkeys(row.key.usable, 0), **{each.value: each.pods for each in row.key.domains}}


def _loss(row: Row) -> str:
    """Return the loss, with the domain where it is one, and the column beside it may only count domains."""
    counted = row.key.topology_key == HOSTNAME or len(_counts(row)) > FEW_DOMAINS
    return wording.loss_text(row.key, row.item.pods, placed=counted and len(row.key.worst) == 1)


# What a row says of a workload and one of its keys.
AUDIT_COLUMNS: Sequence[Column[Row]] = (
    Column("CLUSTER", lambda row: row.item.cluster or "", optional=True),
    Column("NAMESPACE", lambda row: row.item.namespace),
    Column("WORKLOAD", lambda row: str(row.item.workload)),
    Column("KEY", lambda row: row.key.topology_key),
    Column("DOMAINS", lambda row: counts_text(_counts(row), row.key.topology_key)),
    Column("LOSS", lambda row: wording.loss_text(row.key, row.item.pods), narrow=_loss),
    Column("HELD-BY", lambda row: ", ".join(row.key.held_by), spare=True),
    Column("RISK", lambda row: row.key.risk.value, tone=lambda row: STATUSES[row.key.risk][0]),
    Column("AFTER", lambda row: wording.after_text(row.key), below=True),
    Column("REASON", lambda row: wording.risk_text(row.key.why, row.key.topology_key), below=True),
)

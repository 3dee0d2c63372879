"""What an autoscaler decides about a Pod: a sentence, and the pools."""

from __future__ import annotations

from kubectl_spread.contract.autoscaler import AutoscalerReport, PoolReport
from kubectl_spread.render.outline import Block, Column, Extent, Fixes, Note, Tone, table_of
from kubectl_spread.render.outline.fixes import fix_block
from kubectl_spread.wording.autoscalers import NAMES, POOLS, fixes_title
from kubectl_spread.wording.reasons import noun_for
from kubectl_spread.wording.words import listed

_TONES = {"chosen": Tone.GOOD, "possible": Tone.GOOD, "refused": Tone.BAD, "unknown": Tone.WARNING}


def autoscaler_blocks(report: AutoscalerReport, extent: Extent) -> tuple[Block, ...]:
    """Return the decision, and the table of the pools."""
    said = f"{NAMES[report.kind]} last said: {report.event.message}" if report.event else ""
    head: tuple[Block, ...] = tuple(Note(line=line) for line in filter(None, (report.summary, *report.advice, said)))
    if report.fixes:
        blocks = tuple(fix_block(number, fix, extent, fix.then) for number, fix in enumerate(report.fixes, start=1))
        head += (Fixes(title=fixes_title(report.kind), fixes=blocks),)
    if not report.pools:
        return head

    def domains(pool: PoolReport) -> str:
        places = pool.domains.items()
        return ", ".join(f"{noun_for(key, len(values))} {listed(values, extent.most())}" for key, values in places)

    noun = POOLS[report.kind]
    columns: tuple[Column[PoolReport], ...] = (
        Column("GROUP" if report.kind == "cluster-autoscaler" else noun.upper(), lambda pool: pool.name),
        Column("VERDICT", lambda pool: pool.verdict, tone=lambda pool: _TONES[pool.verdict]),
        Column("DOMAINS", domains),
        Column("WHY", lambda pool: "; ".join(pool.reasons), below=True),
    )
    return *head, table_of(columns, report.pools, title=f"What each {noun} does")

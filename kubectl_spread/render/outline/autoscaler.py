"""What an autoscaler decides about a Pod: a sentence, and the pools."""

from __future__ import annotations

from kubectl_spread.contract.autoscaler import AutoscalerReport, PoolReport
from kubectl_spread.render.outline import Block, Column, Extent, Note, Tone, table_of
from kubectl_spread.wording.autoscalers import NAMES, POOLS
from kubectl_spread.wording.reasons import noun_for
from kubectl_spread.wording.words import listed

_TONES = {"chosen": Tone.GOOD, "possible": Tone.GOOD, "refused": Tone.BAD, "unknown": Tone.WARNING}


def decision_notes(report: AutoscalerReport) -> tuple[Note, ...]:
    """Return the decision, and what the autoscaler itself last said."""
    said = f"{NAMES[report.kind]} last said: {report.event.message}" if report.event else ""
    return tuple(Note(line=line) for line in filter(None, (report.summary, said)))


def pool_tables(report: AutoscalerReport, extent: Extent) -> tuple[Block, ...]:
    """Return the table of the pools; none where there is no pool."""
    if not report.pools:
        return ()

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
    return (table_of(columns, report.pools, title=f"What each {noun} does"),)

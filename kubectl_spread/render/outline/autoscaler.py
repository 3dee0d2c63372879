"""What an autoscaler decides about a Pod: a sentence, and the pools."""

from kubectl_spread.autoscalers.decision import PoolDecision, Verdict
from kubectl_spread.diagnosis.autoscaler_answer import AutoscalerAnswer
from kubectl_spread.render.outline import Block, Column, Extent, Note, Tone, table_of
from kubectl_spread.wording.autoscalers import NAMES, POOLS, decision_text, reason_text
from kubectl_spread.wording.reasons import noun_for
from kubectl_spread.wording.words import listed

_TONES = {
    Verdict.CHOSEN: Tone.GOOD,
    Verdict.POSSIBLE: Tone.GOOD,
    Verdict.REFUSED: Tone.BAD,
    Verdict.UNKNOWN: Tone.WARNING,
}


def decision_notes(report: AutoscalerAnswer) -> tuple[Note, ...]:
    """Return the decision, and what the autoscaler itself last said."""
    said = f"{NAMES[report.kind]} last said: {report.event.message}" if report.event else ""
    return tuple(Note(line=line) for line in filter(None, (decision_text(report), said)))


def pool_tables(report: AutoscalerAnswer, extent: Extent) -> tuple[Block, ...]:
    """Return the table of the pools; none where there is no pool."""
    if not report.pools:
        return ()

    def domains(pool: PoolDecision) -> str:
        places = pool.domains.items()
        return ", ".join(f"{noun_for(key, len(values))} {listed(values, extent.most())}" for key, values in places)

    noun = POOLS[report.kind]
    columns: tuple[Column[PoolDecision], ...] = (
        Column("GROUP" if report.kind == "cluster-autoscaler" else noun.upper(), lambda pool: pool.name),
        Column("VERDICT", lambda pool: pool.verdict, tone=lambda pool: _TONES[pool.verdict]),
        Column("DOMAINS", domains),
        Column("WHY", lambda pool: "; ".join(map(reason_text, pool.reasons)), below=True),
    )
    return (table_of(columns, report.pools, title=f"What each {noun} does"),)

"""Names of nodes without what all of them end in."""

from __future__ import annotations

import pytest

from kubectl_spread.render.outline import Commands, Messages, Note, Step, Steps, Table, Tone
from kubectl_spread.render.outline.access import node_names, rewritten
from kubectl_spread.wording.words import shortening
from tests.render.reports import REPORTS, golden_report

EKS = ("ip-10-0-3-7.eu-central-1.compute.internal", "ip-10-0-3-8.eu-central-1.compute.internal")


def test_what_is_copied_or_quoted_stays() -> None:
    _, short = shortening(EKS)
    quoted = Messages(ours=f"on {EKS[0]}")
    assert rewritten(quoted, short) is quoted
    run = Commands(commands=(f"kubectl uncordon {EKS[0]}",))
    assert rewritten(run, short) is run
    fix = Step(
        id="Uncordon",
        summary=f"uncordon {EKS[0]}",
        notes=(),
        edits=(),
        yaml=(),
        commands=(f"kubectl uncordon {EKS[0]}",),
        starts="",
    )
    fixes = Steps(title="", steps=(fix,))
    (told,) = rewritten(fixes, short).steps
    assert (told.summary, told.commands) == ("uncordon ip-10-0-3-7", fix.commands)


def test_cells_are_shortened_and_tones_kept() -> None:
    table = Table(headers=("NODE",), rows=((EKS[0],),), tones=((Tone.BAD,),))
    told = rewritten(table, shortening(EKS)[1])
    assert (told.rows, told.tones) == ((("ip-10-0-3-7",),), ((Tone.BAD,),))
    assert rewritten(Note(line="nothing"), str) == Note(line="nothing")


@pytest.mark.parametrize("name", REPORTS)
def test_reports_name_nodes(name: str) -> None:
    assert all(node.startswith("n") for node in node_names(golden_report(name)))
    assert node_names(golden_report(name))

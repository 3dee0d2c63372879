"""Names of nodes without what all of them end in."""

from __future__ import annotations

import pytest

from kubectl_spread.render.outline import Commands, FixBlock, Fixes, Messages, Note, Table, Tone
from kubectl_spread.render.outline.shortening import node_names, rewritten, shared_suffix, shortening
from tests.render.reports import REPORTS, golden_report

EKS = ("ip-10-0-3-7.eu-central-1.compute.internal", "ip-10-0-3-8.eu-central-1.compute.internal")


@pytest.mark.parametrize(
    ("names", "suffix"),
    [
        (EKS, ".eu-central-1.compute.internal"),
        ((*EKS, "ip-10-0-9-9.eu-west-1.compute.internal"), ".compute.internal"),
        ((*EKS, "gke-prod-pool-1-3f2a-x1b2"), ""),
        (("gke-prod-pool-1-3f2a-x1b2", "gke-prod-pool-1-3f2a-x1b3"), ""),
        (("a.b.c", "b.c"), ".c"),
        (EKS[:1], ""),
        ((), ""),
    ],
)
def test_the_suffix_begins_at_a_dot_and_leaves_a_name(names: tuple[str, ...], suffix: str) -> None:
    assert shared_suffix(names) == suffix


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"Opens {EKS[0]}, {EKS[1]}.", "Opens ip-10-0-3-7, ip-10-0-3-8."),
        (f"{EKS[0]}:1", "ip-10-0-3-7:1"),
        ("db.eu-central-1.compute.internal", "db.eu-central-1.compute.internal"),
        (f"{EKS[0]}.example.com", f"{EKS[0]}.example.com"),
    ],
)
def test_only_names_of_nodes_are_shortened(text: str, told: str) -> None:
    _, short = shortening(EKS)
    assert short(text) == told


def test_what_ends_like_a_label_is_no_node() -> None:
    _, short = shortening(("n1.io", "n2.io"))
    assert short("topology.kubernetes.io/zone on n1.io") == "topology.kubernetes.io/zone on n1"


def test_what_is_copied_or_quoted_stays() -> None:
    _, short = shortening(EKS)
    quoted = Messages(ours=f"on {EKS[0]}")
    assert rewritten(quoted, short) is quoted
    run = Commands(commands=(f"kubectl uncordon {EKS[0]}",))
    assert rewritten(run, short) is run
    fix = FixBlock(
        id="Uncordon",
        summary=f"uncordon {EKS[0]}",
        effect="",
        notes=(),
        edits=(),
        yaml=(),
        commands=(f"kubectl uncordon {EKS[0]}",),
        starts="",
    )
    fixes = Fixes(fixes=(fix,), more="", nothing_helps="", new_nodes=(), left_alone=(), cut_short="")
    (told,) = rewritten(fixes, short).fixes
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

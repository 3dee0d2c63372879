"""What a report says, in blocks that know nothing of lines, tags or colors; text, Markdown and HTML draw them all.

A new fact becomes a field of a block here, and a new order of facts is an order of blocks: what one format says, the
others say. What only a drawing can show (a map of nodes, a flow chart) is drawn from the report itself.

Every text in a block is as others wrote it: each format escapes it in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar

import msgspec

from kubectl_spread.diagnosis.findings import Finding, Severity
from kubectl_spread.diagnosis.item_status import ItemStatus
from kubectl_spread.gaps import Gap
from kubectl_spread.wording.findings import finding_text
from kubectl_spread.wording.incomplete import Incomplete, merged_entries
from kubectl_spread.wording.pending import WOULD_REPORT

if TYPE_CHECKING:  # One command's report needs no other's types.
    from kubectl_spread.apiserver.validation.field_errors import FieldError, ValidationWarning
    from kubectl_spread.contract.check import CheckItem
    from kubectl_spread.contract.pending import PendingItem
    from kubectl_spread.contract.rebalance import RebalanceReport
    from kubectl_spread.diagnosis.audit import AuditItem
    from kubectl_spread.diagnosis.skew import SkewItem
    from kubectl_spread.diagnosis.step_changes import SimulatedStep
    from kubectl_spread.diagnosis.upcoming_pods import NotCreated

RowT = TypeVar("RowT")

EVERY = 10**9  # As many names as there are


class Tone(StrEnum):
    """How good the news is; formats choose their colors by it."""

    BAD = "bad"
    WARNING = "warn"
    INFO = "info"
    GOOD = "good"


_OF = ItemStatus
# Status of any report → how good it is, and the mark that pages give it.
STATUSES: Mapping[str, tuple[Tone, str]] = {
    status: (tone, mark)
    for tone, mark, statuses in (
        (Tone.BAD, "∅", (_OF.NO_DOMAINS,)),
        (Tone.BAD, "✕", (_OF.BLOCKED, _OF.FAILED_CREATE, _OF.UNSCHEDULABLE, _OF.INVALID, _OF.NOT_SAFE)),
        (Tone.BAD, "✕", (_OF.OUTAGE, _OF.IMPOSSIBLE)),
        (Tone.BAD, "▲", (_OF.STUCK, _OF.VIOLATED, _OF.BELOW_BUDGET, _OF.MAJORITY)),
        (Tone.WARNING, "○", (_OF.NO_EFFECT, _OF.UNAVOIDABLE)),
        (Tone.WARNING, "?", (_OF.INCOMPLETE,)),
        (Tone.WARNING, "‖", (_OF.GATED,)),
        (Tone.WARNING, "◐", (_OF.PARTIAL,)),
        (Tone.INFO, "→", (_OF.PLANNED,)),
        (Tone.INFO, "≈", (_OF.UNEVEN,)),
        (Tone.INFO, "○", (_OF.UNPROTECTED,)),
        (Tone.GOOD, "✓", (_OF.BALANCED, _OF.OK, _OF.SCHEDULABLE, _OF.SAFE)),
    )
    for status in statuses
}

FixFormat: TypeAlias = Literal["", "yaml", "commands"]


class Extent(msgspec.Struct, frozen=True, kw_only=True):
    """How much is wanted."""

    names: int = 4  # how many names are listed before the rest is counted
    same_for: int = 4  # the same for the Pods that share an explanation
    wide: bool = False  # whether everything is named
    evidence: bool = False  # whether everything that proves the answer is wanted, or only what decides it
    by_node: bool = False
    brief: bool = False  # whether of several explanations only one of each cause is wanted, without its evidence
    folded: bool = False  # whether room is short: what is not to blame is left out, and nodes that are not counted
    bare: bool = False  # whether room is so short that tables are left out, or cut
    every_fix: bool = False
    all_fixes: str = "--all-fixes"  # the flags with which all fixes are printed
    fix_format: FixFormat = ""  # how fixes are written; empty for commands, and YAML where those would not last

    def most(self, names: int = 0) -> int:
        """Return how many names are listed; ``names`` of them where that is given and not all are wanted."""
        return EVERY if self.wide or self.by_node else names or self.names


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """The base of all blocks, and of what stands within them."""


class Table(Part, frozen=True, kw_only=True):
    """Rows of cells."""

    title: str = ""  # for formats that have headings
    headers: tuple[str, ...]  # in capitals and without spaces
    rows: tuple[tuple[str, ...], ...]
    tones: tuple[tuple[Tone | None, ...], ...] = ()  # of the cells; empty where none has one
    # headers of columns that may stand below the row where there is no room, the first one first
    below: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()  # headers of columns that may be left out, the first one first
    more: str = ""  # which rows are left out; empty for none


@dataclass(frozen=True, slots=True)
class Column(Generic[RowT]):
    """One column of a table; ``wide`` ones are in ``-o wide`` only, others may have a ``narrow`` cell elsewhere.

    Where there is no room, it may stand ``below`` the row, or is ``spare`` and left out. One that may stand below,
    or is ``optional``, is left out where no row has it.
    """

    header: str
    cell: Callable[[RowT], str]
    wide: bool = False
    tone: Callable[[RowT], Tone] | None = None
    below: bool = False
    spare: bool = False
    narrow: Callable[[RowT], str] | None = None
    optional: bool = False


def table_of(columns: Iterable[Column[RowT]], rows: Iterable[RowT], *, wide: bool = True, title: str = "") -> Table:
    """Return the table of the rows; ``wide`` says whether the columns of ``-o wide`` belong to it."""
    every = list(rows)
    fit = {column: column.narrow if column.narrow and not wide else column.cell for column in columns}
    shown = [
        it
        for it in fit
        if (wide or not it.wide) and (it.wide or not (it.below or it.optional) or any(map(fit[it], every)))
    ]
    toned = any(column.tone for column in shown)
    return Table(
        title=title,
        headers=tuple(column.header for column in shown),
        rows=tuple(tuple(fit[column](row) for column in shown) for row in every),
        tones=tuple(tuple(column.tone(row) if column.tone else None for column in shown) for row in every if toned),
        below=tuple(column.header for column in reversed(shown) if column.below),
        spare=tuple(column.header for column in shown if column.spare),
    )


class Headline(Part, frozen=True, kw_only=True):
    """The answer in a sentence, root cause first."""

    subject: str
    lead: str = ""  # what stands before the line, without the color of its tone
    line: str  # the answer where nothing else names the subject
    sentence: str  # the answer beside the subject
    tone: Tone


class Note(Part, frozen=True, kw_only=True):
    """A sentence that stands by itself; ``names_pods``: whether it says whom else the explanation holds for."""

    line: str
    names_pods: bool = False


class Review(Part, frozen=True, kw_only=True):
    """What the API server would refuse, and what applying it also does."""

    errors: tuple[FieldError, ...]
    warnings: tuple[ValidationWarning, ...]


class ConstraintBlock(Part, frozen=True, kw_only=True):
    """One constraint with its domains."""

    index: int
    topology_key: str
    terms: tuple[tuple[str, str], ...]  # its other fields as name and value
    unmatched: str  # that the selector leaves out the Pod itself; empty where it does not
    default: str  # that it is one of the cluster's; empty where it is the Pod's own
    domains: Table  # a row for each domain, or for all that stand the same where there are many
    minimum: str  # who holds the global minimum
    bypassed: tuple[str, ...]  # the nodes it passes over, a sentence for each reason

    @property
    def line(self) -> str:
        """The constraint itself, without its domains."""
        terms = [value if name == "whenUnsatisfiable" else f"{name} {value}" for name, value in self.terms]
        unmatched = f" ({self.unmatched})" if self.unmatched else ""
        line = f"Constraint {self.index}: {', '.join((self.topology_key, *terms))}{unmatched}"
        return f"{line}, {self.default}" if self.default else line


class FindingLine(Part, frozen=True, kw_only=True):
    """A finding with its text; the path is for formats that have room for it."""

    id: str
    severity: Severity
    path: str
    message: str


class Findings(Part, frozen=True, kw_only=True):
    """What is worth knowing."""

    findings: tuple[FindingLine, ...]

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Findings:
        """Return the findings of one Pod, those of two constraints with one text once."""
        lines = (
            FindingLine(id=each.name, severity=each.severity, path=each.path, message=finding_text(each))
            for each in findings
        )
        return cls(findings=tuple({(line.id, line.message): line for line in lines}.values()))


class Gaps(Part, frozen=True, kw_only=True):
    """What the answer does not rest on."""

    entries: tuple[Incomplete, ...]

    @classmethod
    def of(cls, gaps: Iterable[Gap]) -> Gaps:
        """Return the block of these gaps."""
        return cls(entries=merged_entries(gaps))


class EditBlock(Part, frozen=True, kw_only=True):
    """A change of a manifest: file, line and field, and the lines of a diff."""

    place: str
    lines: tuple[str, ...]


class Step(Part, frozen=True, kw_only=True):
    """One thing to do: a fix, or what to wait for or to add."""

    id: str = ""  # of the fix; empty for what is none
    summary: str
    # the nodes it opens and the Pods it lets in, and what else is to be known of it, a sentence each
    notes: tuple[str, ...] = ()
    edits: tuple[EditBlock, ...] = ()
    yaml: tuple[str, ...] = ()  # lines to write where the Pod comes from
    commands: tuple[str, ...] = ()
    starts: str = ""  # what running the commands sets off; empty for nothing


class Steps(Part, frozen=True, kw_only=True):
    """What would let the Pod in."""

    title: str  # what the steps are, and how to see more of them; empty where there is none
    steps: tuple[Step, ...]  # the best first; they are numbered from 1
    notes: tuple[str, ...] = ()  # that no change helps, what was left out, and that not all was tried, a sentence each


class Messages(Part, frozen=True, kw_only=True):
    """The scheduler's wording."""

    lead: str = WOULD_REPORT  # what leads to ours
    ours: str  # what it would say now, or said last; empty where nothing
    remark: str = ""  # when it said something else, or that not all is known; empty where neither
    theirs: str = ""  # what it last said; empty where that is the same
    differs: str = ""  # why it differs; empty where it does not

    @property
    def said(self) -> Sequence[tuple[str, bool]]:
        """The lines that are not empty, in order, and whether each is the scheduler's."""
        lead = f"{self.lead}:" * bool(self.ours)
        lines = (lead, False), (self.ours, True), (self.remark, False), (self.theirs, True), (self.differs, False)
        return [(line, quoted) for line, quoted in lines if line]


class Commands(Part, frozen=True, kw_only=True):
    """What a person runs, in order."""

    commands: tuple[str, ...]


Sentences: TypeAlias = Note | Review | Findings | Gaps | Messages
Block: TypeAlias = Sentences | Table | ConstraintBlock | Steps | Commands


class Item(Part, frozen=True, kw_only=True):
    """What there is to say of one item of a report."""

    # the item itself, for what is drawn
    item: SkewItem | PendingItem | NotCreated | CheckItem | SimulatedStep | RebalanceReport | AuditItem
    headline: Headline
    # the rest, most important first; the blocks of a paragraph belong together, those of the first to the headline
    paragraphs: tuple[tuple[Block, ...], ...]
    pods: int = 1  # how many Pods it speaks for

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Everything below the headline, in order."""
        return tuple(block for paragraph in self.paragraphs for block in paragraph)


class SharedCause(Part, frozen=True, kw_only=True):
    """Why several Pods wait, and how many; ``workloads``: whose those are, empty where the line says it."""

    line: str
    workloads: str

    @property
    def text(self) -> str:
        """Both."""
        return f"{self.line} ({self.workloads})" if self.workloads else self.line


class Outline(Part, frozen=True, kw_only=True):
    """What a report says."""

    items: tuple[Item, ...]
    causes: tuple[SharedCause, ...] = ()  # why Pods wait, each cause once; empty where there is one explanation
    more: str = ""  # which explanations are left out; empty where none is
    totals: str = ""  # how many items have which result; empty where there is one
    gaps: Gaps  # what none of the answers rests on
    nodes: frozenset[str] = frozenset()  # the names of nodes that may stand in it
    header: str = ""  # which cluster was read; empty where that goes without saying

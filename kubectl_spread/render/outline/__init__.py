"""What a report says, in blocks that know nothing of lines, tags or colors; text, Markdown and HTML draw them all.

A new fact becomes a field of a block here, and a new order of facts is an order of blocks: what one format says, the
others say. What only a drawing can show (a map of nodes, a flow chart) is drawn from the report itself.

Every text in a block is as others wrote it: each format escapes it in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar

import msgspec

from kubectl_spread.diagnosis.findings import Finding, Severity
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

EVERY = 10**9
"""As many names as there are."""


class Tone(StrEnum):
    """How good the news is; formats choose their colors by it."""

    BAD = "bad"
    WARNING = "warn"
    INFO = "info"
    GOOD = "good"


FixFormat: TypeAlias = Literal["", "yaml", "commands"]


class Extent(msgspec.Struct, frozen=True, kw_only=True):
    """How much is wanted.

    Attributes:
        names: how many names are listed before the rest is counted.
        same_for: the same for the Pods that share an explanation.
        wide: whether everything is named.
        evidence: whether everything that proves the answer is wanted, or only what decides it.
        brief: whether of several explanations only one of each cause is wanted, without its evidence.
        folded: whether room is short: what is not to blame is left out, and nodes that are not counted.
        bare: whether room is so short that tables are left out.
        all_fixes: the flags with which all fixes are printed.
        fix_format: how fixes are written; empty for commands, and YAML where those would not last.
        again: the command that asks the same; empty if it is not known.
    """

    names: int = 4
    same_for: int = 4
    wide: bool = False
    evidence: bool = False
    by_node: bool = False
    brief: bool = False
    folded: bool = False
    bare: bool = False
    every_fix: bool = False
    all_fixes: str = "--all-fixes"
    fix_format: FixFormat = ""
    again: str = ""

    def most(self, names: int = 0) -> int:
        """Return how many names are listed; ``names`` of them where that is given and not all are wanted."""
        return EVERY if self.wide or self.by_node else names or self.names


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """The base of all blocks, and of what stands within them."""


class Table(Part, frozen=True, kw_only=True):
    """Rows of cells.

    Attributes:
        title: for formats that have headings.
        headers: in capitals and without spaces.
        tones: of the cells; empty where none has one.
        below: headers of columns that may stand below the row where there is no room, the first one first.
        spare: headers of columns that may be left out, the first one first.
    """

    title: str = ""
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    tones: tuple[tuple[Tone | None, ...], ...] = ()
    below: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()


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
    """The answer in a sentence, root cause first.

    Attributes:
        lead: what stands before the line, without the color of its tone.
        line: the answer where nothing else names the subject.
        sentence: the answer beside the subject.
    """

    subject: str
    lead: str = ""
    line: str
    sentence: str
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
    """One constraint with its domains.

    Attributes:
        terms: its other fields as name and value.
        unmatched: that the selector leaves out the Pod itself; empty where it does not.
        default: that it is one of the cluster's; empty where it is the Pod's own.
        domains: a row for each domain, or for all that stand the same where there are many.
        minimum: who holds the global minimum.
        bypassed: the nodes it passes over, a sentence for each reason.
    """

    index: int
    topology_key: str
    terms: tuple[tuple[str, str], ...]
    unmatched: str
    default: str
    domains: Table
    minimum: str
    bypassed: tuple[str, ...]

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
    """One thing to do: a fix, or what to wait for or to add.

    Attributes:
        id: of the fix; empty for what is none.
        notes: the nodes it opens and the Pods it lets in, and what else is to be known of it, a sentence each.
        yaml: lines to write where the Pod comes from.
        starts: what running the commands sets off; empty for nothing.
    """

    id: str = ""
    summary: str
    notes: tuple[str, ...] = ()
    edits: tuple[EditBlock, ...] = ()
    yaml: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    starts: str = ""


class Steps(Part, frozen=True, kw_only=True):
    """What would let the Pod in.

    Attributes:
        title: what the steps are, and how to see more of them; empty where there is none.
        steps: the best first; they are numbered from 1.
        notes: that no change helps, what was left out, and that not all was tried, a sentence each.
    """

    title: str
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()


class Messages(Part, frozen=True, kw_only=True):
    """The scheduler's wording.

    Attributes:
        lead: what leads to ours.
        ours: what it would say now, or said last; empty where nothing.
        remark: when it said something else, or that not all is known; empty where neither.
        theirs: what it last said; empty where that is the same.
        differs: why it differs; empty where it does not.
    """

    lead: str = WOULD_REPORT
    ours: str
    remark: str = ""
    theirs: str = ""
    differs: str = ""

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
    """What there is to say of one item of a report.

    Attributes:
        item: the item itself, for what is drawn.
        paragraphs: the rest, most important first; the blocks of a paragraph belong together, those of the first to
            the headline.
        pods: how many Pods it speaks for.
    """

    item: SkewItem | PendingItem | NotCreated | CheckItem | SimulatedStep | RebalanceReport | AuditItem
    headline: Headline
    paragraphs: tuple[tuple[Block, ...], ...]
    pods: int = 1

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
    """What a report says.

    Attributes:
        causes: why Pods wait, each cause once; empty where there is one explanation.
        totals: how many items have which result; empty where there is one.
        more: which explanations are left out; empty where none is.
        gaps: what none of the answers rests on.
        nodes: the names of nodes that may stand in it.
        header: which cluster was read; empty where that goes without saying.
    """

    items: tuple[Item, ...]
    causes: tuple[SharedCause, ...] = ()
    more: str = ""
    totals: str = ""
    gaps: Gaps
    nodes: frozenset[str] = frozenset()
    header: str = ""

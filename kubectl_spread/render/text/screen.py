"""Fitting text to a terminal: what is told in a line is wrapped at words, a table by giving its columns less room.

In a pipe there is no width, and nothing is wrapped or left out. ``-o wide`` has a width there, and all of its columns.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType, ModuleType

import msgspec

from kubectl_spread.objects.well_known_labels import HOSTNAME
from kubectl_spread.render.cells import NONE, cell, clean, least_width, wrap
from kubectl_spread.render.outline import EVERY, Table, Tone
from kubectl_spread.render.outline.access import rewritten
from kubectl_spread.wording.causes import NODE_CONDITION
from kubectl_spread.wording.reasons import alike_text

# Tone → the code of its color (ECMA-48 SGR): red, green, yellow, cyan.
COLORS = {Tone.BAD: "31", Tone.GOOD: "32", Tone.WARNING: "33", Tone.INFO: "36"}
METADATA = "importlib.metadata"
NAMESPACE = "NAMESPACE"
GAP, TIGHT = 3, 2  # Spaces between columns: as kubectl has them, and where there is little room
# Characters of the longest name that is not broken, the first while there is another way to make a table fit.
LONG_WORDS = (28, 20, 14, 8)
MOST_LINES = 5  # Lines of a row before words are broken
KEY, WORKLOAD, WHEN, DOMAINS = "KEY", "WORKLOAD", "WHEN", "DOMAINS"
SENTENCES = ("REASON", "WHY")  # Headers of columns with sentences, which are below their rows without a header
# Several zones that differ in a last letter, as those of eu-west-1, and what they begin with. A last digit would look
# like a second number beside a number of Pods.
_ZONES = re.compile(r"([^ :]*[\d-])[^\W\d_](?::[^ ]*)?(?: \1[^\W\d_](?::[^ ]*)?)+")
_COUNTS = re.compile(r"[^ ]+:\d+( [^ ]+:\d+)*")  # Domains with their Pods
WHOLE = frozenset(("STATUS", "VERDICT"))  # Headers of columns whose cells are hardly ever broken
# whenUnsatisfiable → its letter in a narrow table.
LETTERS: Mapping[str, str] = MappingProxyType({"DoNotSchedule": "D", "ScheduleAnyway": "S"})
# Kind of a workload → the short name that kubectl has for it.
KINDS: Mapping[str, str] = MappingProxyType(
    {
        "deployment": "deploy",
        "statefulset": "sts",
        "daemonset": "ds",
        "replicaset": "rs",
        "replicationcontroller": "rc",
        "cronjob": "cj",
    }
)


class Screen(msgspec.Struct, frozen=True, kw_only=True):
    """What text is written for."""

    colors: bool = False  # whether colors are wanted
    width: int | None = None  # its columns (count); None where nothing has to fit, as in a pipe
    height: int = 0  # its lines (count); 0 where that is not known, as in a pipe
    namespace: str = ""  # the one that was asked about; empty for all. No column of a table only repeats it.
    # whether all columns stay, and no word is broken while there is another way to make a table fit
    whole: bool = False

    def wrapped(self, text: str, *, under: int = 0) -> Iterator[str]:
        """Yield the lines of one, cleaned; those after the first begin under its column of that number."""
        if self.width is None or len(text) <= self.width:
            yield clean(text)
            return
        first, *rest = wrap(clean(text), self.width, hanging=under)
        yield first
        yield from (" " * under + line for line in rest)

    def rows(self, text: str) -> int:
        """Return how many rows a text takes here (count), with lines that the terminal wraps; 1 in a pipe."""
        width = self.width
        return 1 if width is None else sum(max(1, -(-len(line) // width)) for line in text.splitlines())

    def fits(self, text: str) -> bool:
        """Whether a text and the prompt below it fit here; true where the height is not known."""
        return not self.height or self.rows(text) < self.height

    def paint(self, text: str, tone: Tone | None) -> str:
        """Return the text in the color of its tone, or as it is where it has none or no colors are wanted."""
        return f"\x1b[{COLORS[tone]}m{text}\x1b[0m" if self.colors and tone and text else text


PIPE = Screen()


def table_lines(table: Table, screen: Screen, *, headers: bool = True) -> Iterator[str]:
    """Yield the lines of a table as kubectl prints it, fit to the screen; none without rows."""
    for lines in table_rows(table, screen, headers=headers):
        yield from lines


def table_rows(table: Table, screen: Screen, *, headers: bool = True) -> Iterator[Sequence[str]]:
    """Yield the lines of the headers, those of each row, and those that say what short names stand for, if any."""
    if not table.rows:
        return
    full = _cleaned(table, screen)
    table, widths, gap, legend = _fit(full, screen)
    tones = table.tones or [(None,) * len(widths)] * len(table.rows)
    rows = [
        [
            "\n".join(screen.paint(line, tone) for line in (wrap(text, width) if len(text) > width else [text]))
            for text, width, tone in zip(row, widths, toned, strict=True)
        ]
        for row, toned in zip(table.rows, tones, strict=True)
    ]
    lines = _align([list(table.headers), *rows] if headers else rows, gap)
    if headers:
        yield [next(lines)]
    for cells, below in zip(rows, _below(full, table, screen), strict=True):
        yield [*islice(lines, max(text.count("\n") for text in cells) + 1), *below]
    if table.more:
        yield list(screen.wrapped(table.more))
    if legend:
        yield list(screen.wrapped(f"Here {', '.join(legend)}."))


def unbroken(table: Table, screen: Screen) -> bool:
    """Whether the table fits the screen with every word in one line."""
    if not table.rows:
        return True
    table, widths, _, _ = _fit(_cleaned(table, screen), screen)
    return all(least <= width for (_, least), width in zip(_sizes(table, EVERY), widths, strict=True))


def _cleaned(table: Table, screen: Screen) -> Table:
    if screen.namespace and NAMESPACE in table.headers:
        column = table.headers.index(NAMESPACE)
        if {row[column] for row in table.rows} == {screen.namespace}:
            table = _without(table, NAMESPACE)
    return msgspec.structs.replace(table, rows=tuple(tuple(map(cell, row)) for row in table.rows))


def _below(full: Table, shown: Table, screen: Screen) -> Iterator[Sequence[str]]:
    """Yield, for each row, the lines with its cells in columns that had no room."""
    for number, row in enumerate(full.rows):
        tones = full.tones[number] if full.tones else (None,) * len(row)
        cells = zip(full.headers, row, tones, strict=True)
        left = [cell for cell in cells if cell[0] in full.below and cell[0] not in shown.headers and cell[1] != NONE]
        yield [
            screen.paint(line, tone)
            for header, text, tone in sorted(left, key=lambda cell: cell[0] not in SENTENCES)
            for line in screen.wrapped(f"  {'' if header in SENTENCES else f'{header.lower()}: '}{text}", under=2)
        ]


def _align(rows: Sequence[Sequence[str]], gap: int) -> Iterator[str]:
    """Yield the lines of rows whose cells may have several; so many spaces are between columns."""
    # tabulate puts two spaces between columns; a space at the end of each line of a cell makes the third.
    more = " " * (gap - TIGHT)
    padded = [[*(text.replace("\n", f"{more}\n") + more for text in row[:-1]), *row[-1:]] for row in rows]
    text = _tabulate()(padded, tablefmt="plain", disable_numparse=True, preserve_whitespace=True)
    return (line.rstrip() for line in text.splitlines())


def _tabulate() -> Callable[..., str]:
    """Return tabulate's function, without what tabulate loads only to learn its own version.

    That is importlib.metadata, and with it mail, sockets and archives: forty modules, a tenth of a short command.
    Where it is loaded already nothing is kept from anybody; tabulate takes its version from a file of its own then.
    """
    stand_in = ModuleType(METADATA)
    vars(stand_in).update(version=str, PackageNotFoundError=LookupError)
    spared = METADATA not in sys.modules
    sys.modules.setdefault(METADATA, stand_in)
    try:
        from tabulate import tabulate
    finally:
        if spared:
            del sys.modules[METADATA]
    return tabulate


def _fit(table: Table, screen: Screen) -> tuple[Table, list[int], int, list[str]]:
    """Return the table as far as it fits, the width of each column, the gap between them, and what names stand for."""
    natural, width = _widest(table), screen.width
    if width is None or _total(natural, GAP) <= width:
        return table, natural, GAP, []
    tables = []
    for table, gap, legend in _shorter(table, whole=screen.whole):  # noqa: B020, PLR1704 - each from the one before
        if _total(natural := _widest(table), gap) <= width:
            return table, natural, gap, legend
        tables.append(table if screen.whole else _with_counts(table))
    # Where cells are wrapped all the same, no more columns are left out than have to be.
    tables = tables[-1:] if screen.whole else tables[-2 - len(table.spare) : -1]
    for longest in (EVERY, *LONG_WORDS) if screen.whole else LONG_WORDS:
        most = MOST_LINES if longest == LONG_WORDS[0] and not screen.whole else max(natural)
        for table in tables:
            sizes = _sizes(table, longest)
            if widths := _shared_out(sizes, width, most, gap):
                return table, _filled(_widest(table), _used(table, widths), width, gap), gap, legend
    # On the narrowest screens words are broken anywhere.
    sizes = _sizes(table, 0, most=LONG_WORDS[-1])
    return table, _shared_out(sizes, width, max(natural), gap) or [least for _, least in sizes], gap, legend


def _shorter(table: Table, *, whole: bool) -> Iterator[tuple[Table, int, list[str]]]:
    """Yield the table ever shorter, with the gap between columns and the legend, before any cell is wrapped.

    Sentences go below their rows first; then names become short; then columns go below their rows, or are left out.
    """
    for header in set(SENTENCES).intersection(table.below):
        table = _without(table, header)
    yield table, GAP, []
    table, legend = _with_short_keys(table)
    table, beginning = (table, []) if whole else _with_short_zones(_with_short_kinds(table))
    yield table, GAP, legend + beginning
    # A sentence beside the table has the taint in full.
    table = rewritten(table, lambda text: text.replace(NODE_CONDITION, NODE_CONDITION if whole else ""))
    legend += beginning + [f"{letter} is {when}" for when, letter in LETTERS.items() if when in _column(table, WHEN)]
    if _column(table, WHEN):
        table = _with_cells(table, WHEN, lambda cell: LETTERS.get(cell, cell))
    yield table, GAP, legend
    yield table, TIGHT, legend
    for header in (*table.below, *(() if whole else table.spare)):
        table = _without(table, header)
        yield table, TIGHT, legend
    if not whole:
        yield _with_counts(table), TIGHT, legend


def _widest(table: Table) -> list[int]:
    """Return how wide the widest cell of each column is (characters)."""
    return [max(map(len, column)) for column in zip(table.headers, *table.rows, strict=True)]


def _sizes(table: Table, longest: int, *, most: int = EVERY) -> list[tuple[int, int]]:
    """Return, for each column, how wide its widest cell is, and how wide it has to be at least, no more than that."""

    def least(header: str, *cells: str) -> int:
        whole = header in WHOLE and longest > LONG_WORDS[-1]
        return max(len(cell) if whole else least_width(cell, longest) for cell in {*cells})

    columns = zip(table.headers, *table.rows, strict=True)
    return list(zip(_widest(table), (max(len(it[0]), min(most, least(*it))) for it in columns), strict=True))


def _total(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _shared_out(sizes: Sequence[tuple[int, int]], width: int, most_lines: int, gap: int) -> list[int]:
    """Return the widths with which the rows have the fewest lines; none where they would have more than that."""
    for lines in range(1, most_lines + 1):
        # Lines end at words: not all of them are full.
        slack = 0 if lines == 1 else min(4, 2 * lines)
        widths = [min(natural, max(least, -(-natural // lines) + slack)) for natural, least in sizes]
        if _total(widths, gap) <= width:
            return _filled([natural for natural, _ in sizes], widths, width, gap)
    return []


def _filled(natural: Sequence[int], widths: list[int], width: int, gap: int) -> list[int]:
    """Return the widths with what is left over: for columns that then have one line, and for that which lacks most."""
    lacks, left = [most - has for most, has in zip(natural, widths, strict=True)], width - _total(widths, gap)
    *others, last = sorted(range(len(lacks)), key=lacks.__getitem__)
    for column in others:
        more = lacks[column] if lacks[column] <= left else 0
        widths[column], left = widths[column] + more, left - more
    widths[last] += min(left, lacks[last])
    return widths


def _used(table: Table, widths: Sequence[int]) -> list[int]:
    """Return how much of their widths wrapped cells use."""
    columns = zip(zip(table.headers, *table.rows, strict=True), widths, strict=True)
    return [max(len(line) for text in {*cells} for line in wrap(text, most)) for cells, most in columns]


def _with_cells(table: Table, header: str, change: Callable[[str], str]) -> Table:
    at = table.headers.index(header)
    rows = tuple((*row[:at], change(row[at]), *row[at + 1 :]) for row in table.rows)
    return msgspec.structs.replace(table, rows=rows)


def _column(table: Table, header: str) -> Sequence[str]:
    """Return the cells of a column; none where the table has no such column."""
    return [row[table.headers.index(header)] for row in table.rows] if header in table.headers else ()


def _with_short_keys(table: Table) -> tuple[Table, list[str]]:
    """Return the table with label keys without their prefix, and which is which, where no two become the same."""
    keys = dict.fromkeys(cell.partition(" ")[0] for cell in _column(table, KEY))
    short = {key: key.rpartition("/")[2] for key in keys}
    if len(set(short.values())) < len(keys) or short == {key: key for key in keys}:
        return table, []
    legend = [f"{name} is {key}" for key, name in short.items() if name != key]
    return _with_cells(table, KEY, lambda cell: short[(parts := cell.partition(" "))[0]] + "".join(parts[1:])), legend


def _with_short_kinds(table: Table) -> Table:
    def short(cell: str) -> str:
        kind, slash, name = cell.partition("/")
        return f"{KINDS.get(kind, kind)}{slash}{name}"

    return _with_cells(table, WORKLOAD, short) if WORKLOAD in table.headers else table


def _with_short_zones(table: Table) -> tuple[Table, list[str]]:
    """Return the table with zones without what all of them begin with, and that; unchanged unless it is one text."""
    cells = zip(_column(table, KEY), _column(table, DOMAINS), strict=False)
    of_zones = [cell for key, cell in cells if key.partition(" ")[0].rpartition("/")[2] == "zone"]
    begins = {found[1] for found in map(_ZONES.fullmatch, of_zones) if found}
    if len(begins) != 1:
        return table, []
    (begin,) = begins

    def short(cell: str) -> str:
        return " ".join(word.removeprefix(begin) for word in cell.split(" ")) if cell in of_zones else cell

    return _with_cells(table, DOMAINS, short), [f"zones in DOMAINS begin with {begin}"]


def _with_counts(table: Table) -> Table:
    """Return the table with the number of nodes that have so many Pods, in place of each node."""
    cells = zip(_column(table, KEY), _column(table, DOMAINS), strict=False)
    of_nodes = {cell for key, cell in cells if key.endswith("hostname") and _COUNTS.fullmatch(cell)}

    def counted(cell: str) -> str:
        pods = Counter(word.rpartition(":")[2] for word in cell.split(" ") if cell in of_nodes)
        return alike_text(pods, HOSTNAME, most=len(pods)) or cell

    return _with_cells(table, DOMAINS, counted) if of_nodes else table


def _without(table: Table, header: str) -> Table:
    if header not in table.headers:
        return table
    gone = table.headers.index(header)
    rest = slice(0, gone), slice(gone + 1, None)
    headers, *rows = ((*row[rest[0]], *row[rest[1]]) for row in (table.headers, *table.rows))
    tones = tuple((*row[rest[0]], *row[rest[1]]) for row in table.tones)
    return msgspec.structs.replace(table, headers=headers, rows=tuple(rows), tones=tones)

"""Fitting text to a terminal: what is told in a line is wrapped at words, a table by giving its columns less room.

In a pipe there is no width, and nothing is wrapped or left out; -o wide has one there, and all of its columns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType, ModuleType

import msgspec

from kubectl_spread.objects.well_known_labels import HOSTNAME, REGION, ZONE
from kubectl_spread.render.cells import NONE, cell, clean
from kubectl_spread.render.outline import EVERY, Table, Tone
from kubectl_spread.render.wrapping import wrap

COLORS = {Tone.BAD: "31", Tone.GOOD: "32", Tone.WARNING: "33", Tone.INFO: "36"}
"""Tone → the code of its colour (ECMA-48 SGR): red, green, yellow, cyan."""
METADATA = "importlib.metadata"
NAMESPACE = "NAMESPACE"
GAP = 3
"""Spaces between columns, as kubectl has them."""
LONG_WORDS = (28, 20, 14, 8)
"""Characters of the longest word that is not broken, the first while there is another way to make a table fit."""
FEW_LINES, MOST_LINES = 2, 5
"""Lines of a row before short names are taken for labels, and before columns are left out."""
SHORT_KEYS: Mapping[str, str] = MappingProxyType(
    {
        ZONE: "zone",
        REGION: "region",
        HOSTNAME: "hostname",
    }
)
"""Well-known label → what it is called where there is no room for all of it."""
WHEN, DOMAINS = "WHEN", "DOMAINS"
LETTERS: Mapping[str, str] = MappingProxyType({"DoNotSchedule": "D", "ScheduleAnyway": "S"})
"""Cell of that column → what it is where there is still less room: the column stays."""


class Screen(msgspec.Struct, frozen=True, kw_only=True):
    """What text is written for.

    Attributes:
        colors: whether colours are wanted.
        width: its columns (count); None where nothing has to fit, as in a pipe.
        namespace: the one that was asked about; empty for all. No column of a table only repeats it.
        whole: whether all columns stay, and no word is broken while there is another way to make a table fit.
    """

    colors: bool = False
    width: int | None = None
    namespace: str = ""
    whole: bool = False

    def wrapped(self, text: str, *, under: int = 0) -> Iterator[str]:
        """Yield the lines of one, cleaned; those after the first begin under its column of that number."""
        if self.width is None or len(text) <= self.width:
            yield clean(text)
            return
        first, *rest = wrap(clean(text), self.width, hanging=under)
        yield first
        yield from (" " * under + line for line in rest)

    def paint(self, text: str, tone: Tone | None) -> str:
        """Return the text in the colour of its tone, or as it is where it has none or no colours are wanted."""
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
    full = _as_shown(table, screen)
    table, widths, named = _fit(full, screen)
    tones = table.tones or [(None,) * len(widths)] * len(table.rows)
    rows = [
        [
            "\n".join(screen.paint(line, tone) for line in (wrap(text, width) if len(text) > width else [text]))
            for text, width, tone in zip(row, widths, toned, strict=True)
        ]
        for row, toned in zip(table.rows, tones, strict=True)
    ]
    lines = _laid_out([list(table.headers), *rows] if headers else rows)
    if headers:
        yield [next(lines)]
    for cells, below in zip(rows, _below(full, table, screen), strict=True):
        yield [*islice(lines, max(text.count("\n") for text in cells) + 1), *below]
    if named:
        yield list(screen.wrapped(f"Here {', '.join(named)}."))


def unbroken(table: Table, screen: Screen) -> bool:
    """Whether the table fits the screen with every word in one line."""
    if not table.rows:
        return True
    table, widths, _ = _fit(_as_shown(table, screen), screen)
    return all(least <= width for (_, least), width in zip(_sizes(table, EVERY), widths, strict=True))


def _as_shown(table: Table, screen: Screen) -> Table:
    if screen.namespace and NAMESPACE in table.headers:
        column = table.headers.index(NAMESPACE)
        if {row[column] for row in table.rows} == {screen.namespace}:
            table = _without(table, NAMESPACE)
    return msgspec.structs.replace(table, rows=tuple(tuple(map(cell, row)) for row in table.rows))


def _below(full: Table, shown: Table, screen: Screen) -> Iterator[Sequence[str]]:
    """Yield, for each row of the full table, the lines with what is not told within the row as shown."""
    told = full.told if full.told != shown.told else ""
    for number, row in enumerate(full.rows):
        tones = full.tones[number] if full.tones else (None,) * len(row)
        lines = list[str]()
        for header, text, tone in zip(full.headers, row, tones, strict=True):
            if header == told and (sentence := text.partition(": ")[2]):
                lines += (screen.paint(line, tone) for line in screen.wrapped(f"  {sentence}", under=2))
            elif header in full.below and header not in shown.headers and text != NONE:
                lines += screen.wrapped(f"  {header.lower()}: {text}", under=2)
        yield lines


def _laid_out(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of rows whose cells may have several."""
    # tabulate puts two spaces between columns; a space at the end of each line of a cell makes the third.
    padded = [[*(text.replace("\n", " \n") + " " for text in row[:-1]), *row[-1:]] for row in rows]
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


def _fit(table: Table, screen: Screen) -> tuple[Table, list[int], list[str]]:
    """Return the table as far as it fits, the width of each column, and what short names stand for.

    First sentences come below their rows; then cells are wrapped; then well-known labels get short names; then columns
    come below their rows, are left out, or have letters; then rows have any number of lines and words are broken.
    """
    full, width = [natural for natural, _ in _sizes(table)], screen.width
    if width is None or _total(full) <= width:
        return table, full, []
    word, spare = (EVERY, ()) if screen.whole else (LONG_WORDS[0], table.spare)
    table = _in_words(table)
    if widths := _shared_out(_sizes(table, word), width, FEW_LINES):
        return table, widths, []
    table, named = _with_short_names(table, SHORT_KEYS)
    table, beginning = (table, []) if screen.whole else _with_short_domains(table)
    named += beginning
    for header in ("", *table.below, *spare):
        if header == WHEN:
            table, letters = _with_short_names(table, LETTERS)
            named += letters
        else:
            table = _without(table, header)
        sizes = _sizes(table, word)
        if widths := _shared_out(sizes, width, MOST_LINES):
            return table, widths, named
    for longest in (EVERY, *LONG_WORDS) if screen.whole else LONG_WORDS[1:]:
        sizes = _sizes(table, longest)
        if widths := _shared_out(sizes, width, max(full)):
            return table, widths, named
    return table, [least for _, least in sizes], named


def _sizes(table: Table, longest: int = LONG_WORDS[0]) -> list[tuple[int, int]]:
    """Return, for each column, how wide its widest cell is, and how wide it has to be at least (characters)."""
    columns = list(zip(*table.rows, strict=True))
    return [
        (
            max(len(header), *map(len, cells)),
            max(len(header), *(min(max(map(len, text.split()), default=0), longest) for text in set(cells))),
        )
        for header, cells in zip(table.headers, columns, strict=True)
    ]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _shared_out(sizes: Sequence[tuple[int, int]], width: int, most_lines: int) -> list[int]:
    """Return the widths with which the rows have the fewest lines; none where they would have more than that.

    What is left over goes to columns that it lets have one line, and then to the one that lacks most.
    """
    for lines in range(1, most_lines + 1):
        # Lines end at words: not all of them are full.
        slack = 0 if lines == 1 else min(4, 2 * lines)
        widths = [min(natural, max(least, -(-natural // lines) + slack)) for natural, least in sizes]
        if (left := width - _total(widths)) >= 0:
            lacks = [natural - has for (natural, _), has in zip(sizes, widths, strict=True)]
            *others, most = sorted(range(len(lacks)), key=lacks.__getitem__)
            for column in others:
                more = lacks[column] if lacks[column] <= left else 0
                widths[column], left = widths[column] + more, left - more
            widths[most] += min(left, lacks[most])
            return widths
    return []


def _with_short_names(table: Table, names: Mapping[str, str]) -> tuple[Table, list[str]]:
    """Return the table with these names (cell → its name), and which is which, unless another cell is called so."""
    texts = {text for row in table.rows for text in row}
    if texts & set(names.values()):
        return table, []
    rows = tuple(tuple(names.get(text, text) for text in row) for row in table.rows)
    named = [f"{short} is {key}" for key, short in names.items() if key in texts]
    return msgspec.structs.replace(table, rows=rows), named


def _with_short_domains(table: Table) -> tuple[Table, list[str]]:
    """Return the table with domains without what they all begin with, and that; unchanged unless it is one text."""
    if DOMAINS not in table.headers:
        return table, []
    at = table.headers.index(DOMAINS)
    begins = {found for row in table.rows if (found := _beginning(row[at]))}
    if len(begins) != 1:
        return table, []
    (begin,) = begins
    rows = tuple(
        (*row[:at], " ".join(word.removeprefix(begin) for word in row[at].split(" ")), *row[at + 1 :])
        for row in table.rows
    )
    return msgspec.structs.replace(table, rows=rows), [f"zones in DOMAINS begin with {begin}"]


def _beginning(domains: str) -> str:
    """Return what several zones begin with that differ in a last letter, as ``eu-west-1``; empty for others."""
    values = [word.partition(":")[0] for word in domains.split(" ")]
    begin = values[0][:-1]
    alike = all(value[:-1] == begin and value[-1:].isalpha() for value in values)
    return begin if len(values) > 1 and alike and begin[-1:].isdigit() else ""


def _in_words(table: Table) -> Table:
    if not table.told:
        return table
    at = table.headers.index(table.told)
    rows = tuple((*row[:at], row[at].partition(": ")[0], *row[at + 1 :]) for row in table.rows)
    return msgspec.structs.replace(table, rows=rows, told="")


def _without(table: Table, header: str) -> Table:
    if header not in table.headers:
        return table
    gone = table.headers.index(header)
    rest = slice(0, gone), slice(gone + 1, None)
    headers, *rows = ((*row[rest[0]], *row[rest[1]]) for row in (table.headers, *table.rows))
    tones = tuple((*row[rest[0]], *row[rest[1]]) for row in table.tones)
    return msgspec.structs.replace(table, headers=headers, rows=tuple(rows), tones=tones)

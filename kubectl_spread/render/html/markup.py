"""Markup that is safe by construction: text becomes Markup only by being escaped.

Names, labels and messages are written by others: what would act on a terminal or reorder a line is made visible, as
in tables, and what would act on a browser is escaped.
"""

from collections.abc import Callable, Iterable
from html import escape
from typing import NewType, TypeAlias

from kubectl_spread.render.cells import clean

Markup = NewType("Markup", str)  # HTML that may stand in the page as it is

NOTHING = Markup("")

Short: TypeAlias = Callable[[str], str]  # Leaves out of a text what all nodes' names end in, which the page says once


def text(words: str) -> Markup:
    """Return words as they are to be read, wherever they stand: in an element or in a quoted attribute."""
    return Markup(escape(clean(words)))


def path_text(path: str) -> Markup:
    """Return a name of several parts, such as ``shop/deployment/web``, which breaks behind a slash where it must."""
    return Markup(text(path).replace("/", "/<wbr>"))


def text_lines(lines: Iterable[str]) -> Markup:
    """Return lines that are clean already, one below another."""
    return Markup(escape("\n".join(lines)))


def joined(parts: Iterable[Markup]) -> Markup:
    """Return the parts one after another."""
    return Markup("".join(parts))


def element(name: str, *content: Markup, **attributes: str | bool) -> Markup:
    """Return an element.

    Args:
        name: the tag.
        *content: what stands in it.
        **attributes: name → value, a hyphen written as ``_`` and a trailing one dropped; without a value when True,
            left out when False or empty.
    """
    written = ""
    for key, value in attributes.items():
        if value not in {False, ""}:
            written += f" {key.removesuffix('_').replace('_', '-')}"
            written += "" if value is True else f'="{text(str(value))}"'
    return Markup(f"<{name}{written}>{''.join(content)}</{name}>")


def each(name: str, items: Iterable[Markup], **attributes: str | bool) -> Markup:
    """Return an element for every item."""
    return joined(element(name, item, **attributes) for item in items)


def block(name: str, *content: Markup, **attributes: str | bool) -> Markup:
    """Return an element, or nothing where it would be empty."""
    return element(name, *content, **attributes) if any(content) else NOTHING

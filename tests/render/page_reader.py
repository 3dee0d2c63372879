"""A page as a parser sees it: its elements in order, each with its attributes and the text in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(("meta", "input", "br", "wbr"))
IMPLIED = frozenset(("li",))  # Elements whose end need not be written


@dataclass(slots=True)
class Element:
    """One element."""

    name: str  # its tag
    attributes: Mapping[str, str]  # name → value; empty where it has none
    content: list[Element | str] = field(default_factory=list)  # elements and texts, in order

    @property
    def text(self) -> str:
        """Everything that is written in it."""
        return "".join(each if isinstance(each, str) else each.text for each in self.content)

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    def walk(self) -> Iterator[Element]:
        yield self
        for each in self.content:
            if isinstance(each, Element):
                yield from each.walk()

    def all(self, name: str = "", *, of: str = "") -> list[Element]:
        """Return the elements in it of this tag and this class."""
        return [each for each in self.walk() if name in {"", each.name} and (not of or of in each.classes)]

    def texts(self, name: str = "", *, of: str = "") -> list[str]:
        return [each.text for each in self.all(name, of=of)]


class _Reader(HTMLParser):
    """Builds the tree, and refuses ends that end nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in IMPLIED and self.open[-1].name == tag:
            self.open.pop()
        element = Element(tag, {name: value or "" for name, value in attrs})
        assert len(element.attributes) == len(attrs), f"an attribute of {tag} is there twice"
        self.open[-1].content.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if self.open[-1].name in IMPLIED and self.open[-1].name != tag:
            self.open.pop()
        assert self.open.pop().name == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].content.append(data)


def read(page: str) -> Element:
    """Return the page's root; its elements must end where they should."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    (root,) = reader.open
    return root

"""The README and the pages of ``docs`` show what commands print, and lead where they say.

``--update-golden`` writes the pages of the commands anew, and into all pages what the commands print.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.pages.commands import pages
from tests.pages.consoles import CONSOLE, PAGES, ROOT, rerun

LINK = re.compile(r"\]\((?!https?://)(?P<path>[^)#]+)")
YAML = re.compile(r"```yaml\n(?P<text>.*?)```", re.DOTALL)


@pytest.mark.parametrize(("path", "written"), pages().items(), ids=[path.stem for path in pages()])
def test_the_pages_of_the_commands_are_those_of_the_code(path: Path, written: str, pytestconfig: pytest.Config) -> None:
    actual = rerun(written)
    if pytestconfig.getoption("--update-golden"):
        path.write_text(actual)
    assert actual == path.read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_print_what_the_page_shows(page: Path, pytestconfig: pytest.Config) -> None:
    text = page.read_text()
    actual = rerun(text)
    if pytestconfig.getoption("--update-golden"):
        page.write_text(actual)
    assert actual == text


def test_the_readme_shows_the_three_main_commands_at_work() -> None:
    blocks = [block["lines"] for block in CONSOLE.finditer((ROOT / "README.md").read_text())]
    for command in ("show", "why-pending", "check"):
        assert any(f"kubectl spread {command} " in block for block in blocks)


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= 900


def test_every_page_is_of_a_command_that_there_is() -> None:
    assert set((ROOT / "docs" / "commands").glob("*.md")) == set(pages())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert [link["path"] for link in LINK.finditer(page.read_text()) if not (page.parent / link["path"]).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_manifests_of_the_page_can_be_read(page: Path) -> None:
    for block in YAML.finditer(page.read_text()):
        assert all(isinstance(document, dict | list) for document in yaml.safe_load_all(block["text"]))


def test_commands_of_the_readme_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:    |`)make ([a-z0-9-]+)", (ROOT / "README.md").read_text()))
    assert {"demo", "test"} <= named <= targets

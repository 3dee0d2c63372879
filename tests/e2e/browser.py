"""A headless Chromium for pages, and the axe that finds what keeps people from using them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from kubectl_spread.contract.any_report import AnyReport
from kubectl_spread.render.html import to_html
from tests.npm import installed

AXE = {"axe-core": "4.14.1"}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")  # What distributions call it

_TIMEOUT_MS = 10_000

Theme = Literal["light", "dark"]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run the distribution's Chromium for as long as it is needed."""
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    assert found, f"none of {', '.join(CHROMIUM)} is on PATH"
    # In a container there is no sandbox to be had; the pages are our own.
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=found, args=["--no-sandbox"]) as it,
    ):
        yield it


@dataclass(frozen=True, slots=True)
class Opened:
    """A page that is open."""

    page: Page  # to be driven
    complaints: list[str] = field(default_factory=list)  # what it wrote to the console and the errors nobody caught
    requests: list[str] = field(default_factory=list)  # what it asked for besides itself

    def cell(self, name: str) -> Any:  # noqa: ANN401 - a locator; playwright is not typed where it is not installed
        """Return the first cell of a node."""
        return self.page.locator(".cells li", has=self.page.get_by_text(name, exact=True)).first

    def search(self, words: str) -> str:
        """Return what is said to be found."""
        self.page.get_by_role("searchbox", name="Search").fill(words)
        return self.page.get_by_role("status").inner_text()

    def shown(self) -> list[str]:
        """Return the names of the cards in sight."""
        return self.page.locator(".card:visible h2").all_inner_texts()


def opened(browser: Browser, report: AnyReport, folder: Path, **context: Any) -> Opened:  # noqa: ANN401 - as Playwright has it
    """Return the report's page, opened from a file as a user would.

    Args:
        browser: to open it in.
        report: what it tells.
        folder: where the file is written.
        **context: Playwright's options for a browser context.
    """
    file = folder / "report.html"
    file.write_text(to_html(report), encoding="utf-8")
    within: BrowserContext = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | context)
    within.set_default_timeout(_TIMEOUT_MS)
    found = Opened(within.new_page())
    found.page.on("console", lambda message: found.complaints.append(message.text))
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    found.page.on("request", lambda request: found.requests.append(request.url))
    found.page.goto(file.as_uri())
    found.requests.remove(file.as_uri())
    return found


def violations(page: Page) -> list[str]:
    """Return what axe finds, each with the first element it concerns."""
    page.evaluate((installed(AXE) / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    return [f"{each['id']}: {each['nodes'][0]['html']}" for each in found]

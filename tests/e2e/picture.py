"""The picture of the README, drawn from the page itself: ``python -m tests.e2e.picture``."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.e2e.browser import chromium, opened
from tests.render.reports import golden_report

PICTURE = Path(__file__).parents[2] / "docs/images/why-pending.png"
SIZE = {"width": 1040, "height": 812}


def main() -> None:
    """Draw the page of the demo's Pending Pod."""
    with chromium() as browser, TemporaryDirectory() as folder:
        it = opened(browser, golden_report("why-pending/shop"), Path(folder), viewport=SIZE, color_scheme="light")
        it.page.screenshot(path=PICTURE)


if __name__ == "__main__":
    main()

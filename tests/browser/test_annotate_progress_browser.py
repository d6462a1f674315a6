"""The pages of progress and agreement in a browser: accessible, and alive without losing focus."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.labelled_project import made_site
from tests.fakes.mirage_labels import mirage_site
from tests.fakes.served_app import served_app

from ragstone.annotation import live_numbers
from ragstone.annotation.app import make_app
from ragstone.web import limits


def test_the_pages_are_accessible_and_fit(tmp_path: Path, browser: Any) -> None:
    """No violation and no sideways scrolling, at two widths and in both schemes."""
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    scrolled = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    with (
        mirage_site(tmp_path / "p", done=0.2, shown=True) as site,
        served_app(make_app(site)) as address,
    ):
        for width in (390, 1280):
            for scheme in ("light", "dark"):
                context = browser.new_context(
                    viewport={"width": width, "height": 844}, color_scheme=scheme, bypass_csp=True
                )
                page = context.new_page()
                for path in ("progress", "agreement", "agreement?item=q000-c0"):
                    page.goto(f"{address}/{path}")
                    page.evaluate(axe)
                    found = page.evaluate("axe.run()")["violations"]
                    assert [(path, one["id"], one["nodes"][0]["html"]) for one in found] == []
                    assert (path, page.evaluate(scrolled) <= 0) == (path, True)
                context.close()


def test_new_labels_appear_and_the_focus_stays(
    tmp_path: Path, browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict changes by itself; the policy of the page holds."""
    sync_api = pytest.importorskip("playwright.sync_api")
    monkeypatch.setattr(limits, "NUMBERS_SECONDS", 0.0)
    monkeypatch.setattr(live_numbers, "_REST", 0)
    with made_site(tmp_path / "p", 3) as (site, give), served_app(make_app(site)) as address:
        give("ann", "q0", "yes")
        page, told = browser.new_page(), []
        page.on("console", lambda message: told.append(message.text))
        page.goto(f"{address}/progress")
        heading = page.locator("h1")
        sync_api.expect(heading).to_have_text("1 of 3 items have a label")
        page.focus("text=Refresh the tables")
        give("ann", "q1", "yes")
        sync_api.expect(heading).to_have_text("2 of 3 items have a label", timeout=30_000)
        assert page.evaluate("document.activeElement.textContent") == "Refresh the tables"
        page.keyboard.press("Enter")
        sync_api.expect(page.locator("[aria-labelledby=people] td").first).to_have_text("2")
        assert told == []
        page.close()

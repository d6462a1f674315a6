"""The page of received traces in a browser: widths, schemes, accessibility, the keyboard."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from tests.browser.served_pages import served
from tests.view.pages.test_traces import HOSTILE, received


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_and_fits(
    tmp_path: Path, browser: Any, width: int, scheme: str
) -> None:
    """No violation, no sideways scrolling, no request to elsewhere, no complaint of the browser."""
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    with served(received(tmp_path / "s")) as address:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
        )
        page, told, asked = context.new_page(), [], []
        page.on("console", lambda message: told.append(message.text))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{address}/traces")
        page.evaluate(axe)
        found = page.evaluate("axe.run()")["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
        scrolled = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(scrolled) <= 0
        assert not told
        assert all(url.startswith((address, "data:")) for url in asked)
        assert HOSTILE.replace("\x1b", "\\x1b") in page.inner_text("main")
        context.close()


def test_a_view_becomes_a_data_set_by_keyboard(tmp_path: Path, browser: Any) -> None:
    """The filters and the button work without a pointer, and without a script."""
    with served(received(tmp_path / "s")) as address:
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(f"{address}/traces")
        page.focus("input[name=text]")
        page.keyboard.type("ferry")
        page.keyboard.press("Enter")
        page.wait_for_url("**text=ferry**")
        assert page.locator("tbody tr").count() == 1
        page.focus("text=Make a data set")
        page.keyboard.press("Enter")
        page.wait_for_url("**/traces/dataset")
        assert '"queries": 1' in page.inner_text("body")
        context.close()

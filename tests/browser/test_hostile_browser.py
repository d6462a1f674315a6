"""Pages of hostile text in a real browser; a page that does not escape is found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.hostile.browse import look_at
from benchmarks.hostile.texts import LAYOUT, MARKUP

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "hostile_text.py"


def test_a_page_that_does_not_escape_is_found(browser: Any, tmp_path: Path) -> None:
    """Else the campaign would prove nothing."""
    page = tmp_path / "page.html"
    tab, found = browser.new_page(), {}
    for name in ("image", "SVG", "text area", "base"):
        page.write_text(f"<!doctype html><p>{MARKUP[name]}</p>")
        found[name] = next(look_at(tab, name, name, page.as_uri())).problems
    assert all(found.values()), found
    assert "a script of the data ran" in found["image"]
    # A page without a style is a part that a script asks for, whose width is not looked at.
    page.write_text(f"<!doctype html><style>p{{}}</style><p>{LAYOUT['long word']}\x07</p>")
    tab = browser.new_page()
    narrow = next(look_at(tab, "", "", page.as_uri())).problems
    assert [one.partition(":")[0].lstrip("0123456789") for one in narrow] == [
        " pixels too wide",
        "a control",
    ]


def test_pages_show_hostile_text_as_text(browser: Any, tmp_path: Path) -> None:
    """A report, a chart, a page of the store and one of a project, narrow and wide."""
    del browser  # only its presence is needed
    only = "report.html,plot.html,view /queries,annotate labels /disagreements"
    command = [sys.executable, str(SCRIPT), "--part", "pages", "--queries", "8"]
    command += ["--keep", str(tmp_path), "--only", only]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

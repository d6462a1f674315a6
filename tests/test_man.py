"""`make man`: a man page per command, from its help text."""

from __future__ import annotations

from pathlib import Path

from tools.man import write_pages


def test_every_command_has_a_page_with_its_options(tmp_path: Path) -> None:
    """Commands of groups included; a page has the sections of a man page and no backspace."""
    pages = {path.name: path.read_text("utf-8") for path in write_pages(tmp_path)}
    assert {"ragstone.1", "ragstone-rank.1", "ragstone-judge-check.1"} <= pages.keys()
    assert all(".SH NAME" in page and "\b" not in page for page in pages.values())
    assert "\\-\\-per\\-query" in pages["ragstone-rank.1"]
    assert ".SH COMMANDS" in pages["ragstone-judge.1"]

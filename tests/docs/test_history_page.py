"""The page on histories: the keys of the JSON, and the marks."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.fakes.made_history import made_passports

from ragstone.core import limits
from ragstone.results.history import MARKS, make_history

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "history.md").read_text("utf-8")


def test_the_json_has_the_keys_shown(tmp_path: Path) -> None:
    """Of the history, its lines and its points."""
    block = re.search(r"^```json\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert block
    shown, found = json.loads(block[1]), make_history(made_passports(tmp_path, 1)).to_dict()

    assert shown.keys() == found.keys()
    assert shown["lines"][0].keys() == found["lines"][0].keys()
    assert shown["lines"][0]["points"][0].keys() == found["lines"][0]["points"][0].keys()


def test_every_mark_and_limit_is_explained() -> None:
    """The table has a row per mark, in their order."""
    assert tuple(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == MARKS
    assert f"last {limits.MAX_EARLIER_RECORDS} records" in PAGE

"""The order of causes, as docs/causes.md lists it."""

from __future__ import annotations

import re
from pathlib import Path

from ragstone.causes.order import BY_NAME, CAUSES, Cause

DOCS = Path(__file__).resolve().parents[2] / "docs"


def row(cause: Cause) -> str:
    """Return the row of a cause in the table of the page."""
    name = f"`{cause.name}`" + (" (refines)" if cause.refines else "")
    needs = "; ".join(cause.needs) or "-"
    return f"| {name} | {cause.meaning} | {needs} | {'yes' if cause.normal else ''} |"


def test_the_page_lists_every_cause_with_its_trials() -> None:
    """In the order of the pipeline, with what a normal run decides alone."""
    text = (DOCS / "causes.md").read_text("utf-8")
    rows = [row(cause) for cause in CAUSES]

    assert "\n".join(rows) in text


def test_the_taxonomies_name_known_causes() -> None:
    """Each published type has a row, and the causes in it exist."""
    text = (DOCS / "failure-taxonomies.md").read_text("utf-8")
    rows = re.findall(r"^\| ([EF]\d+) .*\| ([^|]+) \|$", text, re.MULTILINE)

    assert [name for name, _ in rows] == [
        *(f"E{n}" for n in range(1, 17)),
        *(f"F{n}" for n in range(1, 34)),
    ]
    named = {name for _, cell in rows for name in re.findall(r"`([a-z_]+)`", cell)}
    assert named - {"chunker", "citation", "faithfulness", "gold"} <= BY_NAME.keys()
    assert all("`" in cell or "not seen" in cell for _, cell in rows)

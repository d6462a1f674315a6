"""Every relative link of the documentation leads to a file, and its anchor to a heading."""

from __future__ import annotations

import re

import pytest
from benchmarks.figures import ROOT, pages, sections

_LINK = re.compile(r"\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)")


@pytest.mark.parametrize("page", [*pages(), "CHANGELOG.md"])
def test_links_resolve(page: str) -> None:
    """Links to files and folders of the repository, and to headings of its pages."""
    broken = []
    for file, anchor in _LINK.findall("".join(sections(page).values())):
        target = (ROOT / page).parent / file if file else ROOT / page
        if not target.exists():
            broken.append(file)
        elif anchor and anchor not in sections(str(target.resolve().relative_to(ROOT))):
            broken.append(f"{file}#{anchor}")
    assert not broken

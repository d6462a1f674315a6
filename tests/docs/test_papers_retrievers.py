"""The specs of the papers' retrievers, in the tables of docs/retrievers.md, are components."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pytest
from benchmarks.figures import ROOT

from ragstone.core.registry import create
from ragstone.protocols import Retriever

_PAGE: Final = (ROOT / "docs" / "retrievers.md").read_text(encoding="utf-8")
_SECTION: Final = _PAGE.partition("## The papers' retrievers")[2].partition("\n## ")[0]


def specs() -> Iterator[tuple[str, str]]:
    """Yield the kind of each row of the two tables, and its spec."""
    first, _, second = _SECTION.partition("and as `reranker:`")
    for kind, text in (("retrievers", first), ("rerankers", second)):
        for spec in re.findall(r"^\|.*\| `(.+)` \|$", text, re.MULTILINE):
            yield kind, spec


@pytest.mark.parametrize(("kind", "spec"), list(specs()))
def test_each_spec_is_a_component(kind: str, spec: str) -> None:
    """Its names and parameters exist; no model is loaded."""
    made = create(kind, spec, where="system 's'")

    assert isinstance(made, Retriever) is (kind == "retrievers")


def test_the_tables_are_read() -> None:
    """Both have rows, and a line break in a prefix is one."""
    found = list(specs())
    assert len(found) > 25
    assert {kind for kind, _ in found} == {"retrievers", "rerankers"}
    (mistral,) = (spec for _, spec in found if "e5-mistral" in spec)
    assert "query\nQuery: " in create("retrievers", mistral, where="s")._embedder.query_prefix

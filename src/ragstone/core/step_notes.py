"""Notes: what a component had to do to its input, counted and kept beside the result.

A query cut to what its model reads, a passage without a word: no failure, but nothing to be silent
about. The step that runs the component collects its notes into the manifest, and the report and
`ragstone run` tell them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

ROLES: Final[Mapping[str, str]] = {"query": "queries", "passage": "passages"}
"""The side of a search that texts are on -> their noun in notes."""

_open: ContextVar[Counter[str] | None] = ContextVar("notes", default=None)


@contextmanager
def collect_notes() -> Iterator[Counter[str]]:
    """Collect what is noted inside the block: note -> how often.

    >>> with collect_notes() as notes:
    ...     add_note("queries cut to 512 tokens", 3)
    >>> dict(notes)
    {'queries cut to 512 tokens': 3}
    """
    notes: Counter[str] = Counter()
    token = _open.set(notes)
    try:
        yield notes
    finally:
        _open.reset(token)


def add_note(what: str, count: int = 1) -> None:
    """Note that something happened `count` times; outside of a step nobody listens.

    `what` is a phrase that reads well behind a number, and names no single query or passage.
    """
    notes = _open.get()
    if notes is not None and count:
        notes[what] += count

"""Notes: changes that a component made to its input, counted and stored with the result.

Examples are a query that was cut to the model's maximum length, or a passage without a word: not a
failure, but worth reporting. The step that runs the component collects its notes into the manifest,
and the report and `ragstone run` show them.
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
    """Collect the notes of the block: note -> count.

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
    """Note that something happened `count` times; a no-op outside of a step.

    `what` is a phrase that follows a number, and names no single query or passage.
    """
    notes = _open.get()
    if notes is not None and count:
        notes[what] += count

"""Notes: counts of changes that a component made to its input, such as queries cut to a length.

They are not failures, but worth reporting. The step that runs the component stores its notes in the
manifest, and the report and `ragstone run` show them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from ragstone.core import limits

ROLES: Final[Mapping[str, str]] = {"query": "queries", "passage": "passages"}
"""The side of a search that texts are on -> their noun in notes."""

_open: ContextVar[Counter[str] | None] = ContextVar("notes", default=None)
_facts: ContextVar[dict[str, Any] | None] = ContextVar("facts", default=None)
_arrays: ContextVar[dict[str, None] | None] = ContextVar("arrays", default=None)


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


def add_note(note: str, count: int = 1) -> None:
    """Add to the count of a note; a no-op outside of a step.

    `note` is a phrase that follows a number and contains no id.
    """
    notes = _open.get()
    if notes is not None and count:
        notes[note] += count


@contextmanager
def collect_facts() -> Iterator[dict[str, Any]]:
    """Collect the facts of the block, plain data for the manifest of a step."""
    facts: dict[str, Any] = {}
    token = _facts.set(facts)
    try:
        yield facts
    finally:
        _facts.reset(token)


def step_facts() -> dict[str, Any]:
    """Return the facts of the step so far, to be added to; outside of a step, nobody reads them."""
    facts = _facts.get()
    return {} if facts is None else facts


@contextmanager
def collect_arrays() -> Iterator[dict[str, None]]:
    """Collect the names of the array folders that the block uses, in order."""
    arrays: dict[str, None] = {}
    token = _arrays.set(arrays)
    try:
        yield arrays
    finally:
        _arrays.reset(token)
        use_arrays(arrays)


def use_arrays(names: Iterable[str]) -> None:
    """Name array folders of the store that are used; a no-op outside of a step."""
    arrays = _arrays.get()
    if arrays is not None:
        arrays.update(dict.fromkeys(names))


@contextmanager
def no_arrays() -> Iterator[None]:
    """Leave out the array folders that the block uses: no result is made of them."""
    token = _arrays.set(None)
    try:
        yield
    finally:
        _arrays.reset(token)


def most_frequent(reasons: Counter[str]) -> dict[str, int]:
    """Return the most frequent reasons with their counts, and one entry for all others.

    >>> most_frequent(Counter("aab"))
    {'a': 2, 'b': 1}
    """
    found = dict(reasons.most_common(limits.STORED_REASONS))
    others = len(reasons) - len(found)
    rest = {f"{others:,} other reasons": reasons.total() - sum(found.values())}
    return found | (rest if others else {})

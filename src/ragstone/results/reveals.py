"""When the secret queries and nuggets of an experiment were revealed, as its store records it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ragstone.core.store import Store
from ragstone.core.times import utc_text
from ragstone.results.record import Record
from ragstone.results.secret import Secret

KIND: Final = "revealed"
_DAY: Final = len("2026-11-26")
Means = Literal["--reveal", "the key `secret` was changed"]


@dataclass(frozen=True, slots=True)
class Reveal:
    """One time at which secret queries or nuggets were shown."""

    at: str
    by: str
    """The option, or the change of the file."""
    seed: int
    queries: float = 0.0
    """The share that was secret until then; so for nuggets."""
    nuggets: float = 0.0


def reveals(store: Store, name: str) -> list[Reveal]:
    """Return the reveals of an experiment, the first one first; raise `DamagedFile` on damage."""
    document = store.read_json(KIND, name) or {}
    return [Reveal(**one) for one in document.get("reveals", ())]


def record_change(store: Store, before: Record, after: Record) -> None:
    """Record a reveal if another record, which shows more, replaces one with a share.

    A smaller share and another seed show secret queries, so they count as a reveal too.
    """
    was, now = before.file.get("secret"), after.file.get("secret")
    if was and was != now and not (now and Secret(**was).is_within(Secret(**now))):
        record_reveal(store, before.name, was, "the key `secret` was changed")


def record_reveal(store: Store, name: str, secret: Mapping[str, Any], by: Means) -> None:
    """Add a reveal to those of an experiment; equal ones of one day are one.

    Raises `StoreError` if the store is read-only.
    """
    known = (store.read_json(KIND, name) or {}).get("reveals", [])
    new = {"at": utc_text(), "by": by, **secret}
    if (
        not known
        or known[-1] | {"at": new["at"]} != new
        or known[-1]["at"][:_DAY] < new["at"][:_DAY]
    ):
        store.write_json(KIND, name, {"reveals": [*known, new]})

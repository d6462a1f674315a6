"""Earlier finished records of an experiment, and the choice of one by its date or release.

A record that a new one replaces is kept in `history/` of the store. Its numbers are read from the
steps that it names, which `ragstone store prune` keeps.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.spec import parse_spec
from ragstone.core.store import Store
from ragstone.core.times import utc_text
from ragstone.data.readers.rows import listed
from ragstone.errors import DamagedFile, StoreError
from ragstone.results.record import EARLIER, Record
from ragstone.results.wording import moment

_LOG: Final = logging.getLogger(__name__)


def keep_earlier(store: Store, record: Record) -> None:
    """Keep a finished record that another one is about to replace.

    The oldest ones beyond `limits.MAX_EARLIER_RECORDS` are removed.
    """
    # Two runs may finish in one second: their files have the order in which they were kept.
    times = (record.finished or record.started, utc_text(timespec="microseconds"))
    stamp = "_".join(time.partition("+")[0].replace(":", "") for time in times)
    store.write_json(EARLIER, f"{record.name}@{stamp}", asdict(record))
    for name in _names(store, record.name)[: -limits.MAX_EARLIER_RECORDS]:
        store.remove_json(EARLIER, name)


def finished_records(store: Store, name: str) -> list[Record]:
    """Return the finished records of an experiment that the store has, the oldest first.

    A notice names each earlier record that cannot be read. Raises `StoreError` if the experiment
    was never run, or if its last record is damaged.
    """
    last = Record.load(store, name)
    before = (with_secret(one, last) for one in _readable(store, name))
    found = [*before, *([last] if last.finished else [])]
    return sorted(found, key=lambda record: record.finished or "")


def with_secret(record: Record, last: Record) -> Record:
    """Return a record with the secret share of the last one, which applies to earlier runs too."""
    secret = last.file.get("secret")
    same = secret == record.file.get("secret")
    return record if same else replace(record, file={**record.file, "secret": secret})


def declared_release(entry: Mapping[str, Any]) -> str | None:
    """Return the release that a system of an experiment file, its generator or retriever declares.

    >>> declared_release({"generator": "http(localhost:9000, release=v1)", "retriever": "bm25"})
    'v1'
    """
    written = (part for key in ("generator", "retriever") if (part := entry.get(key)))
    parts = (parse_spec(part, where="system").parameters for part in written)
    declared = (held.get("release") for held in (entry, *parts))
    return next((str(one) for one in declared if one not in (None, "")), None)


def releases(record: Record) -> dict[str, str]:
    """Return system -> its declared release, for the systems that have one."""
    entries = record.file.get("systems") or ()
    return {
        system.name: release
        for system, entry in zip(record.systems, entries, strict=False)
        if (release := declared_release(entry)) is not None
    }


def record_at(store: Store, name: str, when: str, system: str = "") -> Record:
    """Return the last finished record of a date or of a release.

    Args:
        store: the store of the experiment.
        name: the name of the experiment.
        when: a release of the system, or the beginning of the time in UTC at which the run
            finished: `2026-10-01`, `2026-10-01T14:30`.
        system: the system whose release counts (default: any).

    Raises:
        StoreError: there is no such record; the message lists those that exist.
    """
    known = finished_records(store, name)
    of_release = [r for r in known if when in _releases_of(r, system)]
    of_date = [r for r in known if (r.finished or "").startswith(when.replace(" ", "T"))]
    found = of_release or (of_date if when else [])
    if not found:
        raise StoreError(
            f"the store {store.root} has no finished run of {name!r} with the release or the date "
            f"{when!r}; it has {listed(_described(known, system)) or 'none'}. A date is written "
            "as 2026-10-01 or 2026-10-01T14:30"
        )
    if len(found) > 1:
        _LOG.warning(
            "note: %d runs of %s are of %s; the last one is used: %s",
            *(len(found), name, when, found[-1].finished),
        )
    return found[-1]


def _releases_of(record: Record, system: str) -> set[str]:
    """Return the release of a system, or the releases of all systems for ""."""
    known = releases(record)
    return {release for name, release in known.items() if system in ("", name)}


def _described(records: Sequence[Record], system: str) -> list[str]:
    """Return the date of each record with its releases, the last one first."""
    found = []
    for record in reversed(records):
        named = ", ".join(sorted(_releases_of(record, system)))
        date = moment(record.finished or "")
        found.append(f"{date} (release {named})" if named else date)
    return found


def _names(store: Store, name: str) -> list[str]:
    """Return the names of an experiment's earlier records; they begin with their time."""
    return sorted(path.stem for path in (store.root / EARLIER).glob(f"{name}@*.json"))


def _readable(store: Store, name: str) -> Iterator[Record]:
    for document in _names(store, name):
        try:
            yield Record.load(store, name, earlier=document)
        except DamagedFile as error:
            _LOG.warning("%s is damaged: %s", error.path, error.what)
        except StoreError as error:
            _LOG.warning("an earlier record is left out: %s: %s", document, error)

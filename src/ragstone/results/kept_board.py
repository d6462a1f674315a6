"""The tables of a finished experiment, kept in its store so that they are computed once.

The key of a kept board is made of all that decides it: the record, the digests in the manifests of
its steps, the attempt after it, the probes of judges, and the code of Ragstone. The files of the
steps are verified each time. A kept board that is damaged or has another key is computed again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

import ragstone
from ragstone.core import limits
from ragstone.core.atomic_files import write_document
from ragstone.core.checksums import read_manifest, verify_files
from ragstone.core.fingerprint import digest_file, digest_json
from ragstone.core.tables import TextTable
from ragstone.errors import DamagedFile, StoreError
from ragstone.results.record import ATTEMPTS, COUNTERFACTUALS, EARLIER
from ragstone.version import __version__

if TYPE_CHECKING:
    from ragstone.core.store import Store
    from ragstone.results.reader import StoredResults
    from ragstone.results.record import Record

KIND: Final = "boards"
REPORTS: Final = "reports"
_PROBES: Final = "probes"
Part = str | TextTable


@dataclass(frozen=True)
class KeptBoard:
    """What the terminal shows of an experiment, apart from the calls of the last run."""

    above: tuple[Part, ...]
    below: tuple[Part, ...]
    """The parts above and below the lines on calls."""
    document: Mapping[str, Any]
    """The same as plain data (`--json`)."""


def leaderboard_parts(results: StoredResults) -> Iterator[Part]:
    """Yield the head line, every table that has rows, and the notes."""
    from ragstone.results.usage import calls_part

    board = _kept(results) or _Made(results)
    yield from board.above
    if calls := calls_part(results):
        yield calls
    yield from board.below


def leaderboard_document(results: StoredResults) -> dict[str, Any]:
    """Return the same as plain data, numbers unrounded (docs/report.md lists the keys)."""
    calls = [asdict(entry) for entry in results.record.calls]
    return {**(_kept(results) or _Made(results)).document, "calls": calls}


class _Made:
    """A board that is computed from the rows of the store, part by part."""

    def __init__(self, results: StoredResults) -> None:
        self._results = results

    @cached_property
    def above(self) -> tuple[Part, ...]:
        from ragstone.results.terminal import parts_above

        return tuple(part for part in parts_above(self._results) if part is not None)

    @cached_property
    def below(self) -> tuple[Part, ...]:
        from ragstone.results.terminal import parts_below

        return tuple(part for part in parts_below(self._results) if part is not None)

    @cached_property
    def document(self) -> dict[str, Any]:
        from ragstone.results.leaderboards import results_document
        from ragstone.results.lesson import lesson

        return {"lesson": lesson(self._results), **results_document(self._results)}


def write_report(
    results: StoredResults, path: Path, *, queries: int | None = limits.REPORT_QUERIES
) -> Path:
    """Write the report as one self-contained file and return its path.

    The first `queries` queries have a page, or all for None. Means always include all queries.
    Raises `StoreError` if the file cannot be written.
    """
    return write_document(path, _report(results, queries).encode(), "report")


def _report(results: StoredResults, queries: int | None) -> str:
    """Return the kept report of results, made and kept if there is none.

    Its key has what a report shows beside the board: earlier runs, counterfactuals, the call log
    and the templates.
    """
    board, store, name = _key_of(results), results.store, results.name
    if board is None:
        return _made_report(results, queries)
    others = [*store.root.glob(f"{EARLIER}/{name}@*.json")]
    others += store.root.glob(f"{COUNTERFACTUALS}/*.json")
    records = {path.name: digest_file(path) for path in sorted(others)}
    log = [one.stat() for one in sorted(store.root.glob(f"{store.call_log.name}*"))]
    states = [(one.st_size, one.st_mtime_ns) for one in log]
    calls = [asdict(entry) for entry in results.record.calls]
    key = digest_json(
        [board, queries, records, calls, states, _digest_of(_base().glob("*/templates"))]
    )
    document = _document(store, REPORTS, name, key)
    if document is None:
        document = {"key": key, "html": _made_report(results, queries)}
        with contextlib.suppress(StoreError):  # The store may be read-only.
            store.write_json(REPORTS, name, document)
    return str(document["html"])


def _made_report(results: StoredResults, queries: int | None) -> str:
    from ragstone.results.html import render_report

    return render_report(results, queries=queries)


def _key_of(results: StoredResults) -> str | None:
    """Return the key of the board of results; None if it is not kept.

    Boards of unfinished experiments, of counterfactuals and of those with secrets are not kept.
    """
    record = results.record
    if not record.finished or record.counterfactual or record.file.get("secret"):
        return None
    try:
        return _key(results.store, record)
    except (DamagedFile, OSError):
        # Whoever reads the damaged table reports it.
        return None


def _kept(results: StoredResults) -> KeptBoard | None:
    """Return the kept board of results, made and kept if there is none; None if none is kept."""
    if (key := _key_of(results)) is None:
        return None
    document = _document(results.store, KIND, results.name, key)
    if document is None:
        made = _Made(results)
        document = {"key": key, **_plain(KeptBoard(made.above, made.below, made.document))}
        with contextlib.suppress(StoreError):  # The store may be read-only.
            results.store.write_json(KIND, results.name, document)
    return _read_back(document)


def _document(store: Store, kind: str, name: str, key: str) -> dict[str, Any] | None:
    """Return the document with this key; None if there is none, or if it is damaged."""
    try:
        found = store.read_json(kind, name)
    except (DamagedFile, OSError):
        return None
    return found if found and found.get("key") == key else None


def _plain(board: KeptBoard) -> dict[str, Any]:
    """Return a board as JSON reads it back."""
    made = orjson.dumps(dataclasses.asdict(board), default=os.fspath)
    found: dict[str, Any] = orjson.loads(made)
    return found


def _read_back(document: Mapping[str, Any]) -> KeptBoard:
    above, below = (tuple(map(_part, document[name])) for name in ("above", "below"))
    return KeptBoard(above, below, document["document"])


def _part(written: str | Mapping[str, Any]) -> Part:
    return written if isinstance(written, str) else TextTable(**written)


def _key(store: Store, record: Record) -> str:
    """Return the digest of all that decides a board; raise `DamagedFile` on damage."""
    written = {**asdict(record), "calls": ()}
    steps = {name: manifest_of(store, name) for name in folders_of(record)}
    paths = [store.root / ATTEMPTS / f"{record.name}.json", *(store.root / _PROBES).glob("*.json")]
    others = {path.name: digest_file(path) for path in sorted(paths) if path.exists()}
    return digest_json([__version__, code_digest(), written, steps, others])


def manifest_of(store: Store, folder: str) -> dict[str, Any]:
    """Return the manifest of a step whose files are as written; `DamagedFile` otherwise."""
    path = store.root / "steps" / folder
    manifest = read_manifest(path)
    verify_files(path, manifest)
    return manifest


def folders_of(record: Record) -> list[str]:
    """Return the folders of all tables that a record names."""
    named = [asdict(record.tables)]
    named += [{**asdict(entry), "system": ""} for entry in record.rankings]
    named += [{**asdict(entry), "system": "", "setting": ""} for entry in record.trials]
    found = dict.fromkeys(entry.folder for entry in record.steps)
    return list(found | dict.fromkeys(text for part in named for text in _texts(part) if text))


def _texts(value: Any) -> Iterator[str]:
    members: Iterable[Any] = value.values() if isinstance(value, Mapping) else value
    for member in members:
        if isinstance(member, str):
            yield member
        elif isinstance(member, Mapping | list | tuple):
            yield from _texts(member)


@cache
def code_digest() -> str:
    """Return the digest of all code of Ragstone, so that changed code shows no earlier board."""
    return code_now()


def code_now() -> str:
    """Return the same of the files as they are now, which may have changed since the first time."""
    return _digest_of([_base()], ".py")


def _digest_of(folders: Iterable[Path], end: str = "") -> str:
    """Return the digest of the files below folders of Ragstone whose names end in some way."""
    base, found = os.fspath(_base()), hashlib.sha256()
    # Objects for 900 paths would take as long as reading the files.
    walked = (step for folder in folders for step in os.walk(folder))
    paths = (f"{place}{os.sep}{name}" for place, _, names in walked for name in names)
    for path in sorted(path for path in paths if path.endswith(end)):
        found.update(path.removeprefix(base).encode())
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123
            found.update(file.read())
    return found.hexdigest()


def _base() -> Path:
    return Path(ragstone.__file__).parent

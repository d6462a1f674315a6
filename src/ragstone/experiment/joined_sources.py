"""The joined results of stores and experiment files, as written on the command line.

A source is the folder of a store, an experiment file (its last record, or those of the data sets of
a campaign), or `campaign.yaml#DATA`, one data set of a campaign.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone.core.store import Store
from ragstone.errors import DamagedFile, NewerFile, StoreError
from ragstone.experiment.members import read_members, split_member
from ragstone.results.reader import StoredResults
from ragstone.results.wording import attempt_text

if TYPE_CHECKING:
    from ragstone.results.joined import JoinedResults

_LOG: Final = logging.getLogger(__name__)
DEFAULT_STORE: Final = ".ragstone"
"""The store that is joined if no source is named."""


def read_joined(sources: Sequence[str | Path | StoredResults]) -> JoinedResults:
    """Return the joined rows of some sources, each experiment once; see the module.

    Results in memory are a source too.

    Raises:
        ConfigError: a file is not an experiment file.
        StoreError: there is no such store, or it has no such experiment.
    """
    from ragstone.results.joined import JoinedResults

    if not sources and not Path(DEFAULT_STORE).is_dir():
        raise StoreError(
            f"there is no store {DEFAULT_STORE} in this folder; give the folder of a store or "
            "experiment files, for example: ragstone leaderboard e.yaml"
        )
    found: dict[tuple[str, str], StoredResults] = {}
    for source in sources or [DEFAULT_STORE]:
        for results in _results(source):
            found.setdefault((str(results.store.root.resolve()), results.name), results)
    for results in found.values():
        if not results.finished:
            _LOG.warning("note: %s is not finished; its complete trials are shown", results.name)
        elif results.attempt:
            _LOG.warning("note: %s: %s", results.name, attempt_text(results.attempt))
    return JoinedResults.of(found.values())


def _results(source: str | Path | StoredResults) -> Iterator[StoredResults]:
    if isinstance(source, StoredResults):
        yield source
        return
    path, _ = split_member(Path(source))
    if path.is_dir() or path.suffix.lower() not in {".yaml", ".yml"}:
        from ragstone.results.joined import JoinedResults

        for one in JoinedResults.of_store(Store(path)).experiments:
            yield one.results
        return
    yield from stored_results(Path(source))


def stored_results(path: Path, overrides: Sequence[str] = ()) -> list[StoredResults]:
    """Return the kept results of a file: one per data set that has some; the others are logged.

    Raises:
        ConfigError: the path is not an experiment file.
        StoreError: no data set has results.
    """
    members, _ = read_members(path, overrides)
    found, missing = [], []
    for one in members:
        try:
            held = StoredResults.load(Store(Path(one.file.store)), one.file.name)
            found.append(held.with_share_of(one.file.secret))
        except (DamagedFile, NewerFile):
            raise
        except StoreError as error:
            missing.append((one, error))
    if not found:
        raise missing[0][1]
    for one, problem in missing:
        _LOG.warning("note: no results of %s#%s: %s", split_member(path)[0], one.key, problem)
    return found

"""The queries of `sample.queries`: a file with a query id per line, such as a test part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.core.fingerprint import fingerprint
from ragstone.data.readers.rows import listed
from ragstone.errors import ConfigError
from ragstone.experiment.shared_queries import matching

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.config import Sample


def wanted_queries(
    dataset: Dataset, sample: Sample, find: Callable[[str], Path]
) -> tuple[Dataset, str]:
    """Return the data set with the queries that `queries` and `where` of a sample leave.

    The second value is the digest of the listed ids, whatever their order; "" without a file.

    Args:
        dataset: the whole data set.
        sample: the key of the experiment file.
        find: returns the path of a file as the experiment file names it.

    Raises:
        ConfigError: the file cannot be read, an id or a label is unknown, or no query is left.
    """
    ids = listed_ids(sample, find)
    found = matching(dataset, sample)
    if not ids:
        return found, ""
    _check_known(dataset, sample, ids)
    wanted = set(ids)
    kept = [place for place, query_id in enumerate(found.query_ids) if query_id in wanted]
    if not kept:
        raise _wrong(sample, f"no query of {sample.queries} has the labels {sample.where!r}")
    return found.select(kept), fingerprint(sorted(ids))


def listed_ids(sample: Sample, find: Callable[[str], Path]) -> tuple[str, ...]:
    """Return the ids of the file `sample.queries`, each once; () without this key.

    Args:
        sample: the key of the experiment file.
        find: returns the path of a file as the experiment file names it.

    Raises:
        ConfigError: the file cannot be read, or names no query.
    """
    if sample.queries is None:
        return ()
    path = find(sample.queries)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise _wrong(sample, f"cannot read {path}: {error}") from error
    found = tuple(dict.fromkeys(line for line in map(str.strip, lines) if line))
    if not found:
        raise _wrong(sample, f"{path} names no query; it needs a query id per line")
    return found


def _check_known(dataset: Dataset, sample: Sample, ids: tuple[str, ...]) -> None:
    known = set(dataset.query_ids)
    if unknown := [repr(query_id) for query_id in ids if query_id not in known]:
        raise _wrong(
            sample,
            f"{sample.queries} names {len(unknown):,} of {len(ids):,} queries that {dataset.name} "
            f"does not have: {listed(unknown)}",
        )


def _wrong(sample: Sample, problem: str) -> ConfigError:
    return ConfigError(f"sample.queries: {problem}", key="sample.queries", value=sample.queries)

"""Scores of one system as `compare` and `gate` take them: a file, an experiment or a passport."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ragstone.cli.options import FILE, failures_option, load_results, together, warn_of_attempt
from ragstone.core.regular_files import is_there, open_regular
from ragstone.errors import ConfigError, DatasetError, StoreError

if TYPE_CHECKING:
    from ragstone.evaluation.scored_systems import Scores
    from ragstone.results.results import Results

_PLACE: Final = re.compile(r"(.+?\.(?:ya?ml|json|html?))(?::(.*))?", re.DOTALL | re.IGNORECASE)
_NAMED: Final = re.compile(r"([^/=]+)=(.+)", re.DOTALL)


@dataclass(frozen=True)
class ScoreSource:
    """The scores of one system, and where they come from."""

    name: str
    scores: Scores
    results: Results | None = None
    chosen: tuple[str, str] = ("", "")
    """System and setting of the results."""

    @property
    def origin(self) -> tuple[str, ...] | None:
        """The store, the experiment, the system and the setting; None for a file of scores."""
        if self.results is None:
            return None
        return (str(self.results.store.root.resolve()), self.results.name, *self.chosen)


store_option: Final = click.option(
    "--store", type=FILE, default=Path(".ragstone"), help="Folder of the store behind passports."
)
source_options: Final = together(
    click.option("--lower-is-better", help="Comma-separated metrics for which lower is better."),
    failures_option,
    store_option,
    click.option(
        "--clusters",
        help="Groups of dependent queries: a file (query id, tab, cluster), a label of --data, or "
        "'none'.",
    ),
    click.option(
        "--data", help="Data set whose label `conversation` or `document` is the default."
    ),
    click.option("--markdown", type=FILE, metavar="FILE", help="Write Markdown to this file."),
)


def read_sources(written: Sequence[str], store: Path) -> list[ScoreSource]:
    """Return the scores of each argument, with names that differ if the arguments do."""
    found = [_read(one, store) for one in written]
    _refuse_same(written, found)
    names = [source.name for source in found]
    if len(set(names)) == len(names):
        return found
    return [
        source if names.count(source.name) == 1 else replace(source, name=one)
        for source, one in zip(found, written, strict=True)
    ]


def _refuse_same(written: Sequence[str], sources: Sequence[ScoreSource]) -> None:
    """Raise `ConfigError` if two arguments name the same results, which never differ."""
    seen: dict[tuple[str, ...], str] = {}
    for one, source in zip(written, sources, strict=True):
        if source.origin is not None and seen.setdefault(source.origin, one) != one:
            store, name, *_ = source.origin
            raise ConfigError(
                f"{seen[source.origin]} and {one} are the same results: experiment {name!r} in the "
                f"store {store}; give each experiment file a `name` of its own and run it again"
            )


def _read(written: str, store: Path) -> ScoreSource:
    """Return the scores of `[NAME=]PLACE`; the name of a file may contain =."""
    named = None if Path(written).exists() else _NAMED.fullmatch(written)
    if named and not re.search(r"\.(ya?ml|json|html?):", named[1], re.IGNORECASE):
        found = _read_place(named[2], store)
        return replace(found, name=named[1])
    return _read_place(written, store)


def _read_place(written: str, store: Path) -> ScoreSource:
    match = None if Path(written).exists() else _PLACE.fullmatch(written)
    path, rest = (Path(match[1]), match[2] or "") if match else (Path(written), "")
    stem = path.name.split(".")[0] or written
    if not is_there(path):
        raise ConfigError(
            f"{written}: there is no file {path}; give a file of scores, a passport, or an "
            "experiment as e.yaml, e.yaml:SYSTEM or e.yaml:SYSTEM:SETTING",
            path=path,
        )
    if path.suffix.lower() in {".yaml", ".yml"}:
        results = load_results(path, ())
        warn_of_attempt(results)
        _warn_of_changes(path, results)
    elif _is_passport(path):
        results = _results_of_passport(path, store)
    elif rest:
        raise ConfigError(f"{written}: {path} is a file of scores, which has no parts to choose")
    else:
        return ScoreSource(stem, path)
    if not results.finished:
        raise StoreError(
            f"the run of {path} is not finished; finish it with: ragstone run {path}", path=path
        )
    system, setting = _chosen(results, path, rest)
    found = results.evaluation(system, setting)
    return ScoreSource(rest or stem, found, results, (system, setting))


def _warn_of_changes(path: Path, results: Results) -> None:
    """Print a line to standard error if the file is not the one of its results."""
    from ragstone.experiment.config import read_experiment_file

    file = json.loads(json.dumps(read_experiment_file(path, ()).model_dump(), default=str))
    keys = [key for key in file if file[key] != results.record.file.get(key)]
    if keys:
        click.echo(
            f"note: {path} differs from the file of its results in {', '.join(keys)}; run it again "
            "to compare its present form",
            err=True,
        )


def _chosen(results: Results, path: Path, rest: str) -> tuple[str, str]:
    """Return the system and the setting of `SYSTEM[:SETTING]`; names may contain a colon."""
    known = [name for name in results.systems if rest == name or rest.startswith(f"{name}:")]
    system = max(known, key=len) if known else rest.partition(":")[0]
    setting = rest[len(system) + 1 :]
    if not system and len(results.systems) > 1:
        names = ", ".join(results.systems)
        raise ConfigError(
            f"{path} has {len(results.systems)} systems ({names}); choose one, for example "
            f"'{path}:{results.systems[0]}'"
        )
    system = system or results.systems[0]
    if not setting and len(results.settings) > 1:
        names = ", ".join(results.settings)
        raise ConfigError(
            f"{path} has {len(results.settings)} settings ({names}); choose one, for example "
            f"'{path}:{system}:{results.settings[0]}'"
        )
    return system, setting


def _is_passport(path: Path) -> bool:
    """Return whether a file begins like a page or like a JSON document of several lines."""
    try:
        file = open_regular(path)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error}") from error
    with file:
        first = file.readline(1024).strip()
    return first.startswith(b"<") or first == b"{"


def _results_of_passport(path: Path, store: Path) -> Results:
    """Return the stored results that a passport describes."""
    from ragstone.core.store import Store
    from ragstone.results.leaderboards import NUMBER_TABLES, results_document
    from ragstone.results.passport_file import canonical, read_passport
    from ragstone.results.results import Results

    known = read_passport(path)
    about = f"a passport has no scores of single queries, and {path} needs them from the store"
    way_out = "name the store of its experiment with --store FOLDER, or give a file of scores"
    try:
        results = Results.load(Store(store), known["name"])
    except StoreError as error:
        raise StoreError(f"{about} {store}: {error}; {way_out}", path=store) from error
    document = results_document(results)
    numbers = {table: document[table] for table in NUMBER_TABLES}
    if canonical(numbers) != canonical(known["numbers"]):
        raise StoreError(
            f"{about} {store}, which has later results of {known['name']!r}; {way_out}", path=store
        )
    return results


def chosen_clusters(written: str | None, data: str | None) -> tuple[str, dict[str, str] | None]:
    """Return the label or file of the clusters, and query id -> cluster; None: read off the ids."""
    from ragstone.data.load import load_dataset
    from ragstone.data.readers.scores import clusters_by_label, read_clusters

    if written == "none":
        return "", {}
    if written and Path(written).is_file():
        return written, read_clusters(Path(written))
    if written and not data:
        raise ConfigError(
            f"--clusters {written!r} is not a file; for a label of the queries name their data "
            "set too: --data FOLDER"
        )
    if not data:
        return "", None
    label, groups = clusters_by_label(load_dataset(data).queries, written or "")
    return label, groups or None

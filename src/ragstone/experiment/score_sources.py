"""Scores of one system by their place: a file of scores, an experiment, a passport or a report.

A place is written as

    scores.jsonl                        a file of scores
    e.yaml, e.yaml:SYSTEM[:SETTING]     the last finished run of an experiment
    e.yaml#DATA[:SYSTEM[:SETTING]]      one data set of a file with several
    e.yaml[:SYSTEM[:SETTING]]@WHEN      an earlier one, by its date or the release of the system
    p.json, report.html[:SYSTEM...]     a passport with scores, or a passport or a report whose
                                        results are in the store

and may follow a name: `NAME=PLACE`.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.core.fingerprint import fingerprint
from ragstone.core.regular_files import is_there, open_regular
from ragstone.errors import ConfigError, DatasetError, StoreError
from ragstone.examples import find_example
from ragstone.experiment.members import split_member
from ragstone.results.publishable import comparable
from ragstone.results.trained_parts import TrainedPart, parts_of_system, trained_sentences

if TYPE_CHECKING:
    from ragstone.evaluation.scored_systems import Scores
    from ragstone.results.results import Results

_LOG: Final = logging.getLogger(__name__)
STORE: Final = Path(".ragstone")
"""The default folder of the store behind passports."""
_PLACE: Final = re.compile(
    r"(.+?\.(?:ya?ml(?:#[^:@]+)?|json|html?))(?::(.*)|(@.*))?", re.DOTALL | re.IGNORECASE
)
_NAMED: Final = re.compile(r"([^/=]+)=(.+)", re.DOTALL)
_EXPERIMENTS: Final = frozenset({".yaml", ".yml"})


@dataclass(frozen=True)
class ScorePlace:
    """A file, the part of it that is chosen, and when; see the module."""

    path: Path
    part: str = ""
    """`SYSTEM[:SETTING][@WHEN]` or `@WHEN`, as it is written."""

    @classmethod
    def parse(cls, written: str) -> ScorePlace:
        """Return the parts of a place; a file of exactly this name comes first, then an example.

        >>> ScorePlace.parse("e.yaml:bm25:gold@2026-10-01")
        ScorePlace(path=PosixPath('e.yaml'), part='bm25:gold@2026-10-01')
        >>> ScorePlace.parse("e.yaml@v1.2").part, ScorePlace.parse("a.scores.jsonl").part
        ('@v1.2', '')
        """
        match = None if Path(written).exists() else _PLACE.fullmatch(written)
        if match is None:
            return cls(find_example(Path(written)))
        return cls(Path(match[1]), match[2] or match[3] or "")

    @property
    def is_experiment(self) -> bool:
        """Whether the file is an experiment file."""
        return self.file.suffix.lower() in _EXPERIMENTS

    @property
    def file(self) -> Path:
        """The file, without the data set that may follow it."""
        return split_member(self.path)[0]

    @property
    def stem(self) -> str:
        """The name of the file without its suffixes."""
        return self.path.name.split(".")[0] or str(self.path)

    def __str__(self) -> str:
        """Return the place as it is written."""
        separator = "" if self.part.startswith("@") or not self.part else ":"
        return f"{self.path}{separator}{self.part}"


@dataclass(frozen=True)
class ScoreSource:
    """The scores of one system, and where they come from."""

    name: str
    scores: Scores
    results: Results | None = None
    chosen: tuple[str, str] = ("", "")
    """System and setting of the results."""
    qrels: str = ""
    """Which model made the qrels, as a sentence; "" if people made them, or if it is unknown."""
    trained: tuple[TrainedPart, ...] = ()
    """The trained parts of the system and of its judges."""

    @property
    def origin(self) -> tuple[str, ...] | None:
        """The store, the experiment, its tables, the system and the setting; None for a file."""
        if self.results is None:
            return None
        record = self.results.record
        trials, rankings = (list(map(asdict, kind)) for kind in (record.trials, record.rankings))
        tables = fingerprint([trials, rankings])
        return (str(self.results.store.root.resolve()), record.name, tables, *self.chosen)


def read_sources(
    written: Sequence[str], store: Path = STORE, *, reveal: bool = False
) -> list[ScoreSource]:
    """Return the scores of each argument, with names that differ if the arguments do.

    Args:
        written: places, see the module; notices about them are logged.
        store: the store behind passports.
        reveal: whether the secret queries of experiments are among the scores.

    Raises:
        ConfigError: there is no such file, system or setting, or a choice is missing.
        StoreError: the store has no such results.
    """
    found = [_read(one, store, reveal=reveal) for one in written]
    _refuse_same(written, found)
    names = [source.name for source in found]
    if len(set(names)) == len(names):
        return found
    return [
        source if names.count(source.name) == 1 else replace(source, name=one)
        for source, one in zip(found, written, strict=True)
    ]


def source_notes(sources: Sequence[ScoreSource]) -> list[str]:
    """Return a line per source with secret or trained queries, and per machine-made qrels."""
    held = ((one.name, one.results.secret_sentence) for one in sources if one.results)
    secret = [f"{name}: {sentence}" for name, sentence in held if sentence]
    seen = dict.fromkeys(line for one in sources for line in trained_sentences(one.trained))
    return [*secret, *seen, *dict.fromkeys(one.qrels for one in sources if one.qrels)]


def source_changes(sources: Sequence[ScoreSource]) -> list[str]:
    """Return how the data of each source differ from those of the first one."""
    from ragstone.evaluation.evaluation import Evaluation
    from ragstone.evaluation.scored_systems import data_changes

    first, *others = sources
    return [
        f"{first.name} and {other.name}: {change}"
        for other in others
        if isinstance(first.scores, Evaluation) and isinstance(other.scores, Evaluation)
        for change in data_changes(first.scores, other.scores)
    ]


def _refuse_same(written: Sequence[str], sources: Sequence[ScoreSource]) -> None:
    """Raise `ConfigError` if two arguments name the same results, which never differ."""
    seen: dict[tuple[str, ...], str] = {}
    for one, source in zip(written, sources, strict=True):
        if source.origin is None:
            continue
        if source.origin in seen:
            store, name, *_ = source.origin
            raise ConfigError(
                f"{seen[source.origin]} and {one} are the same results: experiment {name!r} in the "
                f"store {store}; name another system, setting or run, give each experiment file a "
                "`name` of its own, or run a new version again (`ragstone gate --run`)"
            )
        seen[source.origin] = one


def split_name(written: str) -> tuple[str, str]:
    """Return the name and the place of `[NAME=]PLACE`; the name of a file may contain =.

    >>> split_name("old=e.yaml:bm25"), split_name("e.yaml#nq:a=b")
    (('old', 'e.yaml:bm25'), ('', 'e.yaml#nq:a=b'))
    """
    named = None if Path(written).exists() else _NAMED.fullmatch(written)
    if named and not re.search(r"\.(ya?ml(#[^:@]+)?|json|html?)[:@]", named[1], re.IGNORECASE):
        return named[1], named[2]
    return "", written


def _read(written: str, store: Path, *, reveal: bool) -> ScoreSource:
    name, place = split_name(written)
    found = read_place(ScorePlace.parse(place), store, reveal=reveal)
    return replace(found, name=name) if name else found


def read_place(place: ScorePlace, store: Path = STORE, *, reveal: bool = False) -> ScoreSource:
    """Return the scores of a place; see `read_sources`."""
    from ragstone.results.passport_file import read_passport

    path = place.path
    if not is_there(place.file):
        raise ConfigError(
            f"{place}: there is no file {path}; give a file of scores, a passport, or an "
            "experiment as e.yaml, e.yaml:SYSTEM, e.yaml:SYSTEM:SETTING or e.yaml@DATE",
            path=path,
        )
    part = place.part
    if place.is_experiment:
        results, part = results_of_experiment(place)
    elif _is_passport(path):
        passport = read_passport(path)
        if "scores" in passport:
            return _scores_in_passport(place, passport)
        results = _results_of_passport(path, passport, store)
    elif part:
        raise ConfigError(f"{place}: {path} is a file of scores, which has no parts to choose")
    else:
        return ScoreSource(place.stem, path)
    if not results.finished:
        raise StoreError(
            f"the run of {path} is not finished; finish it with: ragstone run {path}", path=path
        )
    system, setting = chosen(place.path, part, results.systems, results.settings)
    results = results.revealed() if reveal and results.secret else results
    found = results.evaluation(system, setting)
    name = f"{place.stem}{place.part}" if place.part.startswith("@") else place.part or place.stem
    trained = parts_of_system(results.record.trained, system)
    return ScoreSource(name, found, results, (system, setting), results.qrels_sentence, trained)


def results_of_experiment(place: ScorePlace) -> tuple[Results, str]:
    """Return the results at the time of the place, and the part of it without the time.

    Raises `StoreError` if the store has no such run; the message lists those that exist.
    """
    from ragstone.core.store import Store
    from ragstone.experiment.members import read_experiment_file
    from ragstone.results.earlier import record_at
    from ragstone.results.results import Results
    from ragstone.results.wording import attempt_text

    file = read_experiment_file(place.path, ())
    store = Store(Path(file.store))
    last = Results.load(store, file.name)
    part, at, when = place.part.rpartition("@")
    known = (*last.systems, *(f"{s}:{under}" for s in last.systems for under in last.settings))
    if not at or place.part in known:
        if last.attempt:
            _LOG.warning("%s", attempt_text(last.attempt))
        _warn_of_changes(place.path, file.model_dump(), last)
        return last.with_share_of(file.secret), place.part
    system = _system_of(part, last.systems) or part.partition(":")[0]
    found = Results(store, record_at(store, file.name, when, system))
    return found.with_share_of(file.secret), part


def _warn_of_changes(path: Path, written: dict[str, Any], results: Results) -> None:
    """Log a notice if the file is not the one of its results."""
    root = results.store.root
    file = comparable(json.loads(json.dumps(written, default=str)), root)
    known = comparable(results.record.file, root)
    keys = [key for key in file if file[key] != known.get(key)]
    if keys:
        _LOG.warning(
            "note: %s differs from the file of its results in %s; run it again to compare its "
            "present form",
            *(path, ", ".join(keys)),
        )


def _system_of(part: str, systems: Sequence[str]) -> str | None:
    """Return the longest name of a system with which `SYSTEM[:SETTING]` begins, or None."""
    known = [name for name in systems if part == name or part.startswith(f"{name}:")]
    return max(known, key=len) if known else None


def chosen(
    path: Path, part: str, systems: Sequence[str], settings: Sequence[str]
) -> tuple[str, str]:
    """Return the system and the setting of `SYSTEM[:SETTING]`; names may contain a colon.

    Raises `ConfigError` if there are several and the part names none of them.
    """
    system = _system_of(part, systems) or part.partition(":")[0]
    setting = part[len(system) + 1 :]
    if not system and len(systems) > 1:
        names = ", ".join(systems)
        raise ConfigError(
            f"{path} has {len(systems)} systems ({names}); choose one, for example "
            f"'{path}:{systems[0]}'"
        )
    system = system or systems[0]
    if not setting and len(settings) > 1:
        names = ", ".join(settings)
        raise ConfigError(
            f"{path} has {len(settings)} settings ({names}); choose one, for example "
            f"'{path}:{system}:{settings[0]}'"
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


def _scores_in_passport(place: ScorePlace, passport: dict[str, Any]) -> ScoreSource:
    """Return the scores that a passport itself has."""
    from ragstone.data.machine_qrels import agreement_sentence
    from ragstone.results.passport_scores import passport_evaluation, scored_parts

    systems, settings = scored_parts(passport)
    system, setting = chosen(place.path, place.part, systems, settings)
    found = passport_evaluation(passport, system, setting or settings[0])
    made = agreement_sentence(passport["data"].get("machine_qrels", ""))
    parts = parts_of_system((TrainedPart(**one) for one in passport.get("trained", ())), system)
    return ScoreSource(place.part or place.stem, found, qrels=made, trained=parts)


def _results_of_passport(path: Path, known: dict[str, Any], store: Path) -> Results:
    """Return the stored results that a passport describes: the last ones or earlier ones."""
    from ragstone.core.store import Store
    from ragstone.results.earlier import finished_records
    from ragstone.results.results import Results

    about = f"{path} has no scores of single queries, and needs them from the store"
    way_out = (
        "name the store of its experiment with --store FOLDER, or write the passport with "
        "`ragstone passport EXPERIMENT.yaml --scores`"
    )
    try:
        records = finished_records(Store(store), known["name"])
    except StoreError as error:
        raise StoreError(f"{about} {store}: {error}; {way_out}", path=store) from error
    shown = bool(known.get("secret", {}).get("shown"))
    of_its_time = [record for record in records if record.finished == known.get("finished")]
    for record in (*of_its_time, *records[-1:]):
        results = Results(Store(store), record)
        if _has_numbers(replace(results, reveal=shown), known["numbers"]):
            return results
    raise StoreError(
        f"{about} {store}, which has other results of {known['name']!r}; {way_out}", path=store
    )


def _has_numbers(results: Results, numbers: dict[str, Any]) -> bool:
    from ragstone.results.leaderboards import NUMBER_TABLES, number_table
    from ragstone.results.passport_file import canonical

    found = {table: number_table(results, table) for table in NUMBER_TABLES}
    return canonical(found) == canonical(numbers)

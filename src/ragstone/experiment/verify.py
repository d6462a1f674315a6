"""Verifying a passport: its scores are computed again and compared with the published numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.calls.client import Calls
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.offline import no_network
from ragstone.core.schemas import queries_to_table
from ragstone.core.spec import Spec, parse_spec
from ragstone.core.store import Store
from ragstone.data.load import load_dataset
from ragstone.errors import ConfigError, RagstoneError, StoreError
from ragstone.experiment.recompute import (
    Recomputation,
    ReplacedTables,
    damaged_in,
    readable_tables,
    without,
)
from ragstone.experiment.verification import (
    Causes,
    Mismatch,
    NotChecked,
    Verification,
    place_text,
)
from ragstone.results.contents import (
    changed_rows,
    content_of,
    contents,
    pairs,
    query_ids_of,
    query_rows,
)
from ragstone.results.leaderboards import NUMBER_TABLES, number_table
from ragstone.results.passport_file import canonical, read_passport
from ragstone.results.passport_numbers import Place, changes, is_same, numbered
from ragstone.results.publishable import publishable
from ragstone.results.record import Record, part_id

if TYPE_CHECKING:
    from ragstone.core.component import Component
    from ragstone.data.dataset import Dataset
    from ragstone.results.reader import StoredResults
    from ragstone.types import Query


def verify(
    passport: str | Path | Mapping[str, Any],
    *,
    store: str | Path = ".ragstone",
    data: str | Path | None = None,
) -> Verification:
    """Compute the numbers of a passport again, and return the equal and the different ones.

    Scores are computed by the installed code from the answers and rankings in the store. No model
    is asked and no other machine is reached: verdicts of judges are read from the kept replies.

    Args:
        passport: the file of a passport, a report that contains one, or `Results.passport()`.
        store: the folder of the experiment's store, which may have been moved.
        data: the data set; by default the one that the experiment file names, if it is found, and
            else the queries and judgements in the store.

    Raises:
        ConfigError: the passport is damaged, or of other data.
        StoreError: the store has no such experiment.
    """
    folder = None if isinstance(passport, Mapping) else Path(passport).parent
    known = passport if isinstance(passport, Mapping) else read_passport(Path(passport))
    root = Store(Path(store))
    record = Record.load(root, known["name"])
    with no_network():
        checked = _Check(known, _as_read(known, ReplacedTables(root, record)), folder)
        checked.choose_data(data)
        return checked.run()


def _as_read(known: Mapping[str, Any], results: ReplacedTables) -> ReplacedTables:
    """Return the results with the secrets that the passport leaves out, and no others."""
    file = {**results.record.file, "secret": known["experiment"].get("secret")}
    shown = bool(known.get("secret", {}).get("shown"))
    return replace(results, record=replace(results.record, file=file), reveal=shown)


@dataclass
class _Check:
    """The comparison of a passport with a store and a data set."""

    passport: Mapping[str, Any]
    results: ReplacedTables
    folder: Path | None
    dataset: Dataset | None = None
    different: list[Mismatch] = field(default_factory=list)
    not_checked: list[NotChecked] = field(default_factory=list)
    damaged_places: dict[tuple[str, str], str] = field(default_factory=dict)
    """System and setting -> why its tables cannot be read."""
    failed_tables: dict[str, str] = field(default_factory=dict)
    """Table of numbers -> why it cannot be computed."""

    def __post_init__(self) -> None:
        """Read the tables; those that are damaged are used as they are, if they can be read."""
        self.contents = self.passport["contents"]
        self.query_ids = query_ids_of(self.contents)
        self.causes = Causes(self.passport)
        record = self.results.record
        shared = [record.tables.answered, record.tables.ranked, record.tables.qrels]
        shared += [f for one in record.rankings for f in (one.qrels, one.translations) if f]
        folders = shared + [found.run for found in record.rankings]
        for trial in record.trials:
            every = [folder for one in trial.every for folder in (one.contexts, one.predictions)]
            folders += [trial.built, *every]
        tables, damage = readable_tables(self.results, dict.fromkeys(folders))
        self.different += [Mismatch("table", causes=(why,)) for why in damage.values()]
        lost = {name: why for name, why in damage.items() if name not in tables}
        if needed := [folder for folder in shared if folder in lost]:
            raise StoreError(lost[needed[0]])
        for found in record.rankings:
            if found.run in lost:
                self.damaged_places[found.system, ""] = lost[found.run]
        for trial in record.trials:
            if why := damaged_in(trial, lost):
                self.damaged_places[trial.system, trial.setting] = why
        self.results = without(replace(self.results, tables=tables), lost)

    def choose_data(self, data: str | Path | None) -> None:
        """Read the data set, and raise `ConfigError` if the passport is of another one."""
        try:
            dataset = load_dataset(self._written_data(data), folder=self.folder)
            self._require_same(dataset.name, {query.query_id: query for query in dataset.queries})
        except (RagstoneError, OSError) as error:
            if data is not None:
                raise
            why = "give it with --data; gold answers and judgements are those in the store"
            self.not_checked.append(NotChecked("the files of the data set", f"{error}; {why}"))
        else:
            self.dataset = dataset
        if self.dataset is None:
            tables = self.results.record.tables
            stored = self.results.whole_queries(tables.ranked, tables.answered)
            self._require_same(f"the store {self.results.store.root}", stored)

    def run(self) -> Verification:
        """Return the outcome, after the data, the rows and the numbers are compared."""
        self._use_data()
        self._compare_rows()
        file = self._file()
        log = self.results.store.call_log
        with Calls.at(log, replay_only=True, keep_failed=True) as calls:
            recomputation = Recomputation(self.results, self.folder, self.dataset)
            results = recomputation.run(file, calls)
        self._compare_code(recomputation.parts)
        equal = self._compare_numbers(self._tables(results), recomputation)
        return Verification(
            self.passport["name"], equal, tuple(self.different), tuple(self.not_checked)
        )

    def _written_data(self, data: str | Path | None) -> Any:
        """Return the data set as an experiment file names it, at the path given."""
        written, reader = self._file()["data"], self.passport["data"].get("reader")
        if data is None or not reader or not Path(data).exists():
            return written if data is None else data
        is_spec = isinstance(written, str) and "(" in written
        spec = parse_spec(written, where="data") if is_spec else written
        parameters = spec.parameters if isinstance(spec, Spec) else spec
        more = dict(parameters) if isinstance(parameters, Mapping) else {}
        return {**{k: v for k, v in more.items() if k}, "name": reader, "path": str(data)}

    def _file(self) -> Mapping[str, Any]:
        """Return the experiment file: the store's own has complete paths, if it is the same."""
        known, own = self.passport["experiment"], self.results.record.file
        mine = {key: value for key, value in publishable(own).items() if key != "store"}
        return own if canonical(mine) == canonical(known) else known

    def _require_same(self, where: str, queries: Mapping[str, Query]) -> None:
        content = content_of(query_rows(self.query_ids, queries))
        changed = changed_rows(self.contents["queries"], content, self.query_ids) or ()
        count = len(self.query_ids)
        if 2 * len(changed) > count:
            raise ConfigError(
                f"the passport {self.passport['name']!r} is of other data "
                f"({self.passport['data']['name']}): {count - len(changed)} of its {count} queries "
                f"are the same in {where}; give its data set with --data and its store with --store"
            )

    def _use_data(self) -> None:
        """Put the queries and judgements of the data set in the place of those in the store."""
        if self.dataset is None:
            return
        given = {query.query_id: query for query in self.dataset.queries}
        folders = self.results.record.tables
        stored = {
            folder: self.results.whole_queries(folder)
            for folder in (folders.answered, folders.ranked)
        }
        tables = {
            folder: queries_to_table([given.get(q, own) for q, own in queries.items()])
            for folder, queries in stored.items()
        }
        tables[folders.qrels] = self.dataset.qrel_table
        self.results = replace(self.results, tables={**self.results.tables, **tables})
        before, here = self.passport["data"]["corpus_digest"], self.dataset.corpus.digest
        if before != here:
            self.different.append(Mismatch("corpus", passport=before, recomputed=here))

    def _compare_rows(self) -> None:
        """Compare the queries, the judgements, the answers, the contexts and the rankings."""
        here = contents(self.results, self.contents["answered"], self.query_ids)
        for what, system, setting, known, own in pairs(self.contents, here):
            changed = changed_rows(known, own, query_ids_of(self.contents, what))
            if changed is not None:
                ids, digests = tuple(changed), (known["digest"], own["digest"])
                self.different.append(Mismatch(what, system, setting, "", "", ids, *digests))
                self.causes.rows[what, system, setting] = ids

    def _compare_code(self, parts: Mapping[str, Component]) -> None:
        """Compare the code and the parameters of each metric with those of the passport."""
        for metric, facts in self.passport["metrics"].items():
            if metric not in parts or facts["part"] is None:
                continue
            made = cache_key_parts(parts[metric])
            if part_id(made) == facts["part"]:
                continue
            before, here = self.passport["parts"][facts["part"]], publishable(made)
            changed = "; ".join(changes(before, here)) or "a value that is not shown"
            cause = f"the code or the parameters of {metric} differ: {changed}"
            self.causes.code[metric] = cause
            self.different.append(
                Mismatch("code", metric=metric, passport=before, recomputed=here, causes=(cause,))
            )

    def _tables(self, results: StoredResults) -> dict[str, Any]:
        """Return the tables of numbers; one that cannot be computed is left out."""
        tables = {}
        for name in NUMBER_TABLES:
            try:
                tables[name] = number_table(results, name)
            except RagstoneError as error:
                # Other code may give scores that a table cannot take, such as half a right answer.
                self.failed_tables[name] = str(error)
        return tables

    def _compare_numbers(self, tables: Mapping[str, Any], done: Recomputation) -> int:
        """Compare every number, and return how many are equal."""
        equal = 0
        found = numbered(tables)
        for place, known in numbered(self.passport["numbers"]).items():
            table, system, setting, metric = place
            rule = self.results.record.correctness_metric
            read = [name for name in (metric or rule,) if name and table != "usage"]
            if place not in found or done.unscored.keys() & read:
                what = place_text(metric or table, system, setting)
                self.not_checked.append(NotChecked(what, self._why_not(place, read, done)))
                continue
            for number, before in known.items():
                here = found[place].get(number)
                if is_same(before, here):
                    equal += 1
                    continue
                causes = self.causes.of(table, system, setting, read)
                named = f"{number} ({table})" if " " in table else number
                self.different.append(
                    Mismatch(
                        "number", system, setting, metric or table, named, (), before, here, causes
                    )
                )
        return equal

    def _why_not(self, place: Place, metrics: Sequence[str], done: Recomputation) -> str:
        """Return why a row of numbers could not be computed again."""
        table, system, setting = place[0].partition(" ")[0], *place[1:3]
        if table in self.failed_tables:
            return self.failed_tables[table]
        for metric in metrics:
            if metric in done.unscored:
                return done.unscored[metric]
            if metric not in done.parts and done.unmade:
                return done.unmade[0]
        missing = f"the store has no such scores of {place_text('', system, setting)}"
        return self.damaged_places.get((system, setting), missing)

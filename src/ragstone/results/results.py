"""Results of an experiment: tables, scores, report and exports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arro3.core import Table

from ragstone.core.component_error import component_error
from ragstone.core.registry import create
from ragstone.core.schemas import SCORES, SYSTEM_SCORES, joined, scores_to_table, with_texts
from ragstone.core.tables import Tabular, TextTable
from ragstone.core.user_code import is_ours
from ragstone.errors import ConfigError, RagstoneError, did_you_mean
from ragstone.results.kept_board import (
    leaderboard_document,
    leaderboard_parts,
    write_report,
)
from ragstone.results.reader import StoredResults
from ragstone.statistics.failures import FAILURE_RATE
from ragstone.statistics.summary import summaries_table
from ragstone.types import brief

if TYPE_CHECKING:
    from ragstone.evaluation.evaluation import Evaluation


class Results(Tabular, StoredResults):
    """Results of an experiment.

    >>> import ragstone
    >>> results = ragstone.load_experiment("demo").run()  # doctest: +SKIP
    >>> results  # doctest: +SKIP
    Results('demo', 2 systems x 4 settings, 16 queries, finished)
    >>> results.report("report.html")  # doctest: +SKIP
    """

    def __repr__(self) -> str:
        """Return one line: the name, the sizes and whether all trials ended."""
        systems, settings = len(self.systems), len(self.settings)
        state = "finished" if self.finished else "not finished"
        count = self.record.data.answered if settings else self.record.data.ranked
        sizes = f"{systems} systems x {settings} settings, {count} queries"
        return brief(self, repr(self.name), sizes, state)

    def parts(self) -> Iterator[str | TextTable]:
        """Yield the head line and the tables that `ragstone show` prints."""
        return leaderboard_parts(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the means as plain data, numbers unrounded (docs/report.md lists the keys)."""
        return leaderboard_document(self)

    def to_arrow(self, *, summary: bool = False) -> Table:
        """Return one row per system, setting, metric and query; with `summary` one per metric.

        The setting is empty for ranking metrics.
        """
        if not summary:
            tables = (with_texts(t, system=s, setting=under) for s, under, t in self._tables())
            return joined(tables, SYSTEM_SCORES)
        cells = [*self.ranking_cells, *self.answer_cells]
        return with_texts(
            summaries_table(cell.summary for cell in cells),
            system=[cell.system for cell in cells],
            setting=[cell.setting for cell in cells],
            metric=[cell.metric for cell in cells],
        )

    def evaluation(self, system: str = "", setting: str = "") -> Evaluation:
        """Return the scores of one system under one setting, with its ranking metrics.

        Args:
            system: the name of the system; required if there are several.
            setting: the name of the setting; required if there are several.

        Raises:
            ConfigError: a required name is missing, or a name is unknown.
        """
        from ragstone.evaluation.evaluation import Evaluation
        from ragstone.results.changes import answered_texts
        from ragstone.results.judge_notes import metric_notes

        system = self._chosen("system", system, self.systems)
        setting = self._chosen("setting", setting, self.settings) if self.settings else ""
        every = (*self.ranking_cells, *self.answer_cells)
        cells = [cell for cell in every if cell.metric != FAILURE_RATE]
        chosen = ((system, ""), (system, setting))
        sizes = Counter(self.clusters.values())
        return Evaluation(
            {c.metric: c.summary for c in cells if (c.system, c.setting) in chosen},
            joined((table for *key, table in self._tables() if tuple(key) in chosen), SCORES),
            clusters={query: c for query, c in self.clusters.items() if sizes[c] > 1},
            scales={cell.metric: self.record.scale(cell.metric) for cell in cells},
            corpus_digest=self.record.data.corpus_digest,
            gold_answers={q: query.gold_answers for q, query in self.all_queries.items()},
            answered=answered_texts(self, system, setting),
            judge_notes=metric_notes(self),
            headline=self.record.headline,
        )

    def _tables(self) -> Iterator[tuple[str, str, Table]]:
        """Yield system, setting and each of their SCORES tables."""
        for ranking in self.record.rankings:
            yield ranking.system, "", self.stored_table(ranking.scores)
        for trial, found in zip(self.record.trials, self.trials, strict=True):
            for folder in () if trial.repeats else (trial.scores, *trial.verdicts):
                yield trial.system, trial.setting, self.stored_table(folder)
            # The scores of repeated answers are means, which no step stores.
            means = [
                score
                for metric, scores in found.scores.items()
                if trial.repeats or self.record.metric(metric).kind == "repeats"
                for query_id, score in scores.items()
                if metric != FAILURE_RATE and query_id not in found.not_applicable
            ]
            if means:
                yield trial.system, trial.setting, scores_to_table(means)
        for found in self.trials:
            absent = [
                score
                for scores in found.scores.values()
                for query_id, score in scores.items()
                if query_id in found.not_applicable
            ]
            if absent:
                yield found.system, found.setting, scores_to_table(absent)

    def _chosen(self, kind: str, name: str, names: Sequence[str]) -> str:
        if name in names or (not name and len(names) == 1):
            return name or names[0]
        if name:
            raise ConfigError(
                f"{self.name} has no {kind} {name!r}{did_you_mean(name, names)}", value=name
            )
        example = ", ".join(repr(some[0]) for some in (self.systems, self.settings) if some)
        raise ConfigError(
            f"{self.name} has {len(names)} {kind}s ({', '.join(names)}); choose one, for example "
            f"results.evaluation({example})"
        )

    def report(self, path: str | Path) -> Path:
        """Write the report as one self-contained HTML file and return its path."""
        return write_report(self, Path(path))

    def passport(self, *, scores: bool = False) -> dict[str, Any]:
        """Return the passport as plain data (docs/passport.md lists the keys).

        With `scores` it has the scores of every query, and can be a baseline without the store.
        """
        from ragstone.results.passport import make_passport
        from ragstone.results.passport_scores import KEY, passport_scores

        if not scores:
            return make_passport(self)
        trials = [(name, setting) for name in self.systems for setting in self.settings or [""]]
        return make_passport(self, {KEY: passport_scores({t: self.evaluation(*t) for t in trials})})

    def export(
        self, target: str | Path, to: str | Mapping[str, Any] = "inspector"
    ) -> Sequence[Path]:
        """Write the results in another tool's format and return the files.

        Args:
            target: the file or the folder to write.
            to: exporter such as `inspector`, `ragas`, `scores` or `trec-rag`, or your own class.

        Raises:
            ConfigError: the exporter is unknown, or the results have nothing to export.
            DatasetError: a file exists already.
        """
        exporter = create("exporters", to, where="export", folder=Path())
        try:
            files: Sequence[Path] = exporter.export(self, Path(target))
        except Exception as error:
            if is_ours(type(exporter)) or isinstance(error, RagstoneError):
                raise
            raise component_error(exporter, error) from error
        return files

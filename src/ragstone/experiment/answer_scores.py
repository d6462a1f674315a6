"""The scores of some answers, of which attacks are scored apart.

scores = ScoredAnswers(metrics)
for block in blocks:                      # tables of any number of queries
    scores.add_tables(**block)
for table in scores.tables(): ...         # or scores.table()
scores.unscored, scores.beside            # for the manifest of the step
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragstone.components.context_settings.attacks import attack_in
from ragstone.components.metrics.score import AnswerScores
from ragstone.core import limits
from ragstone.core.schemas import (
    SCORES,
    joined,
    table_to_contexts,
    table_to_predictions,
    table_to_queries,
)

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.types import Context, Prediction, Query


class ScoredAnswers:
    """The scores of answers, added block by block; metrics of attacks need a planted attack.

    Args:
        metrics: the metrics of answers; those that require "attacks" read the contexts `built`, so
            that an attack that a processor removes counts as defended against. They have no row if
            no context has an attack.
        knows_context: whether the contexts are those of the answers.
    """

    def __init__(self, metrics: Sequence[Any], *, knows_context: bool = True) -> None:
        self._metrics, self._knows_context = metrics, knows_context
        self._plain = AnswerScores([m for m in metrics if "attacks" not in m.requires])
        attacks = [m for m in metrics if "attacks" in m.requires]
        self._attacks = AnswerScores(attacks) if attacks else None
        self._attacked = False

    def add(
        self,
        queries: Sequence[Query],
        predictions: Sequence[Prediction],
        shown: Mapping[str, Context],
        built: Mapping[str, Context] | None = None,
    ) -> None:
        """Add some queries with their predictions, in the same order.

        Args:
            queries: the queries.
            predictions: their answers.
            shown: query id -> context that the generator was shown; {} if they are not known.
            built: query id -> context before the system's processor; None if it has none.
        """
        ids = [query.query_id for query in queries]
        self._plain.add(queries, predictions, list(map(shown.get, ids)))
        if self._attacks is not None:
            contexts = list(map((shown if built is None else built).get, ids))
            self._attacks.add(queries, predictions, contexts)
            self._attacked = self._attacked or any(map(attack_in, contexts))

    def add_tables(
        self,
        *,
        queries: Table,
        predictions: Table,
        contexts: Table | None = None,
        built: Table | None = None,
    ) -> None:
        """Add the queries of a table with their predictions and contexts."""
        shown = contexts if self._knows_context else None
        self.add(
            table_to_queries(queries),
            table_to_predictions(predictions),
            {} if shown is None else _by_query(shown),
            None if built is None else _by_query(built),
        )

    def empty(self) -> ScoredAnswers:
        """Return the same without the queries that were added."""
        return ScoredAnswers(self._metrics, knows_context=self._knows_context)

    def add_rows(self, table: Table) -> None:
        """Add the queries of a SCORES table; no metric requires "attacks"."""
        self._plain.add_rows(table)

    @property
    def _columns(self) -> list[AnswerScores]:
        with_attacks = [self._attacks] if self._attacks is not None and self._attacked else []
        return [self._plain, *with_attacks]

    @property
    def unscored(self) -> int:
        """The number of scores that a metric could not compute."""
        return sum(columns.count("unscored") for columns in self._columns)

    @property
    def beside(self) -> dict[str, dict[str, float]]:
        """Metric -> figures of all answers together."""
        every = [self._plain, self._attacks] if self._attacks is not None else [self._plain]
        return {name: held for columns in every for name, held in columns.beside().items()}

    def tables(self, rows: int = limits.TABLE_BATCH_ROWS) -> Iterator[Table]:
        """Yield the SCORES table in pieces of at most `rows` rows."""
        for columns in self._columns:
            yield from columns.tables(rows)

    def table(self) -> Table:
        """Return the SCORES table of all rows."""
        return joined([columns.table() for columns in self._columns], SCORES)


def _by_query(table: Table) -> dict[str, Context]:
    return {context.query_id: context for context in table_to_contexts(table)}

"""Gold answers that are doubtful: systems agree on another one, or the data doctor doubts them.

A gold answer that some system gave with a context is not doubted: it can be found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ragstone.components.metrics.literal_answers import is_absent_span, is_polar, literal_answers
from ragstone.results.causes.trials import TrialsAtHand
from ragstone.results.refusals import refusal_metric
from ragstone.results.scored_rows import TrialResults
from ragstone.text.normalise import contains, words
from ragstone.types import Query

_GENERATORS: Final = 2
"""Minimum number of generators that agree on another answer."""
_WORDS: Final = 10
"""Maximum number of words of an answer that a passage may support literally."""
_CUT: Final = " [...]"
"""The end of a stored text that is not complete."""


@dataclass(frozen=True, eq=False)
class LabelDoubts:
    """Why the gold answers of an experiment are doubtful."""

    at_hand: TrialsAtHand

    @cached_property
    def reached(self) -> frozenset[str]:
        """The queries to which some system gave a right answer with a context."""
        return frozenset(
            query_id
            for source in self.at_hand.sources
            for trial in source.trials
            if trial.setting != "none"
            for query_id, share in source.correct_shares(trial).items()
            if share
        )

    def of(self, trial: TrialResults, query: Query) -> str:
        """Return why the gold answer to a wrongly answered query is doubtful; "" if it is not."""
        if not query.gold_answers or query.query_id in self.reached:
            return ""
        return self._agreement(trial, query) or self._doctor(query)

    def _agreement(self, trial: TrialResults, query: Query) -> str:
        """Return that systems with different generators agree on an answer of a passage."""
        prediction = trial.predictions.get(query.query_id)
        given = tuple(words((prediction and prediction.answer) or ""))
        generators = self._agreeing[trial.setting].get((query.query_id, given), frozenset())
        if len(generators) < _GENERATORS:
            return ""
        context = trial.contexts.get(query.query_id)
        for passage in context.passages if context else ():
            if contains(words(passage.text), list(given)):
                return (
                    f"{len(generators)} generators agree on {' '.join(given)!r}, which the passage "
                    f"{passage.passage_id} has; no system is right with a context"
                )
        return ""

    @cached_property
    def _agreeing(self) -> dict[str, dict[tuple[str, tuple[str, ...]], frozenset[str]]]:
        """Setting -> query and answer -> the generators that gave it, if it is short and wrong."""
        found: dict[str, dict[tuple[str, tuple[str, ...]], frozenset[str]]] = defaultdict(dict)
        for trial in self.at_hand.results.trials:
            generator = self.at_hand.generators.get(trial.system, "")
            for query_id, given in self._wrong(trial) if generator else ():
                held = found[trial.setting]
                held[query_id, given] = held.get((query_id, given), frozenset()) | {generator}
        return found

    def _wrong(self, trial: TrialResults) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the queries with a short wrong answer, and its words."""
        refused = trial.first.values(refusal_metric(trial))
        for query_id, label in self.at_hand.results.correct_answers(trial).items():
            prediction = trial.predictions.get(query_id)
            answer = (prediction and prediction.answer) or ""
            if label == 0 and answer and not refused.get(query_id) and not is_polar(answer):
                given = tuple(words(answer))
                if 0 < len(given) <= _WORDS and not self._is_part(query_id, given):
                    yield query_id, given

    def _is_part(self, query_id: str, given: Sequence[str]) -> bool:
        """Return whether an answer is a part of a gold answer, and so no other answer."""
        golds = self.at_hand.results.queries[query_id].gold_answers
        return any(set(given) <= set(words(gold)) for gold in golds)

    def _doctor(self, query: Query) -> str:
        """Return that a short gold answer occurs in no gold passage, if their texts are known."""
        answers = literal_answers(query)
        grades = self.at_hand.results.qrels.get(query.query_id, {})
        gold = [passage_id for passage_id, grade in grades.items() if grade > 0]
        texts = [self._text(query.query_id, passage_id) for passage_id in gold]
        if not texts or not answers or any(text.endswith(_CUT) for text in texts):
            return ""
        absent = is_absent_span(answers, texts)
        return "the data doctor: no gold answer occurs in a gold passage" if absent else ""

    def _text(self, query_id: str, passage_id: str) -> str:
        """Return the text of a passage: from a context of the query, or as far as it is stored."""
        for source in self.at_hand.sources:
            for trial in source.trials:
                context = trial.built.get(query_id)
                for passage in context.passages if context else ():
                    if passage.passage_id == passage_id:
                        return passage.text
        return str(self.at_hand.results.texts.get(passage_id, _CUT))

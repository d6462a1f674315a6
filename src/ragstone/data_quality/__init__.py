"""The data doctor: faults of a data set, and limits of the scores measured on it.

    for finding in check(read_leniently("../my-set")):
        print(finding.severity, finding.what)

A check is a function from a `Subject` to its findings; `CHECKS` is the table of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from ragstone.core.progress import track
from ragstone.data_quality.answer_texts import check_answers
from ragstone.data_quality.answers import check_in_passage, check_in_query, check_short
from ragstone.data_quality.balance import (
    check_ceiling,
    check_chance,
    check_gold_passages,
    check_labels,
)
from ragstone.data_quality.checked_dataset import Subject
from ragstone.data_quality.containment import check_containment, check_ends, check_questions
from ragstone.data_quality.contradictions import check_gold_answers, check_same_questions
from ragstone.data_quality.duplicates import check_passages, check_queries
from ragstone.data_quality.finding import SEVERITIES, Finding, Severity
from ragstone.data_quality.integrity import check_judgements, check_rows
from ragstone.data_quality.languages import check_languages
from ragstone.data_quality.leakage import check_splits, check_unanswerable
from ragstone.data_quality.lenient_reader import read_leniently, subject_of
from ragstone.data_quality.scope import check_scope
from ragstone.data_quality.suited_metrics import check_metrics
from ragstone.data_quality.text_faults import check_texts
from ragstone.data_quality.texts import check_sizes
from ragstone.data_quality.unjudged import check_difficulty, check_unjudged

__all__ = ["CHECKS", "Finding", "Severity", "Subject", "check", "read_leniently", "subject_of"]

CHECKS: Final[Mapping[str, Callable[[Subject], Iterator[Finding]]]] = {
    "scope": check_scope,
    "rows": check_rows,
    "judgements": check_judgements,
    "texts": check_sizes,
    "text faults": check_texts,
    "rows of answers": check_answers,
    "languages": check_languages,
    "duplicate passages": check_passages,
    "duplicate queries": check_queries,
    "containment": check_containment,
    "ends": check_ends,
    "questions in passages": check_questions,
    "gold answers": check_gold_answers,
    "same questions": check_same_questions,
    "answers in passages": check_in_passage,
    "short answers": check_short,
    "answers in queries": check_in_query,
    "unjudged": check_unjudged,
    "splits": check_splits,
    "unanswerable": check_unanswerable,
    "labels": check_labels,
    "gold passages": check_gold_passages,
    "ceiling": check_ceiling,
    "chance": check_chance,
    "difficulty": check_difficulty,
    "metrics": check_metrics,
}
"""Name -> check, in the order of findings of equal severity."""


def check(subject: Subject) -> list[Finding]:
    """Return all findings, errors first.

    >>> [finding.severity for finding in check(read_leniently("sample"))].count("error")
    0
    """
    found = [
        finding
        for run_check in track(CHECKS.values(), "Checking", len(CHECKS))
        for finding in run_check(subject)
    ]
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))

"""The metrics that a data set needs because of its gold answers and judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from ragstone.components.metrics.numeric import quantities
from ragstone.data_quality.finding import Finding
from ragstone.text.dates import dates
from ragstone.text.scripts import is_unspaced

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject
    from ragstone.types import Query

_SHARE: Final = 0.2
"""Least share of the queries with gold answers that makes a metric worth naming."""
_OPTIONS: Final = 6
"""Most different gold answers of a data set of labels."""
_PER_OPTION: Final = 5
"""Least queries per label."""
_SHORT: Final = 3
"""Words of a gold answer that is a number with its unit, or a date."""
_LONG: Final = 12
"""Words of a gold answer that is a text, not a phrase."""


def check_metrics(subject: Subject) -> Iterator[Finding]:
    """Name the metrics that the gold answers and judgements need besides the usual ones."""
    asked = [query for query in subject.queries if any(query.gold_answers)]
    needed = [*_for_answers(asked), *_for_judgements(subject)]
    if needed:
        yield Finding(
            "metrics/needed",
            "note",
            f"this data set needs {'; '.join(needed)}",
            0,
            len(subject.queries),
            "name them under `metrics:` beside the metrics that you use (docs/metrics.md)",
            remedy="",
        )


def _for_answers(queries: list[Query]) -> Iterator[str]:
    gold = [query.gold_answers for query in queries]
    if labels := answer_labels(queries):
        listed = ", ".join(option for option, _ in labels.most_common())
        yield f"label({listed}): the gold answers are {len(labels)} labels"
        return
    numbers = sum(map(_is_number, queries))
    if numbers > _SHARE * len(gold):
        yield f"numeric: {numbers:,} of {len(gold):,} gold answers are numbers or dates"
    long = sum(len(a[0].split()) > _LONG for a in gold)
    if long > _SHARE * len(gold):
        yield f"ROUGE-L or a judge: {long:,} of {len(gold):,} gold answers are texts"
    unspaced = sum(is_unspaced(a[0]) for a in gold)
    if unspaced > _SHARE * len(gold):
        yield f"chrF or char3-recall: {unspaced:,} gold answers are in scripts without spaces"


def answer_labels(queries: Iterable[Query]) -> Counter[str]:
    """Return the first gold answers with their counts if they are a few labels, else nothing."""
    gold = [query.gold_answers[0] for query in queries if any(query.gold_answers)]
    counts = Counter(answer.strip().strip(".").lower() for answer in gold)
    are_labels = 1 < len(counts) <= _OPTIONS and len(gold) >= _PER_OPTION * len(counts)
    return counts if are_labels else Counter()


def _is_number(query: Query) -> bool:
    first, language = query.gold_answers[0], str(query.labels.get("language", ""))
    found = dates(first, language) or quantities(first, language)
    return bool(found) and len(first.split()) <= _SHORT


def _for_judgements(subject: Subject) -> Iterator[str]:
    grades = Counter(g for judged in subject.dataset.qrels.values() for g in judged.values())
    if max(grades, default=0) > 1:
        yield f"nDCG and ERR: judgements have grades up to {max(grades)}"
    if min(grades, default=1) < 1:
        yield "bpref or condensed=true: passages are judged as not relevant"

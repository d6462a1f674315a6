"""Bounds of every score: the distribution of labels, and the scores of a perfect ranking."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ragstone.core import limits
from ragstone.data_quality.finding import Finding, distribution, each_line, report
from ragstone.data_quality.suited_metrics import answer_labels

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject

_LEAST_QUERIES: Final = 20
_LOPSIDED: Final = 0.9
_RARE: Final = 30
_PLACES: Final = frozenset({"conversation", "turn"})
CUTS: Final = (1, 3, 5, 10)
_NEARLY: Final = 0.995
_FREQUENT: Final = 0.1
_TOP: Final = 10
_NOTABLE: Final = 0.05
"""Least recall of a random ranking that is reported."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Scores of a ranking with all relevant passages on top, at a cut-off; means over queries."""

    k: int
    precision: float
    recall: float
    f1: float


def ceilings(relevant: Sequence[int], cuts: Sequence[int] = CUTS) -> list[Ceiling]:
    """Return the ceilings, given the number of relevant passages of each query.

    >>> [(c.k, c.precision, c.recall) for c in ceilings([1, 3], [1, 5])]
    [(1, 1.0, 0.6666666666666666), (5, 0.4, 1.0)]
    """
    found = []
    for k in cuts:
        pairs = [(min(n, k) / k, min(n, k) / n) for n in relevant]
        total = len(pairs)
        precision, recall = (math.fsum(p[side] for p in pairs) / total for side in (0, 1))
        f1 = math.fsum(2 * p * r / (p + r) for p, r in pairs) / total
        found.append(Ceiling(k, precision, recall, f1))
    return found


def check_ceiling(subject: Subject) -> Iterator[Finding]:
    """Report the scores of a perfect ranking."""
    relevant = [len(found) for found in subject.gold.values() if found]
    if not relevant:
        return
    found = ceilings(relevant)
    short = [c for c in found if min(c.precision, c.recall, c.f1) < _NEARLY]
    if short:
        rows = [
            f"P@{c.k} {c.precision:.3f}, R@{c.k} {c.recall:.3f}, F1@{c.k} {c.f1:.3f}" for c in found
        ]
        yield Finding(
            "ceiling/ranking",
            "note",
            f"a perfect ranking of the {len(relevant):,} judged queries reaches P@5 "
            f"{found[2].precision:.3f} and R@1 {found[0].recall:.3f} "
            f"({sum(relevant) / len(relevant):.2f} relevant passages per query)",
            len(relevant),
            len(subject.queries),
            "compare precision and F1 with these bounds, or use nDCG and recall at a larger k",
            each_line(rows),
            remedy="",
        )


def check_labels(subject: Subject) -> Iterator[Finding]:
    """Find labels with one value for nearly all queries, and rare values."""
    rare: dict[str, Counter[str]] = {}
    for name, counts in label_counts(subject).items():
        total = counts.total()
        if not 1 < len(counts) <= limits.MAX_CATEGORY_VALUES or total < _LEAST_QUERIES:
            continue
        value, most = counts.most_common(1)[0]
        if most >= _LOPSIDED * total:
            yield Finding(
                f"labels/{name}",
                "warning",
                f"{most / total:.0%} of the queries have {name} = {value} ({distribution(counts)})",
                most,
                total,
                "the largest group dominates the mean: read scores per label, or sample evenly",
            )
        few = Counter({v: n for v, n in counts.items() if n < _RARE})
        if few:
            rare[name] = few
    if rare:
        yield Finding(
            "labels/rare",
            "note",
            f"{sum(map(len, rare.values())):,} values of {len(rare):,} labels have fewer than "
            f"{_RARE} queries",
            sum(counts.total() for counts in rare.values()),
            len(subject.queries),
            "confidence intervals of small groups are wide: add queries with these values",
            each_line([f"{name}: {distribution(counts)}" for name, counts in rare.items()]),
            remedy="",
        )


def label_counts(subject: Subject) -> Mapping[str, Counter[str]]:
    """Return label -> value -> number of queries; a list counts once per item."""
    found: dict[str, Counter[str]] = {}
    for query in subject.queries:
        for name, value in query.labels.items():
            if isinstance(value, float):
                continue
            values = value if isinstance(value, tuple) else (value,)
            found.setdefault(name, Counter()).update(str(v).lower() for v in set(values))
    return {name: counts for name, counts in sorted(found.items()) if name not in _PLACES}


def check_gold_passages(subject: Subject) -> Iterator[Finding]:
    """Find passages that are gold for a large share of the queries."""
    judged = {query_id: found for query_id, found in subject.gold.items() if found}
    counts = Counter(passage_id for found in judged.values() for passage_id in found)
    frequent = [
        (passage_id, f"{passage_id}: gold for {count:,} queries")
        for passage_id, count in counts.most_common()
        if count > max(_FREQUENT * len(judged), _LEAST_QUERIES / 2)
    ]
    yield from report(
        "balance/gold-passages",
        "warning",
        frequent,
        len(counts),
        f"gold passages belong to more than {_FREQUENT:.0%} of the judged queries each",
        advice="one passage decides much of the score: add queries about others",
        kind="passage",
    )


def check_chance(subject: Subject) -> Iterator[Finding]:
    """Report the scores of a random ranking and of a constant answer, if they are high."""
    lines = []
    depth = len(subject.dataset.corpus) and subject.dataset.corpus.depth
    if any(subject.gold.values()) and depth and (chance := min(1.0, _TOP / depth)) >= _NOTABLE:
        lines.append(f"a random ranking of {depth:,} passages reaches R@{_TOP} {chance:.3f}")
    if labels := answer_labels(subject.queries):
        (answer, count), total = labels.most_common(1)[0], labels.total()
        lines.append(
            f"always answering {answer!r} is right for {count / total:.1%} of the {total:,} "
            f"queries, and one of the {len(labels)} answers at random for {1 / len(labels):.1%}"
        )
    if lines:
        yield Finding(
            "chance/baselines",
            "note",
            "; ".join(lines),
            0,
            len(subject.queries),
            "read every score beside them: only the difference is due to the system",
            remedy="",
        )

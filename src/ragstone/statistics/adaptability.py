"""Adaptability of a generator to context: MIRAGE's four metrics, split by cause.

Each query has three answers, right or wrong: without context (base), with the gold passage only
(oracle), and with gold passages among noise or with retrieved passages (mixed). Park et al.,
"MIRAGE", NAACL 2025:

- noise vulnerability: right with the oracle context, wrong with the mixed one;
- context acceptability: right with both;
- context insensitivity: wrong with the oracle context, and wrong without context;
- context misinterpretation: wrong with the oracle context, but right without context.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal, TypeAlias, get_args

from ragstone.errors import DatasetError
from ragstone.statistics.summary import clusters_of, summarise

Outcome: TypeAlias = Literal[
    "noise_vulnerability",
    "context_acceptability",
    "context_insensitivity",
    "context_misinterpretation",
]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """The three labels of one query and their outcome."""

    query_id: str
    base: bool
    oracle: bool
    mixed: bool
    outcome: Outcome
    gold_in_context: bool | None = None
    """Whether the mixed context contained a gold passage; None if unknown."""


@dataclass(frozen=True, slots=True)
class Share:
    """A number of items and its share of all items, with an interval."""

    count: int
    share: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Adaptability:
    """The four shares, their splits, and the items."""

    n: int
    noise_vulnerability: Share
    context_acceptability: Share
    context_insensitivity: Share
    context_misinterpretation: Share
    vulnerability_miss: Share
    """Part of noise vulnerability without a gold passage in the mixed context: retrieval failed."""
    vulnerability_noise: Share
    """Part of noise vulnerability with a gold passage in the mixed context."""
    acceptability_grounded: Share
    """Part of context acceptability with a gold passage in the mixed context."""
    acceptability_without_gold: Share
    """Part of context acceptability without a gold passage: right from memory or by chance."""
    gold_unknown: int
    """Vulnerable and acceptable items in neither part, as `gold_in_context` is None."""
    overall: float | None
    """Acceptability minus the other three shares: 2 x acceptability - 1, because they sum to 1."""
    items: tuple[QueryOutcome, ...]
    left_out: Mapping[str, str]
    """Query id without an outcome -> reason."""

    @property
    def shares(self) -> dict[Outcome, Share]:
        """The four shares by name; they sum to 1."""
        return {outcome: getattr(self, outcome) for outcome in OUTCOMES}

    @property
    def reasons(self) -> dict[str, int]:
        """Reason -> number of queries left out."""
        return dict(Counter(self.left_out.values()))


def classify(*, base: bool, oracle: bool, mixed: bool) -> Outcome:
    """Return the outcome of one query.

    >>> classify(base=True, oracle=False, mixed=True)
    'context_misinterpretation'
    """
    if oracle:
        return "context_acceptability" if mixed else "noise_vulnerability"
    return "context_misinterpretation" if base else "context_insensitivity"


def adaptability(
    base: Mapping[str, float | None],
    oracle: Mapping[str, float | None],
    mixed: Mapping[str, float | None],
    *,
    gold_in_context: Mapping[str, bool] | None = None,
    clusters: Mapping[str, Hashable] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> Adaptability:
    """Return MIRAGE's adaptability from three mappings of query id to label, joined by id.

    Args:
        base: labels without context: 1 or True for right, 0 or False for wrong, None for an answer
            that failed or could not be judged.
        oracle: labels with the gold passage only.
        mixed: labels with the context under test.
        gold_in_context: query id -> whether the mixed context contained a gold passage; other
            queries count in `gold_unknown`.
        clusters: query id -> conversation or source document, for the intervals; a query without
            one is a cluster on its own.
        left_out: query id -> why it takes no part, such as no gold passage.

    Returns:
        Shares, None if no query has all three labels. The largest of the four absorbs the rounding
        of the others, so that `math.fsum` of the four is exactly 1.0.

    Raises:
        DatasetError: a label is neither 0 nor 1.

    >>> found = adaptability({"a": 0, "b": 1}, {"a": 1, "b": 0}, {"a": 1, "b": 1})
    >>> found.context_acceptability.share, found.context_misinterpretation.share, found.overall
    (0.5, 0.5, 0.0)
    """
    labels = {"base": base, "oracle": oracle, "mixed": mixed}
    items, absent = _join(labels, gold_in_context or {}, left_out or {})
    names = clusters_of([item.query_id for item in items], clusters)

    def share(outcome: Outcome, gold: bool | None = None) -> Share:
        hits = [i.outcome == outcome and gold in (None, i.gold_in_context) for i in items]
        summary = summarise([float(h) for h in hits], clusters=names)
        return Share(sum(hits), summary.mean, summary.interval)

    shares = {outcome: share(outcome) for outcome in OUTCOMES}
    if items:
        largest = max(shares, key=lambda outcome: shares[outcome].count)
        others = sum(Fraction(one.share or 0) for name, one in shares.items() if name != largest)
        shares[largest] = replace(shares[largest], share=float(1 - others))
    acceptable = shares["context_acceptability"].share
    return Adaptability(
        n=len(items),
        **shares,
        vulnerability_miss=share("noise_vulnerability", gold=False),
        vulnerability_noise=share("noise_vulnerability", gold=True),
        acceptability_grounded=share("context_acceptability", gold=True),
        acceptability_without_gold=share("context_acceptability", gold=False),
        gold_unknown=sum(i.oracle and i.gold_in_context is None for i in items),
        overall=None if acceptable is None else 2 * acceptable - 1,
        items=tuple(items),
        left_out=absent,
    )


def _join(
    labels: Mapping[str, Mapping[str, float | None]],
    gold: Mapping[str, bool],
    excluded: Mapping[str, str],
) -> tuple[list[QueryOutcome], dict[str, str]]:
    """Return the items with all labels and the other queries, by first appearance."""
    items: list[QueryOutcome] = []
    left_out: dict[str, str] = {}
    for query_id in dict.fromkeys(query_id for held in labels.values() for query_id in held):
        if query_id in excluded:
            left_out[query_id] = excluded[query_id]
            continue
        found = {name: held.get(query_id) for name, held in labels.items()}
        for name, label in found.items():
            if label not in (0, 1, None):
                raise DatasetError(
                    f"{name} label of query {query_id!r} is {label!r}; a label is 1 (right), 0 "
                    "(wrong) or None: choose a threshold for graded scores first"
                )
        absent = [name for name, label in found.items() if label is None]
        if absent:
            left_out[query_id] = f"no label in {' and '.join(absent)}"
        else:
            given = {name: bool(label) for name, label in found.items()}
            in_context = gold.get(query_id)
            items.append(
                QueryOutcome(
                    query_id, **given, outcome=classify(**given), gold_in_context=in_context
                )
            )
    return items, left_out

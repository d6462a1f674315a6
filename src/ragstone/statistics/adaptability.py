"""How a generator copes with context: MIRAGE's four adaptability metrics, split by cause.

For one query the answer without context (base), with the gold passage alone (oracle) and with gold
among noise or as retrieved (mixed) is right or wrong. As in Park et al., "MIRAGE", NAACL 2025:

- noise vulnerability: right with the oracle context, wrong with the mixed one;
- context acceptability: right with both;
- context insensitivity: wrong with the oracle context, and wrong without context;
- context misinterpretation: wrong with the oracle context, yet right without context.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from ragstone.errors import DatasetError
from ragstone.statistics.summary import summarise

Outcome: TypeAlias = Literal[
    "noise_vulnerability",
    "context_acceptability",
    "context_insensitivity",
    "context_misinterpretation",
]
OUTCOMES: Final[tuple[Outcome, ...]] = (
    "noise_vulnerability",
    "context_acceptability",
    "context_insensitivity",
    "context_misinterpretation",
)


@dataclass(frozen=True, slots=True)
class Item:
    """One query's three labels and what they say."""

    query_id: str
    base: bool
    oracle: bool
    mixed: bool
    outcome: Outcome
    gold_in_context: bool | None = None
    """Whether the mixed context held a gold passage; None where that is not known."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A query that could not be classed, and why."""

    query_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the n items, and which part of them, with its interval."""

    count: int
    share: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Adaptability:
    """The four shares, their splits, and every item that they were counted from."""

    n: int
    noise_vulnerability: Share
    context_acceptability: Share
    context_insensitivity: Share
    context_misinterpretation: Share
    vulnerability_miss: Share
    """Part of noise vulnerability: no gold passage in the mixed context. Retrieval failed."""
    vulnerability_noise: Share
    """Part of noise vulnerability: gold was there, and the answer still wrong."""
    acceptability_grounded: Share
    """Part of context acceptability: gold was there."""
    acceptability_without_gold: Share
    """Part of context acceptability: right without gold in the context, from memory or by luck."""
    gold_unknown: int
    """Vulnerable and acceptable items in neither part, as nothing says whether gold was there."""
    overall: float | None
    """Acceptability less the other three shares: 2 x acceptability - 1, as they sum to 1."""
    items: tuple[Item, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def shares(self) -> dict[Outcome, Share]:
        """The four shares by name; they sum to 1."""
        return {outcome: getattr(self, outcome) for outcome in OUTCOMES}

    @property
    def reasons(self) -> dict[str, int]:
        """How many queries were left out for each reason."""
        return dict(Counter(left.reason for left in self.left_out))


def classify(*, base: bool, oracle: bool, mixed: bool) -> Outcome:
    """Return what three labels of one query say; the oracle label decides first.

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
    confidence: float = 0.95,
) -> Adaptability:
    """Return MIRAGE's adaptability from three mappings of query id to label, joined by id.

    Args:
        base: labels without context: 1 or True for right, 0 or False for wrong, None for an answer
            that failed or could not be judged.
        oracle: labels with the gold passage alone.
        mixed: labels with the context under test.
        gold_in_context: query id -> whether the mixed context held a gold passage; queries that it
            lacks are counted in `gold_unknown`.
        clusters: query id -> conversation or source document, for the intervals; a query that it
            lacks is a cluster of its own.
        confidence: of the intervals.

    Returns:
        Shares, None where no query has all three labels. The largest of the four takes up the
        rounding of the others, so that `math.fsum` of the four is 1.0 to the last bit.

    Raises:
        DatasetError: a label is neither 0 nor 1.

    >>> found = adaptability({"a": 0, "b": 1}, {"a": 1, "b": 0}, {"a": 1, "b": 1})
    >>> found.context_acceptability.share, found.context_misinterpretation.share, found.overall
    (0.5, 0.5, 0.0)
    """
    items, left_out = _join({"base": base, "oracle": oracle, "mixed": mixed}, gold_in_context or {})
    names = (
        None if clusters is None else [clusters.get(i.query_id, ("", i.query_id)) for i in items]
    )

    def share(outcome: Outcome, gold: bool | None = None) -> Share:
        hits = [i.outcome == outcome and gold in (None, i.gold_in_context) for i in items]
        summary = summarise([float(h) for h in hits], clusters=names, confidence=confidence)
        return Share(sum(hits), summary.mean, summary.interval)

    shares = _to_one({outcome: share(outcome) for outcome in OUTCOMES}, len(items))
    acceptable = shares["context_acceptability"]
    return Adaptability(
        n=len(items),
        **shares,
        vulnerability_miss=share("noise_vulnerability", gold=False),
        vulnerability_noise=share("noise_vulnerability", gold=True),
        acceptability_grounded=share("context_acceptability", gold=True),
        acceptability_without_gold=share("context_acceptability", gold=False),
        gold_unknown=sum(i.oracle and i.gold_in_context is None for i in items),
        overall=None if acceptable.share is None else 2 * acceptable.share - 1,
        items=tuple(items),
        left_out=tuple(left_out),
    )


def _join(
    labels: Mapping[str, Mapping[str, float | None]], gold: Mapping[str, bool]
) -> tuple[list[Item], list[LeftOut]]:
    """Return the items that have all labels, in the order of their first appearance."""
    items: list[Item] = []
    left_out: list[LeftOut] = []
    for query_id in dict.fromkeys(query_id for held in labels.values() for query_id in held):
        found = {name: _label(held, query_id, name) for name, held in labels.items()}
        lacking = [name for name, label in found.items() if label is None]
        if lacking:
            left_out.append(LeftOut(query_id, f"no label in {' and '.join(lacking)}"))
            continue
        base, oracle, mixed = (bool(label) for label in found.values())
        outcome = classify(base=base, oracle=oracle, mixed=mixed)
        items.append(Item(query_id, base, oracle, mixed, outcome, gold.get(query_id)))
    return items, left_out


def _label(held: Mapping[str, float | None], query_id: str, name: str) -> bool | None:
    value = held.get(query_id)
    if value is not None and value not in (0, 1):
        raise DatasetError(
            f"{name} label of query {query_id!r} is {value!r}; a label is 1 (right), 0 (wrong) or "
            "None: choose a threshold for graded scores first"
        )
    return None if value is None else bool(value)


def _to_one(shares: dict[Outcome, Share], n: int) -> dict[Outcome, Share]:
    """Let the largest share take up the rounding of the others."""
    if not n:
        return shares
    largest = max(shares, key=lambda outcome: shares[outcome].count)
    others = sum(Fraction(held.share or 0) for name, held in shares.items() if name != largest)
    return {**shares, largest: replace(shares[largest], share=float(1 - others))}

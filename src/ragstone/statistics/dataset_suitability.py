"""Is a data set suitable for evaluating retrieval-augmented generation? BERGEN's second question.

A data set is suitable if answers with gold passages are better than answers without context, by
more than chance. If a model is right without context, it knows the answer, possibly from the data
set itself; the score then measures memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ragstone.errors import DatasetError
from ragstone.statistics.paired import Difference, paired_difference
from ragstone.statistics.summary import Summary, clusters_of, summarise

Values: TypeAlias = Mapping[str, float | None]
"""Query id -> score or None."""
Advice: TypeAlias = Literal["use", "use with care", "leave out", "undecided"]
_Clusters: TypeAlias = Mapping[str, Hashable] | None

CONTAMINATED: Final = 0.5
"""Share of queries right without context, among those right with gold context, that needs care."""
_FEW: Final = 50
_RIGHT: Final = 0.5
"""Minimum score of a correct answer."""
_RETRIEVED: Final = "retrieved"
"""Prefix of the settings whose context is the result of a retriever only."""


@dataclass(frozen=True, slots=True)
class Worth:
    """The suitability of one data set by one system's scores."""

    dataset: str
    system: str
    metric: str
    closed_book: Summary
    gold: Summary | None
    retrieved: dict[str, Summary]
    """Setting -> mean."""
    gold_gain: Difference | None
    """Gold context minus no context, over the queries with both scores."""
    retrieval_gain: dict[str, Difference]
    """Setting -> retrieved context minus no context."""
    known: Summary | None
    """Share of queries right without context, among those right with gold context: memory."""
    advice: Advice
    reason: str
    left_out: dict[str, int] = field(default_factory=dict)
    """Reason why queries take no part -> number of queries."""


def worth(
    dataset: str,
    system: str,
    metric: str,
    scores: Mapping[str, Values],
    *,
    clusters: Mapping[str, Hashable] | None = None,
    left_out: Mapping[str, str] | None = None,
    oracle: str = "gold",
) -> Worth:
    """Return the gains from context on a data set, and advice on its use.

    `scores` maps setting -> query id -> score: `none` is required, the oracle and `retrieved(...)`
    are optional. An answer with a score of 0.5 or more is correct. `clusters` maps query ids to
    conversations or documents. `left_out` maps the ids of queries that take no part to the reason,
    such as no gold passage. `oracle` is the name of the setting with gold context.

    Raises:
        DatasetError: there are no scores without context.
    """
    asked = {query_id for values in scores.values() for query_id in values}
    absent = {q: reason for q, reason in (left_out or {}).items() if q in asked}
    scores = {
        setting: {q: value for q, value in values.items() if q not in absent}
        for setting, values in scores.items()
    }
    base, gold = scores.get("none"), scores.get(oracle)
    if base is None:
        raise DatasetError(
            f"{dataset}, {system}: the settings are {', '.join(scores) or 'none at all'}; a gain "
            "needs answers without context (setting `none`) and with one (`gold`, `retrieved(5)`)"
        )
    others = {name: held for name, held in scores.items() if name.startswith(_RETRIEVED)}
    gains = {setting: _gain(base, held, clusters) for setting, held in others.items()}
    gold_gain = None if gold is None else _gain(base, gold, clusters)
    known = None if gold is None else _known(base, gold)
    advice, reason = _advice(gold_gain, gains, known)
    return Worth(
        dataset=dataset,
        system=system,
        metric=metric,
        closed_book=_mean(base, clusters),
        gold=None if gold is None else _mean(gold, clusters),
        retrieved={setting: _mean(held, clusters) for setting, held in others.items()},
        gold_gain=gold_gain,
        retrieval_gain={setting: gain for setting, gain in gains.items() if gain is not None},
        known=known,
        advice=advice,
        reason=reason,
        left_out=dict(Counter(absent.values())),
    )


def _mean(values: Values, clusters: _Clusters) -> Summary:
    return summarise(list(values.values()), clusters=clusters_of(values, clusters))


def _gain(base: Values, other: Values, clusters: _Clusters) -> Difference | None:
    pairs = ((query_id, base[query_id], other[query_id]) for query_id in base if query_id in other)
    held = [(i, a, b) for i, a, b in pairs if a is not None and b is not None]
    if not held:
        return None
    ids, first, second = zip(*held, strict=True)
    return paired_difference(first, second, clusters=clusters_of(ids, clusters))


def _known(base: Values, gold: Values) -> Summary:
    solved = [i for i, value in gold.items() if value is not None and value >= _RIGHT]
    known = [base.get(i) for i in solved]
    return summarise([float(value >= _RIGHT) for value in known if value is not None])


def _advice(
    gold: Difference | None, gains: Mapping[str, Difference | None], known: Summary | None
) -> tuple[Advice, str]:
    """Judge by the gain from gold context first, then memory, then the gain from retrieval."""
    if gold is None:
        only = "" if gains else "; all answers are without context"
        return (
            "undecided",
            f"no answers with gold context: run or name the setting `gold`{only}",
        )
    low, high = gold.interval or (-1.0, 1.0)
    change = f"gold context changes the score by {gold.difference:+.3f} [{low:+.3f}, {high:+.3f}]"
    if high < 0:
        return "leave out", f"{change}: context is harmful, so the set or its qrels are wrong"
    if low <= 0:
        few = gold.n < _FEW
        size = f" with {gold.n} queries" if few else ""
        return "undecided" if few else "leave out", f"{change}: no gain is visible{size}"
    if known is not None and (known.mean or 0.0) >= CONTAMINATED:
        return "use with care", (
            f"{change}, but {known.mean:.0%} of the queries right with it are right without any "
            "context: the model knows the answers; report the other queries separately"
        )
    helped = [s for s, gain in gains.items() if gain and gain.interval and gain.interval[0] > 0]
    if gains and not helped:
        return "use", f"{change}; retrieval does not reach it yet: better retrievers would help"
    return "use", change

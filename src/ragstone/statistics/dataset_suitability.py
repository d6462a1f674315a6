"""Is a data set worth using for retrieval-augmented generation? BERGEN's second question.

A set is of use where context helps: where answers with the gold passages are better than without
any, by more than chance. Where a model is right without a context it knew the answer, perhaps from
the very data set: what is measured there is memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ragstone.errors import DatasetError
from ragstone.statistics.paired import Difference, paired_difference
from ragstone.statistics.summary import Summary, summarise

Values: TypeAlias = Mapping[str, float | None]
"""Query id -> score; None where there is none."""
Advice: TypeAlias = Literal["use", "use with care", "leave out", "undecided"]

CONTAMINATED: Final = 0.5
"""Share of what is right with gold context that is right without any, from which on care is due."""
_FEW: Final = 50
_RETRIEVED: Final = "retrieved"
"""How the settings begin whose context is what a retriever found, and nothing else."""


@dataclass(frozen=True, slots=True)
class Worth:
    """What one system's scores say about one data set."""

    dataset: str
    system: str
    metric: str
    closed_book: Summary
    gold: Summary | None
    retrieved: dict[str, Summary]
    """Setting -> mean."""
    gold_gain: Difference | None
    """Gold context less none, over the queries that both have."""
    retrieval_gain: dict[str, Difference]
    """Setting -> retrieved context less none."""
    known: Summary | None
    """Of the queries that are right with gold context, the share that is right without: memory."""
    advice: Advice
    reason: str


def worth(
    dataset: str,
    system: str,
    metric: str,
    scores: Mapping[str, Values],
    *,
    clusters: Mapping[str, Hashable] | None = None,
    right: float = 0.5,
) -> Worth:
    """Return whether context helps on a data set, how far, and what to make of it.

    Args:
        dataset: its name.
        system: whose scores they are.
        metric: what was measured.
        scores: setting -> query id -> score; `none` is needed, `gold` and others say more.
        clusters: query id -> conversation or document.
        right: from which score on an answer counts as right.

    Raises:
        DatasetError: there are no scores without context.
    """
    base = scores.get("none")
    if base is None:
        raise DatasetError(
            f"{dataset}, {system}: the settings are {', '.join(scores) or 'none at all'}; a gain "
            "needs answers without context (setting `none`) and with one (`gold`, `retrieved(5)`)"
        )
    others = {name: held for name, held in scores.items() if name.startswith(_RETRIEVED)}
    gold = scores.get("gold")
    gains = {setting: _gain(base, held, clusters) for setting, held in others.items()}
    gold_gain = _gain(base, gold, clusters) if gold is not None else None
    known = _known(base, gold, right) if gold is not None else None
    advice, reason = _advice(gold_gain, gains, known)
    return Worth(
        dataset=dataset,
        system=system,
        metric=metric,
        closed_book=_mean(base, clusters),
        gold=_mean(gold, clusters) if gold is not None else None,
        retrieved={setting: _mean(held, clusters) for setting, held in others.items()},
        gold_gain=gold_gain,
        retrieval_gain={s: gain for s, gain in gains.items() if gain is not None},
        known=known,
        advice=advice,
        reason=reason,
    )


def _mean(values: Values, clusters: Mapping[str, Hashable] | None) -> Summary:
    names = [clusters.get(i, i) for i in values] if clusters else None
    return summarise(list(values.values()), clusters=names)


def _gain(
    base: Values, other: Values, clusters: Mapping[str, Hashable] | None
) -> Difference | None:
    pairs = {i: (base[i], other[i]) for i in base if i in other}
    held = {i: (a, b) for i, (a, b) in pairs.items() if a is not None and b is not None}
    if not held:
        return None
    names = [clusters.get(i, i) for i in held] if clusters else None
    return paired_difference(
        [a for a, _ in held.values()], [b for _, b in held.values()], clusters=names
    )


def _known(base: Values, gold: Values, right: float) -> Summary:
    solved = [i for i, value in gold.items() if value is not None and value >= right]
    known = [base.get(i) for i in solved]
    return summarise([float(value >= right) for value in known if value is not None])


def _advice(
    gold: Difference | None, gains: Mapping[str, Difference | None], known: Summary | None
) -> tuple[Advice, str]:
    """Weigh the gain from gold context first, then memory, then the gain from retrieval."""
    if gold is None:
        told = "" if gains else "; all there is are answers without context"
        return "undecided", f"no answers with gold context: run the setting `gold`{told}"
    low, high = gold.interval or (-1.0, 1.0)
    told = f"gold context changes the score by {gold.difference:+.3f} [{low:+.3f}, {high:+.3f}]"
    if high < 0:
        return "leave out", f"{told}: context does harm, so the set or its qrels are wrong"
    if low <= 0:
        more = f" with {gold.n} queries" if gold.n < _FEW else ""
        return "undecided" if gold.n < _FEW else "leave out", f"{told}: no gain can be seen{more}"
    if known is not None and (known.mean or 0.0) >= CONTAMINATED:
        return "use with care", (
            f"{told}, but {known.mean:.0%} of what is right with it is right without any context: "
            "the model knows the answers; report the queries that it does not know"
        )
    helped = [s for s, gain in gains.items() if gain and gain.interval and gain.interval[0] > 0]
    if gains and not helped:
        return (
            "use",
            f"{told}; retrieval does not reach it yet: there is much to win for retrievers",
        )
    return "use", told

"""How much should words weigh beside vectors? The text-weight scan of hybrid search, per label.

Know Your RAG (2024), section 5: the score of a passage is w times its lexical and 1 - w times its
dense score; recall@5 is measured for every weight w and every label. The best weight follows from
how the scores were put on one scale, which the paper does not say: here it is always stated.

A best weight is chosen on the queries it is then judged by, so its lead is too good. Beside the
regret of using one weight for all therefore stands `held_out`: the same lead with the weights
chosen on other queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np

from ragstone.analysis.bootstrap import Floats
from ragstone.analysis.paired import adjust
from ragstone.analysis.permutation import sign_flip_p
from ragstone.analysis.resampling import percentile_interval, resampled_counts
from ragstone.analysis.statistics import Summary, summarise
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Ranking

Normalisation: TypeAlias = Literal["min-max", "z-score", "none"]
Run: TypeAlias = Mapping[str, Ranking]

WEIGHTS: Final = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Of the lexical score; those of the paper."""
ALL: Final = "all"
"""The name under which all queries together stand."""
_FOLDS: Final = 10
_NORMALISATIONS: Final = ("min-max", "z-score", "none")


@dataclass(frozen=True, slots=True)
class LabelScan:
    """The curve of one label, and what one weight for all labels costs it."""

    label: str
    curve: tuple[Summary, ...]
    """Mean recall with its interval, one per weight."""
    best: float
    """The weight of the highest mean; the lowest of several."""
    regret: float
    """Mean at the label's best weight less that at the best weight of all queries; 0 or more."""
    regret_interval: tuple[float, float] | None
    """Percentiles over resamples of the queries, both weights being chosen anew in each."""
    held_out: float
    """The lead with both weights chosen on other queries; it can be negative."""
    p_value: float
    """Of the two weights' difference on the label's queries, by sign flips, corrected by Holm."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What a text-weight scan found."""

    k: int
    normalisation: Normalisation
    weights: tuple[float, ...]
    best: float
    """The best weight of all queries."""
    labels: tuple[LabelScan, ...]
    """All queries first, then the labels in alphabetical order."""


def weight_scan(
    lexical: Run,
    dense: Run,
    qrels: Mapping[str, Mapping[str, int]],
    labels: Mapping[str, str] | None = None,
    *,
    k: int = 5,
    weights: Sequence[float] = WEIGHTS,
    normalisation: Normalisation = "min-max",
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> Scan:
    """Return the recall at k of two mixed runs for every weight and label.

    Queries are those with a relevant passage; a query that a run lacks has no passage from it.

    Args:
        lexical: query id -> ranking with scores.
        dense: the same.
        qrels: query id -> passage id -> relevance.
        labels: query id -> label; a query without one counts for all queries alone.
        k: cut of the recall.
        weights: of the lexical score, between 0 and 1.
        normalisation: of the scores of each ranking before they are mixed: to 0..1, to mean 0 and
            deviation 1, or not at all. A passage that one ranking lacks has that ranking's lowest.
        confidence: of the intervals.
        resamples: for the regret's interval.
        seed: of resamples and folds.

    Raises:
        ConfigError: unknown normalisation, or a weight outside 0 to 1.
        DatasetError: no query has a relevant passage.
    """
    _check(weights, normalisation)
    ids = [i for i, grades in qrels.items() if max(grades.values(), default=0) > 0]
    if not ids:
        raise DatasetError("no query has a relevant passage; a weight scan needs qrels")
    values = np.array(
        [
            _recalls((lexical.get(i), dense.get(i)), _relevant(qrels[i]), k, weights, normalisation)
            for i in ids
        ]
    )
    groups = {ALL: np.arange(len(ids))}
    for label in sorted({labels[i] for i in ids if i in labels} if labels else ()):
        groups[label] = np.array([n for n, i in enumerate(ids) if (labels or {}).get(i) == label])
    found = [
        _label_scan(name, values, members, weights, (confidence, resamples, seed))
        for name, members in groups.items()
    ]
    adjusted = adjust([scan.p_value for scan in found[1:]])
    holm = [found[0], *(_with_p(s, p) for s, p in zip(found[1:], adjusted, strict=True))]
    return Scan(k, normalisation, tuple(weights), found[0].best, tuple(holm))


def _check(weights: Sequence[float], normalisation: str) -> None:
    if normalisation not in _NORMALISATIONS:
        allowed = ", ".join(_NORMALISATIONS)
        raise ConfigError(f"unknown normalisation {normalisation!r}; allowed: {allowed}")
    wrong = [weight for weight in weights if not 0 <= weight <= 1]
    if wrong or not weights:
        raise ConfigError(f"weights lie between 0 and 1, found {wrong[0] if wrong else 'none'}")


def mixed(
    lexical: Ranking | None, dense: Ranking | None, weight: float, normalisation: Normalisation
) -> list[str]:
    """Return passage ids by mixed score, best first; equal scores by passage id.

    >>> mixed(Ranking(["a", "b"], [9.0, 3.0]), Ranking(["b", "c"], [0.8, 0.7]), 0.5, "min-max")
    ['a', 'b', 'c']
    """
    ids, words, vectors = _aligned(lexical, dense, normalisation)
    scores = weight * words + (1 - weight) * vectors
    return [ids[place] for place in np.argsort(-scores, kind="stable")]


def _aligned(
    lexical: Ranking | None, dense: Ranking | None, normalisation: Normalisation
) -> tuple[list[str], Floats, Floats]:
    """Return the passages of either ranking in order of their ids, and their two scores."""
    rankings = [ranking or Ranking() for ranking in (lexical, dense)]
    ids = sorted({passage_id for ranking in rankings for passage_id in ranking.passage_ids})
    scores = [_scores(ranking, ids, normalisation) for ranking in rankings]
    return ids, scores[0], scores[1]


def _scores(ranking: Ranking, ids: list[str], normalisation: Normalisation) -> Floats:
    if not len(ranking):
        return np.zeros(len(ids))
    given = np.array(ranking.scores, np.float64)
    if normalisation == "min-max":
        given = (given - given.min()) / (np.ptp(given) or 1.0)
    elif normalisation == "z-score":
        given = (given - given.mean()) / (given.std() or 1.0)
    held = dict(zip(ranking.passage_ids, given.tolist(), strict=True))
    lowest = float(given.min())
    return np.array([held.get(passage_id, lowest) for passage_id in ids])


def _relevant(grades: Mapping[str, int]) -> set[str]:
    return {passage_id for passage_id, grade in grades.items() if grade > 0}


def _recalls(
    pair: tuple[Ranking | None, Ranking | None],
    wanted: set[str],
    k: int,
    weights: Sequence[float],
    normalisation: Normalisation,
) -> list[float]:
    ids, words, vectors = _aligned(*pair, normalisation)
    relevant = np.array([passage_id in wanted for passage_id in ids], bool)
    found = []
    for weight in weights:
        scores = weight * words + (1 - weight) * vectors
        if weight in (0, 1):
            # What only the other ranking holds must not follow at the end of a pure run.
            held = set(((pair[0] if weight else pair[1]) or Ranking()).passage_ids)
            scores = np.where([i in held for i in ids], scores, -np.inf)
        top = np.argsort(-scores, kind="stable")[:k]
        found.append(float((relevant[top] & np.isfinite(scores[top])).sum()) / len(wanted))
    return found


def _label_scan(
    label: str,
    values: Floats,
    members: np.ndarray[tuple[int], np.dtype[np.int64]],
    weights: Sequence[float],
    draw: tuple[float, int, int],
) -> LabelScan:
    confidence, resamples, seed = draw
    own = values[members]
    overall = int(values.mean(axis=0).argmax())
    best = int(own.mean(axis=0).argmax())
    lead = own[:, best] - own[:, overall]
    regrets = _resampled_regrets(values, members, resamples, seed)
    return LabelScan(
        label=label,
        curve=tuple(summarise(column, confidence=confidence) for column in own.T),
        best=weights[best],
        regret=float(lead.mean()),
        regret_interval=percentile_interval(regrets, confidence) if len(own) > 1 else None,
        held_out=_held_out(values, members, seed),
        p_value=sign_flip_p(lead) if lead.any() else 1.0,
    )


def _resampled_regrets(
    values: Floats, members: np.ndarray[tuple[int], np.dtype[np.int64]], resamples: int, seed: int
) -> Floats:
    inside = np.zeros(len(values))
    inside[members] = 1
    found = []
    for counts in resampled_counts(len(values), resamples, seed):
        overall = (counts @ values).argmax(axis=1)
        sizes = np.maximum(counts @ inside, 1)
        own = (counts * inside) @ values / sizes[:, None]
        found.append(own.max(axis=1) - own[np.arange(len(own)), overall])
    return np.concatenate(found)


def _held_out(
    values: Floats, members: np.ndarray[tuple[int], np.dtype[np.int64]], seed: int
) -> float:
    """Return the label's lead by ten folds: weights chosen on nine, compared on the tenth."""
    fold = np.random.default_rng(seed).permutation(len(values)) % _FOLDS
    is_member = np.zeros(len(values), bool)
    is_member[members] = True
    leads = []
    for number in range(_FOLDS):
        train, test = fold != number, is_member & (fold == number)
        if not (is_member & train).any():
            continue
        best = values[is_member & train].mean(axis=0).argmax()
        overall = values[train].mean(axis=0).argmax()
        leads.append(values[test, best] - values[test, overall])
    joined = np.concatenate(leads) if leads else np.zeros(0)
    return float(joined.mean()) if len(joined) else 0.0


def _with_p(scan: LabelScan, p_value: float) -> LabelScan:
    return LabelScan(
        scan.label,
        scan.curve,
        scan.best,
        scan.regret,
        scan.regret_interval,
        scan.held_out,
        p_value,
    )

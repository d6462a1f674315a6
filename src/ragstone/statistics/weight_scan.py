"""How much should words weigh beside vectors? The text-weight scan of hybrid search, per label.

Know Your RAG (2024), section 5: the score of a passage is w times its lexical and 1 - w times its
dense score; recall@5 is measured for every weight w and every label. The best weight follows from
how the scores were put on one scale, which the paper does not say: here it is always stated.

A best weight is chosen on the queries it is then judged by, so its lead is too good. Beside the
regret of using one weight for all therefore stands `held_out`: the same lead with the weights
chosen on other queries.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import ConfigError, DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.paired import adjust
from ragstone.statistics.permutation import sign_flip_p
from ragstone.statistics.resampling import percentile_interval, resampled_counts
from ragstone.statistics.score_scaling import Normalisation, on_scale
from ragstone.statistics.summary import Summary, summarise
from ragstone.types import Ranking

Run: TypeAlias = Mapping[str, Ranking]
Labels: TypeAlias = Mapping[str, str | Sequence[str]]
"""Query id -> its label, or its labels where it has several: it then counts for each of them."""
Places: TypeAlias = NDArray[np.int64]

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
    """The weight of the highest mean; the first of several."""
    best_interval: tuple[float, float] | None
    """Percentiles of the best weight over resamples of the queries: which others it might be."""
    regret: float
    """Mean at the label's best weight less that at the best weight of all queries; 0 or more."""
    regret_interval: tuple[float, float] | None
    """Percentiles over resamples of the queries, both weights being chosen anew in each."""
    held_out: float
    """The lead with both weights chosen on other queries; it can be negative."""
    p_value: float
    """Of the two weights' difference on the label's queries, by sign flips, corrected by Holm."""

    @property
    def all_equal(self) -> bool:
        """Whether every weight has the same mean: `best` is then the first, and says nothing."""
        return len({point.mean for point in self.curve}) == 1


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
    labels: Labels | None = None,
    *,
    clusters: Mapping[str, Hashable] | None = None,
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
        labels: query id -> label or labels; a query without one counts for all queries alone.
        clusters: query id -> conversation or document, which resamples, folds and signs keep whole.
        k: cut of the recall.
        weights: of the lexical score, between 0 and 1.
        normalisation: of the scores of each ranking before they are mixed: to 0..1, to mean 0 and
            deviation 1, or not at all; `on_scale` has the details.
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
    found = scan_values(
        values,
        ids,
        weights,
        labels,
        clusters=clusters,
        confidence=confidence,
        resamples=resamples,
        seed=seed,
    )
    return Scan(k, normalisation, tuple(weights), found[0].best, found)


def scan_values(
    values: Floats,
    ids: Sequence[str],
    weights: Sequence[float],
    labels: Labels | None = None,
    *,
    clusters: Mapping[str, Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> tuple[LabelScan, ...]:
    """Return the scan of what was measured, by whichever metric: all queries first, then labels.

    Args:
        values: of shape (len(ids), len(weights)): what each query scored under each weight.
        ids: the queries.
        weights: of the lexical score.
        labels: as `weight_scan` takes them.
        clusters: likewise.
        confidence: of the intervals.
        resamples: for the intervals of regret and best weight.
        seed: of resamples and folds.
    """
    drawn = _Draw(_cluster_places(ids, clusters), confidence, resamples, seed)
    groups = {ALL: np.arange(len(ids))} | _members(ids, labels or {})
    found = [_label_scan(name, values, members, weights, drawn) for name, members in groups.items()]
    adjusted = adjust([scan.p_value for scan in found[1:]])
    holm = [replace(s, p_value=p) for s, p in zip(found[1:], adjusted, strict=True)]
    return found[0], *holm


@dataclass(frozen=True, slots=True)
class _Draw:
    """How queries are resampled, folded and flipped: by cluster."""

    clusters: Places
    """Place of a query -> number of its cluster."""
    confidence: float
    resamples: int
    seed: int

    @property
    def count(self) -> int:
        return int(self.clusters.max()) + 1


def _cluster_places(ids: Sequence[str], clusters: Mapping[str, Hashable] | None) -> Places:
    numbers: dict[Hashable, int] = {}
    named = [(clusters or {}).get(query_id, query_id) for query_id in ids]
    return np.array([numbers.setdefault(name, len(numbers)) for name in named])


def _members(ids: Sequence[str], labels: Labels) -> dict[str, Places]:
    """Return label -> places of its queries, in alphabetical order."""
    found: dict[str, list[int]] = {}
    for place, query_id in enumerate(ids):
        given = labels.get(query_id, ())
        for label in dict.fromkeys((given,) if isinstance(given, str) else given):
            found.setdefault(label, []).append(place)
    return {label: np.array(places) for label, places in sorted(found.items())}


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
    given, absent = on_scale(np.array(ranking.scores, np.float64), normalisation)
    held = dict(zip(ranking.passage_ids, given.tolist(), strict=True))
    return np.array([held.get(passage_id, absent) for passage_id in ids])


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
    label: str, values: Floats, members: Places, weights: Sequence[float], drawn: _Draw
) -> LabelScan:
    own, clusters = values[members], drawn.clusters[members]
    overall = int(values.mean(axis=0).argmax())
    best = int(own.mean(axis=0).argmax())
    lead = own[:, best] - own[:, overall]
    named, confidence = clusters.tolist(), drawn.confidence
    several = len(set(named)) > 1
    regrets, places = _resampled(values, members, drawn)
    low, high = (1 - confidence) / 2, (1 + confidence) / 2
    chosen = np.quantile(np.array(weights)[places], (low, high), method="inverted_cdf")
    return LabelScan(
        label=label,
        curve=tuple(summarise(column, clusters=named, confidence=confidence) for column in own.T),
        best=weights[best],
        best_interval=(float(chosen[0]), float(chosen[1])) if several else None,
        regret=float(lead.mean()),
        regret_interval=percentile_interval(regrets, confidence) if several else None,
        held_out=_held_out(values, members, drawn),
        p_value=sign_flip_p(np.bincount(clusters, lead).astype(np.float64)),
    )


def _resampled(values: Floats, members: Places, drawn: _Draw) -> tuple[Floats, Places]:
    """Return regret and place of the label's best weight in every resample of the clusters."""
    inside = np.zeros(len(values))
    inside[members] = 1
    # A cluster's row is the sum of its queries, so that drawing it draws them all.
    held = np.concatenate([values, values * inside[:, None], inside[:, None]], axis=1)
    sums = np.zeros((drawn.count, held.shape[1]))
    np.add.at(sums, drawn.clusters, held)
    width, found, places = values.shape[1], [], []
    for counts in resampled_counts(drawn.count, drawn.resamples, drawn.seed):
        total = counts @ sums
        overall = total[:, :width].argmax(axis=1)
        own = total[:, width:-1] / np.maximum(total[:, -1:], 1)
        found.append(own.max(axis=1) - own[np.arange(len(own)), overall])
        places.append(own.argmax(axis=1))
    return np.concatenate(found), np.concatenate(places)


def _held_out(values: Floats, members: Places, drawn: _Draw) -> float:
    """Return the label's lead by ten folds: weights chosen on nine, compared on the tenth."""
    order = np.random.default_rng(drawn.seed).permutation(drawn.count)
    fold = order[drawn.clusters] % _FOLDS
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

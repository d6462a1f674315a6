"""The text-weight scan of hybrid search: recall per weight of the lexical score and per label.

Know Your RAG (2024), section 5: the score of a passage is w times its lexical and 1 - w times its
dense score; recall@5 is measured for every weight w and every label. The best weight depends on the
normalisation of the scores. The paper does not report its normalisation.

The lead of a best weight is biased upwards, because the weight is chosen on the same queries. A
scan therefore also reports `held_out`, the lead with weights chosen on other queries.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, get_args

import numpy as np

from ragstone.errors import ConfigError, DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.paired import adjust
from ragstone.statistics.permutation import sign_flip_p
from ragstone.statistics.resampling import Bootstrap
from ragstone.statistics.score_scaling import Normalisation, on_scale
from ragstone.statistics.summary import Numbers, Summary, cluster_numbers, clusters_of, summarise
from ragstone.types import Ranking

Run: TypeAlias = Mapping[str, Ranking]
Labels: TypeAlias = Mapping[str, str | Sequence[str]]
"""Query id -> its label or labels; a query with several labels counts for each of them."""

WEIGHTS: Final = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)
"""The paper's weights of the lexical score."""
ALL: Final = "all"
"""The name of the curve of all queries."""
_BOOTSTRAP: Final = Bootstrap(resamples=2_000)
_FOLDS: Final = 10


@dataclass(frozen=True, slots=True)
class LabelScan:
    """The curve of one label, and the cost of using one weight for all labels."""

    label: str
    curve: tuple[Summary, ...]
    """Mean recall with its interval, one per weight."""
    best: float
    """The weight of the highest mean; the first of several."""
    best_interval: tuple[float, float] | None
    """Percentiles of the best weight over resamples of the queries."""
    regret: float
    """Mean at the label's best weight minus that at the best weight of all queries; 0 or more."""
    regret_interval: tuple[float, float] | None
    """Percentiles over resamples of the queries, with both weights chosen again in each."""
    held_out: float
    """The lead with both weights chosen on other queries; it can be negative."""
    p_value: float
    """Holm-corrected p of a sign-flip test of the two weights on the label's queries."""

    @property
    def all_equal(self) -> bool:
        """Whether every weight has the same mean; `best` is then arbitrary."""
        return len({point.mean for point in self.curve}) == 1


@dataclass(frozen=True, slots=True)
class Scan:
    """The result of a text-weight scan."""

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

    Only queries with a relevant passage count; a run may be without some of them.

    Args:
        lexical: query id -> ranking with scores.
        dense: query id -> ranking with scores.
        qrels: query id -> passage id -> relevance.
        labels: query id -> label or labels; a query without one counts for all queries only.
        clusters: query id -> conversation or document, kept whole in resamples, folds and signs.
        k: cut of the recall.
        weights: of the lexical score, between 0 and 1.
        normalisation: of the scores of each ranking, see `score_scaling.on_scale`.
        confidence: of the intervals.
        resamples: number of resamples for the intervals of regret and best weight.
        seed: of resamples and folds.

    Raises:
        ConfigError: unknown normalisation, or a weight outside 0 to 1.
        DatasetError: no query has a relevant passage.
    """
    if normalisation not in get_args(Normalisation):
        allowed = ", ".join(get_args(Normalisation))
        raise ConfigError(f"unknown normalisation {normalisation!r}; allowed: {allowed}")
    wrong = [weight for weight in weights if not 0 <= weight <= 1]
    if wrong or not weights:
        raise ConfigError(f"weights must be between 0 and 1, found {wrong[0] if wrong else 'none'}")
    values = []
    relevant = {i: {p for p, grade in grades.items() if grade > 0} for i, grades in qrels.items()}
    ids = [query_id for query_id, passages in relevant.items() if passages]
    if not ids:
        raise DatasetError("no query has a relevant passage; a weight scan needs qrels")
    for i in ids:
        found = [set(mixed(lexical.get(i), dense.get(i), w, normalisation)[:k]) for w in weights]
        values.append([len(top & relevant[i]) / len(relevant[i]) for top in found])
    bootstrap = Bootstrap(confidence, resamples, seed)
    scans = scan_values(
        np.array(values), ids, weights, labels, clusters=clusters, bootstrap=bootstrap
    )
    return Scan(k, normalisation, tuple(weights), scans[0].best, scans)


def scan_values(
    values: Floats,
    ids: Sequence[str],
    weights: Sequence[float],
    labels: Labels | None = None,
    *,
    clusters: Mapping[str, Hashable] | None = None,
    bootstrap: Bootstrap = _BOOTSTRAP,
) -> tuple[LabelScan, ...]:
    """Return the scans of measured values: that of all queries, then those of the labels.

    `values` has shape (len(ids), len(weights)): the score of each query under each weight, by any
    metric. Other arguments are those of `weight_scan`.
    """
    members = cluster_numbers(clusters_of(ids, clusters) or ids)
    measured = _Measured(values, weights, members, bootstrap)
    groups = {ALL: np.arange(len(ids))} | _places(ids, labels or {})
    first, *found = [measured.scan(label, places) for label, places in groups.items()]
    adjusted = adjust([scan.p_value for scan in found])
    return first, *(replace(s, p_value=p) for s, p in zip(found, adjusted, strict=True))


def _places(ids: Sequence[str], labels: Labels) -> dict[str, Numbers]:
    """Return label -> places of its queries, in alphabetical order."""
    found: dict[str, list[int]] = {}
    for place, query_id in enumerate(ids):
        given = labels.get(query_id, ())
        for label in dict.fromkeys((given,) if isinstance(given, str) else given):
            found.setdefault(label, []).append(place)
    return {label: np.array(places) for label, places in sorted(found.items())}


def mixed(
    lexical: Ranking | None, dense: Ranking | None, weight: float, normalisation: Normalisation
) -> list[str]:
    """Return passage ids by mixed score, best first; equal scores by passage id.

    The passages of a ranking of weight 0 are left out.

    >>> mixed(Ranking(["a", "b"], [9.0, 3.0]), Ranking(["b", "c"], [0.8, 0.7]), 0.5, "min-max")
    ['a', 'b', 'c']
    """
    parts = [(weight, lexical or Ranking()), (1 - weight, dense or Ranking())]
    ids = sorted(
        {passage_id for part, ranking in parts if part for passage_id in ranking.passage_ids}
    )
    words, vectors = (part * _scores(ranking, ids, normalisation) for part, ranking in parts)
    return [ids[place] for place in np.argsort(-(words + vectors), kind="stable")]


def _scores(ranking: Ranking, ids: list[str], normalisation: Normalisation) -> Floats:
    if not len(ranking):
        return np.zeros(len(ids))
    given, absent = on_scale(np.array(ranking.scores, np.float64), normalisation)
    held = dict(zip(ranking.passage_ids, given.tolist(), strict=True))
    return np.array([held.get(passage_id, absent) for passage_id in ids])


@dataclass(frozen=True, slots=True)
class _Measured:
    values: Floats
    """Shape (queries, weights)."""
    weights: Sequence[float]
    members: Numbers
    """The number of each query's cluster."""
    bootstrap: Bootstrap

    def scan(self, label: str, places: Numbers) -> LabelScan:
        """Return the scan of the queries at some places."""
        own, clusters = self.values[places], self.members[places].tolist()
        overall, best = int(self.values.mean(axis=0).argmax()), int(own.mean(axis=0).argmax())
        lead = own[:, best] - own[:, overall]
        several, confidence = len(set(clusters)) > 1, self.bootstrap.confidence
        regrets, chosen = self._resampled(places)
        levels = (1 - confidence) / 2, (1 + confidence) / 2
        low, high = np.quantile(chosen, levels, method="inverted_cdf").tolist()
        return LabelScan(
            label,
            tuple(summarise(column, clusters=clusters, confidence=confidence) for column in own.T),
            best=self.weights[best],
            best_interval=(low, high) if several else None,
            regret=float(lead.mean()),
            regret_interval=self.bootstrap.interval(regrets) if several else None,
            held_out=self._held_out(places),
            p_value=sign_flip_p(np.bincount(clusters, lead).astype(np.float64)),
        )

    def _resampled(self, places: Numbers) -> tuple[Floats, Floats]:
        """Return the regret and the best weight of some places in every resample."""
        inside = np.zeros((len(self.values), 1))
        inside[places] = 1
        rows = np.concatenate([self.values, self.values * inside, inside], axis=1)
        # A cluster's row is the sum over its queries.
        sums = np.zeros((int(self.members.max()) + 1, rows.shape[1]))
        np.add.at(sums, self.members, rows)
        width, regrets, chosen = self.values.shape[1], [], []
        for counts in self.bootstrap.counts(len(sums)):
            total = counts @ sums
            overall = total[:, :width].argmax(axis=1)
            own = total[:, width:-1] / np.maximum(total[:, -1:], 1)
            regrets.append(own.max(axis=1) - own[np.arange(len(own)), overall])
            chosen.append(own.argmax(axis=1))
        return np.concatenate(regrets), np.array(self.weights)[np.concatenate(chosen)]

    def _held_out(self, places: Numbers) -> float:
        """Return the lead by ten folds: weights chosen on nine, compared on the tenth."""
        generator = np.random.default_rng(self.bootstrap.seed)
        fold = generator.permutation(int(self.members.max()) + 1)[self.members] % _FOLDS
        inside = np.zeros(len(self.values), bool)
        inside[places] = True
        leads: list[float] = []
        for number in range(_FOLDS):
            train, test = fold != number, inside & (fold == number)
            if (inside & train).any():
                best = self.values[inside & train].mean(axis=0).argmax()
                overall = self.values[train].mean(axis=0).argmax()
                leads.extend(self.values[test, best] - self.values[test, overall])
        return float(np.mean(leads)) if leads else 0.0

"""Weights of labels that were drawn in one or several rounds, with known probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.summary import Numbers


def label_weights(
    labelled: NDArray[np.bool_], probability: Floats | None, rounds: Numbers | None = None
) -> Floats:
    """Return weights of the labelled items with which means are unbiased; they sum to 1.

    The labels of each round estimate the mean of all items: those of earlier rounds are known, and
    each new label counts for 1 / probability of the others. The rounds count by their labels.

    Args:
        labelled: whether people labelled each item.
        probability: of the label of each item, given the earlier rounds; NaN for the labels of a
            random sample, which come before the first round. None if all are of a random sample.
        rounds: the round of each item, from 1; one round by default.

    >>> labelled, probability = np.array([True, True, False]), np.array([0.5, 0.25, np.nan])
    >>> label_weights(labelled, probability).round(3).tolist()
    [0.333, 0.667, 0.0]
    """
    weights = np.zeros(len(labelled))
    if probability is None:
        return np.where(labelled, 1 / max(1, int(labelled.sum())), 0.0)
    of = np.ones(len(labelled), dtype=np.int64) if rounds is None else rounds
    of = np.where(np.isnan(probability), 0, of)
    earlier = np.zeros(len(labelled), dtype=np.bool_)
    for one in sorted(set(of[labelled].tolist())):
        new = labelled & (of == one)
        rest = len(labelled) - int(earlier.sum())
        each = 1 / probability[new] if one else np.full(int(new.sum()), rest / new.sum())
        total = int(earlier.sum()) + float(each.sum())
        share = float(new.sum() / labelled.sum())
        weights[new] = share * each / total
        weights[earlier] += share / total
        earlier |= new
    return weights

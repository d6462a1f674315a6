"""A share corrected by the judge's sensitivity and specificity (Rogan and Gladen 1978).

With the judge's share of yes q, its share of yes among people's yes (sensitivity) and among their
no (1 - specificity), people's share is (q - (1 - specificity)) / (sensitivity + specificity - 1).
Lang and Reiczigel (Preventive Veterinary Medicine 113, 2014) describe the interval: it contains the
uncertainty of all three shares, here by the delta method.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ragstone.statistics.corrected import CorrectedEstimate, LabelledItems, unseen_error

_PER_VALUE: Final = 5
"""Minimum number of labels of yes, and of no."""
_INFORMED: Final = 0.2
"""Minimum of sensitivity + specificity - 1; below it the division is unstable."""


def rogan_gladen(items: LabelledItems) -> CorrectedEstimate | None:
    """Return people's share of 1 over all items, by sensitivity and specificity of the judge.

    None if a value is neither 0 nor 1, if people's yes or no has fewer than five labels, if the
    judge is hardly better than chance, or if there are strata.

    >>> from ragstone.statistics.corrected import labelled_items
    >>> judge, human = np.tile([1.0, 1.0, 0.0, 0.0, 0.0], 20), np.full(100, np.nan)
    >>> human[:20] = np.tile([1.0, 1.0, 0.0, 0.0, 1.0], 4)
    >>> found = rogan_gladen(labelled_items(judge, human))
    >>> round(found.value, 3), round(found.error(), 3)
    (0.6, 0.138)
    """
    known = items.labelled
    y, f, w = items.human[known], items.judge[known], items.weights[known]
    yes, no = y == 1, y == 0
    binary = bool((yes | no).all()) and bool(((items.judge == 0) | (items.judge == 1)).all())
    if not binary or min(yes.sum(), no.sum()) < _PER_VALUE or items.strata.any():
        return None
    said = float(items.judge.mean())
    true_yes = float(np.average(f[yes], weights=w[yes]))
    false_yes = float(np.average(f[no], weights=w[no]))
    informed = true_yes - false_yes
    if informed < _INFORMED:
        return None
    share = (said - false_yes) / informed
    influence = (items.judge - said) / len(items.judge)
    influence[known] -= np.where(
        yes,
        share * (f - true_yes) * w / w[yes].sum(),
        (1 - share) * (f - false_yes) * w / w[no].sum(),
    )
    return CorrectedEstimate(
        "rogan-gladen",
        share,
        influence / informed,
        items.clusters,
        len(known),
        int(min(yes.sum(), no.sum())) - 1,
        1 / informed,
        unseen_error(y, y - f),
    )

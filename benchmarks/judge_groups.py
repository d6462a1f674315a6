"""How often `judge check` calls a group worse: if all groups are equal, and if one is.

python benchmarks/judge_groups.py

Made-up answers of three systems to conversations' turns; the judge has correlated errors. Groups:
the three systems, and four kinds of query (55, 20, 15 and 10 %).
"""

from __future__ import annotations

import sys

import numpy as np

from ragstone.statistics.agreement_by_group import GroupAgreement, agreement_by_group
from ragstone.statistics.resampling import Bootstrap

DRAWS = 100
WORSE = ("kind", "1")


def drawn(
    generator: np.random.Generator, queries: int, words: bool, error: float
) -> list[GroupAgreement]:
    """Return the agreement by group in one draw; `error` multiplies the errors on one kind."""
    size = 3 * queries
    system = np.tile(np.arange(3), queries)
    kind = np.repeat(generator.choice(4, queries, p=[0.55, 0.2, 0.15, 0.1]), 3)
    truth = np.repeat(generator.normal(size=queries), 3) * 0.7 + generator.normal(size=size)
    noise = generator.normal(size=size) + 0.5 * np.repeat(generator.normal(size=queries), 3)
    said = truth + noise * np.where(kind == 1, error, 1.0)
    people, judge = (np.round(np.clip(one, -2, 2) * 2) / 2 for one in (truth, said))
    labels = [("ny"[int(p > 0.2)], "ny"[int(j > 0.3)]) for p, j in zip(truth, said, strict=True)]
    return agreement_by_group(
        judge.tolist(),
        people.tolist(),
        {
            "system": {str(v): np.flatnonzero(system == v).tolist() for v in range(3)},
            "kind": {str(v): np.flatnonzero(kind == v).tolist() for v in range(4)},
        },
        labels=labels if words else (),
        clusters=np.repeat(np.arange(queries), 3).tolist(),
        bootstrap=Bootstrap(resamples=500, seed=int(generator.integers(1_000_000))),
    )


def main(draws: int) -> None:
    """Print a row of Markdown per size and kind of verdict."""
    print(
        "| verdicts | answers | equal groups: one is called worse "
        "| one is worse: another is called so | one is worse: it is found |"
    )
    print("|---|---|---|---|---|")
    for words in (True, False):
        for queries in (60, 160):
            counts = [0, 0, 0]
            generator = np.random.default_rng(5)
            for _ in range(draws):
                equal = [one for one in drawn(generator, queries, words, 1.0) if one.worse]
                worse = [(one.label, one.value) for one in drawn(generator, queries, words, 3.0)
                         if one.worse]  # fmt: skip
                counts[0] += bool(equal)
                counts[1] += any(one != WORSE for one in worse)
                counts[2] += WORSE in worse
            shares = " | ".join(f"{100 * count / draws:.1f} %" for count in counts)
            print(f"| {'two words' if words else 'ratings'} | {3 * queries} | {shares} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS)

"""MtRAG's stored metrics against its people: each rating, unweighted and weighted.

python benchmarks/judges_against_people.py ../shared/data/mtrag
"""

from __future__ import annotations

import sys

from ragstone.data.readers.rated_inspection import MTRAG_RATINGS
from ragstone.evaluation.human_grades import read_human_set
from ragstone.statistics.judge_quality import rater_correlation
from ragstone.statistics.metric_correlations import correlations, inverse_frequency

METRICS = ("RL_F", "RB_llm", "RB_agg", "Bert-KPrec")


def main(folder: str) -> None:
    """Print a line of Markdown a rating and weighting: Spearman, 95 % interval."""
    print("| rating | items | weights |", " | ".join(METRICS), "| people |")
    print("|---|---|---|" + "---|" * (len(METRICS) + 1))
    for rating in (*MTRAG_RATINGS, "win-rate"):
        held = read_human_set(folder, rating=rating)
        answerable = [
            i
            for i, one in enumerate(held.items)
            if one.item.query.labels["answerability"] in {"answerable", "partial"}
        ]
        models = [i for i, one in enumerate(held.items) if one.system != "reference"]
        for name, places in (("2 models, all", models), ("3 systems, answerable", answerable)):
            values = [held.items[i].value for i in places]
            ratings = [round(held.values["RB_llm"][i] or 0.0, 2) for i in places]
            kinds = {"none": None, "by rating": inverse_frequency(values)}
            if rating == "win-rate":
                kinds["by RB_llm"] = inverse_frequency(ratings)
            ceiling = rater_correlation([held.items[i].raters for i in places])
            for kind, weights in kinds.items():
                rows = correlations(
                    {m: [held.values[m][i] for i in places] for m in METRICS},
                    {rating: values},
                    weights=weights,
                    clusters=[held.items[i].cluster for i in places],
                    resamples=500,
                )
                cells = []
                for row in rows:
                    low, high = row.correlation.interval or (0.0, 0.0)
                    cells.append(f"{row.correlation.value:.2f} [{low:.2f}, {high:.2f}]")
                print(f"| {rating} | {name} | {kind} |", " | ".join(cells), f"| {ceiling:.2f} |")


if __name__ == "__main__":
    main(sys.argv[1])

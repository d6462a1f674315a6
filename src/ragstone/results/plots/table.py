"""The table of plots: name, description, required results, and the function that makes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from ragstone.errors import ConfigError, did_you_mean
from ragstone.results.charts.parts import Spec
from ragstone.results.plots import (
    boards,
    experiments,
    passages,
    people,
    queries,
    sizes,
    wrong_answers,
)
from ragstone.results.plots.request import PlotRequest

_MIXED: Final = "answers under settings with retrieved passages"
_BASE: Final = f"{_MIXED} and under none"
_LABELS: Final = "a label of the queries"


@dataclass(frozen=True)
class Plot:
    """One plot."""

    name: str
    shows: str
    needs: str
    charts: Callable[[PlotRequest], Iterator[tuple[str, Spec]]]
    reads: Literal["results", "people"] = "results"
    """Stored results, or answers that people graded."""


PLOTS: Final = {
    plot.name: plot
    for plot in (
        Plot(
            "leaderboard",
            "Means of every system under every setting",
            "any result",
            boards.leaderboard,
        ),
        Plot(
            "adaptability",
            "MIRAGE's four shares per system and setting, vulnerability split into miss and noise",
            "none, gold and a mixed setting; a metric of correct answers",
            experiments.adaptability,
        ),
        Plot(
            "causes",
            "Share of each cause among the wrong answers, per system and setting",
            "a mixed setting and a metric of correct answers; gold and none for most causes",
            wrong_answers.causes,
        ),
        Plot(
            "gains",
            "What a perfect step would gain, per system and setting; bounds are named",
            "a mixed setting, a metric of correct answers; gold, gold+retrieved(n) to measure",
            wrong_answers.gains,
        ),
        Plot(
            "retrieval-vs-answer",
            "Quality of answers against that of retrieval, per data set",
            f"a ranking metric, and {_MIXED}",
            boards.retrieval_vs_answer,
        ),
        Plot(
            "gain-by-size",
            "Gain of gold context over no context, by the size of the generator's model",
            "answers under none and gold; the sizes of the models",
            sizes.gain_by_size,
        ),
        Plot(
            "metric-vs-judge",
            "Kendall's tau of each metric with a judge, per data set",
            "a judge and another answer metric",
            boards.metric_vs_judge,
        ),
        Plot("gain-by-dataset", "Gain of retrieval per data set", _BASE, boards.gain_by_dataset),
        Plot(
            "passages",
            "Score, noise vulnerability and cost by number of passages, and where more harm",
            "several settings retrieved(k); none and gold for the vulnerability",
            passages.passages,
        ),
        Plot(
            "text-weight",
            "Fused retrieval over its text weight",
            "systems that differ only in text_weight",
            experiments.text_weight,
        ),
        Plot(
            "risk-coverage",
            "Risk against coverage, of refusals and of stated confidences",
            "the metric idk or refusal, or a stated confidence",
            experiments.risk_coverage,
        ),
        Plot("history", "A metric over the finished runs", "a finished run", experiments.history),
        Plot("mirage-3", "Queries per source data set", _LABELS, queries.by_source),
        Plot(
            "mirage-4",
            "Queries per number of relevant passages",
            "a data set with qrels",
            queries.by_relevant_passages,
        ),
        Plot("mtrag-2", "Queries per value of each dimension", _LABELS, queries.by_dimensions),
        Plot(
            "mtrag-3",
            "One metric under gold context by answerability, turn and domain",
            f"answers under gold context, and {_LABELS}",
            boards.one_metric_by_labels,
        ),
        Plot(
            "mtrag-4",
            "Spearman correlation of metrics with the grades of people, per property",
            "as source: a folder of graded answers, such as mtRAG's",
            people.metrics_vs_people,
            "people",
        ),
        Plot(
            "mtrag-9",
            "Answer metrics under gold context by type of question",
            "answers under gold context, and the label question_type",
            boards.metrics_by_question_type,
        ),
        Plot(
            "mtrag-10",
            "Answer metrics under gold context by multi-turn type",
            "answers under gold context, and the label multi_turn",
            boards.metrics_by_multi_turn,
        ),
        Plot(
            "bergen-2",
            "The same as metric-vs-judge",
            "a judge and another answer metric",
            boards.metric_vs_judge,
        ),
        Plot("bergen-3", "The same as gain-by-dataset", _BASE, boards.gain_by_dataset),
        Plot(
            "bergen-4",
            "The same as retrieval-vs-answer",
            f"a ranking metric, and {_MIXED}",
            boards.retrieval_vs_answer,
        ),
        Plot(
            "bergen-5",
            "The same as gain-by-size",
            "answers under none and gold; the sizes of the models",
            sizes.gain_by_size,
        ),
        Plot(
            "bergen-6",
            "The same as retrieval-vs-answer, with lines of no context and of gold context",
            f"a ranking metric, {_MIXED}, none and gold",
            boards.retrieval_vs_answer,
        ),
        Plot(
            "bergen-7",
            "Quality of answers against that of retrieval, per data set and generator",
            f"a ranking metric, and {_MIXED}",
            boards.retrieval_vs_answer_by_generator,
        ),
        Plot("kyr-1", "Composition of labels per data set", _LABELS, queries.composition),
        Plot(
            "kyr-2",
            "Labels obtained per label asked",
            "the labels asked_label and taxonomy",
            queries.obtained_by_asked,
        ),
        Plot(
            "kyr-3",
            "Mean critique ratings per label and data set",
            "metrics of the judge critiques, and the label taxonomy",
            boards.critiques_by_label,
        ),
        Plot(
            "kyr-4",
            "One label against another, rows sum to 1",
            "two labels of the queries (--label twice)",
            queries.confusion,
        ),
        Plot(
            "kyr-5",
            "Labels obtained per label asked or evolution",
            "the labels evolution_type (or asked_label) and taxonomy",
            queries.obtained_by_asked,
        ),
    )
}
"""Name -> plot. Those of papers have the paper's short name and the number of its figure."""

NOT_CHARTS: Final = {
    "mirage-1": "it is a drawing of examples of the four adaptability metrics",
    "mirage-2": "it is a diagram of how the data was filtered",
    "mirage-5": "it is a screenshot of the tool with which people labelled",
    "mtrag-1": "it is a part of a conversation",
    "mtrag-5": "it is the prompt that rewrites queries",
    "mtrag-6": "it is the prompt of a judge",
    "mtrag-7": "it is the prompt of a judge",
    "mtrag-8": "it is the prompt of a judge",
    "bergen-1": "it is a diagram of the library's features",
}
"""Figures of the papers that are not charts of results -> their kind."""


def find_plot(name: str) -> Plot:
    """Return the plot with a name; `ConfigError` if there is none."""
    if name in NOT_CHARTS:
        raise ConfigError(
            f"plot {name}: the figure is not a chart of results: {NOT_CHARTS[name]}; "
            "`ragstone plot --list` shows the plots",
            key="plot",
            value=name,
        )
    if name not in PLOTS:
        raise ConfigError(
            f"there is no plot {name!r}{did_you_mean(name, PLOTS)} List: ragstone plot --list",
            key="plot",
            value=name,
        )
    return PLOTS[name]


def make_charts(request: PlotRequest) -> dict[str, Spec]:
    """Return title -> chart of the plot that a request names.

    Raises `ConfigError` with the setting, metric or label to add if nothing can be drawn.
    """
    plot = find_plot(request.plot)
    found = dict(plot.charts(request))
    if not found:
        raise request.missing("the results have nothing to draw", f"it needs {plot.needs}")
    return found

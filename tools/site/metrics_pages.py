"""Reference pages of the metrics: formula, range, source, variants, traps, a computed example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args, get_type_hints

from tools.site.components_pages import UP, built_in, component_section, summary
from tools.site.page_text import anchor, code, page, table

import ragstone
from ragstone.components.metrics.base import AnswerMetric, RankingMetric
from ragstone.components.metrics.bert_score import BertScore
from ragstone.components.metrics.parse import SYNONYMS
from ragstone.core.registry import find
from ragstone.types import ContextPassage

FAMILIES: Final[Mapping[str, str]] = {
    "rankings": "Metrics of rankings",
    "answers": "Metrics of answers",
    "models": "Metrics of answers that need a package or a model",
    "repeats": "Metrics of repeated answers",
}
QRELS: Final = {"q1": {"p1": 2, "p2": 1, "p3": 0, "p9": 1}}
RUN: Final = {"q1": {"p3": 4.0, "p1": 3.0, "p7": 2.0, "p2": 1.0}}
CUTOFF: Final = 3
ANSWER: Final = "The capital of Peru is Lima."
GOLD: Final = "Lima"
CONTEXT: Final = "Lima is the capital of Peru."
OPTIONS: Final[Mapping[str, str]] = {"label": "label(Lima,Cusco)"}
"""Metric -> its spelling in the example, if it needs options."""


def metric_pages() -> dict[str, str]:
    """Return a page per family of metrics, and the index."""
    entries: dict[str, list[dict[str, Any]]] = {family: [] for family in FAMILIES}
    for entry in built_in("metrics"):
        entries[family_of(entry["name"])].append(entry)
    found = {
        f"reference/metrics/{family}.md": page(
            f"# {heading}",
            f"[Metrics]({UP}metrics.md) explains words, variants and judgements; "
            f"[statistics]({UP}statistics.md) explains means and intervals.",
            _example_text(family),
            *[component_section(entry, *_facts(entry)) for entry in entries[family]],
        )
        for family, heading in FAMILIES.items()
    }
    rows = [
        (f"[`{entry['name']}`]({family}.md#{anchor(entry['name'])})", summary(entry))
        for family, of in entries.items()
        for entry in of
    ]
    spellings = [(code(name), code(target)) for name, target in SYNONYMS.items()]
    found["reference/metrics/index.md"] = page(
        "# All metrics",
        f"[Metrics]({UP}metrics.md) is the guide. Judges give metrics too: "
        "[judges](../components/judges.md).",
        table(("metric", "value"), rows),
        "## Other spellings",
        table(("spelling", "metric"), spellings),
    )
    return found


def family_of(name: str) -> str:
    """Return the family of a metric.

    >>> family_of("nDCG@k"), family_of("EM"), family_of("BEM"), family_of("pass@k")
    ('rankings', 'answers', 'models', 'repeats')
    """
    kind = find("metrics", name, where="the reference")
    if issubclass(kind, RankingMetric):
        return "rankings"
    if not issubclass(kind, AnswerMetric):
        return "repeats"
    return "models" if kind.requires_extra else "answers"


def _facts(entry: Mapping[str, Any]) -> list[str]:
    """Return range, direction, needs and variants of a metric, and its example."""
    kind: Any = find("metrics", entry["name"], where="the reference")
    bounds = f"from {kind.range[0]:g} to {kind.range[1]:g}" if kind.range else "no upper bound"
    if kind.range and not kind.graded:
        bounds = "0 or 1"
    if issubclass(kind, BertScore):
        bounds = "at most 1; rescaled values can be below 0"
    better = {"higher": "higher is better", "lower": "lower is better"}
    rows = [
        ("range", bounds),
        ("direction", better.get(kind.direction, "neither end is better")),
        ("cutoff", {"none": "none", "required": "`@k`"}.get(kind.cutoff, "`@k`, optional")),
        ("reads", ", ".join(code(name) for name in sorted(kind.requires)) or "the answer"),
        ("variants", _variants(kind)),
        ("example", _example(entry["name"])),
    ]
    return [table(("", ""), [row for row in rows if row[1]])]


def _variants(kind: Any) -> str:
    named = get_args(get_type_hints(kind).get("variant"))
    found = [code(str(name)) for name in named]
    found += [f"{code(alias)} means {code(name)}" for alias, name in kind.synonyms.items()]
    return ", ".join(found)


def _example_text(family: str) -> str:
    """Return the data of the examples of a family."""
    if family == "rankings":
        qrels, ranks = QRELS["q1"], ", ".join(RUN["q1"])
        grades = ", ".join(f"{name} {grade}" for name, grade in qrels.items())
        return f"The examples are of the ranking {ranks} with the grades {grades}."
    if family == "answers":
        return (
            f'The examples are of the answer "{ANSWER}" with the gold answer "{GOLD}" and the '
            f'context "{CONTEXT}".'
        )
    return ""


def _example(name: str) -> str:
    """Return the metric's name in full and its value on the example, or why it has none."""
    family = family_of(name)
    written = OPTIONS.get(name, name.replace("@k", f"@{CUTOFF}"))
    kind: Any = find("metrics", name, where="the reference")
    if family == "repeats":
        return f"{code(written)}: needs repeated answers"
    if family == "models":
        return f"{code(written)}: needs the extra {code(kind.requires_extra)}"
    reason = NOT_SHOWN.get(name)
    if reason:
        return f"{code(written)}: {reason}"
    return f"{code(written)} is {_value(family, written):.4g}"


NOT_SHOWN: Final[Mapping[str, str]] = {
    "same-language@k": "languages are known in an experiment only",
    "alpha-nDCG@k": "needs subtopics",
    "checks": "needs a query with checks",
    "attack-success": "needs a context with an attack",
    "foreign-passages": "needs a corpus with collections",
    "assigned-nuggets": "needs a row with assignments",
    "answerability": "needs a query with the label `answerability`",
    "numeric": "needs a gold answer with a number",
}
"""Metric -> why the example of its family gives it no value."""


def _value(family: str, written: str) -> float:
    if family == "rankings":
        found = ragstone.evaluate_run(QRELS, RUN, [written])
    else:
        passage = ContextPassage("p1", CONTEXT, "gold")
        context = ragstone.Context("q1", "gold", (passage,))
        found = ragstone.evaluate_answers(
            {"q1": ANSWER}, {"q1": [GOLD]}, [written], contexts={"q1": context}
        )
    mean = found[written].mean
    if mean is None:
        raise ValueError(f"{written} has no value on the example")
    return mean

"""Your own metrics: a class with `score` becomes a metric like the built-in ones.

`score` takes any of `answer`, `gold_answers`, `query` and `context` and returns the value of an
answer; or it takes `ranking` and `qrels` (passage id -> grade) and returns the value of a ranking.
It returns None if the metric does not apply. The class declares its `direction`: "higher", "lower"
or "neutral". A metric over arrays derives from `AnswerMetric` or `RankingMetric` instead.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.components.metrics.base import (
    UNKNOWN_CONTEXT,
    AnswerMetric,
    Metric,
    RankingMetric,
    Scored,
)
from ragstone.core.component_error import component_error
from ragstone.errors import ConfigError, RagstoneError, did_you_mean
from ragstone.types import Context, ContextPassage, Ranking

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.protocols import Services

DIRECTIONS: Final = ("higher", "lower", "neutral")
_ANSWER: Final[Mapping[str, str]] = {
    "answer": "",
    "gold_answers": "gold_answers",
    "query": "",
    "context": "context",
}
"""Parameters of `score` for answers -> the data that they require."""
_RANKING: Final[Mapping[str, str]] = {"ranking": "", "qrels": "qrels"}
"""The same for rankings."""


class OwnMetric(Metric):
    """The protocol of metrics: `complete` makes a metric of a class with `score`."""

    @classmethod
    def complete(cls, part: type) -> type:
        """Return `part` itself if it is a metric, else the metric made of its `score`.

        Raises:
            ConfigError: `score` or `direction` is missing, or `score` has an unknown parameter.
        """
        return part if issubclass(part, Metric) else _complete(part)


def _complete(part: type) -> type[Metric]:
    name = part.__name__
    score = getattr(part, "score", None)
    if not callable(score):
        raise ConfigError(
            f"{name!r} has no method score(answer, gold_answers) or score(ranking, qrels)",
            value=name,
        )
    given = tuple(inspect.signature(score).parameters)[1:]
    known = _RANKING if set(given) & set(_RANKING) else _ANSWER
    for parameter in given:
        if parameter not in known:
            raise ConfigError(
                f"{name}.score has a parameter {parameter!r} that is never given"
                f"{did_you_mean(parameter, [*_ANSWER, *_RANKING])}",
                key=parameter,
            )
    if getattr(part, "direction", None) not in DIRECTIONS:
        raise ConfigError(
            f'{name!r} has no direction; write, for example: direction = "higher". Known: '
            f"{', '.join(DIRECTIONS)}",
            key="direction",
        )
    return _metric(part, given, known)


def _metric(part: type, given: tuple[str, ...], known: Mapping[str, str]) -> type[Metric]:
    ranks = known is _RANKING
    rows = methodcaller("pairs") if ranks else _answers
    has_cutoff = "k" in {field.name for field in dataclasses.fields(part)}
    declared = {
        "name": part.__name__,
        "requires": frozenset(filter(None, map(known.__getitem__, given))),
        "cutoff": "optional" if ranks and has_cutoff else "none",
        "range": None,
    }
    added = {name: value for name, value in declared.items() if not hasattr(part, name)}
    same = {name: getattr(part, name) for name in ("__module__", "__qualname__", "__doc__")}
    members: dict[str, Any] = {
        "scored": lambda metric, batch: _scored(metric, rows(batch), given),
        "values": lambda metric, batch: metric.scored(batch).values,
        **({} if hasattr(part, "check") else {"check": _probe(given)}),
    }
    base = RankingMetric if ranks else AnswerMetric
    return type(part.__name__, (part, base), {**added, **members, **same})


def _answers(pairs: AnswerBatch) -> Iterator[Mapping[str, Any]]:
    """Yield the arguments of `score` for each answer."""
    for row in zip(pairs.answers, pairs.gold, pairs.query_texts, pairs.contexts, strict=True):
        yield dict(zip(_ANSWER, row, strict=True))


def _scored(metric: Any, rows: Iterable[Mapping[str, Any]], given: tuple[str, ...]) -> Scored:
    values, inapplicable, failed = [], {}, {}
    for place, row in enumerate(rows):
        if "context" in given and row["context"] is None:
            values.append(0.0)
            inapplicable[place] = UNKNOWN_CONTEXT
            continue
        try:
            value = metric.score(**{name: row[name] for name in given})
            if isinstance(value, np.generic):
                value = value.item()
        except RagstoneError:
            raise
        except Exception as error:  # noqa: BLE001 - any error of the user's code is an outcome
            value, failed[place] = None, str(component_error(metric, error))
        else:
            value = value.item() if isinstance(value, np.generic) else value
            if value is None:
                inapplicable[place] = f"{metric.name} does not apply"
            elif problem := _problem(value):
                failed[place] = f"{metric.name} returned {problem}"
        values.append(0.0 if value is None or place in failed else float(value))
    return Scored(np.array(values, float), inapplicable, failed)


def _problem(value: Any) -> str:
    """Return why a value is not a score; "" if it is one."""
    if not isinstance(value, int | float):
        return f"{value!r}; a score is a number, or None if the metric does not apply"
    return "" if math.isfinite(value) else f"{value}; a score is a finite number"


def _probe(given: tuple[str, ...]) -> Callable[..., None]:
    """Return the check that scores one made-up item, so that errors show before a run."""
    row: dict[str, Any] = {
        "answer": "the river Tagus",
        "gold_answers": ("Tagus",),
        "query": "Which river flows through Lisbon?",
        "context": Context("probe", "gold", (ContextPassage("p1", "The Tagus.", "gold"),)),
        "ranking": Ranking(["p1", "p2"], [2.0, 1.0]),
        "qrels": {"p1": 1},
    }

    def check(metric: Any, services: Services) -> None:  # noqa: ARG001 - part of the protocol
        values = _scored(metric, [row], given)
        for reason in values.failed.values():
            raise ConfigError(f"metric {metric.name!r}: {reason}", key=metric.name)
        low, high = metric.range or (-math.inf, math.inf)
        value = float(values.values[0])
        if not values.inapplicable and not low <= value <= high:
            raise ConfigError(
                f"metric {metric.name!r} returned {value}, which is outside of its range "
                f"{metric.range}",
                key=metric.name,
                value=value,
            )

    return check

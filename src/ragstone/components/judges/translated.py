"""translated: metrics of answers, computed on a model's translation of each answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from ragstone.calls.types import Reply
from ragstone.components.judges.verdict import Cost, Item, Verdict, VerdictJudge
from ragstone.components.metrics.base import GOLD_ANSWERS, AnswerMetric
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.score import score_answers
from ragstone.components.translation_checks import SourceText, source_language
from ragstone.components.translator import SYSTEM, USER, Translator
from ragstone.core.component import KEY_BY_CONTENT, NOT_IN_CACHE_KEY, Outcome
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.schemas import table_to_scores
from ragstone.core.spec import ComponentSpec
from ragstone.errors import ConfigError
from ragstone.protocols import Services
from ragstone.text.language import language_of, query_language
from ragstone.text.language_names import LANGUAGE, LANGUAGE_NAMES, checked_code
from ragstone.types import Prediction, Query, Score

GOLD: Final = "gold"
UNKNOWN: Final = (
    "not translated: the language of the query is unknown; give it the label language, or give to"
)


@dataclass(frozen=True)
class TranslatedAnswers(Translator, VerdictJudge):
    """Metrics of a model's translation of each answer, such as `Match(translated=en)`.

    Answers are translated into the language of the gold answers, which is that of the query, or
    into one language. An answer that is already in it is scored as it is, without a call; one that
    is too short to tell is translated. An answer whose translation failed has no score.

    Args:
        metric: a metric that compares an answer with gold answers, from 0 to 1; or a list, such as
            `[Match, char3-recall]`.
        to: `gold`, the language of each query, or a code or an English name, such as `en`.
        model: the generator to call, such as `local` or `{name: chat, model: ...}`.
        max_tokens: maximum length of a translated answer; a truncated one does not count.
        system: your own system template; {language} is in this one or in the other.
        user: your own user template, with {text}; {source} is the language of the answer.
    """

    metric: ComponentSpec | list[ComponentSpec] = field(default="Match", metadata=KEY_BY_CONTENT)
    to: str = field(default=GOLD, metadata=KEY_BY_CONTENT)
    model: ComponentSpec = field(default="local", metadata=NOT_IN_CACHE_KEY)
    max_tokens: int = 1000
    system: str = SYSTEM
    user: str = USER

    name = "translated"
    computed_with = ("ragstone.components.metrics.score:score_answers",)

    def __post_init__(self) -> None:
        """Check the language and the metrics."""
        _ = self.target
        for metric in self.scored_by:
            if not _compares(metric):
                raise ConfigError(
                    f"metric: {metric} does not compare answers with gold answers from 0 to 1, as "
                    "Match, F1 and char3-recall do",
                    key="metric",
                    value=str(metric),
                )
        super().__post_init__()

    @cached_property
    def scored_by(self) -> tuple[Any, ...]:
        """The metrics that score the translations."""
        written = self.metric if isinstance(self.metric, list) else [self.metric]
        if not written:
            raise ConfigError("metric is an empty list; name one, such as Match", key="metric")
        return tuple({str(metric): metric for metric in map(parse_metric, written)}.values())

    @cached_property
    def target(self) -> str:
        """The code of the target language, or `gold`."""
        return self.to if self.to == GOLD else checked_code(self.to)

    @property
    def key_values(self) -> Mapping[str, Any]:
        """The canonical names of the metrics, and the code of the language."""
        return {"metric": list(map(str, self.scored_by)), "to": self.target}

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics with the target language."""
        option = f"translated={self.target}"
        return tuple(_named(str(metric), option) for metric in self.scored_by)

    def __str__(self) -> str:
        """Return the name of the first metric."""
        return self.metrics[0]

    @property
    def graded(self) -> bool:
        """Whether the first metric has other values than 0 and 1."""
        return bool(self.scored_by[0].graded)

    @property
    def model_names(self) -> tuple[str, ...]:
        """The name of the model."""
        return (self.backend.endpoint.model,)

    @property
    def content_revision(self) -> Any:
        """The model with its sampling, and the metrics."""
        return {**super().content_revision, "metrics": [cache_key_parts(m) for m in self.scored_by]}

    def check(self, services: Services) -> None:
        """Raise if the model or a package of a metric is unavailable."""
        super().check(services)
        for metric in self.scored_by:
            metric.check(services)

    def verdicts(self, items: Sequence[Item], services: Services) -> list[Verdict]:
        """Return one verdict per item, in order."""
        targets = [self._target(item.query) for item in items]
        wanted = [_wanted(*pair) for pair in zip(items, targets, strict=True)]
        found = list(self.with_replies(wanted, services, title="translating answers"))
        problems = [
            _problem(item, target, outcome)
            for item, target, (outcome, _) in zip(items, targets, found, strict=True)
        ]
        scores = self._scores(
            [
                (_in_language(item.query, target), Prediction(item.item_id, outcome.value))
                for item, target, (outcome, _), problem in zip(
                    items, targets, found, problems, strict=True
                )
                if not problem
            ]
        )
        return [
            replace(
                Verdict.failed(item, problem)
                if problem
                else self._scored(item, text, next(scores)),
                asked=text.needs_call,
                cost=_cost(reply),
                retry=outcome.retry,
                read_at_once=not outcome.reason,
                unreadable=bool(outcome.reason) and not outcome.retry,
            )
            for item, text, (outcome, reply), problem in zip(
                items, wanted, found, problems, strict=True
            )
        ]

    def _target(self, query: Query) -> str:
        if self.target != GOLD:
            return self.target
        code = query_language(query.text, query.labels)
        code = code or language_of(" ".join(query.gold_answers))
        return code if code in LANGUAGE_NAMES else ""

    def _scores(self, answered: Sequence[tuple[Query, Prediction]]) -> Iterator[list[Score]]:
        """Yield the scores of each translation, one per metric."""
        queries, predictions = [query for query, _ in answered], [one for _, one in answered]
        rows = table_to_scores(score_answers(self.scored_by, queries, predictions))
        return (rows[place :: len(queries)] for place in range(len(queries)))

    def _scored(self, item: Item, text: SourceText, scores: Sequence[Score]) -> Verdict:
        """Return the verdict with the values of all metrics."""
        first = scores[0]
        named = zip(self.metrics, scores, strict=True)
        parts = {name: score.value for name, score in named if score.value is not None}
        status = "scored" if parts else first.status
        reason = next((score.reason for score in scores if score.reason), "")
        return Verdict(item.item_id, first.value, parts=parts, status=status, reason=reason)


def _compares(metric: Any) -> bool:
    """Return whether a metric compares an answer with its gold answers, from 0 to 1."""
    compares = isinstance(metric, AnswerMetric) and metric.requires == GOLD_ANSWERS
    return compares and (metric.direction, metric.range) == ("higher", (0.0, 1.0))


def _wanted(item: Item, target: str) -> SourceText:
    """Return the answer to translate; an empty text for an item that cannot be scored."""
    answer = (item.answer or "") if target else ""
    return SourceText(answer, target, source_language(answer))


def _problem(item: Item, target: str, outcome: Outcome[str]) -> str:
    """Return why the translation of an item's answer cannot be scored, or ""."""
    if item.answer is None:
        return f"no answer to translate: {item.problem or 'the system failed'}"
    return outcome.reason if target else UNKNOWN


def _in_language(query: Query, target: str) -> Query:
    """Return a query with the label of a language, by which metrics cut words."""
    return replace(query, labels={**query.labels, LANGUAGE: target})


def _cost(reply: Reply | None) -> Cost:
    if reply is None:
        return Cost()
    return Cost(1, reply.tokens_in or 0, reply.tokens_out or 0, reply.seconds or 0.0)


def _named(metric: str, option: str) -> str:
    """Return the name of a metric with a further option.

    >>> _named("Match", "translated=en"), _named("F1(variant=squad)", "translated=en")
    ('Match(translated=en)', 'F1(variant=squad,translated=en)')
    """
    return f"{metric[:-1]},{option})" if metric.endswith(")") else f"{metric}({option})"

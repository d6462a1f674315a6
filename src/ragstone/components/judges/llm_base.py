"""The base of judges by language models: prompts, items without a call, pooled replies."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias

from ragstone.components.judges.judge_calls import JudgeCall, JudgeReply
from ragstone.components.judges.prompted import LINE, PromptedJudge
from ragstone.components.judges.verdict import VERDICTS_MISSING, Cost, Item, Verdict
from ragstone.components.judges.verdict_schemas import VerdictSchema
from ragstone.components.llm import LlmBackend, resolve_llm
from ragstone.components.metrics.refusal import refusal
from ragstone.components.prompt_languages import note_on_languages, reason_of_default
from ragstone.core.component import KEY_BY_CONTENT, NOT_IN_CACHE_KEY
from ragstone.core.prompts import show_history, show_passages
from ragstone.core.spec import ComponentSpec
from ragstone.core.step_notes import add_note
from ragstone.protocols import Services
from ragstone.text.language import query_language
from ragstone.text.language_names import base_code, stated_language
from ragstone.types import Score

Pooling: TypeAlias = Literal["majority", "mean"]
Refusals: TypeAlias = Literal["judge", "settle", "unscored"]

_HALF: Final = 0.5

TURN: Final = {"history": "earlier turns", "query": "question"}
"""Titles of a turn's variables in a user template."""


def user_template(task: str, titles: Mapping[str, str]) -> str:
    r"""Return a user template: a task, then each variable below its title, between fence lines.

    >>> user_template("Grade the answer.", {"answer": "the answer"})
    'Grade the answer.\n\n============ the answer\n{answer}\n============ end of the material'
    """
    material = "\n".join(f"{LINE} {title}\n{{{name}}}" for name, title in titles.items())
    return f"{task}\n\n{material}\n{LINE} end of the material"


@dataclass(frozen=True)
class ModelJudge(PromptedJudge):
    """A judge by one or several language models.

    Args:
        model: the generator to call, such as `local` or `{name: chat, model: ...}`; or a list.
            The verdicts of several are combined: the median of ratings, the majority of choices.
        repeats: number of replies per model; 2 or more need a temperature in `model`.
        explain: whether the model gives its reason before the verdict.
        structured: whether a JSON schema is enforced; if None, it is for servers that can.
        max_tokens: maximum length of a reply; a truncated one is requested once more with four
            times the length.
        language: language of the model's reasons ("German"); the prompts do not change.
        system: your own system template in place of the prompt's.
        user: your own user template in place of the prompt's; its variables are those of the
            judge's.
        refusals: treatment of an "I don't know": `judge` calls the model; `settle` gives 1 if the
            query cannot be answered and 0 if it can; `unscored` leaves it out.
        least_parse_rate: minimum share of readable replies among the first twenty; below it, the
            run stops.
        prompt: name of the prompt: the judge's own, a shipped translation such as `idk.de`, or
            `prompts/NAME.yaml` beside the experiment file (docs/prompts.md). Any other than the
            judge's own is part of the names of the metrics. `NAME.{language}` judges each item by
            the prompt in the language of its query.
    """

    model: ComponentSpec | list[ComponentSpec] = field(default="local", metadata=NOT_IN_CACHE_KEY)
    repeats: int = 1
    explain: bool = True
    structured: bool | None = None
    max_tokens: int = 300
    language: str = ""
    system: str = ""
    user: str = ""
    refusals: Refusals = "judge"
    least_parse_rate: float = field(default=0.5, metadata=NOT_IN_CACHE_KEY)
    prompt: str = field(default="", metadata=KEY_BY_CONTENT)

    schema: ClassVar[VerdictSchema[Any]]
    needs_model = True
    sizes = ("repeats", "max_tokens")
    default_user: ClassVar[str]
    variables: ClassVar[tuple[str, ...]] = ()
    """Variables that your own template may use; those of `default_user` if empty."""
    needs: ClassVar[frozenset[str]] = frozenset({"answer"})
    """Names among "answer", "gold" and "passages": no call is made without them."""
    empty_value: ClassVar[float | None] = None
    """Value of an empty answer, without a call; None if such an answer is not applicable."""
    part_metrics: ClassVar[tuple[str, ...]] = ()
    """Metrics besides the judge's own: the parts of its verdicts."""
    calls_per_item: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the fields, and resolve the models while the experiment file's folder is known."""
        super().__post_init__()
        _ = self.backends, self.verdict_prompt, self.translated
        self._check_prompt()

    @cached_property
    def backends(self) -> list[LlmBackend]:
        """The models, each with its own sampling."""
        models = self.model if isinstance(self.model, list) else [self.model]
        return [resolve_llm(written, where=f"judge {self.name!r}") for written in models]

    @cached_property
    def translated(self) -> Mapping[str, Self]:
        """Language -> the judge with the prompt in it; {} if one prompt is for all languages."""
        found = self.found_prompt.translations
        return {language: replace(self, prompt=one.name) for language, one in found.items()}

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(backend.endpoint.model for backend in self.backends)

    def __str__(self) -> str:
        """Return the metric's name, with that of a prompt other than the judge's own."""
        return self.named(self.own_name)

    @property
    def own_name(self) -> str:
        """The metric's name with the judge's own prompt."""
        return self.name

    @property
    def pooling(self) -> Pooling:
        """How verdicts of several replies are combined."""
        return "majority"

    @property
    def own_metrics(self) -> tuple[str, ...]:
        """The judge's metric and those of its parts, with the judge's own prompt."""
        return (self.own_name, *self.part_metrics)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The judge's metric and those of its parts."""
        return tuple(map(self.named, self.own_metrics))

    def named(self, metric: str) -> str:
        """Return the name of a metric: `equivalence(prompt=strict)` if the prompt is `strict`."""
        if self.prompt in {"", self.name}:
            return metric
        head, is_listed, last = metric.rpartition(")")
        shown = f"prompt={self.prompt})"
        return f"{head}, {shown}" if is_listed and not last else f"{metric}({shown}"

    def scored(self, verdict: Verdict) -> tuple[Score, ...]:
        """Return one score per metric of a verdict, whose parts have the judge's own names."""
        values = {self.named(name): value for name, value in verdict.parts.items()}
        return super().scored(replace(verdict, parts=values))

    @property
    def content_revision(self) -> Any:
        """The models and their sampling."""
        return [backend.identity for backend in self.backends]

    def check(self, services: Services) -> None:
        """Raise if a model is unavailable."""
        for backend in self.backends:
            backend.generator.check(services)

    def data_notes(self, dataset: Any) -> Iterable[str]:
        """Return a note on the languages of a data set that the prompt has no translation into."""
        if not self.translated:
            return ()
        stated = (stated_language(query.labels) for query in dataset.queries)
        return note_on_languages(self.prompt, self._languages, stated)

    def cost(self, n_queries: int, n_passages: int) -> int:
        """Return the calls of all repeats and models; repetitions of calls are not counted."""
        return n_queries * self.calls_per_item * self.repeats * len(self.backends)

    # A judge overrides some of these methods.

    def values(self, item: Item) -> dict[str, str]:
        """Return the values of the templates' variables."""
        return {
            "query": item.query.text,
            "history": show_history(item.query.history) or "(nothing)",
            "gold": _listed(item.query.gold_answers),
            "answer": item.answer or "",
            "passages": show_passages(item.task.context.passages),
        }

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return the calls for an item: one, with the judge's schema."""
        return [self.judge_call(self.schema, self.values(item), _material(item))]

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return the verdict from the values of an item's calls."""
        raise NotImplementedError

    def verdict_of(self, item: Item, replies: Sequence[JudgeReply[Any]]) -> Verdict:
        """Return the verdict from the replies to an item's calls; failed if one has no value."""
        for reply in replies:
            if reply.value is None:
                return Verdict.failed(item, reply.reason)
        return self.verdict(item, [reply.value for reply in replies])

    def without_call(self, item: Item) -> Verdict | None:
        """Return the verdict on an item that needs no call; None if the model decides."""
        # A failed answer counts only where an answer would count.
        if "gold" in self.needs and not any(g.strip() for g in item.query.gold_answers):
            return Verdict.settled(item, "the query has no gold answer")
        if "passages" in self.needs and not any(p.strip() for p in item.passages):
            return Verdict.settled(item, "no context was shown")
        if "answer" in self.needs and item.answer is None:
            return Verdict.failed(
                item, f"no answer to judge: {item.problem or 'the system failed'}"
            )
        if "answer" in self.needs and not (item.answer or "").strip():
            return Verdict.settled(item, "the answer is empty", self.empty_value)
        if "answer" in self.needs and self.refusals != "judge" and refusal(item.answer or ""):
            return self._refused(item)
        return None

    # All judges share these methods.

    def judge_call(
        self, schema: VerdictSchema[Any], values: Mapping[str, str], material: tuple[str, ...]
    ) -> JudgeCall[Any]:
        """Return a call with the judge's templates."""
        return JudgeCall(self.messages(self.verdict_prompt, schema, values), schema, material)

    def verdicts(self, items: Sequence[Item], services: Services) -> list[Verdict]:
        """Return one verdict per item, in order.

        Raises:
            CallError: no call can succeed, or a model does not follow the schema.
        """
        settled = [self.without_call(item) for item in items]
        open_items = [item for item, known in zip(items, settled, strict=True) if known is None]
        chosen = [self._in_language(item) for item in open_items]
        per_model = [_asked(chosen, open_items, backend, services) for backend in self.backends]
        found = iter(
            combine([verdict for model in per_model for verdict in model[place]], self.pooling)
            for place in range(len(open_items))
        )
        return [known or next(found) for known in settled]

    def ask_model(
        self, items: Sequence[Item], backend: LlmBackend, services: Services
    ) -> list[list[Verdict]]:
        """Return, per item, one verdict per repeat of one model."""
        calls = [self.calls_for(item) for item in items]
        flat = [
            replace(call, sample=repeat)
            for item_calls in calls
            for repeat in range(self.repeats)
            for call in item_calls
        ]
        replies = iter(self.make_calls(flat, backend, services))
        return [
            [
                with_replies(self.verdict_of(item, own), own)
                for own in ([next(replies) for _ in item_calls] for _ in range(self.repeats))
            ]
            for item, item_calls in zip(items, calls, strict=True)
        ]

    def _in_language(self, item: Item) -> ModelJudge:
        """Return the judge with the prompt in an item's language, or with the default one."""
        if not self.translated:
            return self
        known, query = self._languages, item.query
        language = query_language(query.text, query.labels, known)
        if why := reason_of_default(language, known):
            add_note(f"items judged {why}")
        return self.translated.get(language, self)

    @property
    def _languages(self) -> tuple[str, ...]:
        """The languages of the prompt, that of the default first."""
        return (base_code(self.found_prompt.file.language), *self.translated)

    def _refused(self, item: Item) -> Verdict:
        if self.refusals == "unscored":
            return Verdict.settled(item, "the answer is a refusal")
        label = str(item.query.labels.get("answerability", "")).upper()
        value = float(label == "UNANSWERABLE")
        found = Verdict.settled(item, "the answer is a refusal, settled without a call", value)
        return replace(found, label="refusal")


def _asked(
    judges: Sequence[ModelJudge], items: Sequence[Item], backend: LlmBackend, services: Services
) -> list[list[Verdict]]:
    """Return, per item, one verdict per repeat of one model, each item from its own judge."""
    places: dict[str, list[int]] = {}
    for place, judge in enumerate(judges):
        places.setdefault(judge.prompt, []).append(place)
    found: dict[int, list[Verdict]] = {}
    for own in places.values():
        judge = judges[own[0]]
        asked = judge.ask_model([items[place] for place in own], backend, services)
        found |= zip(own, asked, strict=True)
    return [found[place] for place in range(len(items))]


def combine(verdicts: Sequence[Verdict], pooling: Pooling = "majority") -> Verdict:
    """Return one verdict from several on an item: the majority of labels, the median of values.

    With the pooling "mean", values and parts are means, and the label is that of a verdict on the
    mean's side of one half. A tie between labels is unscored, with the count of each. Verdicts that
    are missing are counted in the reason.
    """
    if len(verdicts) == 1:
        return verdicts[0]
    shared: dict[str, Any] = {
        "values": tuple(verdict.value for verdict in verdicts),
        "read_at_once": all(verdict.read_at_once for verdict in verdicts),
        "cost": sum((verdict.cost for verdict in verdicts), Cost()),
        "retry": any(verdict.retry for verdict in verdicts),
    }
    scored = [verdict for verdict in verdicts if verdict.status == "scored"]
    if not scored:
        return replace(verdicts[0], **shared)
    found = _pooled(scored, pooling)
    missing = [verdict for verdict in verdicts if verdict.status == "failed"]
    if missing:
        counted = f"{len(missing)} of {len(verdicts)} {VERDICTS_MISSING}: {missing[0].reason}"
        found = replace(found, reason="; ".join(filter(None, (found.reason, counted))))
    return replace(found, **shared)


def _pooled(scored: Sequence[Verdict], pooling: Pooling) -> Verdict:
    """Return one verdict from those that are scored."""
    values = [verdict.value for verdict in scored if verdict.value is not None]
    if pooling == "mean":
        mean = statistics.fmean(values)
        same_side = (v for v in scored if ((v.value or 0.0) >= _HALF) == (mean >= _HALF))
        label = next(same_side, scored[0]).label
        parts = _parts(scored, statistics.fmean)
        return replace(scored[0], value=mean, label=label, parts=parts)
    if any(verdict.label for verdict in scored):
        counts = Counter(verdict.label for verdict in scored).most_common()
        if len(counts) > 1 and counts[0][1] == counts[1][1]:
            listed = ", ".join(f"{label} {count}" for label, count in sorted(counts))
            reason = f"the verdicts disagree: {listed}"
            return Verdict(scored[0].item_id, status="failed", reason=reason)
        return next(v for v in scored if v.label == counts[0][0])
    parts = _parts(scored, statistics.median)
    return replace(scored[0], value=statistics.median(values) if values else None, parts=parts)


def _parts(
    scored: Sequence[Verdict], average: Callable[[Sequence[float]], float]
) -> dict[str, float]:
    """Return the average of each part that the first verdict has."""
    return {
        name: average([v.parts[name] for v in scored if name in v.parts])
        for name in scored[0].parts
    }


def with_replies(verdict: Verdict, replies: Sequence[JudgeReply[Any]]) -> Verdict:
    """Return a verdict with the cost of its replies, and whether the next run repeats a call."""
    return replace(
        verdict,
        values=(verdict.value,),
        cost=sum((reply.cost for reply in replies), Cost()),
        read_at_once=all(reply.read_at_once for reply in replies),
        unreadable=any(reply.is_unreadable for reply in replies),
        retry=any(reply.status == "failed" or reply.is_unreadable for reply in replies),
    )


def _material(item: Item) -> tuple[str, ...]:
    return tuple(text for text in (item.answer or "", item.other, *item.passages) if text)


def _listed(answers: Sequence[str]) -> str:
    return "\n".join(f"- {answer}" for answer in answers) if len(answers) > 1 else "".join(answers)

"""Bases of generators: one call per query, to any system or to a chat model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, Self

from ragstone.calls.estimates import Estimate
from ragstone.calls.types import Endpoint, Failure, Reply, Request, Sampling
from ragstone.components.generators.context_window import fit
from ragstone.components.generators.prompt_choice import PromptChoice
from ragstone.core.component import KEY_BY_CONTENT, SET_BY_A_RUN, Outcome
from ragstone.core.fingerprint import fingerprint
from ragstone.core.prompt_files import (
    DEFAULT_PROMPT,
    NamedPrompt,
    PromptFile,
    find_prompt,
)
from ragstone.core.prompt_translations import answer_language_of
from ragstone.core.prompts import RagPrompts
from ragstone.core.step_notes import add_note
from ragstone.errors import ConfigError
from ragstone.protocols import Generator, Services
from ragstone.text.language_names import base_code, stated_language
from ragstone.text.thinking import without_thinking
from ragstone.types import Prediction, Query, Reported, Task

ANY_LANGUAGE: Final = "any"


@dataclass(frozen=True, kw_only=True)
class EndpointGenerator(Generator):
    """A generator whose answers are replies of one endpoint, a model or a system of your own.

    Args:
        release: version of the system, declared by you. Replies of one release are kept from run
            to run; another release has replies of its own.
        run: the run that the replies belong to, set by an experiment.
    """

    release: str = ""
    run: str = field(default="", metadata=SET_BY_A_RUN)

    needs_model = True

    @property
    def endpoint(self) -> Endpoint:
        """The model or system that answers, and its address."""
        raise NotImplementedError

    @property
    def declared_release(self) -> str:
        """The version that the user declared, or ""."""
        return self.release

    def declared(self, **options: Any) -> Self:
        """Return the generator with options of its system, `release` and `identity`.

        Raises `ConfigError` if it has no such option, or has another value for it.
        """
        known = {field.name for field in fields(self)}
        for name, value in options.items():
            own = getattr(self, name) if name in known else None
            if own is None:
                return super().declared(**{name: value})
            if own not in ("", value):
                raise ConfigError(
                    f"its generator has {name} {own!r} and the system {value!r}; keep one of them",
                    key=name,
                    value=value,
                )
        return replace(self, **options)

    def of_run(self, run: str) -> Self:
        """Return the generator with replies of its own for a run; "" is for all runs."""
        return replace(self, run=run)

    def versioned(self, identity: str) -> str:
        """Return an identity followed by the release and the run."""
        return " ".join(filter(None, [identity, self.release, self.run]))

    def cost(self, n_queries: int, n_passages: int) -> int:
        """Return one call per query."""
        return n_queries

    def check(self, services: Services) -> None:
        """Raise if the key is unset, a price is missing or the server is unreachable."""
        services.calls.check(self.endpoint)

    def request(self, task: Task) -> Request:
        """Return the call that answers a task."""
        raise NotImplementedError

    def dropped(self, task: Task) -> str:
        """Return the parts of a task that its request leaves out, or ""."""
        return ""

    def answer_in(self, reply: Reply, task: Task) -> Outcome[str | None]:
        """Return the answer in a reply to a task, or why it has none."""
        return Outcome(reply.text.strip())

    def generate(self, tasks: Sequence[Task], services: Services) -> Iterator[Outcome[Prediction]]:
        """Yield one prediction per task, in order; the next run repeats a failed call."""
        requests = [self.request(task) for task in tasks]
        title = f"answers of {self.endpoint.model}"
        ended = services.calls.ask(self.endpoint, requests, title=title)
        for task, reply in zip(tasks, ended, strict=True):
            cost = services.calls.cost(self.endpoint, reply)
            prediction = _prediction(task.query, reply, cost, self.dropped(task))
            if isinstance(reply, Reply):
                answer = self.answer_in(reply, task)
                status = reply.status if answer.value is not None else "unreadable"
                prediction = replace(
                    prediction, answer=answer.value, reason=answer.reason, status=status
                )
            # The same reply would be read in the same way again.
            yield Outcome(prediction, prediction.reason, retry=isinstance(reply, Failure))


@dataclass(frozen=True, kw_only=True)
class LlmGenerator(EndpointGenerator):
    """A generator that prompts a chat model. Other components may call its model for their work.

    Args:
        max_tokens: maximum length of an answer, in tokens.
        stop: strings that end an answer, and are not part of it.
        prompt: name of the prompt, a shipped one or `prompts/NAME.yaml` beside the experiment file
            (docs/prompts.md). `NAME.{language}` asks each query in its language.
        system: template of the system message, in place of the prompt's; no such message is sent
            if it is empty.
        user: template of the user message, in place of the prompt's.
        closed_book_system: template of the system message for a query without passages, in place
            of the prompt's.
        closed_book_user: template of the user message for a query without passages, in place of
            the prompt's.
        budget: maximum tokens of history and passages together; None sends all of them. The
            prediction names the turns and passages that did not fit. Without a budget, a prompt
            that is longer than the model's context is a failed call.
        answer_language: the request for answers in the language of the query, a sentence after the
            system message: `named` names the language ("Answer in Japanese."), `query` does not;
            `any` makes no request.
    """

    max_tokens: int = 256
    stop: tuple[str, ...] = ()
    prompt: str = field(default=DEFAULT_PROMPT, metadata=KEY_BY_CONTENT)
    system: str | None = None
    user: str | None = None
    closed_book_system: str | None = None
    closed_book_user: str | None = None
    budget: int | None = None
    answer_language: Literal["any", "query", "named"] = field(
        default=ANY_LANGUAGE, metadata=KEY_BY_CONTENT
    )

    sizes: ClassVar[tuple[str, ...]] = ("max_tokens",)

    def __post_init__(self) -> None:
        """Raise `ConfigError` if a template or a size is wrong."""
        super().__post_init__()
        self.prompt_choice.check()

    @property
    def content_revision(self) -> Any:
        """The identity of the model in cache keys."""
        return self.endpoint.identity

    @cached_property
    def _found_prompt(self) -> NamedPrompt[PromptFile]:
        return find_prompt(self.prompt)

    @cached_property
    def prompt_choice(self) -> PromptChoice:
        """The texts of the prompt and of its translations."""
        return self._choice(self.answer_language)

    @property
    def prompts(self) -> RagPrompts:
        """The texts of the prompt: those for queries without a translation if there are some."""
        return self.prompt_choice.default

    @property
    def uses(self) -> frozenset[str]:
        """The labels, which name the language of a query, if the prompt depends on it."""
        return frozenset({"labels"} if self.prompt_choice.reads_language else ())

    @property
    def templates(self) -> Mapping[str, str]:
        """Name -> text that is sent: templates, examples, and the text before an answer."""
        return self.prompt_choice.templates

    @property
    def named_prompt(self) -> Mapping[str, Any]:
        """The name, version and language of the prompt, and the texts that parameters replace."""
        facts = self._found_prompt.facts(self._choice(ANY_LANGUAGE).templates)
        if self.answer_language == ANY_LANGUAGE:
            return facts
        label = f"{facts['label']}+{self.answer_language}"
        return {**facts, "label": label, "digest": fingerprint(self.templates)}

    @property
    def key_values(self) -> Mapping[str, Any]:
        """The texts of the prompt, and its examples and translations if it has some."""
        return self.prompt_choice.key_values

    def data_notes(self, dataset: Any) -> Iterable[str]:
        """Return the languages of a data set that have no translation of the prompt."""
        return self.prompt_choice.data_notes(stated_language(q.labels) for q in dataset.queries)

    def generate(self, tasks: Sequence[Task], services: Services) -> Iterator[Outcome[Prediction]]:
        """Yield one prediction per task, in order; the next run repeats a failed call."""
        self.prompt_choice.note(task.query for task in tasks)
        yield from super().generate(tasks, services)

    def _choice(self, answer_language: str) -> PromptChoice:
        """Return the texts, with the request for an answer in the query's language if there is one.

        The parameters replace texts in every language.
        """
        given = {name: getattr(self, name) for name in RagPrompts.TEMPLATES}
        given = {name: text for name, text in given.items() if text is not None}

        def sent(file: PromptFile) -> RagPrompts:
            prompts = replace(file.sent, **given)
            if answer_language == ANY_LANGUAGE:
                return prompts
            sentences = answer_language_of(file.language)
            return prompts.with_sentence(getattr(sentences, answer_language))

        found = self._found_prompt
        translated = {language: sent(one.file) for language, one in found.translations.items()}
        language = base_code(found.file.language)
        return PromptChoice(found.name, language, sent(found.file), translated)

    def answer_in(self, reply: Reply, task: Task) -> Outcome[str | None]:
        """Return the part that the prompt declares to be the answer, without the model's thinking.

        The answer is "" if the reply ends within the thinking.
        """
        text, unfinished = without_thinking(reply.text)
        if unfinished:
            add_note("answers that end within the model's thinking, so that nothing is left")
            return Outcome("")
        if text != reply.text:
            add_note("answers without the model's thinking, which the call log keeps")
        prompts = self.prompt_choice.prompts_for(task.query)
        answer = prompts.final_answer(text)
        if answer is not None:
            return Outcome(answer)
        cut = "; it was cut at its maximum length: raise max_tokens"
        mark = prompts.answer_after
        reason = f"the reply has no answer after {mark!r}{cut if reply.status == 'cut' else ''}"
        return Outcome(None, reason)

    @cached_property
    def sampling(self) -> Sampling:
        """The sampling parameters among the fields; greedy decoding if there is no temperature."""
        shared = {f.name for f in fields(self)} & {f.name for f in fields(Sampling)}
        return Sampling(**{name: getattr(self, name) for name in shared})

    def request(self, task: Task) -> Request:
        """Return the call that answers a task, its prompt cut to the budget."""
        return Request(self.prompt_choice.messages(self.fitted(task)[0]), self.sampling)

    def fitted(self, task: Task) -> tuple[Task, str]:
        """Return a task cut to the limits of the prompt, and the parts that were dropped."""
        return fit(task, self.budget)

    def dropped(self, task: Task) -> str:
        """Return the turns and passages that do not fit, or ""."""
        return self.fitted(task)[1]

    def estimate(self, tasks: Sequence[Task], services: Services, *, sample: int = 0) -> Estimate:
        """Return the calls that the tasks are likely to take, after making `sample` of them."""
        requests = [self.request(task) for task in tasks]
        return services.calls.estimate(self.endpoint, requests, sample=sample)


@dataclass(frozen=True, kw_only=True)
class SamplingGenerator(LlmGenerator):
    """A chat model whose replies may be sampled.

    Args:
        temperature: 0 decodes greedily; None leaves it to the server.
        top_p: share of the probability that the likeliest tokens are sampled from.
        seed: seed of the random numbers, if the model takes one.
    """

    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = None


def _prediction(
    query: Query, ended: Reply | Failure, cost: float | None, dropped: str
) -> Prediction:
    """Return the prediction for a call that ended."""
    failed = Prediction(
        query.query_id, None, call_key=ended.key, seconds=ended.seconds, dropped=dropped
    )
    if isinstance(ended, Failure):
        return replace(failed, reason=ended.reason, status=ended.kind)
    own = ended.reported or Reported()
    return replace(
        failed,
        answer=ended.text,
        status=ended.status,
        tokens_in=ended.tokens_in,
        tokens_out=ended.tokens_out,
        # Cost and time are as the system reports them, if it does.
        cost=cost if own.cost is None else own.cost,
        seconds=ended.seconds if own.seconds is None else own.seconds,
        passage_ids=ended.passage_ids,
        contexts=own.contexts,
        confidence=own.confidence,
        steps=own.steps,
        tokens_reasoning=ended.tokens_reasoning,
        queued=ended.queued if own.seconds is None else None,
    )

"""From tasks to requests to predictions: what all generators that ask a model have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from ragstone.calls.client import Calls
from ragstone.calls.estimates import Estimate
from ragstone.calls.types import Endpoint, Failure, Outcome, Request, Sampling
from ragstone.components.generators.context_window import fit
from ragstone.core.prompts import RagPrompts
from ragstone.types import Prediction, Task


class Asking:
    """What a generator that asks a model does with its prompts; the generator says which model.

    No dataclass: the fields belong to the generators, in an order of their own.
    """

    system: str
    user: str
    closed_book_system: str
    closed_book_user: str
    budget: int | None

    @property
    @abstractmethod
    def endpoint(self) -> Endpoint:
        """The model and where it is."""

    @property
    @abstractmethod
    def sampling(self) -> Sampling:
        """How replies are drawn."""

    @cached_property
    def prompts(self) -> RagPrompts:
        """The prompts with and without context."""
        return RagPrompts(self.system, self.user, self.closed_book_system, self.closed_book_user)

    def generate(self, tasks: Sequence[Task], calls: Calls) -> Iterator[Prediction]:
        """Yield one prediction per task, in order."""
        return ask_all(tasks, self.prompts, self.sampling, self.endpoint, calls, budget=self.budget)

    def estimate(self, tasks: Sequence[Task], calls: Calls, *, sample: int = 0) -> Estimate:
        """Return what answering is likely to take; `sample` calls are made to find out."""
        requests = requests_for(tasks, self.prompts, self.sampling, self.budget)
        return calls.estimate(self.endpoint, requests, sample=sample)


def ask_all(
    tasks: Sequence[Task],
    prompts: RagPrompts,
    sampling: Sampling,
    endpoint: Endpoint,
    calls: Calls,
    *,
    budget: int | None = None,
) -> Iterator[Prediction]:
    """Yield one prediction per task, in order.

    A prompt longer than the model's context is refused by the server and becomes a failure that
    says so. Nothing is dropped to make it fit unless a budget of tokens for history and passages is
    given; then the prediction says what.
    """
    requests = requests_for(tasks, prompts, sampling, budget)
    outcomes = calls.ask(endpoint, requests, title=f"answers of {endpoint.model}")
    for task, outcome in zip(tasks, outcomes, strict=True):
        found = predicted(task.query.query_id, outcome, calls.cost(endpoint, outcome))
        yield replace(found, dropped=fit(task, budget)[1])


def requests_for(
    tasks: Sequence[Task], prompts: RagPrompts, sampling: Sampling, budget: int | None = None
) -> list[Request]:
    """Return one request per task, in order."""
    return [Request(prompts.render(fit(task, budget)[0]), sampling) for task in tasks]


def predicted(query_id: str, outcome: Outcome, cost: float | None = None) -> Prediction:
    """Return the prediction that a call's outcome amounts to."""
    if isinstance(outcome, Failure):
        return Prediction(
            query_id,
            None,
            reason=outcome.reason,
            call_key=outcome.key,
            seconds=outcome.seconds,
        )
    return Prediction(
        query_id,
        outcome.text.strip(),
        call_key=outcome.key,
        tokens_in=outcome.tokens_in,
        tokens_out=outcome.tokens_out,
        seconds=outcome.seconds,
        cost=cost,
        passage_ids=outcome.passage_ids,
    )


LlmGenerator = Asking

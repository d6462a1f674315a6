"""The repeats in an experiment file, their components, and the services of a repeat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema

from ragstone.calls.repeats import Repeat
from ragstone.core import limits
from ragstone.core.component import Component
from ragstone.core.user_code import is_ours
from ragstone.experiment.file_keys import FileKeys
from ragstone.protocols import Services

_Count: TypeAlias = Annotated[int, Field(ge=1, le=limits.MAX_REPEATS, strict=True)]


class RepeatSpec(FileKeys):
    """The number of answers to each query, and of verdicts on each answer."""

    answers: _Count = 1
    """Number of answers of each sampling system to each query."""
    verdicts: _Count | None = None
    """Number of verdicts on each answer; by default 1 if answers are repeated, else as many as
    `answers`."""


def _as_mapping(written: object) -> object:
    return written if written is None or isinstance(written, Mapping) else {"answers": written}


Repeats: TypeAlias = Annotated[
    RepeatSpec | None,
    BeforeValidator(_as_mapping),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "object"}, {"type": "null"}]}),
]
"""A number of answers, or a mapping with `answers` and `verdicts`."""


@dataclass(frozen=True, slots=True)
class RepeatCounts:
    """The repeats of a system's trials."""

    answers: int = 1
    verdicts: int = 1
    """Verdicts of each judge that samples, per answer."""

    def pairs(self) -> list[tuple[int, int]]:
        """Return the number of the answer and of the verdict of each repeat, from 0."""
        return [(a, v) for a in range(self.answers) for v in range(self.verdicts)]


ONCE: Final = RepeatCounts()
"""One answer and one verdict: no repeats."""


def repeat_number(answer: int, verdict: int) -> int:
    """Return the number that distinguishes a verdict from those of all other repeats."""
    return answer + limits.MAX_REPEATS * verdict


def of_repeat(services: Services, number: int, step: str) -> Services:
    """Return services whose calls are those of a repeat.

    A judge's models that do not sample are not asked again: an equal answer has the same verdict.
    """
    calls = services.calls.of_repeat(Repeat(number, greedy=step == "generate"))
    return Services(calls=calls, store=services.store, executor=services.executor)


def samples(part: Component) -> bool:
    """Return whether a part's replies to equal requests may differ.

    A model with temperature 0 is taken for greedy. Of a system or a class of your own nothing is
    known: it may differ if it answers, or calls models.
    """
    temperatures = list(_temperatures(part))
    if temperatures:
        return any(temperature != 0 for temperature in temperatures)
    return part.needs_model or (part.verb == "generate" and not is_fixed(part))


def is_fixed(part: Component) -> bool:
    """Return whether a part of Ragstone looks its answers up, such as recorded ones."""
    return is_ours(type(part)) and not part.needs_model


def _temperatures(part: Any) -> Iterator[float | None]:
    """Yield the temperature of each model that a part or its parts call."""
    for model in (part, *getattr(part, "backends", ())):
        if (sampling := getattr(model, "sampling", None)) is not None:
            yield sampling.temperature
    for value in getattr(part, "__dict__", {}).values():
        if isinstance(value, Component):
            yield from _temperatures(value)

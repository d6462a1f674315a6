"""The parts that judges of an experiment share with the systems that they grade."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.calls.identity import address_parts
from ragstone.core.component import Component
from ragstone.evaluation.judge_independence import (
    ModelUse,
    Party,
    SharedPart,
    shared_parts,
    shared_sentences,
)
from ragstone.protocols import Judge

if TYPE_CHECKING:
    from ragstone.components.generators.llm_base import EndpointGenerator
    from ragstone.experiment.plan import PlannedStep
    from ragstone.experiment.system import System
    from ragstone.types import Query

NUGGET_MAKER: Final = "nuggets_by"
"""Label of a query: the model that wrote its nuggets."""
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104 - no binding


def independence(
    judges: Sequence[Judge], systems: Iterable[System], queries: Iterable[Query]
) -> tuple[SharedPart, ...]:
    """Return the parts that each judge shares with each system that answers.

    Only models that Ragstone calls are known: those within a system of your own are not.
    """
    if not judges:
        return ()
    parties = [judge_party(judge, queries) for judge in judges]
    answering = [system_party(s.name, s.components) for s in systems if s.generator]
    return tuple(one for j in parties for s in answering for one in shared_parts(j, s))


def independence_notes(
    steps: Iterable[PlannedStep], systems: Iterable[System], queries: Iterable[Query]
) -> Iterator[str]:
    """Yield the parts that judges of some planned steps share with systems, for the plan."""
    judges = {str(step.component): step.component for step in steps if step.step == "judge"}
    yield from shared_sentences(independence(list(judges.values()), systems, queries))


def judge_party(judge: Judge, queries: Iterable[Query] = ()) -> Party:
    """Return a judge's models and prompts, and the makers of the nuggets that it reads."""
    from ragstone.components.judges.nuggets import Nuggets

    parts = list(parts_of(judge))
    makers: dict[str, None] = {}
    if any(isinstance(part, Nuggets) for part in parts):
        named = (str(query.labels.get(NUGGET_MAKER) or "") for query in queries)
        makers = dict.fromkeys(filter(None, named))
    components = [part for part in parts if isinstance(part, Judge)]
    texts = [text for part in components for text in _texts(part)]
    return Party(str(judge), tuple(_models(parts, "")), tuple(texts), tuple(makers))


def system_party(name: str, components: Mapping[str, Any]) -> Party:
    """Return the models and prompts of a system's steps."""
    steps = {step: list(parts_of(component)) for step, component in components.items()}
    models = (use for step, parts in steps.items() for use in _models(parts, step))
    texts = (text for parts in steps.values() for part in parts for text in _prompts(part))
    return Party(name, tuple(models), tuple(texts))


def _texts(judge: Judge) -> Iterator[str]:
    """Yield a judge's templates, and its other long texts such as a criterion."""
    yield from judge.templates.values()
    yield from (value for value in vars(judge).values() if isinstance(value, str))


def _prompts(part: object) -> Iterator[str]:
    if isinstance(part, Component):
        yield from part.templates.values()


def _models(parts: Sequence[object], step: str) -> Iterator[ModelUse]:
    """Yield each model once; a generator of a judge is the model that it calls."""
    from ragstone.components.generators.llm_base import EndpointGenerator

    seen = set()
    for part in parts:
        if isinstance(part, EndpointGenerator) and (key := part.endpoint.identity) not in seen:
            seen.add(key)
            yield _model_use(part, step)


def _model_use(generator: EndpointGenerator, step: str) -> ModelUse:
    from ragstone.components.generators.llm_base import LlmGenerator

    endpoint = generator.endpoint
    if not endpoint.base_urls:
        # The release and the run follow the digest of a file.
        digest = endpoint.identity.split(" ")[0]
        weights = {digest} if isinstance(generator, LlmGenerator) else set()
        return ModelUse(step, Path(endpoint.model).name, frozenset(weights))
    places = [_place(url) for url in endpoint.base_urls]
    named = {f"{endpoint.model.casefold()} at {host}{path}" for host, _, path in places}
    weights = named if isinstance(generator, LlmGenerator) else set()
    providers = frozenset(provider for _, provider, _ in places)
    return ModelUse(step, endpoint.model, frozenset(weights), providers)


def _place(url: str) -> tuple[str, str, str]:
    """Return host and port, the provider, and the path of an address."""
    parts = address_parts([url])
    own = parts["host"].casefold() in _LOOPBACK
    host = "localhost" if own else parts["host"].casefold()
    place = f"{host}:{parts['port']}"
    return place, place if own else host, parts["path"].rstrip("/")


def parts_of(value: Any) -> Iterator[object]:
    """Yield a component, the models that it calls and the components that it is made of."""
    if isinstance(value, Component):
        yield value
        for member in vars(value).values():
            yield from parts_of(member)
    elif isinstance(value, Mapping):
        yield from parts_of(list(value.values()))
    elif isinstance(value, list | tuple):
        for member in value:
            yield from parts_of(member)
    elif dataclasses.is_dataclass(value):
        from ragstone.components.llm import LlmBackend

        if isinstance(value, LlmBackend):
            yield from parts_of(value.generator)

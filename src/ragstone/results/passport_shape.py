"""The shape of a passport from outside: the types of the values that are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ragstone.core import limits

_Object = dict[str, Any]


class _Part(BaseModel):
    """Values that are read have these types; others are kept as they are."""

    model_config = ConfigDict(extra="allow", strict=True)


class _Place(_Part):
    system: str
    setting: str


class _Number(_Place):
    collection: str = ""
    metric: str = ""


class _Mean(_Number):
    metric: str
    mean: float | None
    interval: Annotated[list[float], Field(min_length=2, max_length=2)] | None
    n: int
    failed: int
    policy: str


class _Numbers(_Part):
    leaderboard: list[_Mean] = []
    retrieval: list[_Mean] = []
    collections: list[_Number] = []
    usage: list[_Number] = []
    adaptability: list[_Number] = []


class _Metric(_Part):
    kind: str
    part: str | None


class _MadePart(_Part):
    component: str
    parameters: _Object = {}


class _Step(_Part):
    step: str
    part: str


class _Content(_Part):
    digest: str
    marks: str


class _Trial(_Place):
    contexts: _Content
    answers: _Content


class _Ranking(_Part):
    system: str
    setting: str = ""
    run: _Content


class _Contents(_Part):
    answered: list[str]
    ranked: list[str] | None
    queries: _Content
    gold_answers: _Content
    qrels: _Content
    clusters: _Content
    trials: list[_Trial]
    rankings: list[_Ranking]


class _Data(_Part):
    name: str
    machine_qrels: str = ""
    corpus_digest: str | None = None


class _System(_Part):
    name: str | None = None
    generator: str | _Object | None = None
    retriever: str | _Object | None = None


class _Experiment(_Part):
    systems: list[_System] | None = None
    metrics: list[Any] | None = None
    correct: str | None = None
    analysis: _Object | None = None
    headline: str | None = None


class _Training(_Part):
    system: str
    step: str
    seen: int
    asked: int


class _Passport(_Part):
    calls: list[_Place]
    contents: _Contents
    data: _Data
    experiment: _Experiment
    finished: str | None = None
    metrics: dict[str, _Metric]
    name: str
    numbers: _Numbers
    packages: dict[str, str]
    parts: dict[str, _MadePart]
    prompts: dict[str, _Object]
    ragstone: str
    seeds: _Object
    steps: list[_Step]
    systems: dict[str, dict[str, str]]
    trained: list[_Training] = []


_ADAPTER: Final = TypeAdapter(_Passport)
_MARK: Final = 4
"""Characters of a mark of a row."""


def shape_problem(document: Mapping[str, Any]) -> str:
    """Return what a passport lacks, or its first value of another type; "" if it is whole."""
    try:
        found = _ADAPTER.validate_python(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(one)[: limits.MAX_NAMED_CHARACTERS] for one in first["loc"])
        return (
            f"has no {place!r}"
            if first["type"] == "missing"
            else f"is damaged: {place}: {first['msg']}"
        )
    unknown = next((one.part for one in found.steps if one.part not in found.parts), None)
    if unknown is not None:
        return f"is damaged: steps: there is no part {unknown[: limits.MAX_NAMED_CHARACTERS]!r}"
    return _rows_problem(found.contents)


def _rows_problem(contents: _Contents) -> str:
    """Return a content that has not one mark per query, or ""."""
    answered = len(contents.answered)
    every = len(dict.fromkeys([*contents.answered, *(contents.ranked or ())]))
    of_data = (contents.queries, contents.gold_answers, contents.qrels, contents.clusters)
    sizes = [(one, every) for one in (*of_data, *(row.run for row in contents.rankings))]
    sizes += [(one, answered) for row in contents.trials for one in (row.contexts, row.answers)]
    wrong = (size for one, size in sizes if len(one.marks) != _MARK * size)
    return next((f"is damaged: contents: {size:,} queries have other marks" for size in wrong), "")

"""The experiment file: reading, overriding and checking its keys.

This module is the file's shape; the names in it are checked in `ragstone.experiment.experiment`,
when components are made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
)

from ragstone.core import limits
from ragstone.core.executors.spec import executor_text
from ragstone.core.likely_secrets import remember_likely
from ragstone.core.spec import parse_spec
from ragstone.data.dataset import Dataset
from ragstone.errors import ConfigError, did_you_mean
from ragstone.experiment.analysis_file import AnalysisSpec
from ragstone.experiment.file_keys import FileKeys
from ragstone.experiment.keys import apply_override, with_new_keys
from ragstone.experiment.names import component_text, default_name, name_systems
from ragstone.experiment.repeat_spec import Repeats, RepeatSpec
from ragstone.experiment.sweeps import ListSweep, judge_variants
from ragstone.results.secret import Secret
from ragstone.statistics.correctness import Correctness

DEFAULT_CORRECT: Final = "Match"
"""The rule for correct answers, if `Match` is among the metrics."""


def _as_list(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _checked_part(value: object) -> object:
    if value is None or isinstance(value, int | float | list):
        raise ValueError("expected a name, a mapping with the key 'name', or a component")
    return value


def _checked(parse: Callable[[Any], object]) -> Callable[[Any], Any]:
    """Return a check by a parser, with its error as the `ValueError` that pydantic expects."""

    def check(written: Any) -> Any:
        try:
            return None if written is None else parse(written)
        except ConfigError as error:
            raise ValueError(str(error)) from error

    return check


_RULE: Final = AfterValidator(_checked(lambda written: str(Correctness.parse(written))))
_SHARES: Final = BeforeValidator(_checked(lambda written: Secret.parse(written).to_dict()))
_EXECUTOR: Final = AfterValidator(_checked(executor_text))


def _plain_part(value: Any) -> Any:
    """Return a part as it would be written in a file; a data set made in Python by its name."""
    if isinstance(value, str | Mapping):
        return value
    if isinstance(value, Dataset):
        return value.name
    return component_text(value)


Part: TypeAlias = Annotated[
    Any,
    BeforeValidator(_checked_part),
    PlainSerializer(_plain_part),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]}),
]
"""A component as people write it: a spec, a mapping, or in Python the component itself."""


DataPart: TypeAlias = Annotated[
    Any,
    BeforeValidator(_checked_part),
    PlainSerializer(_plain_part),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "array"}]}),
]
"""The key `data`: in a file several data sets, in the checked form of an experiment one."""


_SECRET_SCHEMA: Final = WithJsonSchema(
    {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "object"}, {"type": "null"}]}
)


class Sample(FileKeys):
    """Which queries take part."""

    limit: int | None = Field(default=None, ge=1)
    """Answer a random sample of n queries, the same for every system; by default all."""
    seed: int = 0
    """The seed of the sample; the same seed draws the same queries for every system."""
    per: str | None = None
    """The label whose values are drawn, each with all its queries: `parallel`."""
    queries: str | None = None
    """A file with a query id per line, such as the test part of a training; by default all."""
    where: dict[str, Any] = Field(default_factory=dict)
    """Label -> value or list of values (null: no label): the queries that may be answered."""
    retrieval: Literal["sample", "matching", "all"] = "sample"
    """The queries that measure retrieval: the answered ones, all that match `where`, or all."""


class SystemSpec(FileKeys):
    """A system: one component per step. A list in place of a value makes one system per value."""

    name: str | None = None
    """By default the names of its components, with the swept values."""
    query_former: Part = "as-given"
    """Forms the search text of a query, or several."""
    retriever: Part | None = None
    """Ranks the passages of the corpus; without it nothing is retrieved."""
    datastore: str | None = None
    """The collections that the retriever searches: `en`, `user`, `user+en`, `all`."""
    reranker: Part | None = None
    """Orders the first passages of the ranking again."""
    processor: Part | None = None
    """Shortens or translates the context before the generator gets it."""
    generator: Part | None = None
    """Answers; a system without one is measured on retrieval alone."""
    release: str | None = None
    """The version of the system; its replies are kept from run to run."""
    identity: str | list[str] | None = None
    """The parts of the system that distinguish it from others; by default all."""
    priority: int = 0
    """Steps of systems with a higher priority run first."""
    repeats: Repeats = None
    """Answers to each query, in place of the file's key; a greedy model is asked again too."""
    trained_on: Annotated[list[str], BeforeValidator(_as_list)] = Field(default_factory=list)
    """Data sets that a model of the system was trained on, which leaderboards mark."""

    @property
    def default_name(self) -> str:
        """The name of a system that has none: its components."""
        return default_name(dict(self))


class ExperimentFile(FileKeys):
    """The keys of an experiment file."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """By default the name of the file. Letters, digits, dot, hyphen, underscore."""
    data: DataPart
    """`sample`, a path, a reader with its parameters, or in Python a `Dataset`; or several: a list,
    or a mapping from name to one of these."""
    store: str = ".ragstone"
    """Folder of the results, relative to the current directory."""
    calls: str = ""
    """The address of a PostgreSQL database in which machines share their model calls."""
    executor: Annotated[str, _EXECUTOR] = Field(default="", exclude=True)
    """Where steps are computed: `processes(4)`, `dask(...)`, `ray(...)`; results do not change."""
    sample: Sample = Field(default_factory=Sample)
    """The queries that take part; by default all."""
    systems: list[SystemSpec] = Field(min_length=1)
    """A mapping from name to system, or a list."""
    settings: Annotated[list[Part], BeforeValidator(_as_list)] = Field(default_factory=list)
    """Context settings; every system with a generator answers under each."""
    metrics: Annotated[list[Part], BeforeValidator(_as_list)] = Field(min_length=1)
    """Names, or your own classes: `parts.py:Length`."""
    judges: Annotated[list[Part], BeforeValidator(_as_list)] = Field(default_factory=list)
    """Language models that grade every answer; each is a metric, or several."""
    noise_retriever: Part = "bm25"
    """The retriever whose best irrelevant passages are the noise of `gold+noise`."""
    prices: str | None = None
    """A file with the prices of models, for costs and budgets (docs/calls.md)."""
    correct: Annotated[str | None, _RULE] = DEFAULT_CORRECT
    """When an answer is correct: the name of a 0/1 metric, `F1 >= 0.5`, or null for no rule."""
    oracle: str | None = None
    """The setting with ideal context, `gold` or `gold(n)`; by default the only one of them."""
    headline: str | None = None
    """The metric of leads and of the verdict; by default that of correct answers."""
    failures: Literal["wrong", "exclude", "bounds"] = "wrong"
    """The failure policy: the value of a query without an answer (docs/statistics.md)."""
    repeats: Repeats = None
    """Repeats of each query for components that sample: 5, or `{answers: 5, verdicts: 2}`."""
    secret: Annotated[dict[str, Any] | None, _SHARES, _SECRET_SCHEMA] = None
    """The shares of queries and nuggets that outputs leave out until `--reveal`: 20%, or
    `{queries: 20%, nuggets: 30%}` (docs/secret.md)."""
    max_systems: int = limits.MAX_SWEEP_SYSTEMS
    """Maximum number of systems, and of settings, that lists may spread to."""
    analysis: AnalysisSpec | None = None
    """The comparisons that are planned before the run; all others are exploratory."""


def parse_experiment(
    document: Mapping[str, Any],
    *,
    where: str,
    default_name: str = "experiment",
    overrides: Sequence[str] = (),
) -> ExperimentFile:
    """Return the checked form of an experiment on one data set, given as plain data."""
    return parse_filled(filled_document(document, where, default_name, overrides), where)


def filled_document(
    document: Mapping[str, Any], where: str, default_name: str, overrides: Sequence[str]
) -> dict[str, Any]:
    """Return a copy of a file's keys: with its name, under the names of today, overridden."""
    filled: dict[str, Any] = _copied({"name": default_name, **with_new_keys(document, where)})
    for override in overrides:
        apply_override(filled, override)
    return filled


def parse_filled(filled: Mapping[str, Any], where: str) -> ExperimentFile:
    """Return the checked form of a file's keys, its sweeps spread out.

    Raises:
        ConfigError: the message has the file, the key, the value and the nearest legal one.
    """
    remember_likely(filled, where)
    checked, most = dict(filled), filled.get("max_systems", limits.MAX_SWEEP_SYSTEMS)
    largest = limits.MOST_SWEEP_SYSTEMS
    if type(most) is not int or not 1 <= most <= largest:
        raise ConfigError(
            f"{where}: 'max_systems' must be a whole number from 1 to {largest:,}, found {most!r}",
            key="max_systems",
            value=most,
        )
    if "systems" in checked:
        checked["systems"] = _spread(checked["systems"], where, ListSweep("systems", most))
    if "settings" in checked:
        checked["settings"] = ListSweep("settings", most).options(_as_list(checked["settings"]))
    if "judges" in checked:
        checked["judges"] = judge_variants(checked["judges"], most)
    try:
        file = ExperimentFile.model_validate(checked)
    except ValidationError as error:
        key, problem, value = _first_error(error, checked.get("systems", []))
        raise ConfigError(f"{where}: {problem}", path=where, key=key, value=value) from error
    _check_nugget_judge(file, where)
    return file


def _check_nugget_judge(file: ExperimentFile, where: str) -> None:
    """Raise `ConfigError` if nuggets are secret and no judge grades nuggets; your own may do so."""
    share = (file.secret or {}).get("nuggets")
    named = [
        parse_spec(one, where="judge").name
        if isinstance(one, str | Mapping)
        else getattr(one, "name", "")
        for one in file.judges
    ]
    if share and not any(name == "nuggets" or ":" in name for name in named):
        raise ConfigError(
            f"{where}: 'secret': nuggets are secret, and no judge grades them; add nuggets to "
            "'judges', or leave nuggets out of 'secret'",
            key="secret",
            value=share,
        )


def _copied(value: Any) -> Any:
    """Return a copy of mappings and lists; components and data sets in them are the same."""
    if isinstance(value, Mapping):
        return {key: _copied(member) for key, member in value.items()}
    return [_copied(member) for member in value] if isinstance(value, list | tuple) else value


def _spread(systems: object, where: str, sweep: ListSweep) -> list[dict[str, Any]]:
    """Return one entry per system, lists in place of values spread into their product."""
    if isinstance(systems, Mapping):
        entries = [{"name": str(name), **_mapping(entry, where)} for name, entry in systems.items()]
    elif isinstance(systems, list):
        entries = [dict(_mapping(entry, where)) for entry in systems]
    else:
        raise ConfigError(
            f"{where}: 'systems' must be a list or a mapping, found {systems!r}", key="systems"
        )
    groups, count = [], 0
    for entry in entries:
        groups.append(sweep.variants(entry))
        count += len(groups[-1][1])
        sweep.check(count)
    name_systems(groups)
    return [variant for _, variants in groups for variant in variants]


def _mapping(entry: object, where: str) -> Mapping[str, Any]:
    if isinstance(entry, Mapping):
        return entry
    raise ConfigError(
        f"{where}: a system is a mapping with keys such as retriever and generator, found {entry!r}"
    )


def _first_error(
    error: ValidationError, systems: Sequence[Mapping[str, Any]]
) -> tuple[str, str, Any]:
    """Return the first wrong key, the problem and the value; an unknown key comes first."""
    first, *_ = sorted(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    parts: list[Any] = list(first["loc"])
    if parts[0] == "systems" and len(parts) > 1:
        parts[1] = systems[parts[1]].get("name", parts[1])
    key, value = ".".join(map(str, parts)), first["input"]
    if first["type"] == "extra_forbidden":
        known = _known_keys(first["loc"])
        return key, f"unknown key {key!r}{did_you_mean(str(first['loc'][-1]), known)}", value
    if first["type"] == "missing":
        return key, f"the key {key!r} is missing", value
    problem = first["msg"].removeprefix("Value error, ")
    return key, f"key {key!r}: {problem[0].lower()}{problem[1:]}, found {value!r}", value


def _known_keys(place: tuple[int | str, ...]) -> Iterable[str]:
    models: dict[str, type[FileKeys]] = {
        "systems": SystemSpec,
        "sample": Sample,
        "analysis": AnalysisSpec,
        "repeats": RepeatSpec,
    }
    model = models.get(str(place[0]), ExperimentFile) if len(place) > 1 else ExperimentFile
    return list(model.model_fields)

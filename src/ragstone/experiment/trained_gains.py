"""The experiment with and without a trained generator: its file, its settings and its metrics."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any, Final

import yaml

from ragstone.components.metrics.parse import parse_metric
from ragstone.core.atomic_files import write_document
from ragstone.core.screen_text import one_line
from ragstone.core.spec import parse_spec
from ragstone.data.published.presets import find_preset
from ragstone.errors import ConfigError
from ragstone.experiment.campaign import Campaign
from ragstone.experiment.checks import data_problem, plants_attacks, setting_problem
from ragstone.experiment.data_sets import NamedData, data_sets
from ragstone.experiment.load import load_campaign
from ragstone.results.trained_gains import AFTER, BEFORE

FILE: Final = "gains.yaml"
"""The experiment file in the output folder of a training."""
SETTINGS: Final = (
    "none",
    "gold",
    "gold+noise(4)",
    "noise(4)",
    "gold+injected(kind=false-fact)",
)
"""The settings if none is named, besides those of the training."""
METRICS: Final = ("Match", "EM", "F1", "ROUGE-L", "refusal", "answerability", "attack-success")
"""The metrics if none is named, as far as data and settings have them."""
_NAMED: Final = re.compile(r"([\w.-]+)=(.+)", re.DOTALL)
_HEAD: Final = """\
# Written by ragstone train gains, which replaces this file; change a copy.
# Tables: ragstone show {path}
"""


@dataclass(frozen=True, kw_only=True)
class TrainedGenerator:
    """A trained generator, and what it was trained on."""

    name: str
    """Its name in tables."""
    folder: Path
    """The output folder of the training."""
    digest: str
    """The digest of the trained files."""
    base: str
    is_whole: bool = False
    """Whether the folder has a whole model, and no adapter."""
    learned: Any
    """The data set of the training."""
    data: Any = None
    """The data set of the test queries; None without any."""
    queries: Path | None = None
    """The file of the test queries; None if the data set has no other queries."""
    settings: Sequence[Any] = ()
    """The settings of the training."""
    system: Mapping[str, Any] = field(default_factory=dict)
    """Retriever and reranker of the training."""
    generator: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the generator in the training: prompt and budget."""

    @property
    def experiment(self) -> str:
        """The name of the experiment: two folders of one name have two."""
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", self.folder.name).strip("-.") or "model"
        return f"gains-{plain}-{self.digest[:8]}"


@dataclass(frozen=True, kw_only=True)
class GainsRequest:
    """What is measured before and after a training; the fields are options of the command."""

    generator: str | Mapping[str, Any] = "local"
    """The generator that runs base and trained model."""
    data: Sequence[str] = ()
    """Further data sets: `PLACE` or `NAME=PLACE`."""
    settings: Sequence[str] = ()
    metrics: Sequence[str] = ()
    limit: int | None = None
    """Maximum number of queries per data set."""
    store: str = ".ragstone"


def gains_experiment(model: TrainedGenerator, request: GainsRequest) -> Campaign:
    """Write the experiment file of a trained generator, and return its experiments.

    Raises:
        ConfigError: there is no query to measure, or a name is wrong; no model is asked.
    """
    document, path = gains_document(model, request), model.folder / FILE
    _write(path, document)
    if not (request.settings and request.metrics):
        _keep_applicable(document, load_campaign(path), request)
        _write(path, document)
    return load_campaign(path)


def _write(path: Path, document: Mapping[str, Any]) -> None:
    head = _HEAD.format(path=one_line(shlex.quote(str(path))))
    text = head + yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    write_document(path, text.encode(), "experiment file")


def gains_document(model: TrainedGenerator, request: GainsRequest) -> dict[str, Any]:
    """Return the experiment as plain data, with all settings and metrics of the request."""
    data = dict(_data(model, request.data))
    if not data:
        raise ConfigError(
            f"{model.folder} has no test queries: the training file has test: 0, or all queries "
            "were learned; measure on another data set with --data",
            path=model.folder,
        )
    spec = parse_spec(request.generator, where="--with")
    own = {"name": _own_file(spec.name, model.folder), "model": model.base}
    base = {**own, **model.generator, **spec.parameters}
    folder = str(model.folder)
    trained = {**base, **({"model": folder} if model.is_whole else {"adapter": folder})}
    learned = {"trained_on": [_one(model.learned).name]}
    return {
        "name": model.experiment,
        "data": data,
        "store": request.store,
        **({"sample": {"limit": request.limit}} if request.limit else {}),
        "systems": {
            BEFORE: {**model.system, "generator": base},
            AFTER: {**model.system, "generator": trained, **learned},
        },
        "settings": list(request.settings or _usual_settings(model)),
        "metrics": list(request.metrics or METRICS),
    }


def _usual_settings(model: TrainedGenerator) -> list[Any]:
    """Return the settings of the training, then those that are always measured."""
    return [*(one for one in model.settings if one not in SETTINGS), *SETTINGS]


def _keep_applicable(document: dict[str, Any], made: Campaign, request: GainsRequest) -> None:
    """Leave out usual settings and metrics that no data set can have."""
    data, settings = [one.dataset for one in made.written], made.written[0].settings
    if not request.settings:
        kept = [not all(setting_problem(one, d) for d in data) for one in settings]
        document["settings"] = list(compress(document["settings"], kept))
        settings = list(compress(settings, kept))
    if not request.metrics:
        labels = {label for d in data for query in d.queries for label in query.labels}
        absent = set() if "answerability" in labels else {"answerability"}
        absent |= set() if plants_attacks(settings) else {"attack-success"}
        document["metrics"] = [
            name
            for name in document["metrics"]
            if name not in absent and not all(data_problem(parse_metric(name), d) for d in data)
        ]
    if "Match" not in document["metrics"]:
        document["correct"] = None


def _data(model: TrainedGenerator, further: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield name -> data set: the test queries of the training, then the further data sets."""
    names: list[str] = []
    named = [match.groups() if (match := _NAMED.fullmatch(one)) else ("", one) for one in further]
    given = [(name or _one(place).name, _one(place).reader) for name, place in named]
    for name, entry in [*_test_data(model), *given]:
        if name in names:
            raise ConfigError(
                f"two data sets are called {name!r}; name one of them: --data other={name}",
                key="data",
                value=name,
            )
        names.append(name)
        yield name, entry


def _test_data(model: TrainedGenerator) -> Iterator[tuple[str, Any]]:
    if model.data is None:
        return
    one = _one(model.data)
    if model.queries is None:
        yield one.name, model.data
        return
    reader = one.reader if isinstance(one.reader, Mapping) else _reader(str(one.reader))
    sample = {**one.own.get("sample", {}), "queries": str(model.queries)}
    yield one.name, {**reader, **one.own, "sample": sample}


def _reader(written: str) -> dict[str, Any]:
    """Return a data set as a mapping: a path, or a reader or published set with parameters."""
    is_spec = re.fullmatch(r"[\w-]+\(.*\)", written, re.DOTALL) or find_preset(written)
    if Path(written).exists() or not is_spec:
        return {"path": written}
    spec = parse_spec(written, where="data")
    return {"name": spec.name, **{key or "path": value for key, value in spec.parameters.items()}}


def _one(written: Any) -> NamedData:
    return data_sets([written], "data")[0][0]


def _own_file(name: str, folder: Path) -> str:
    """Return the name of an own component, whose file is here, as it is found from a folder."""
    file, colon, part = name.rpartition(":")
    return f"{os.path.relpath(file, folder)}:{part}" if colon and Path(file).is_file() else name

"""One training from its examples to its output folder; the same for every kind of model."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from ragstone.core.atomic_files import atomic_files
from ragstone.core.environment import installed
from ragstone.core.resources import available_cpus
from ragstone.errors import ConfigError
from ragstone.models.locate import files_digest
from ragstone.training.checkpoints import FOLDER, Progress
from ragstone.training.fitting import Fitting, Learner, Schedule
from ragstone.training.recipe import Recipe
from ragstone.training.record import TrainingRecord, begin, read_record, write_record

T = TypeVar("T")

TRAINED = ("*.safetensors", "*.json", "*.jinja", "*.txt", "*.model", "*/config.json")
"""Patterns of the files that the digest covers; modules of an embedder have folders."""


@dataclass
class Training(Generic[T]):
    """A training of any kind.

    Args:
        kind: generator, writer, judge, reranker or embedder.
        recipe: the keys of the file.
        base_digest: digest of the base's weights.
        data: facts about the data: names, digests, number of queries of each split.
        examples: the examples to learn.
        validation: the examples whose loss is measured.
        batch: examples per step.
        learner: makes the learner; called after the seed is set, because adapters begin at random.
        save: writes the trained weights of a learner into a folder.
        notes: what was left out, and why.
        facts: further facts for the record.
        files: further files of the output, name -> content, such as the queries of each split.
    """

    kind: str
    recipe: Recipe
    base_digest: str
    data: Mapping[str, Any]
    examples: Sequence[T]
    validation: Sequence[T]
    batch: int
    learner: Callable[[], Learner[T]]
    save: Callable[[Learner[T], Path], None]
    notes: Sequence[str] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The output folder."""
        return Path(self.recipe.output).expanduser()

    def run(self) -> TrainingRecord:
        """Train, resume, or return the finished record.

        Raises:
            ConfigError: there are no examples, or the output folder has something else.
            TrainingStopped: a loss is no finite number.
        """
        if not self.examples:
            raise ConfigError("there is nothing to learn: the training part has no example")
        record = begin(self.folder, self._record())
        if record.digest:
            return record
        for name, content in self.files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(content, encoding="utf-8")
        started = time.monotonic()
        learner, at = self._fit()
        with atomic_files(self.folder) as trained:
            self.save(learner, trained)
            digest = files_digest(trained, *TRAINED)
        seconds = record.seconds + time.monotonic() - started
        done = replace(
            record,
            loss=tuple(at.loss),
            validation=tuple(at.validation),
            seconds=seconds,
            digest=digest,
        )
        write_record(self.folder, done)
        for name in (FOLDER, "best"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        return done

    def _fit(self) -> tuple[Learner[T], Progress]:
        import torch

        torch.set_num_threads(available_cpus())
        torch.manual_seed(self.recipe.seed)
        learner = self.learner()
        schedule = Schedule.of(self.recipe.optim, len(self.examples), self.batch)
        fitting = Fitting(
            learner,
            self.examples,
            self.validation,
            self.recipe.optim,
            schedule,
            self.recipe.seed,
            self.folder,
        )
        return learner, fitting.run()

    def _record(self) -> TrainingRecord:
        packages = ("torch", "transformers", "peft", "sentence-transformers")
        versions = {name: installed(name) or "" for name in packages}
        keys = {name: value for name, value in asdict(self.recipe).items() if name != "output"}
        return TrainingRecord(
            self.kind,
            self.recipe.base,
            self.base_digest,
            self.recipe.method,
            {**keys, "examples": len(self.examples), "batch": self.batch},
            self.data,
            {**versions, "threads": str(available_cpus())},
            tuple(self.notes),
            self.facts,
        )


def trained(folder: Path) -> TrainingRecord:
    """Return the record of a finished training; raise `ConfigError` if there is none."""
    record = read_record(folder)
    if record is None or not record.digest:
        state = "has no training" if record is None else "has a training that has not ended"
        raise ConfigError(f"{folder} {state}; run: ragstone train", path=folder)
    return record

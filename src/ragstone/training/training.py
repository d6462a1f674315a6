"""One training from its examples to its output folder; the same for every kind of model."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from ragstone.core.atomic_files import atomic_files
from ragstone.core.environment import installed
from ragstone.core.resources import available_cpus
from ragstone.errors import ConfigError
from ragstone.models.locate import files_digest
from ragstone.training.card import write_card
from ragstone.training.checkpoints import FOLDER, Progress
from ragstone.training.fitting import Fitting, Learner, Schedule
from ragstone.training.plan import TrainingPlan, plan_training
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
        batch: examples per step; None: the largest number that fits into memory.
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
    batch: int | None
    learner: Callable[[], Learner[T]]
    save: Callable[[Learner[T], Path], None]
    notes: Sequence[str] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The output folder."""
        return Path(self.recipe.output).expanduser()

    def plan(self, *, timed: bool = False) -> TrainingPlan:
        """Return memory, disk and steps of the training, and its estimated time if `timed`."""
        self._require_examples()
        batch = self._kept_batch(read_record(self.folder))
        given = self._learner, self.recipe, self.examples, self.validation, batch
        return plan_training(*given, timed=timed)

    def run(self) -> TrainingRecord:
        """Train, resume, or return the finished record.

        Raises:
            ConfigError: there are no examples, or the output folder has something else.
            RagstoneError: memory or disk is too small; nothing was written.
            TrainingStopped: a loss is not a finite number.
        """
        self._require_examples()
        kept = read_record(self.folder)
        batch = self._kept_batch(kept)
        if kept is not None and begin(self.folder, self._record(batch)).digest:
            return kept
        plan = self.plan()
        plan.require(self.folder)
        record = begin(self.folder, self._record(plan.batch))
        for name, content in self.files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(content, encoding="utf-8")
        started = time.monotonic()
        at = self._fit(plan.batch)
        with atomic_files(self.folder) as trained:
            self.save(self._learner, trained)
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
        write_card(self.folder, done)
        for name in (FOLDER, "best"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        return done

    def _require_examples(self) -> None:
        if not self.examples:
            why = f" ({'; '.join(self.notes)})" if self.notes else ""
            raise ConfigError(f"there is nothing to learn: the training part has no example{why}")

    def _kept_batch(self, kept: TrainingRecord | None) -> int | None:
        """Return the batch of the file, or the one that was chosen when the training began."""
        return self.batch or (kept.recipe["batch"] if kept else None)

    @cached_property
    def _learner(self) -> Learner[T]:
        import torch

        torch.set_num_threads(available_cpus())
        torch.manual_seed(self.recipe.seed)
        return self.learner()

    def _fit(self, batch: int) -> Progress:
        schedule = Schedule.of(self.recipe.optim, len(self.examples), batch)
        fitting = Fitting(
            self._learner,
            self.examples,
            self.validation,
            self.recipe.optim,
            schedule,
            self.recipe.seed,
            self.folder,
        )
        return fitting.run()

    def _record(self, batch: int | None) -> TrainingRecord:
        packages = ("torch", "transformers", "peft", "sentence-transformers")
        versions = {name: installed(name) or "" for name in packages}
        keys = {name: value for name, value in asdict(self.recipe).items() if name != "output"}
        return TrainingRecord(
            self.kind,
            self.recipe.base,
            self.base_digest,
            self.recipe.method,
            {**keys, "examples": len(self.examples), "batch": batch},
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

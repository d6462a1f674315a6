"""One training from its examples to its output folder; the same for every kind of model."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from ragstone.core.resources import available_cpus
from ragstone.errors import ConfigError
from ragstone.models.locate import files_digest
from ragstone.training.card import write_card
from ragstone.training.checkpoints import FOLDER, Progress, files_of
from ragstone.training.examples import tokens_digest
from ragstone.training.fitting import Fitting, Learner, Schedule
from ragstone.training.parallel import Processes
from ragstone.training.plan import TrainingPlan, plan_training
from ragstone.training.recipe import Recipe
from ragstone.training.record import (
    TrainingRecord,
    begin,
    environment,
    read_record,
    write_record,
)

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
        processes = Processes.joined(self.recipe.device)
        plan = self.plan()
        plan.require(self.folder)
        batch = processes.least(plan.batch, self.recipe.device)
        if processes.first:
            self._begin(batch)
        processes.wait()
        at = self._fit(batch, processes)
        if processes.first:
            self._finish(batch, at)
        processes.wait()
        return trained(self.folder)

    def _begin(self, batch: int) -> None:
        begin(self.folder, self._record(batch))
        for name, content in self.files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(content, encoding="utf-8")

    def _finish(self, batch: int, at: Progress) -> None:
        """Write weights, card and record; without the record a second run writes all again."""
        with files_of(self.folder) as new:
            self.save(self._learner, new)
            digest = files_digest(new, *TRAINED)
        done = replace(
            self._record(batch),
            loss=tuple(at.loss),
            validation=tuple(at.validation),
            seconds=at.seconds,
            digest=digest,
        )
        write_card(self.folder, done)
        write_record(self.folder, done)
        for name in (FOLDER, "best"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

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

    @cached_property
    def _digests(self) -> dict[str, str]:
        """Part -> the digest of its tokens: another prompt or context is another training."""
        parts = {"train": self.examples, "validation": self.validation}
        return {part: found for part, one in parts.items() if (found := tokens_digest(one))}

    def _fit(self, batch: int, processes: Processes) -> Progress:
        schedule = Schedule.of(self.recipe.optim, len(self.examples), batch)
        fitting = Fitting(
            self._learner,
            self.examples,
            self.validation,
            self.recipe.optim,
            schedule,
            self.recipe.seed,
            self.folder,
            processes,
        )
        return fitting.run()

    def _record(self, batch: int | None) -> TrainingRecord:
        keys = {name: value for name, value in asdict(self.recipe).items() if name != "output"}
        return TrainingRecord(
            self.kind,
            self.recipe.base,
            self.base_digest,
            self.recipe.method,
            {**keys, "examples": len(self.examples), "tokens": self._digests, "batch": batch},
            self.data,
            environment(),
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

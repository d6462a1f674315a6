"""The record of a training, `training.json` in its output folder.

It names base, data, keys of the file, losses and versions. The keys decide whether a second run
resumes, returns the finished result, or is refused. Other versions or another number of threads
change the result of a training that goes on, and nothing of a finished one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.core.atomic_files import atomic_file
from ragstone.core.environment import installed
from ragstone.core.fingerprint import digest_table, fingerprint
from ragstone.core.resources import available_cpus
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset

FILE: Final = "training.json"
FORMAT: Final = 1


@dataclass(frozen=True)
class TrainingRecord:
    """What was trained, on what, and with what losses."""

    kind: str
    """generator, writer, judge, reranker or embedder."""
    base: str
    base_digest: str
    """SHA-256 of the base's weights: an adapter fits no other."""
    method: str
    recipe: Mapping[str, Any]
    """The keys of the training file."""
    data: Mapping[str, Any]
    """Data set, its digest, and the number of queries of each split."""
    environment: Mapping[str, str]
    """Versions of the packages, and the number of threads."""
    notes: tuple[str, ...] = ()
    """What was left out, and why."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Further facts of a kind, such as the labels of a classifier."""
    loss: tuple[float, ...] = ()
    validation: tuple[Mapping[str, float], ...] = ()
    seconds: float = 0.0
    digest: str = ""
    """SHA-256 of the trained files; "" until the training has ended."""
    format: int = FORMAT

    @property
    def key(self) -> str:
        """The digest of all that decides the result, but for versions and threads."""
        return fingerprint([self.kind, self.base_digest, dict(self.recipe), dict(self.data)])

    @property
    def kept(self) -> Mapping[str, float]:
        """The validation of the weights that are kept: with early stopping, the lowest one."""
        is_best = self.recipe.get("optim", {}).get("patience")
        return min(self.validation, key=lambda v: v["loss"]) if is_best else self.validation[-1]

    def elsewhere(self, now: Mapping[str, str]) -> str:
        """Return which versions are others now, in words; "" if all are the same."""
        before = self.environment
        return ", ".join(
            f"{name} {before.get(name) or 'missing'} (now {now.get(name) or 'missing'})"
            for name in sorted({*before, *now})
            if before.get(name, "") != now.get(name, "")
        )


def read_record(folder: Path) -> TrainingRecord | None:
    """Return the record of an output folder, or None if it has none."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        lists = {name: tuple(found[name]) for name in ("notes", "loss", "validation")}
        return TrainingRecord(**{**found, **lists})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} is not a record of a training: {error}", path=path) from error


def write_record(folder: Path, record: TrainingRecord) -> None:
    """Write the record, whole or not at all."""
    with atomic_file(folder / FILE) as file:
        file.write(json.dumps(asdict(record), indent=2, ensure_ascii=False).encode())


def environment() -> dict[str, str]:
    """Return the versions of the packages that train, and the number of threads."""
    packages = ("torch", "transformers", "peft", "sentence-transformers")
    versions = {name: installed(name) or "" for name in packages}
    return {**versions, "threads": str(available_cpus())}


def notes_of(record: TrainingRecord) -> list[str]:
    """Return the notes on a training, and one if it was made with other versions than today's."""
    other = record.elsewhere(environment())
    return [*record.notes, *([f"trained with {other}"] if other else [])]


def data_facts(dataset: Dataset) -> dict[str, Any]:
    """Return the name of a data set and the digests of its queries and passages."""
    return {
        "name": dataset.name,
        "queries_digest": digest_table(dataset.query_table),
        "passages_digest": dataset.corpus.content_digest,
    }


def begin(folder: Path, record: TrainingRecord) -> TrainingRecord:
    """Return the kept record of the same training, or write this one.

    Raises:
        ConfigError: the folder has another training, an unfinished one of other versions, or files
            of something else.
    """
    kept = read_record(folder)
    if kept is None:
        if folder.exists() and any(folder.iterdir()):
            raise ConfigError(
                f"the output folder {folder} is not empty and has no training; choose another one "
                "(output)",
                key="output",
                value=str(folder),
            )
        folder.mkdir(parents=True, exist_ok=True)
        write_record(folder, record)
        return record
    if kept.key != record.key:
        differing = _differing(kept, record)
        verb = "differs" if len(differing) == 1 else "differ"
        raise ConfigError(
            f"the output folder {folder} has another training: {', '.join(differing)} {verb}. "
            "Choose another output, or remove the folder",
            key="output",
            value=str(folder),
        )
    other = kept.elsewhere(record.environment)
    if other and not kept.digest:
        raise ConfigError(
            f"the training in {folder} began with {other}, and cannot be resumed to the same "
            "result here. Resume it with those versions and threads, or remove the folder to begin "
            "again",
            key="output",
            value=str(folder),
        )
    return kept


def _differing(one: TrainingRecord, other: TrainingRecord) -> list[str]:
    found = [name for name in ("kind", "base_digest") if getattr(one, name) != getattr(other, name)]
    for name in ("recipe", "data"):
        before, now = (_flat(json.loads(json.dumps(getattr(r, name)))) for r in (one, other))
        found += sorted(k for k in {*before, *now} if before.get(k) != now.get(k))
    return found


def _flat(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return the values of nested keys under names such as `optim.lr`."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        inner = isinstance(value, Mapping)
        found |= _flat(value, f"{before}{name}.") if inner else {f"{before}{name}": value}
    return found

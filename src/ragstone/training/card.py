"""The model card of a training: `README.md` in its output folder, with the metadata of the hub."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.atomic_files import write_document
from ragstone.core.tables import TextTable
from ragstone.errors import ConfigError
from ragstone.models.bundled import MODELS
from ragstone.training.record import FILE, TrainingRecord, read_record

CARD: Final = "README.md"

_MARKS: Final = re.compile(r"([\\`*_{}\[\]()<>#+|!~$-])")

_TASKS: Final = {
    "generator": "answers questions from the passages in its prompt",
    "writer": "writes questions with answers about a context",
    "judge": "gives labels as people gave them",
    "reranker": "orders passages by their relevance to a query",
    "embedder": "computes vectors of queries and passages",
}
"""Kind -> what a model of this kind does."""

_ONLY_LOSS: Final = (
    "Only the loss was measured. `ragstone train gains` compares answers before and after training."
)

_UNFIT: Final = {
    "generator": "To answer without passages, or as the only source of a decision about people.",
    "writer": "To write test questions about documents that it was trained on.",
    "judge": "To replace people for labels, languages or systems on which it was not checked.",
    "reranker": "To decide whether a passage is true: its scores are about relevance.",
    "embedder": "To compare vectors with those of the base or of another model.",
}

_USE: Final = {
    "generator": "generator: {name: hf, adapter: FOLDER}      # or local, vllm",
    "writer": "ragstone data generate SOURCE --strategy 'writer(model=FOLDER)'",
    "judge": "ragstone data label SOURCE --model FOLDER",
    "reranker": "reranker: {name: cross-encoder, model: FOLDER}",
    "embedder": "retriever: {name: dense, embedder: {name: sentence-transformers, model: FOLDER}}",
}


def write_card(folder: Path, record: TrainingRecord, results: str = "") -> Path:
    """Write the card of a finished training; `results` is Markdown."""
    text = "\n\n".join([_front(record), *_sections(record, results)]) + "\n"
    return write_document(folder / CARD, text.encode(), "model card", private=False)


def with_results(folder: Path, table: TextTable) -> Path:
    """Write the card of a training again, with a table of measured results.

    Raises:
        ConfigError: the folder has no finished training.
    """
    record = read_record(folder)
    if record is None or not record.digest:
        raise ConfigError(f"{folder} has no finished training ({FILE})", path=folder)
    return write_card(folder, record, table.markdown())


def plain(text: object) -> str:
    r"""Return a text as one line without effect in Markdown or HTML.

    >>> plain("# evil | <b>")
    '\\# evil \\| \\<b\\>'
    """
    line = " ".join(str(text).replace("&", "&amp;").split())
    return _MARKS.sub(r"\\\1", line[: limits.MAX_CAUSE_CHARACTERS])


def _front(record: TrainingRecord) -> str:
    import yaml

    adapter = record.method != "full"
    library = "peft" if adapter else "transformers"
    if record.kind in {"reranker", "embedder"}:
        library = "sentence-transformers"
    found = {
        "base_model": _base(record),
        "library_name": library,
        "license": record.recipe.get("licence") or None,
        "datasets": _data_names(record.data),
        "tags": ["ragstone", record.kind, *(["lora"] if adapter else [])],
    }
    kept = {name: value for name, value in found.items() if value}
    return f"---\n{yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=10**6)}---"


def _sections(record: TrainingRecord, results: str) -> Iterator[str]:
    task = _TASKS.get(record.kind, "was trained")
    yield f"# {plain(_base(record))}: trained {plain(record.kind)}"
    yield (
        f"The model {task}. Ragstone trained it; `{FILE}` in this folder is the record, "
        f"`splits/` has the ids of the queries of each part."
    )
    yield "## Data"
    yield _list(_data_lines(record))
    yield "## Training"
    yield _list(_training_lines(record))
    if record.validation:
        yield _losses(record)
    yield "## Results"
    yield results or _facts(record) or _ONLY_LOSS
    yield "## Not to be used"
    yield _list(
        [
            _UNFIT.get(record.kind, "For other tasks than the trained one."),
            "For numbers about queries or documents that it was trained on: they are too good.",
            "With another base than the one above: the weights do not fit it.",
        ]
    )
    yield "## Memorised data"
    yield (
        "A trained model may repeat parts of its training data word for word, names and private "
        "facts included. If the data may not be published, the weights may not be either. The "
        "licences of the data and of the base apply."
    )
    yield "## Use"
    yield f"```\n{_USE.get(record.kind, 'FOLDER')}\n```"


def _data_lines(record: TrainingRecord) -> Iterator[str]:
    names = ", ".join(plain(name) for name in _data_names(record.data)) or "unknown"
    yield f"Data: {names}"
    yield f"Licence of the data: {plain(record.recipe.get('licence') or 'not stated')}"
    yield f"Examples: {record.recipe.get('examples', 0):,}"
    for name, value in record.data.items():
        if name not in {"name", "sets"}:
            yield f"{plain(name)}: {plain(_short(value))}"
    for name, facts in record.data.get("sets", {}).items():
        yield f"{plain(name)}: {plain(_short(facts))}"


def _training_lines(record: TrainingRecord) -> Iterator[str]:
    keys, optim = record.recipe, record.recipe.get("optim", {})
    bundled = MODELS.get(record.base)
    licence = f", licence {bundled.licence}" if bundled else "; see there for its licence"
    yield f"Base: {plain(_base(record))} (SHA-256 {plain(record.base_digest)}){licence}"
    shape = "" if record.method == "full" else f", {plain(_short(keys.get('adapter', {})))}"
    yield f"Method: {plain(record.method)}{shape}"
    yield f"Steps: {len(record.loss):,} of {keys.get('batch')} examples, seed {keys.get('seed')}"
    yield f"Optimisation: {plain(_short(optim))}"
    if "setting" in keys:
        yield f"Contexts: {plain(_short(keys['setting']))}"
    yield f"Hardware: {_hardware(record)}; {record.seconds:,.0f} s"
    yield f"Versions: {plain(_short(record.environment))}"
    yield f"SHA-256 of the trained files: {plain(record.digest)}"
    yield from map(plain, record.notes)


def _losses(record: TrainingRecord) -> str:
    rows = [(f"{one['step']:,}", f"{one['loss']:.4f}") for one in record.validation]
    kept = f"The weights are those of step {record.kept['step']:,}."
    return f"{TextTable(['step', 'validation loss'], rows).markdown()}\n\n{kept}"


def _facts(record: TrainingRecord) -> str:
    return _list(f"{plain(name)}: {plain(_short(value))}" for name, value in record.facts.items())


def _list(lines: Any) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _base(record: TrainingRecord) -> str:
    """Return the base's name; of a folder its last part, because a card may be published."""
    path = Path(record.base)
    is_folder = path.is_absolute() or record.base.startswith((".", "~"))
    return path.name if is_folder else record.base


def _data_names(data: Mapping[str, Any]) -> list[str]:
    found = [data["name"]] if data.get("name") else list(data.get("sets", {}))
    return [" ".join(str(name).split()) for name in found]


def _hardware(record: TrainingRecord) -> str:
    device = record.recipe.get("device", "cpu")
    if device != "cuda":
        return f"{plain(device)}, {plain(record.environment.get('threads', '?'))} threads"
    import torch

    return plain(torch.cuda.get_device_name()) if torch.cuda.is_available() else "cuda"


def _short(value: object) -> str:
    """Return a value as text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_short(one)}" for name, one in value.items() if one is not None)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

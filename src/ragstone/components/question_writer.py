"""A trained question writer: the form of its prompts and replies, its labels and its model.

The form is that of Know Your RAG (2024), appendix H: the context after a flag of the label; then
the question, a separator and the answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ragstone.components.llm import LlmBackend, resolve_llm
from ragstone.core.spec import ComponentSpec
from ragstone.errors import ConfigError

FILE: Final = "writer.json"
"""The file with the labels of a writer, in the folder of its training."""
SEPARATOR: Final = "<a>"
LABELS: Final = ("fact_single", "summary", "reasoning")
"""The labels of a writer whose folder has no such file."""


def flagged(label: str, context: str) -> str:
    """Return the prompt for a query of a label.

    >>> flagged("summary", "The mill stands on the Orle.")
    '<<summary>> The mill stands on the Orle.'
    """
    return f"<<{label}>> {context}"


def joined(question: str, answer: str) -> str:
    """Return the reply that a writer learns.

    >>> joined("Where is the mill?", "On the Orle")
    'Where is the mill? <a> On the Orle'
    """
    return f"{question} {SEPARATOR} {answer}"


def parted(reply: str) -> tuple[str, str] | None:
    """Return the question and the answer of a reply; None without exactly one separator.

    >>> parted("Where is the mill?<a> On the Orle")
    ('Where is the mill?', 'On the Orle')
    """
    parts = [" ".join(part.split()) for part in reply.split(SEPARATOR)]
    return (parts[0], parts[1]) if len(parts) == 2 else None  # noqa: PLR2004 - question, answer


@dataclass(frozen=True)
class TrainedWriter:
    """A model that writes a question and its answer for a label and a context."""

    llm: LlmBackend
    labels: tuple[str, ...]
    """The labels that it has learnt."""


def resolve_writer(model: ComponentSpec, labels: Sequence[str] = ()) -> TrainedWriter:
    """Return a trained writer.

    Args:
        model: the output folder of `ragstone train writer`, another folder or hub name of a model,
            or the spec of a generator, such as `hf(adapter=FOLDER, batch_size=8)`.
        labels: the labels that it has learnt, if its folder does not name them.

    Raises:
        ConfigError: it is not a language model, or its file of labels cannot be read.
    """
    spec = dict(model) if isinstance(model, Mapping) else hf_spec(model)
    llm = resolve_llm(spec, where="writer")
    folder = Path(str(spec.get("adapter") or spec.get("model") or "")).expanduser()
    return TrainedWriter(llm, tuple(labels) or read_labels(folder) or LABELS)


def hf_spec(model: str, **options: Any) -> dict[str, Any]:
    """Return the spec of a generator that runs an adapter's folder, or a model, by transformers.

    >>> hf_spec("google/flan-t5-large", device="cuda")
    {'name': 'hf', 'model': 'google/flan-t5-large', 'device': 'cuda'}
    """
    is_adapter = (Path(model).expanduser() / "adapter_config.json").is_file()
    return {"name": "hf", "adapter" if is_adapter else "model": model, **options}


def labels_file(labels: Sequence[str]) -> str:
    """Return the content of the file of labels."""
    return json.dumps({"labels": list(labels), "separator": SEPARATOR}, ensure_ascii=False)


def read_labels(folder: Path) -> tuple[str, ...]:
    """Return the labels of the writer in a folder; () if the folder does not name them."""
    path = folder / FILE
    if not path.is_file():
        return ()
    try:
        return tuple(map(str, json.loads(path.read_text(encoding="utf-8"))["labels"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} has no labels of a writer: {error}", path=path) from error

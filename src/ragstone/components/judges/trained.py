"""trained: a classifier of your own, which `ragstone train judge` learnt from people's labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from ragstone.components.judges.verdict import Item, Verdict, VerdictJudge
from ragstone.core.component import KEY_BY_CONTENT, NOT_IN_CACHE_KEY
from ragstone.core.environment import require
from ragstone.core.prompts import show_history
from ragstone.errors import ConfigError, did_you_mean
from ragstone.models.text_classifier import (
    ClassifierFacts,
    chosen,
    classifier_digest,
    load_classifier_folder,
    read_facts,
)
from ragstone.protocols import Services

INPUTS: Final = ("query", "history", "gold", "answer", "passages")
"""The texts of an item that a classifier can read."""


def input_names(written: str) -> tuple[str, ...]:
    """Return the texts that an input names, in the order of reading.

    Raises:
        ConfigError: a text is unknown.

    >>> input_names("query + passages")
    ('query', 'passages')
    """
    names = tuple(part.strip() for part in written.split("+"))
    for name in names:
        if name not in INPUTS:
            raise ConfigError(
                f"input: unknown text {name!r}{did_you_mean(name, INPUTS)}; join texts with +",
                key="input",
                value=written,
            )
    return names


def input_texts(item: Item, names: Sequence[str]) -> tuple[str, ...]:
    """Return the texts of an item that a classifier reads."""
    texts = {
        "query": item.query.text,
        "history": show_history(item.query.history),
        "gold": "\n".join(item.query.gold_answers),
        "answer": item.answer or "",
        "passages": "\n".join(item.passages),
    }
    return tuple(texts[name] for name in names)


@dataclass(frozen=True)
class Trained(VerdictJudge):
    """The label that a classifier of your own gives, without a call of a model.

    The classifier has learnt a label from people (`ragstone train judge`). Of two labels, the value
    is 1 for the positive one and 0 for the other, and the part `NAME:probability` is the calibrated
    probability of the positive one. Of more labels, the metric of each is 1 or 0, so its mean is a
    share, and `NAME:probability` is that of the chosen label.

    Args:
        model: the output folder of the training.
        metric: name of the metric; by default the label that was learnt.
        device: the kind of device that it runs on.
    """

    model: str = field(default="", metadata=KEY_BY_CONTENT)
    metric: str = ""
    device: Literal["cpu", "cuda", "mps", "xpu"] = field(default="cpu", metadata=NOT_IN_CACHE_KEY)

    name: ClassVar[str] = "trained"
    unnamed: ClassVar[str] = "model"
    requires_extra = "hf"
    needs_model = True

    def __post_init__(self) -> None:
        """Read the facts of the classifier before anything is run."""
        super().__post_init__()
        if not self.model:
            raise ConfigError(
                "judge 'trained' needs the output folder of a training, for example "
                "trained(model=my-judge)",
                key="model",
            )
        _ = self.facts

    @cached_property
    def facts(self) -> ClassifierFacts:
        """What the classifier decides."""
        return read_facts(Path(self.model))

    @property
    def key_values(self) -> Mapping[str, Any]:
        """The digest of the folder's files, wherever it is."""
        return {"model": classifier_digest(Path(self.model))}

    def __str__(self) -> str:
        """Return the name of the metric."""
        return self.metric or self.facts.name

    @property
    def metrics(self) -> tuple[str, ...]:
        """The label, or one metric per label if there are more than two; and the probability."""
        name = str(self)
        shares = (name,) if self.facts.is_binary else tuple(map(self._named, self.facts.labels))
        return (*shares, self._named("probability"))

    @property
    def graded(self) -> bool:
        """Whether values other than 0 and 1 occur."""
        return False

    def _named(self, part: str) -> str:
        return f"{self}:{part}"

    def check(self, services: Services) -> None:
        """Raise `MissingDependency` if torch or transformers is not installed."""
        require(f"the judge {str(self)!r}", "hf", "torch", "transformers")

    def without_call(self, item: Item) -> Verdict | None:
        """Return the verdict on an item that lacks a text that the classifier reads, else None."""
        inputs = self.facts.inputs
        if "answer" in inputs and item.answer is None:
            why = item.problem or "the system failed"
            return Verdict.failed(item, f"no answer to judge: {why}")
        texts = dict(zip(inputs, input_texts(item, inputs), strict=True))
        # A first turn has no history, and a rated answer may have no query.
        lacking = [n for n in inputs if n not in {"history", "query"} and not texts[n].strip()]
        return Verdict.settled(item, f"no {' and '.join(lacking)} to read") if lacking else None

    def verdicts(self, items: Sequence[Item], services: Services) -> list[Verdict]:
        """Return one verdict per item, in order."""
        settled = [self.without_call(item) for item in items]
        open_items = [item for item, known in zip(items, settled, strict=True) if known is None]
        found = iter(self._labelled(open_items) if open_items else ())
        return [known or next(found) for known in settled]

    def _labelled(self, items: Sequence[Item]) -> list[Verdict]:
        facts = self.facts
        classifier = load_classifier_folder(Path(self.model).expanduser(), self.device)
        shares = classifier.probabilities([input_texts(item, facts.inputs) for item in items])
        labels = chosen(shares, facts)
        return [
            self._verdict(item, label, row)
            for item, label, row in zip(items, labels, shares.tolist(), strict=True)
        ]

    def _verdict(self, item: Item, label: str, shares: Sequence[float]) -> Verdict:
        facts = self.facts
        of = dict(zip(facts.labels, shares, strict=True))
        sure = of[facts.positive] if facts.is_binary else of[label]
        parts = {self._named("probability"): sure}
        if not facts.is_binary:
            parts |= {self._named(name): float(name == label) for name in facts.labels}
        value = float(label == facts.positive) if facts.is_binary else 1.0
        return Verdict(item.item_id, value, label, parts)

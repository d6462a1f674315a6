"""Labelling queries by your own taxonomy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.building.label_examples import LabelExample
from ragstone.calls.prices import PromptSize, TokenEstimator
from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import ModelJudge, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice, Numbered, VerdictSchema
from ragstone.core import limits
from ragstone.data.taxonomy import SEPARATOR, TaxonomyFile, load_taxonomy
from ragstone.types import Query

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.types import ChatMessage


@dataclass(frozen=True)
class Labeller(ModelJudge):
    """Gives each item one label of a taxonomy, or all that fit if a query may have several.

    Args:
        taxonomy: name or file of the taxonomy.
        examples: labels by people, which each call shows as earlier turns.
    """

    taxonomy: str = "know-your-rag"
    examples: tuple[LabelExample, ...] = ()

    name: ClassVar[str] = "label"
    schema: ClassVar[VerdictSchema[Any]] = Choice()
    needs: ClassVar[frozenset[str]] = frozenset()
    variables: ClassVar[tuple[str, ...]] = ("query", "history", "passages")
    default_user: ClassVar[str] = "{query}"

    def __post_init__(self) -> None:
        """Read the taxonomy before anything is run."""
        if not self.user:
            object.__setattr__(self, "user", _template(self._file))
        super().__post_init__()

    @cached_property
    def _file(self) -> TaxonomyFile:
        return load_taxonomy(self.taxonomy)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the file."""
        return tuple(self._file.labels)

    @property
    def taxonomy_name(self) -> str:
        """The taxonomy's name in its file."""
        return self._file.name

    def without_call(self, item: Item) -> Verdict | None:
        """Make no call if a context is needed and there is none."""
        if self._file.context and not any(p.strip() for p in item.passages):
            return Verdict.settled(item, "the query has no gold passage, which the taxonomy needs")
        if any(example.is_of(item) for example in self.examples):
            return Verdict.settled(item, "it is one of the examples")
        return None

    @cached_property
    def verdict_schema(self) -> VerdictSchema[Any]:
        """A choice among the labels, or a yes or no to each."""
        return Numbered(len(self.labels)) if self._file.several else Choice(self.labels)

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return a call for one of the labels, or for a yes or no to each."""
        call = self.judge_call(self.verdict_schema, self.values(item), item.passages)
        *system, asked = call.messages
        return [replace(call, messages=(*system, *self.shown_examples, asked))]

    @cached_property
    def shown_examples(self) -> tuple[ChatMessage, ...]:
        """The turns of the examples: the question to the model, and the reply."""
        found: list[ChatMessage] = []
        for example in self.examples:
            item = Item(Query("", example.query), "", example.passages)
            messages = self.messages(self.verdict_prompt, self.verdict_schema, self.values(item))
            found += [messages[-1], ("assistant", self._reply(example))]
        return tuple(found)

    @property
    def example_tokens(self) -> int:
        """Estimated tokens that the examples add to each call."""
        size = sum(len(text.encode()) for _, text in self.shown_examples)
        return round(TokenEstimator().tokens(PromptSize(prompt_bytes=size))[0])

    def _reply(self, example: LabelExample) -> str:
        reason = f"{example.reason}\n" if self.explain and example.reason else ""
        if self._file.several:
            words = ("yes" if label in example.labels else "no" for label in self.labels)
            return reason + "\n".join(f"{n}: {word}" for n, word in enumerate(words, start=1))
        return f"{reason}Verdict: [[{example.labels[0]}]]" if self.explain else example.labels[0]

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return the label, or the labels with a separator between them."""
        if not self._file.several:
            return Verdict(item.item_id, 1.0, str(values[0]))
        pairs = zip(self.labels, values[0], strict=True)
        fitting = [label for label, verdict in pairs if verdict == "yes"]
        if not fitting:
            return Verdict.failed(item, "no label fits, according to the model")
        return Verdict(item.item_id, 1.0, SEPARATOR.join(fitting))


def _template(file: TaxonomyFile) -> str:
    marks = [f"{n}." if file.several else "-" for n in range(1, len(file.labels) + 1)]
    named = zip(marks, file.labels.items(), strict=True)
    meanings = "\n".join(f"{mark} {name}: {meaning};" for mark, (name, meaning) in named)
    task = f"{file.task}\n{meanings}".replace("{", "{{").replace("}", "}}")
    shown = {"query": "question", **({"passages": "context"} if file.context else {})}
    return user_template(task, shown)


def gold_items(dataset: Dataset, most: int = limits.MAX_GOLD_PASSAGES) -> list[Item]:
    """Return each query with its gold passages, best grade first, at most `most` of them."""
    found = []
    for query in dataset.queries:
        grades = sorted(dataset.qrels.get(query.query_id, {}).items(), key=lambda pair: -pair[1])
        ids = [i for i, grade in grades if grade > 0 and i in dataset.corpus][:most]
        found.append(Item(query, "", tuple(dataset.corpus[i].full_text for i in ids)))
    return found

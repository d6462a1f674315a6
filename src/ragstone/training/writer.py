"""Training of a question writer: it learns question and answer from a label and a context.

After Know Your RAG (2024), appendix H. The base is a model of the T5 family, whose tokenizer gets
the separator as a new token, or a chat model, which writes the separator with the tokens it has:
its adapter then fits the base as it is, in transformers, llama.cpp and vLLM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from ragstone.components.question_writer import FILE, LABELS, SEPARATOR, labels_file
from ragstone.data.dataset import Dataset
from ragstone.errors import ConfigError
from ragstone.models.causal_lm import load_causal_lm
from ragstone.models.locate import find_model, weights_digest
from ragstone.models.seq2seq import is_seq2seq, load_seq2seq
from ragstone.training.causal import CausalLearner
from ragstone.training.examples import Example, chat_example
from ragstone.training.fitting import Learner
from ragstone.training.plan import require_room_for_base
from ragstone.training.recipe import Recipe
from ragstone.training.record import data_facts
from ragstone.training.seq2seq import Seq2SeqLearner, add_token, seq2seq_example
from ragstone.training.splits import split
from ragstone.training.training import Training
from ragstone.training.weights import quantization, require_training, save_weights, with_adapter
from ragstone.training.writer_data import Curriculum, Lesson, joined_sets


@dataclass(frozen=True, kw_only=True)
class WriterRecipe(Recipe):
    """The keys of `ragstone train writer`."""

    data: Any
    """A generated test set, or several: a list, or a mapping of names."""
    label: str = "taxonomy"
    """The queries' label that flags a context; `asked_label` is the one that was asked for."""
    labels: tuple[str, ...] = LABELS
    """The values of the label that are learned."""
    validation: Any = 0.2
    test: Any = 0.0

    @property
    def curriculum(self) -> Curriculum:
        """Which queries are learned."""
        return Curriculum(self.label, self.labels)


class _Base(Protocol):
    """A base of one architecture, with its tokenizer."""

    tokenizer: Any

    def example(self, lesson: Lesson) -> Example:
        """Return a query as tokens."""
        ...

    def learner(self) -> Learner[Example]:
        """Return the model in training."""
        ...


def writer_training(recipe: WriterRecipe, sets: Mapping[str, Dataset]) -> Training[Example]:
    """Return the training of a question writer; nothing is trained yet.

    Args:
        recipe: the keys of the file.
        sets: name -> data set.

    Raises:
        MissingDependency: a package of the extra `train` is missing.
        ModelFileError: the base cannot be loaded.
        ConfigError: nothing can be learned, or a key does not fit the base.
    """
    require_training()
    whole, notes = joined_sets(sets, recipe.curriculum)
    splits = split(whole, recipe.validation, recipe.test, recipe.seed)
    base = _base(recipe)
    made: dict[str, list[Example]] = {}
    for part in ("train", "validation"):
        lessons, _ = recipe.curriculum.lessons(splits.data[part], getattr(splits, part))
        examples = [base.example(lesson) for lesson in lessons]
        made[part] = [one for one in examples if len(one) <= recipe.max_tokens]
        if long := len(examples) - len(made[part]):
            text = f"{long} examples of more than {recipe.max_tokens} tokens were left out ({part})"
            notes = (*notes, text)
    data = {"sets": {name: data_facts(one) for name, one in sets.items()}, **splits.facts()}
    return Training(
        "writer",
        recipe,
        weights_digest(recipe.base),
        data,
        made["train"],
        made["validation"],
        recipe.optim.batch,
        base.learner,
        partial(_save, recipe.labels, base.tokenizer),
        notes,
        {"labels": list(recipe.labels), "separator": SEPARATOR},
        splits.files(),
    )


def _save(labels: Sequence[str], tokenizer: Any, done: Any, folder: Path) -> None:
    save_weights(done.model, tokenizer, folder)
    if isinstance(done, Seq2SeqLearner):
        tokenizer.save_pretrained(folder)  # It has the separator.
    (folder / FILE).write_text(labels_file(labels), encoding="utf-8")


def _base(recipe: WriterRecipe) -> _Base:
    path = find_model(recipe.base)
    require_room_for_base(path, recipe.base, recipe.optim.dtype, recipe.device)
    return _Seq2Seq(recipe, path) if is_seq2seq(path) else _Causal(recipe, path)


class _Causal:
    def __init__(self, recipe: WriterRecipe, path: Path) -> None:
        self.recipe = recipe
        self.tokenizer, self.model = load_causal_lm(
            path, recipe.base, recipe.device, recipe.optim.dtype, quantization(recipe.method)
        )

    def example(self, lesson: Lesson) -> Example:
        return chat_example(self.tokenizer, (("user", lesson.prompt),), lesson.target)

    def learner(self) -> CausalLearner:
        return CausalLearner.of(with_adapter(self.model, self.recipe), self.tokenizer, self.recipe)


class _Seq2Seq:
    def __init__(self, recipe: WriterRecipe, path: Path) -> None:
        if recipe.method not in ("lora", "full"):
            raise ConfigError(
                f"the base {recipe.base!r} has an encoder and a decoder, which is trained with "
                f"method lora or full, not {recipe.method}",
                key="method",
                value=recipe.method,
            )
        if recipe.optim.packing:
            raise ConfigError(
                f"the base {recipe.base!r} has an encoder and a decoder, whose examples cannot "
                "share a sequence; remove optim.packing",
                key="optim.packing",
            )
        self.recipe = recipe
        loaded = load_seq2seq(path, recipe.base, recipe.device, recipe.optim.dtype)
        self.tokenizer, self.model = loaded
        self.rows = add_token(self.model, self.tokenizer, SEPARATOR)

    def example(self, lesson: Lesson) -> Example:
        return seq2seq_example(self.tokenizer, lesson.prompt, lesson.target)

    def learner(self) -> Seq2SeqLearner:
        model = with_adapter(self.model, self.recipe, "SEQ_2_SEQ_LM", self.rows)
        return Seq2SeqLearner(model, self.model.config.pad_token_id, self.recipe)

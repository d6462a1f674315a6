"""The probability that two answers to a question are equivalent, from a BERT classifier.

The input is that of Bulian et al. (EMNLP 2022): [CLS] candidate [SEP] reference [SEP] question
[SEP]. transformers runs the model.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ragstone.core import limits
from ragstone.core.environment import require
from ragstone.core.screen_text import cause_of
from ragstone.errors import ModelFileError
from ragstone.models.locate import ENCODER, FROM_FILES, find_model
from ragstone.models.quiet import quiet

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values

_LOG: Final = logging.getLogger(__name__)
_MARKS: Final = 4
"""Special tokens of an input: one at the start, and one after each text."""
_CLASSES: Final = 2
"""Outputs of a classifier whose second class is "equivalent"."""


class AnswerTriple(NamedTuple):
    """An answer, a gold answer and their question."""

    candidate: str
    reference: str
    question: str


class Input(NamedTuple):
    """The tokens of a comparison."""

    ids: list[int]
    segments: list[int]
    cut: bool
    """Whether a text was cut."""


@lru_cache(maxsize=1)
def load_classifier(model: str, max_tokens: int) -> EquivalenceClassifier:
    """Return a classifier ready to run, on a GPU if torch finds one.

    Raises:
        MissingDependency: torch or transformers is not installed.
        ModelFileError: the model is missing, transformers cannot load it, or it is not a classifier
            of one or two outputs whose tokenizer has the marks of BERT.
    """
    require("BEM", "hf", "torch", "transformers")
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = find_model(model, kind=ENCODER)
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(folder, **FROM_FILES)
            net, found = AutoModelForSequenceClassification.from_pretrained(
                folder, **FROM_FILES, dtype=torch.float32, output_loading_info=True
            )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise ModelFileError(
            f"transformers cannot load the classifier {model!r} from {folder}: {cause_of(error)}"
        ) from error
    marks = None not in (tokenizer.cls_token_id, tokenizer.sep_token_id)
    if net.config.num_labels > _CLASSES or found["missing_keys"] or not marks:
        raise ModelFileError(
            f"the model {model!r} is not a classifier of answer equivalence: BEM needs weights of "
            "one or two outputs and a tokenizer with [CLS] and [SEP], as "
            "kortukov/answer-equivalence-bem has them"
        )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    places = getattr(net.config, "max_position_embeddings", max_tokens)
    return EquivalenceClassifier(
        tokenizer, net.to(device).eval(), device, min(max_tokens, int(places))
    )


@dataclass(eq=False)
class EquivalenceClassifier:
    """A tokenizer and a model that transformers loaded."""

    tokenizer: Any
    net: Any
    device: str
    limit: int
    """Maximum tokens of an input, marks included."""

    def probabilities(self, triples: Sequence[AnswerTriple]) -> Values:
        """Return the probability that candidate and reference are equivalent, per comparison.

        Equal triples are computed once.
        """
        inputs = {one: self._input(one) for one in dict.fromkeys(triples)}
        cut = sum(one.cut for one in inputs.values())
        if cut:
            _LOG.warning("BEM: %d inputs cut to %d tokens", cut, self.limit)
        found: dict[AnswerTriple, float] = {}
        for batch in _batches(sorted(inputs, key=lambda one: (len(inputs[one].ids), one)), inputs):
            found.update(zip(batch, self._run([inputs[one] for one in batch]), strict=True))
        return np.array([found[one] for one in triples], float)

    def _input(self, texts: AnswerTriple) -> Input:
        """Return the input of three texts.

        The candidate is the first segment; reference and question share the second one, unless the
        model has three. If the input is too long, the longest texts are cut.
        """
        parts = [self.tokenizer.encode(text, add_special_tokens=False) for text in texts]
        length = _common_length(list(map(len, parts)), self.limit - _MARKS)
        kept = [part[:length] for part in parts]
        last = getattr(self.net.config, "type_vocab_size", 1) - 1
        ids, segments = [self.tokenizer.cls_token_id], [0]
        for place, part in enumerate(kept):
            ids += [*part, self.tokenizer.sep_token_id]
            segments += [min(place, last)] * (len(part) + 1)
        return Input(ids, segments, kept != parts)

    def _run(self, inputs: Sequence[Input]) -> list[float]:
        import torch

        width = max(len(one.ids) for one in inputs)

        def padded(rows: Iterable[list[int]], pad: int = 0) -> Any:
            filled = [[*row, *[pad] * (width - len(row))] for row in rows]
            return torch.tensor(filled, device=self.device)

        named = {
            "input_ids": padded((one.ids for one in inputs), self.tokenizer.pad_token_id or 0),
            "attention_mask": padded([1] * len(one.ids) for one in inputs),
        }
        if hasattr(self.net.config, "type_vocab_size"):
            named["token_type_ids"] = padded(one.segments for one in inputs)
        with torch.inference_mode():
            logits = self.net(**named).logits.float().cpu()
        alone = logits.shape[1] == 1
        found = torch.sigmoid(logits[:, 0]) if alone else torch.softmax(logits, dim=1)[:, 1]
        probabilities: list[float] = found.tolist()
        return probabilities


def _common_length(lengths: list[int], room: int) -> int:
    """Return the largest length to which texts are cut so that together they fit.

    >>> _common_length([300, 5, 10], 100), _common_length([3, 5], 100)
    (85, 5)
    """
    length = max(lengths)
    for place, shorter in enumerate(ordered := sorted(lengths)):
        share = (room - sum(ordered[:place])) // (len(ordered) - place)
        if shorter > share:
            return max(share, 0)
    return length


def _batches(
    ordered: Sequence[AnswerTriple], inputs: Mapping[AnswerTriple, Input]
) -> Iterator[list[AnswerTriple]]:
    """Yield the triples in order, with at most `ENCODER_BATCH_TOKENS` tokens at a time."""
    batch: list[AnswerTriple] = []
    for one in ordered:
        if batch and len(inputs[one].ids) * (len(batch) + 1) > limits.ENCODER_BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch

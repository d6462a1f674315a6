"""Examples of a causal language model: a prompt whose tokens are given, and a target to learn.

The mask is a property of the parts: prompt and target are tokenised apart, as they are when the
model answers, so nothing is searched in decoded text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.types import ChatMessage

IGNORED: Final = -100
"""The label of a token without a loss, as torch's cross-entropy has it."""


@dataclass(frozen=True, slots=True)
class Example:
    """One example as tokens."""

    prompt: tuple[int, ...]
    target: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.prompt) + len(self.target)


def chat_example(tokenizer: Any, messages: Sequence[ChatMessage], answer: str) -> Example:
    """Return the example of a chat: the prompt as sent, the target with the end of the turn.

    Args:
        tokenizer: one of transformers, with a chat template.
        messages: the prompt as (role, text).
        answer: the text that the model is to write.
    """
    sent = [{"role": role, "content": text} for role, text in messages]
    prompt = tokenizer.apply_chat_template(sent, tokenize=False, add_generation_prompt=True)
    whole = tokenizer.apply_chat_template(
        [*sent, {"role": "assistant", "content": answer}], tokenize=False
    )
    # A template may write an answer in another way, such as without its spaces.
    target = whole.removeprefix(prompt) if whole.startswith(prompt) else answer
    found = _ids(tokenizer, target)
    end = tokenizer.eos_token_id
    ends = found.index(end) if end in found else len(found)
    return Example(_ids(tokenizer, prompt), (*found[:ends], end))


def _ids(tokenizer: Any, text: str) -> tuple[int, ...]:
    # The template has written the special tokens already.
    return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])


def tokens_digest(examples: Sequence[object]) -> str:
    """Return the SHA-256 of the tokens of examples, in order; "" for examples of another kind."""
    digest, made = hashlib.sha256(), [one for one in examples if isinstance(one, Example)]
    for one in made:
        digest.update(repr((one.prompt, one.target)).encode())
    return digest.hexdigest() if made else ""


def padded(examples: Sequence[Example], padding: int) -> dict[str, Any]:
    """Return a batch with one example per row; shapes (examples, longest).

    Short rows end with ``padding``, without attention and without loss: the labels of the examples
    ``((5, 6), (7,))`` and ``((5,), (7,))`` are ``[[-100, -100, 7], [-100, 7, -100]]``.
    """
    import torch

    longest = max(map(len, examples))
    rows = [(e, longest - len(e)) for e in examples]
    ids = [[*e.prompt, *e.target, *[padding] * gap] for e, gap in rows]
    labels = [[*[IGNORED] * len(e.prompt), *e.target, *[IGNORED] * gap] for e, gap in rows]
    mask = [[1] * len(e) + [0] * gap for e, gap in rows]
    return {
        "input_ids": torch.tensor(ids),
        "attention_mask": torch.tensor(mask),
        "labels": torch.tensor(labels),
    }


def packed(examples: Sequence[Example]) -> dict[str, Any]:
    """Return a batch with all examples in one row; shapes (1, sum of the lengths).

    Positions begin again with each example, from which transformers derives a mask that lets each
    token see its own example alone.
    """
    import torch

    ids = [token for e in examples for token in (*e.prompt, *e.target)]
    # The first token of an example is not a target of the example before it.
    labels = [one for e in examples for one in (*[IGNORED] * len(e.prompt), *e.target)]
    positions = [place for e in examples for place in range(len(e))]
    return {
        "input_ids": torch.tensor([ids]),
        "position_ids": torch.tensor([positions]),
        "labels": torch.tensor([labels]),
    }

"""Prompt and target as tokens; padded and packed batches."""

from __future__ import annotations

import pytest
from tests.fakes.tiny_chat_model import TEMPLATE, tiny_tokenizer

from ragstone.training.examples import IGNORED, Example, chat_example, packed, padded

pytestmark = pytest.mark.needs("torch", "transformers")
MESSAGES = [("system", "Be short."), ("user", "When?")]


def test_the_prompt_is_what_is_sent_and_the_target_ends_the_turn() -> None:
    """The target is the answer with the end token, which the template writes after it."""
    tokenizer = tiny_tokenizer()
    found = chat_example(tokenizer, MESSAGES, "at 3")
    assert tokenizer.decode(list(found.prompt)).endswith("<|im_start|>assistant\n")
    assert tokenizer.decode(list(found.target)) == "at 3<|im_end|>"
    assert len(found) == len(found.prompt) + len(found.target)


def test_a_template_that_changes_the_prompt_falls_back_to_the_answer() -> None:
    """If the whole chat does not begin with the prompt, the answer alone is the target."""
    other = TEMPLATE.replace("assistant\n{% endif", "assistant:\n{% endif")
    tokenizer = tiny_tokenizer(other)
    found = chat_example(tokenizer, MESSAGES, "at 3")
    assert tokenizer.decode(list(found.target)) == "at 3<|im_end|>"


def test_rows_are_padded_on_the_right_and_prompts_have_no_loss() -> None:
    """Short rows have no attention and no label in the gap."""
    batch = padded([Example((5, 6), (7,)), Example((5,), (7,))], 0)
    assert batch["input_ids"].tolist() == [[5, 6, 7], [5, 7, 0]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 1, 0]]
    assert batch["labels"].tolist() == [[IGNORED, IGNORED, 7], [IGNORED, 7, IGNORED]]


def test_a_packed_row_counts_each_example_from_zero() -> None:
    """Positions begin again, and the first token of an example is never a target."""
    batch = packed([Example((5, 6), (7,)), Example((8,), (9, 1))])
    assert batch["input_ids"].tolist() == [[5, 6, 7, 8, 9, 1]]
    assert batch["position_ids"].tolist() == [[0, 1, 2, 0, 1, 2]]
    assert batch["labels"].tolist() == [[IGNORED, IGNORED, 7, IGNORED, 9, 1]]

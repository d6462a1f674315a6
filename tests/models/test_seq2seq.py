"""Models of the T5 family in this process: loading, batches, and the rows of new tokens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.tiny_chat_model import tiny_chat_model
from tests.fakes.tiny_t5 import tiny_t5

from ragstone.calls.client import Calls
from ragstone.calls.types import Failure, Outcome, Reply, Request, Sampling, chat
from ragstone.components.generators.transformers import Hf
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.in_process import unload
from ragstone.models.seq2seq import Seq2SeqModel, give_rows, is_seq2seq, load_seq2seq

pytestmark = pytest.mark.needs("torch", "transformers", "peft")
ASKED = [
    chat("Bridge", system="Answer.", max_tokens=6),
    chat("Name a colour of the rainbow.", max_tokens=3),
    Request((("user", "x"),), Sampling(max_tokens=4, temperature=1.0, seed=3)),
]


@pytest.fixture(autouse=True)
def nothing_in_memory() -> Iterator[None]:
    """Leave no model in memory."""
    yield
    unload()


def ask(model: Hf, log: Path) -> list[Outcome]:
    """Return how the requests ended."""
    with Calls.at(log) as calls:
        return list(calls.ask(model.endpoint, ASKED))


def test_a_folder_says_what_it_is(tmp_path: Path) -> None:
    """An encoder with a decoder, a causal model, no folder."""
    assert is_seq2seq(tiny_t5(tmp_path / "t5"))
    assert not is_seq2seq(tiny_chat_model(tmp_path / "chat"))
    assert not is_seq2seq(tmp_path / "none.gguf")


def test_hf_answers_alone_and_together(tmp_path: Path) -> None:
    """A batch has the replies of each prompt alone; each prompt has its length and its sampling."""
    name = str(tiny_t5(tmp_path / "t5"))
    alone = ask(Hf(name), tmp_path / "a.sqlite")
    together = ask(Hf(name, batch_size=3), tmp_path / "b.sqlite")

    replies = [one for one in alone if isinstance(one, Reply)]
    assert [one.rendered for one in replies] == [
        "Answer.\n\nBridge",
        "Name a colour of the rainbow.",
        "x",
    ]
    assert [one.text for one in replies] == [one.text for one in together if isinstance(one, Reply)]
    assert (replies[1].tokens_out or 0) <= 3
    assert replies[0].tokens_in == len("Answer.\n\nBridge") + 1


def test_a_prompt_longer_than_the_limit_is_a_failed_call(tmp_path: Path) -> None:
    """The other parameters of a causal model are known, or refused by name."""
    name = str(tiny_t5(tmp_path / "t5"))
    long = ask(Hf(name, max_input_tokens=10), tmp_path / "a.sqlite")
    assert [isinstance(one, Failure) for one in long] == [True, True, False]
    with pytest.raises(ConfigError, match="not quantised: remove `quantization`"):
        Seq2SeqModel(Path(name), "t5", "cpu", "float32", quantization="int4")


@pytest.mark.parametrize("own_output", [False, True])
def test_a_new_row_leaves_the_others_as_they_are(tmp_path: Path, own_output: bool) -> None:
    """Rows of the output that differ from the embeddings, as in FLAN-T5, stay apart."""
    import torch

    path = tiny_t5(tmp_path / "t5", own_output=own_output, spare=2)
    tokenizer, model = load_seq2seq(path, "t5", "cpu", "float32")
    output = model.get_output_embeddings().weight.detach().clone()
    shared = model.get_input_embeddings().weight.detach().clone()
    assert torch.equal(output, shared) != own_output

    give_rows(model, len(tokenizer) + 2)
    assert len(model.get_input_embeddings().weight) == len(shared)
    give_rows(model, len(tokenizer) + 3)
    assert torch.equal(model.get_output_embeddings().weight[:-1], output)
    assert torch.equal(model.get_input_embeddings().weight[:-1], shared)


def test_a_damaged_model_is_an_error(tmp_path: Path) -> None:
    """The folder is named."""
    path = tiny_t5(tmp_path / "t5")
    (path / "tokenizer.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"cannot load the model 't5' from .*t5"):
        load_seq2seq(path, "t5", "cpu", "float32")

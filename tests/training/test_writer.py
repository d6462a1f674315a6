"""A question writer of the T5 family or of a chat model: trained, resumed, saved, loaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.ferries import LABELS, ferries
from tests.fakes.tiny_chat_model import tiny_chat_model
from tests.fakes.tiny_t5 import tiny_t5

from ragstone.calls.client import Calls
from ragstone.calls.types import Reply, chat
from ragstone.components.question_writer import resolve_writer
from ragstone.errors import ConfigError
from ragstone.models.adapters import read_adapter
from ragstone.models.causal_lm import add_adapter
from ragstone.models.in_process import unload
from ragstone.models.merging import merge_folder
from ragstone.models.seq2seq import load_seq2seq
from ragstone.protocols import Services
from ragstone.training.fitting import Fitting
from ragstone.training.recipe import AdapterShape, Optim
from ragstone.training.seq2seq import Seq2SeqLearner
from ragstone.training.training import Training
from ragstone.training.writer import WriterRecipe, writer_training

pytestmark = pytest.mark.needs("torch", "transformers", "peft")
FEW = Optim(steps=4, batch=2, lr=1e-2, validations=2, checkpoint_every=1)
BASES = {
    "t5": tiny_t5,
    "flan": lambda folder: tiny_t5(folder, own_output=True, spare=3),
    "chat": tiny_chat_model,
}


@pytest.fixture(autouse=True)
def nothing_in_memory() -> Iterator[None]:
    """Leave no model in memory."""
    yield
    unload()


def recipe(folder: Path, base: str = "t5", output: str = "out", **more: Any) -> WriterRecipe:
    """Return the keys of a short training of a tiny base."""
    if not (folder / base).exists():
        BASES[base](folder / base)
    given = {"optim": FEW, "adapter": AdapterShape(r=4, alpha=8), "labels": LABELS, **more}
    return WriterRecipe(base=str(folder / base), data="x", output=str(folder / output), **given)


def made(keys: WriterRecipe, count: int = 5) -> Training[Any]:
    """Return the training on ferries."""
    return writer_training(keys, {"ferries": ferries(count=count)})


@pytest.mark.parametrize("base", BASES)
def test_it_trains_saves_loads_and_writes(tmp_path: Path, base: str) -> None:
    """The validation loss falls; the saved writer answers in its form."""
    keys = recipe(tmp_path, base)
    training = made(keys)
    record = training.run()

    assert record.validation[-1]["loss"] < record.validation[0]["loss"]
    assert (record.data["train"], record.data["validation"]) == (8, 2)
    writer = resolve_writer(keys.output)
    assert writer.labels == LABELS
    with Calls.at(tmp_path / "calls.sqlite") as calls:
        request = chat("<<summary>> Orle", max_tokens=5)
        [reply] = writer.llm.ask([request], Services(calls=calls), title="writing")
    assert isinstance(reply, Reply)
    assert 0 < (reply.tokens_out or 0) <= 5


@pytest.mark.parametrize("base", ["t5", "flan"])
def test_loading_restores_the_rows_of_the_separator(tmp_path: Path, base: str) -> None:
    """A loaded adapter and a merged model have the loss that the training measured last."""
    import torch

    keys = recipe(tmp_path, base)
    training = made(keys)
    record = training.run()
    adapter = read_adapter(keys.output)
    merged = merge_folder(adapter, tmp_path / "merged").output
    for path, added in ((Path(keys.base), adapter), (merged, None)):
        tokenizer, model = load_seq2seq(path, base, "cpu", "float32", added)
        model = add_adapter(model, added) if added else model
        learner = Seq2SeqLearner(model.eval(), tokenizer.pad_token_id, keys)
        with torch.no_grad():
            loss = float(learner.loss(training.validation)) / learner.targets(training.validation)
        assert loss == pytest.approx(record.validation[-1]["loss"], rel=1e-5)
    assert tokenizer.convert_tokens_to_ids("<a>") in training.validation[0].target


@pytest.mark.parametrize("base", ["t5", "chat"])
def test_a_killed_training_ends_with_the_same_digest(
    tmp_path: Path, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on from its checkpoint."""
    whole = made(recipe(tmp_path, base, "whole")).run()
    step = Fitting._step

    def killed(self: Fitting[Any], at: Any, optimizer: Any) -> None:
        if at.step == 2:
            raise KeyboardInterrupt
        step(self, at, optimizer)

    keys = recipe(tmp_path, base, "killed")
    monkeypatch.setattr(Fitting, "_step", killed)
    with pytest.raises(KeyboardInterrupt):
        made(keys).run()
    monkeypatch.setattr(Fitting, "_step", step)
    assert (tmp_path / "killed" / "checkpoint").is_dir()
    assert made(keys).run().digest == whole.digest


def test_a_full_training_writes_a_model_that_loads(tmp_path: Path) -> None:
    """A folder of its own with the separator and the labels."""
    keys = recipe(tmp_path, method="full")
    made(keys).run()
    tokenizer, model = load_seq2seq(Path(keys.output), "out", "cpu", "float32")
    assert len(model.get_input_embeddings().weight) == len(tokenizer)
    assert tokenizer.tokenize("Who?<a>Ann").count("<a>") == 1
    assert resolve_writer(keys.output).labels == LABELS


def test_the_labels_of_a_context_are_in_one_part(tmp_path: Path) -> None:
    """The files of the splits say which queries are learned."""
    made(recipe(tmp_path)).run()
    parts = [
        {line.partition("-")[0] for line in (path.read_text("utf-8").split())}
        for path in sorted((tmp_path / "out" / "splits").glob("*.txt"))
    ]
    assert sum(map(len, parts)) == len(set().union(*parts)) == 5


def test_what_does_not_fit_is_refused_or_noted(tmp_path: Path) -> None:
    """Methods and packing of a base with a decoder of its own; examples that are too long."""
    keys = recipe(tmp_path)
    with pytest.raises(ConfigError, match="method lora or full, not qlora"):
        made(replace(keys, method="qlora(4)"))
    with pytest.raises(ConfigError, match=r"remove optim\.packing"):
        made(replace(keys, optim=replace(FEW, packing=True)))
    with pytest.raises(ConfigError, match="no query of ferries can be learned"):
        made(replace(keys, labels=("reasoning",)))
    short = made(replace(keys, max_tokens=10))
    assert "8 examples of more than 10 tokens were left out (train)" in short.notes
    with pytest.raises(ConfigError, match="nothing to learn"):
        short.run()

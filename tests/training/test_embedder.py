"""The embedder: its loss, its folder, and the same bytes after a kill."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fakes.tiny_encoder import save_encoder, towns
from tests.support import vectors

from ragstone.components.embedders.sentence_transformers import SentenceTransformers
from ragstone.training.embedder import (
    EmbedderLearner,
    EmbedderRecipe,
    embedder_training,
    load_embedder,
)
from ragstone.training.fitting import Fitting
from ragstone.training.retrieval import Mining, RankingExample, RetrievalOptim
from ragstone.types import Ranking

pytestmark = [
    pytest.mark.needs("torch", "sentence_transformers", "peft"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def recipe(folder: Path, **given: Any) -> EmbedderRecipe:
    """Return a recipe of 6 steps from a tiny base."""
    if not (folder / "base").exists():
        save_encoder(folder / "base")
    optim = RetrievalOptim(steps=6, batch=4, lr=1e-2, validations=3)
    keys = {"base": str(folder / "base"), "data": "towns", "output": str(folder / "out")}
    return EmbedderRecipe(**{**keys, "optim": optim, "per_query": 2, **given})


def parts(given: EmbedderRecipe) -> dict[str, Mining]:
    """Return 32 queries to learn and 4 whose loss is measured."""
    data = towns()
    ids = [query.query_id for query in data.queries]
    others = data.corpus.passage_ids
    rankings = {i: Ranking(others[n : n + 6], [1.0] * 6) for n, i in enumerate(ids)}
    return {
        "train": Mining(given, data, ids[:32], rankings),
        "validation": Mining(given, data, ids[32:36], rankings),
    }


def test_the_loss_is_that_of_sentence_transformers_unless_something_is_masked(
    tmp_path: Path,
) -> None:
    """Multiple negatives ranking with the scale 20, for examples without a false negative."""
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    given = recipe(tmp_path)
    model = load_embedder(given).eval()
    examples = parts(given)["train"].examples[:4]
    alone = [replace(one, negatives=()) for one in examples]
    columns = [[one.query for one in alone], [one.text(one.positive) for one in alone]]
    expected = MultipleNegativesRankingLoss(model, scale=20.0)(
        [model.preprocess(column) for column in columns], None
    )

    learner = EmbedderLearner(model, given)

    assert learner.loss(alone).item() / learner.targets(alone) == pytest.approx(
        expected.item(), rel=1e-5
    )


def test_a_false_negative_of_the_batch_has_no_influence(tmp_path: Path) -> None:
    """The copy of the relevant passage is another query's passage, and masked for this one."""
    given = recipe(tmp_path)
    learner = EmbedderLearner(load_embedder(given).eval(), given)
    corpus = towns().corpus
    first = RankingExample(
        "q", "which mayor has avila", "avila-mayor", (), frozenset({"avila-mayor", "copy"}), corpus
    )
    other = RankingExample("r", "which copy", "copy", (), frozenset({"copy"}), corpus)
    unmasked = replace(first, relevant=frozenset({"avila-mayor"}))

    def own_loss(one: RankingExample) -> float:
        return float(learner.loss([one, other]).item() - learner.loss([other]).item())

    assert own_loss(unmasked) - own_loss(first) == pytest.approx(np.log(2), rel=1e-4)


def test_it_learns_and_the_component_loads_the_folder(tmp_path: Path) -> None:
    """The validation loss falls; mean pooling, normalisation and the limit are in the folder."""
    given = recipe(tmp_path, max_tokens=12)
    record = embedder_training(given, parts(given), {"name": "towns"}, files={}).run()

    before, after = record.validation[0]["loss"], record.validation[-1]["loss"]
    assert after < before
    assert record.kind == "embedder"
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {"modules.json", "model.safetensors", "1_Pooling", "training.json"}
    assert "checkpoint" not in names
    embedder = SentenceTransformers(str(tmp_path / "out"))
    (found,) = vectors(embedder, "query", "which mayor has avila")
    (base,) = vectors(SentenceTransformers(given.base), "query", "which mayor has avila")
    assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-5)
    assert not np.allclose(found, base, atol=1e-3)
    assert load_embedder(replace(given, base=str(tmp_path / "out"))).max_seq_length == 12


def test_a_killed_training_ends_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after the third of six steps, and once more while the folder is written."""
    whole = recipe(tmp_path)
    expected = embedder_training(whole, parts(whole), {}, files={}).run()
    given = replace(whole, output=str(tmp_path / "killed"))
    training = embedder_training(given, parts(given), {}, files={})
    step = Fitting._step

    def killed(self: Any, at: Any, optimizer: Any) -> None:
        if at.step == 3:
            raise KeyboardInterrupt
        step(self, at, optimizer)

    monkeypatch.setattr(Fitting, "_step", killed)
    with pytest.raises(KeyboardInterrupt):
        training.run()
    monkeypatch.undo()
    (tmp_path / "killed" / "1_Pooling").mkdir()
    (tmp_path / "killed" / "1_Pooling" / "config.json").write_text("half")

    assert training.run().digest == expected.digest
    assert training.run().digest == expected.digest

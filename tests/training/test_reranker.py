"""The reranker: both losses, a new or a kept head, its folder, and the same bytes after a kill."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.tiny_encoder import save_encoder, towns

from ragstone.components.rerankers.cross_encoder import CrossEncoder
from ragstone.errors import ConfigError
from ragstone.training.fitting import Fitting
from ragstone.training.reranker import RerankerRecipe, reranker_training, scores_pairs
from ragstone.training.retrieval import Mining, RetrievalOptim
from ragstone.types import Ranking

pytestmark = [
    pytest.mark.needs("torch", "sentence_transformers", "peft"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def recipe(folder: Path, kind: str = "BertModel", labels: int = 1, **given: Any) -> RerankerRecipe:
    """Return a recipe of 6 steps from a tiny base."""
    base = folder / f"{kind}-{labels}"
    if not base.exists():
        save_encoder(base, kind, labels)
    optim = RetrievalOptim(steps=6, batch=4, lr=1e-2, validations=3)
    keys = {"base": str(base), "data": "towns", "output": str(folder / "out")}
    return RerankerRecipe(**{**keys, "optim": optim, "per_query": 3, **given})


def parts(given: RerankerRecipe) -> dict[str, Mining]:
    """Return 6 queries to learn, of which one has no negatives, and 4 of them to measure."""
    data = towns()
    ids = [query.query_id for query in data.queries]
    others = data.corpus.passage_ids
    rankings = {i: Ranking(others[n : n + 6], [1.0] * 6) for n, i in enumerate(ids)}
    rankings[ids[5]] = Ranking()
    return {
        "train": Mining(given, data, ids[:6], rankings),
        "validation": Mining(given, data, ids[:4], rankings),
    }


@pytest.mark.parametrize(
    ("loss", "kind", "labels"),
    [
        ("listwise", "BertModel", 1),
        ("pairs", "BertModel", 1),
        ("listwise", "BertForSequenceClassification", 2),
    ],
)
def test_it_learns_and_the_component_loads_the_folder(
    tmp_path: Path, loss: Any, kind: str, labels: int
) -> None:
    """The loss falls; a query without negatives is left out."""
    optim = RetrievalOptim(steps=20, batch=5, lr=1e-2, validations=1)
    given = recipe(tmp_path, kind, labels, loss=loss, optim=optim)
    training = reranker_training(given, parts(given), {"name": "towns"}, files={})

    record = training.run()

    assert len(training.examples) == 5
    assert record.validation[-1]["loss"] < record.validation[0]["loss"]
    assert record.notes == ("train: 1 examples have fewer than 3 hard negatives",)
    scores, _ = CrossEncoder(str(tmp_path / "out")).score(
        [("which mayor has avila", "the mayor of avila"), ("which mayor has avila", "the river")]
    )
    assert len(set(scores)) == 2


def test_the_losses_are_those_of_the_components_scores(tmp_path: Path) -> None:
    """Both are computed by hand from the scores that the trained model gives in use."""
    import numpy as np

    for loss in ("listwise", "pairs"):
        given = recipe(tmp_path, "BertForSequenceClassification", loss=loss)
        training = reranker_training(given, parts(given), {}, files={})
        learner = training.learner()
        learner.model.eval()
        two = training.examples[:2]
        pairs = [(one.query, one.text(i)) for one in two for i in one.passage_ids]
        scores = np.array(CrossEncoder(given.base).score(pairs)[0]).reshape(2, 4)
        listwise = -(scores[:, 0] - np.log(np.exp(scores).sum(axis=1))).sum()
        wanted = np.array([[1, 0, 0, 0]] * 2)
        alone = np.where(wanted == 1, np.log1p(np.exp(-scores)), np.log1p(np.exp(scores))).sum()

        expected, targets = {"listwise": (listwise, 2), "pairs": (alone, 8)}[loss]

        assert learner.loss(two).item() == pytest.approx(expected, rel=1e-4)
        assert learner.targets(two) == targets


def test_a_base_keeps_its_head_or_gets_a_new_one(tmp_path: Path) -> None:
    """Two classes are relevant or not; three are no score."""
    kind = "BertForSequenceClassification"

    assert not scores_pairs(recipe(tmp_path))
    assert scores_pairs(recipe(tmp_path, kind, 1))
    assert scores_pairs(recipe(tmp_path, kind, 2))
    with pytest.raises(ConfigError, match="has 3 classes; a reranker has one score"):
        scores_pairs(recipe(tmp_path, kind, 3))


def test_without_negatives_nothing_is_trained(tmp_path: Path) -> None:
    """It is noticed before the base is loaded."""
    given = recipe(tmp_path)
    empty = {name: replace(part, rankings={}) for name, part in parts(given).items()}

    with pytest.raises(ConfigError, match="no negatives are left"):
        reranker_training(given, empty, {}, files={})
    assert not (tmp_path / "out").exists()


def test_a_killed_training_ends_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new head is random, and the same one after the kill."""
    whole = recipe(tmp_path)
    expected = reranker_training(whole, parts(whole), {}, files={}).run()
    given = replace(whole, output=str(tmp_path / "killed"))
    training = reranker_training(given, parts(given), {}, files={})
    step = Fitting._step

    def killed(self: Any, at: Any, optimizer: Any) -> None:
        if at.step == 5:
            raise KeyboardInterrupt
        step(self, at, optimizer)

    monkeypatch.setattr(Fitting, "_step", killed)
    with pytest.raises(KeyboardInterrupt):
        training.run()
    monkeypatch.undo()

    assert training.run().digest == expected.digest

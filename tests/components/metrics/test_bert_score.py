"""BERTScore metrics: names, options and errors. A comparison test checks their values."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from tests.support import answer_value

from ragstone.components.metrics import bert_encoder
from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.bert_score import BertScoreR
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.precision_recall import Overlap
from ragstone.components.metrics.rb_agg import rb_agg
from ragstone.core import limits
from ragstone.core.offline import no_network
from ragstone.errors import ConfigError, MissingDependency, ModelFileError
from ragstone.models.bundled import MODELS
from ragstone.models.locate import ENCODER, find_model, weights_digest
from ragstone.protocols import Services
from ragstone.types import Context, ContextPassage

NAMES = [
    "BERTScore-P", "BERTScore-R", "BERTScore-F1", "Bert-K-Precision", "RB_agg",
    "RB_agg(variant=clipped)",
    "BERTScore-R(model=/models/deberta,layer=40,baseline=0.5170288)",
    "BERTScore-F1(model=/models/mine,rescale=false)", "BERTScore-F1(rescale=false,max_tokens=256)",
    "RB_agg(model=a/b,layer=3,recall_baseline=0.4,precision_baseline=0.3)",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_round_trip(name: str) -> None:
    """Model, layer and baseline are part of the name unless they are the published ones."""
    assert str(parse_metric(name)) == name


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("bertscore", "BERTScore-F1"),
        ("BERTScore-P(model=mine/folder)", "BERTScore-P(model=mine/folder,rescale=false)"),
        ("BERTScore-P(layer=12)", "BERTScore-P(layer=12,rescale=false)"),
        ("RB_agg(model=mine/folder)", "RB_agg(model=mine/folder,rescale=false)"),
    ],
)
def test_the_name_shows_a_missing_baseline(spelling: str, name: str) -> None:
    """Another model or layer is not rescaled unless its baseline is given."""
    assert str(parse_metric(spelling)) == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("BERTScore-R(baseline=1)", "from 0 up to 1"),
        ("BERTScore-R(baseline=high)", "a valid number"),
        ("BERTScore-R(rescale=false,baseline=0.5)", "contradicts"),
        ("BERTScore-R(layer=-2)", "layer"),
        ("BERTScore-R(max_tokens=2)", "max_tokens"),
        ("RB_agg(recall_baseline=0.5)", "both baselines"),
    ],
)
def test_invalid_options_are_refused(name: str, said: str) -> None:
    """The error comes before any model is searched."""
    with pytest.raises(ConfigError, match=said):
        parse_metric(name)


def test_the_error_of_a_missing_encoder_explains_folders(tmp_path: Path) -> None:
    """A folder without a model, a path that does not exist, the default model without network."""
    with pytest.raises(ModelFileError, match=r"config\.json"):
        find_model(str(tmp_path), kind=ENCODER)
    with pytest.raises(ModelFileError, match="model=FOLDER"):
        find_model("/no/such/folder", kind=ENCODER)
    if importlib.util.find_spec("huggingface_hub") is None:
        with pytest.raises(MissingDependency, match=r"ragstone\[hf\]"):
            find_model(bert_encoder.DEFAULT, kind=ENCODER)
    else:
        with no_network(), pytest.raises(ModelFileError, match=r"model=FOLDER"):
            find_model("microsoft/deberta-xlarge-mnli", kind=ENCODER)


def test_the_error_of_missing_torch_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names torch and the extra that installs it."""
    monkeypatch.setattr(importlib.util, "find_spec", {}.get)

    with pytest.raises(MissingDependency, match=r"torch.*ragstone\[hf\]"):
        bert_encoder.check_runnable("microsoft/deberta-xlarge-mnli", 40)


def test_the_digest_is_of_weights_and_tokenizer(tmp_path: Path) -> None:
    """It changes with the tokenizer, not with a read-me; safetensors replace pickled weights."""
    for name in ("config.json", "tokenizer.json", "pytorch_model.bin"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    before = weights_digest(str(tmp_path), kind=ENCODER)

    (tmp_path / "README.md").write_text("?", encoding="utf-8")
    assert weights_digest(str(tmp_path), kind=ENCODER) == before
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    changed = weights_digest(str(tmp_path), kind=ENCODER)
    assert changed != before
    (tmp_path / "model.safetensors").write_text("w", encoding="utf-8")
    assert weights_digest(str(tmp_path), kind=ENCODER) != changed


@pytest.fixture
def scored(monkeypatch: pytest.MonkeyPatch) -> AnswerBatch:
    """Return two answers; BERTScore is 0.6 for texts with the same first letter, else 0.2."""

    def scores(pairs: list[tuple[str, str]], *_options: object) -> list[Overlap]:
        values = [0.6 if said[:1] == wanted[:1] else 0.2 for said, wanted in pairs]
        return [Overlap(value, value, value) for value in values]

    monkeypatch.setattr("ragstone.components.metrics.bert_score.bert_scores", scores)
    shown = Context("q", "gold", tuple(ContextPassage(t, t, "gold") for t in ("x one", "a two")))
    empty = Context("r", "none", ())
    golds = [("b other", "a gold answer"), ("a gold answer",)]
    return AnswerBatch(["a gold"] * 2, golds, [""] * 2, [shown, empty], [""] * 2)


def test_the_best_gold_answer_and_the_best_passage_count(scored: AnswerBatch) -> None:
    """Values are rescaled with the published baseline; an empty context gives 0."""
    recall = (0.6 - 0.5170288) / (1 - 0.5170288)
    precision = (0.6 - 0.5169066) / (1 - 0.5169066)

    assert BertScoreR().values(scored) == pytest.approx([recall, recall])
    known = parse_metric("Bert-K-Precision").values(scored)  # type: ignore[arg-type]
    assert known == pytest.approx([precision, 0.0])


def test_rb_agg_combines_its_parts(scored: AnswerBatch) -> None:
    """MtRAG's form uses the first gold answer, the clipped one the best; no passage gives 0."""
    low = (0.2 - 0.5170288) / (1 - 0.5170288)
    high = (0.6 - 0.5170288) / (1 - 0.5170288)
    known = (0.6 - 0.5169066) / (1 - 0.5169066)

    published = parse_metric("RB_agg").values(scored)  # type: ignore[arg-type]
    clipped = parse_metric("RB_agg(variant=clipped)").values(scored)  # type: ignore[arg-type]

    first = answer_value("ROUGE-L", "a gold", ["b other"])
    assert published == pytest.approx([rb_agg(first, low, known), 0.0])
    best = answer_value("ROUGE-L", "a gold", ["a gold answer"])
    assert clipped == pytest.approx([rb_agg(best, high, known, variant="clipped"), 0.0])
    assert clipped[0] > 0.1


TEXTS = [
    ("It is in Paris.", "The tower stands in Paris."),
    ("bananas are yellow", "The tower stands in Paris."),
    ("", "Paris"),
    ("word " * 600, "words and more words"),
    ("北京 is a city", "Beijing"),
]


@pytest.fixture
def bundled_minilm() -> None:
    """Skip if the bundled encoder was not fetched."""
    if not MODELS["all-minilm-l6-v2"].fetched:
        pytest.skip("the model is not on this machine: ragstone models fetch all-minilm-l6-v2")


@pytest.mark.usefixtures("bundled_minilm")
def test_the_bundled_encoder_needs_no_torch() -> None:
    """RB_agg of equal texts is 1 and of unrelated ones low; the name shows the encoder."""
    metric = parse_metric("RB_agg(model=all-minilm-l6-v2)")
    shown = Context("q", "gold", (ContextPassage("p", "The tower stands in Paris.", "gold"),))
    said = ["The tower stands in Paris.", "Its paint is brown."]
    gold = [("The tower stands in Paris.",)] * 2
    metric.check(Services())

    same, other = metric.values(AnswerBatch(said, gold, [""] * 2, [shown] * 2, [""] * 2))  # type: ignore[arg-type]

    assert str(metric) == "RB_agg(model=all-minilm-l6-v2,rescale=false)"
    assert same == pytest.approx(1.0, abs=1e-5)
    assert 0.0 <= other < 0.5


@pytest.mark.needs("torch", "transformers")
@pytest.mark.usefixtures("bundled_minilm")
def test_the_bundled_encoder_agrees_with_transformers() -> None:
    """Both scores are equal to 1e-4; both cut a long text."""
    ours = bert_encoder.bert_scores(TEXTS, "all-minilm-l6-v2")
    theirs = bert_encoder.bert_scores(TEXTS, str(find_model("all-minilm-l6-v2", kind=ENCODER)))

    assert [list(vars_of(one)) for one in ours] == [
        pytest.approx(list(vars_of(one)), abs=1e-4) for one in theirs
    ]


def vars_of(score: Overlap) -> tuple[float, float, float]:
    """Return precision, recall and F1."""
    return score.precision, score.recall, score.f1


@pytest.mark.usefixtures("bundled_minilm")
def test_each_text_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """RB_agg and its parts run the encoder once per text, in any order, with equal values.

    Little memory costs time only: vectors that were dropped are computed again.
    """
    encoder = bert_encoder.load_bundled("all-minilm-l6-v2")
    computed: list[str] = []

    def states(texts: list[str]) -> dict[str, bert_encoder.States]:
        computed.extend(texts)
        return bert_encoder.BundledEncoder.states(encoder, texts)

    passages = [ContextPassage(str(i), f"Passage {i} on the tower.", "gold") for i in range(5)]
    shown = [Context(str(i), "gold", (passages[0], passages[i % 5])) for i in range(8)]
    golds = [(f"The gold answer {i % 3}.",) for i in range(8)]
    said = [f"It is {i % 6}, said the guide. " for i in range(8)]
    batch = AnswerBatch(said, golds, [""] * 8, shown, [""] * 8)
    metrics = [
        parse_metric(f"{name}(model=all-minilm-l6-v2)")
        for name in ("RB_agg", "BERTScore-R", "BERTScore-F1", "Bert-K-Precision")
    ]
    monkeypatch.setattr(encoder, "states", states)
    monkeypatch.setattr(limits, "ENCODED_TEXTS", 4)
    found = []
    for most in (limits.HELD_STATES, 0):
        monkeypatch.setattr(limits, "HELD_STATES", most)
        encoder.remembered.clear()
        found.append([metric.values(batch).tolist() for metric in metrics])  # type: ignore[arg-type]
        once = len(set(computed))
        assert once == 6 + 3 + 5
        assert (len(computed) == once) is bool(most)
    encoder.remembered.clear()
    alone = [encoder.scores([pair])[0].recall for pair in batch.with_labels]

    assert found[0] == found[1]
    assert found[0][1] == alone

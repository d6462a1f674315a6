"""Classifiers of texts: input, probabilities, labels, and the folder that they are kept in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.tiny_word_encoder import tiny_encoder

from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.text_classifier import (
    FILE,
    ClassifierFacts,
    _fitting,
    chosen,
    classifier_digest,
    encode,
    is_classifier,
    load_classifier_folder,
    load_encoder,
    new_net,
    probabilities,
    read_facts,
    save_classifier,
    write_facts,
)

torch_needed = pytest.mark.needs("torch", "transformers")
FACTS = ClassifierFacts(
    name="ok",
    labels=("no", "yes"),
    positive="yes",
    inputs=("query", "answer"),
    base="b",
    base_digest="d",
    max_tokens=16,
)


@given(st.lists(st.integers(0, 500), min_size=1, max_size=5), st.integers(5, 400))
def test_cut_texts_fit_and_none_is_cut_without_need(lengths: list[int], room: int) -> None:
    """The result fits; short inputs stay; the longest are cut to about one length."""
    found = _fitting(lengths, room)

    assert sum(found) <= max(room, 0) or found == lengths
    assert all(cut <= whole for cut, whole in zip(found, lengths, strict=True))
    if sum(lengths) <= room:
        assert found == lengths
    else:
        assert sum(found) > room - len(lengths)


def test_of_two_labels_the_threshold_decides() -> None:
    """Of more, the likeliest is chosen."""
    shares = np.array([[0.7, 0.3], [0.4, 0.6]])

    assert chosen(shares, FACTS) == ["no", "yes"]
    assert chosen(shares, replace(FACTS, threshold=0.25)) == ["yes", "yes"]
    three = replace(FACTS, labels=("a", "b", "c"), positive="")
    assert chosen(np.array([[0.2, 0.5, 0.3]]), three) == ["b"]


def test_a_high_temperature_makes_probabilities_equal() -> None:
    """Rows sum to 1 and do not overflow."""
    scores = np.array([[1000.0, 0.0], [0.0, 1.0]])

    assert probabilities(scores, 1.0)[0].tolist() == [1.0, 0.0]
    assert probabilities(scores, 1e6) == pytest.approx(0.5, abs=1e-3)


def test_facts_are_kept_and_a_folder_without_them_is_refused(tmp_path: Path) -> None:
    """The error names the folder and the command that makes one."""
    with pytest.raises(ModelFileError, match="is not the folder of a trained classifier"):
        read_facts(tmp_path)
    assert not is_classifier(str(tmp_path))

    write_facts(tmp_path, FACTS)

    assert read_facts(tmp_path) == FACTS
    assert is_classifier(str(tmp_path))
    (tmp_path / FILE).write_text("{}")
    with pytest.raises(ModelFileError, match="is not readable"):
        read_facts(tmp_path)


def test_an_adapter_of_a_causal_model_is_no_encoder(tmp_path: Path) -> None:
    """The error has the judge to write in its place."""
    write_facts(tmp_path, replace(FACTS, judge="equivalence"))

    with pytest.raises(ConfigError, match=r"\{name: equivalence, method: logprob"):
        load_classifier_folder(tmp_path, "cpu")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """Return tokenizer and encoder of a tiny random BERT."""
    return load_encoder(tiny_encoder(tmp_path_factory.mktemp("encoder")), "cpu")


@torch_needed
def test_an_input_has_marks_segments_and_a_limit(parts: tuple[Any, Any]) -> None:
    """The last text is the second segment, and a long text is cut, not a short one."""
    tokenizer, _ = parts
    found = encode(tokenizer, ("rain snow", "good"), 16)
    marks = (tokenizer.cls_token_id, tokenizer.sep_token_id)

    assert found.ids[0] == marks[0]
    assert found.segments == (0, 0, 0, 0, 1, 1)
    assert not found.is_cut
    cut = encode(tokenizer, ("good", "rain " * 30), 10)
    assert len(cut.ids) == 10
    assert cut.ids[1] == found.ids[4]
    assert cut.is_cut


@torch_needed
def test_a_kept_classifier_gives_the_same_scores(tmp_path: Path, parts: tuple[Any, Any]) -> None:
    """A batch gives what single texts give, and another file is another digest."""
    import torch

    tokenizer, encoder = parts
    net = new_net(encoder, 2, "cpu")
    torch.manual_seed(1)
    torch.nn.init.normal_(net["head"].weight)
    save_classifier(tmp_path, FACTS, tokenizer, net)
    texts = [("rain snow 3", "good"), ("fog", "bad 7 8 9 10 11 12 13 14 15 16")]

    found = load_classifier_folder(tmp_path, "cpu")

    together = found.scores(texts)
    alone = np.concatenate([found.scores([one]) for one in texts])
    assert together == pytest.approx(alone, abs=1e-5)
    assert np.ptp(together, axis=1).all()
    before = classifier_digest(tmp_path)
    write_facts(tmp_path, replace(FACTS, threshold=0.9))
    assert classifier_digest(tmp_path) != before

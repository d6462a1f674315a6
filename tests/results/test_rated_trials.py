"""People's ratings of an experiment's answers: texts, scores, and ratings that do not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.made_results import made_results

from ragstone.errors import ConfigError, DatasetError
from ragstone.evaluation.human_grades import human_set
from ragstone.results.rated_trials import read_labels
from ragstone.results.reader import StoredResults

ROW: dict[str, Any] = {
    "query_id": "q003",
    "system": "bm25 + small",
    "setting": "gold+noise(3)",
    "rater": "ann",
    "property": "helpfulness",
    "value": 3,
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> StoredResults:
    """Return a made-up experiment."""
    return made_results(tmp_path_factory.mktemp("made"))


def written(folder: Path, *changed: dict[str, Any]) -> Path:
    """Write ratings: each is `ROW` with changes; a field that becomes None is left out."""
    rows = [{k: v for k, v in (ROW | one).items() if v is not None} for one in changed]
    path = folder / "ratings.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_an_answer_has_its_passages_and_scores(results: StoredResults, tmp_path: Path) -> None:
    """Several raters become one value on the scale from 0 to 1."""
    path = written(tmp_path, {}, {"rater": "ben", "value": 1}, {"query_id": "q004", "value": 4})

    graded = human_set(read_labels(results, path))

    first = graded.items[0]
    trial = next(
        t for t in results.trials if (t.system, t.setting) == (ROW["system"], ROW["setting"])
    )
    assert first.item.answer == trial.predictions["q003"].answer
    assert first.item.passages == tuple(p.text for p in trial.contexts["q003"].passages)
    assert first.raters == (2 / 3, 0)
    assert first.value == pytest.approx(1 / 3)
    assert graded.values["F1"][0] == trial.scores["F1"]["q003"].value
    assert (graded.judge, graded.question) == ("RB_llm", "people's helpfulness")
    assert human_set(read_labels(results, path), combine="median").items[0].value == 1 / 3


def test_pairs_and_passages(results: StoredResults, tmp_path: Path) -> None:
    """A pair has the other answer; a passage is judged alone, with or without an answer."""
    pair = {"against": "dense + small", "property": "better", "value": "b"}
    passage = {"passage_id": "p3-gold", "property": "relevance", "value": "yes"}
    of_query = {**passage, "query_id": "q004", "passage_id": "p4-near", "value": "no"}
    path = written(tmp_path, pair, passage, {**of_query, "system": None, "setting": None})
    rated = read_labels(results, path)

    better, relevance = (human_set(rated, name) for name in ("better", "relevance"))

    (one,) = better.items
    assert (better.judge, one.label, one.value) == ("pairwise", "loss", 0)
    assert one.item.other
    assert one.system == "bm25 + small / dense + small"
    assert relevance.judge == "context-relevance"
    assert [(len(o.item.passages), o.label, bool(o.item.answer)) for o in relevance.items] == [
        (1, "yes", True),
        (1, "no", False),
    ]
    with pytest.raises(ConfigError, match="has the properties better, relevance"):
        human_set(rated)


def test_labels_of_zero_and_one_are_verdicts(results: StoredResults, tmp_path: Path) -> None:
    """The short form of `judge calibrate` is read too."""
    short = {"rater": None, "property": None}
    path = written(tmp_path, {**short, "value": 1}, {**short, "query_id": "q004", "value": 0})

    graded = human_set(read_labels(results, path))

    assert [one.label for one in graded.items] == ["yes", "no"]
    assert graded.judge == "equivalence"


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"system": "bm25 + smal"}, "there is no system 'bm25 . smal'. did you mean"),
        ({"system": None}, "'system' is missing; the systems are bm25"),
        ({"setting": None}, "'setting' is missing; 'bm25 . small' has none, gold"),
        ({"setting": "golden"}, "there is no setting 'golden' of 'bm25 . small'"),
        ({"against": "x", "value": "a"}, "there is no system 'x'"),
        ({"passage_id": "p9"}, "the query was shown no passage 'p9'"),
        ({"value": 2}, "a second rating of 'helpfulness' by 'ann' for query 'q003'"),
    ],
)
def test_unknown_things_are_named(
    results: StoredResults, tmp_path: Path, changed: dict[str, Any], problem: str
) -> None:
    """With file and line."""
    second = {"query_id": "q003" if "value" in changed and len(changed) == 1 else "q004"}
    path = written(tmp_path, {}, {**second, **changed})

    with pytest.raises(DatasetError, match=rf"ratings.jsonl.*line 2: .*{problem}"):
        read_labels(results, path)


def test_a_rating_outside_of_the_scale_is_named(results: StoredResults, tmp_path: Path) -> None:
    """With file, line and scale."""
    from ragstone.data.readers.rating_scales import RatingScale

    rated = read_labels(results, written(tmp_path, {}, {"query_id": "q004", "value": 6}))

    with pytest.raises(DatasetError, match=r"ratings.jsonl, line 2: the value 6 .* scale 1-5"):
        human_set(rated, scale=RatingScale(1, 5))


def test_ratings_of_other_queries_are_counted(results: StoredResults, tmp_path: Path) -> None:
    """None of them is an error; so are ratings of parts alone."""
    other = {"query_id": "elsewhere"}
    part = {"query_id": "q004", "part": "claim 1"}

    rated = read_labels(results, written(tmp_path, {}, other, part))
    assert (len(rated.ratings), rated.other_queries, rated.parts) == (1, 1, 1)
    with pytest.raises(DatasetError, match=r"ratings.jsonl: 0 % of the 1 ratings are of queries"):
        read_labels(results, written(tmp_path, other))
    with pytest.raises(DatasetError, match="all 1 ratings of queries of 'made' are of parts"):
        read_labels(results, written(tmp_path, part, other))

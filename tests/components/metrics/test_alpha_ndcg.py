"""alpha-nDCG: equal to TREC's ndeval, from qrels with subtopics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.components.metrics.alpha_ndcg import AlphaNDCG
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.rank_arrays import rank_arrays
from ragstone.components.metrics.score import score_rankings
from ragstone.data.readers.trec import best_grades, read_subtopics
from ragstone.errors import ConfigError, DatasetError
from ragstone.evaluation.score_files import evaluate_run
from ragstone.types import Ranking

QRELS = """\
1 1 a 1
1 1 b 1
1 2 b 1
1 2 c 2
1 3 d 1
1 3 a 0
1 4 e 1
2 1 x 1
2 2 x 1
2 2 y 1
3 1 z 0
4 1 w 1
"""
RUN = {"1": Ranking(["c", "q", "a", "b", "r", "d", "e"]), "2": Ranking(["y", "n", "x"])}
NDEVAL = {
    "alpha-nDCG@5": (0.5454359388524458, 0.7557877545649955),
    "alpha-nDCG@10": (0.7402382114397518, 0.7557877545649956),
    "alpha-nDCG(alpha=0.9)@5": (0.4937105418164395, 0.751299150602593),
    "alpha-nDCG(alpha=0.9)@10": (0.708341299645626, 0.751299150602593),
}
"""Metric -> the values of queries 1 and 2 by ndeval (pyndeval 0.0.8)."""
IDS = [f"p{i}" for i in range(7)]
SUBTOPICS = st.dictionaries(
    st.sampled_from("abcd"), st.sets(st.sampled_from(IDS), min_size=1), min_size=1
)


def written(folder: Path, text: str) -> Path:
    """Write a qrels file and return its path."""
    path = folder / "qrels.txt"
    path.write_text(text, encoding="utf-8")
    return path


def gain(ids: Sequence[str], covered: Mapping[str, set[str]], alpha: float) -> float:
    """Return alpha-DCG by walking down the ranking."""
    seen: Counter[str] = Counter()
    found = 0.0
    for rank, passage_id in enumerate(ids, 1):
        on = [subtopic for subtopic, passages in covered.items() if passage_id in passages]
        found += sum((1 - alpha) ** seen[subtopic] for subtopic in on) / math.log2(rank + 1)
        seen.update(on)
    return found


@pytest.mark.parametrize("metric", NDEVAL)
def test_the_values_are_those_of_ndeval(tmp_path: Path, metric: str) -> None:
    """A query that is not in the run is failed; one without a relevant passage is left out."""
    subtopics = read_subtopics(written(tmp_path, QRELS))

    found = evaluate_run(best_grades(subtopics), RUN, [metric], subtopics=subtopics)

    values = found.scores[str(parse_metric(metric))]
    assert [values["1"], values["2"]] == pytest.approx(NDEVAL[metric], abs=1e-12)
    assert (values["3"], values["4"], found.missing) == (None, None, ("4",))
    assert found[metric].mean == pytest.approx(sum(NDEVAL[metric]) / 3)


@given(
    ids=st.lists(st.sampled_from(IDS), unique=True, max_size=7),
    covered=SUBTOPICS,
    k=st.integers(1, 8),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
)
@settings(max_examples=60, deadline=None)
def test_the_definition(ids: list[str], covered: dict[str, set[str]], k: int, alpha: float) -> None:
    """The gain of the ranking over that of the greedy ranking; the greedy ranking gets 1."""
    greedy: list[str] = []
    left = sorted(set().union(*covered.values()), reverse=True)
    while left:
        best = max(left, key=lambda p: gain([*greedy, p], covered, alpha) - 1e-9 * left.index(p))
        greedy.append(best)
        left.remove(best)
    subtopics = {"q": {t: dict.fromkeys(passages, 1) for t, passages in covered.items()}}
    metric = f"alpha-nDCG(alpha={alpha})@{k}"
    runs = [{"q": Ranking(ids)}, {"q": Ranking(greedy)}]

    found, best_one = (
        score_rankings([metric], best_grades(subtopics), run, subtopics=subtopics)
        .column("value")
        .to_pylist()[0]
        for run in runs
    )

    expected = gain(ids[:k], covered, alpha) / gain(greedy[:k], covered, alpha)
    assert found == pytest.approx(expected)
    assert best_one == pytest.approx(1.0)


def test_names_and_options() -> None:
    """The default alpha is not in the name; what the metric cannot do is an error."""
    assert str(parse_metric("alpha-ndcg(alpha=0.5)@10")) == "alpha-nDCG@10"
    assert str(parse_metric("alpha-nDCG(alpha=0.9)@5")) == "alpha-nDCG(alpha=0.9)@5"
    with pytest.raises(ConfigError, match="alpha of alpha-nDCG must be from 0 to 1"):
        parse_metric("alpha-nDCG(alpha=2)@5")
    with pytest.raises(ConfigError, match="no condensed form"):
        parse_metric("alpha-nDCG(condensed=true)@5")


def test_qrels_without_subtopics_are_refused(tmp_path: Path) -> None:
    """The error of a mapping, and of files, says where subtopics stand."""
    with pytest.raises(ConfigError, match="alpha-nDCG@5 needs subtopics"):
        evaluate_run({"q": {"p": 1}}, {"q": {"p": 1.0}}, ["alpha-nDCG@5"])
    with pytest.raises(DatasetError, match="the same second column"):
        read_subtopics(written(tmp_path, "1 0 a 1\n1 0 b 1\n"))
    with pytest.raises(DatasetError, match=r"line 2.*grade 0, and 1 before"):
        read_subtopics(written(tmp_path, "1 1 a 1\n1 1 a 0\n1 2 b 1\n"))
    with pytest.raises(DatasetError, match="expected query id, subtopic"):
        read_subtopics(written(tmp_path, "1 1 a\n"))
    with pytest.raises(DatasetError, match=r"must be a whole number .* found 'high'"):
        read_subtopics(written(tmp_path, "1 1 a high\n"))


def test_arrays_of_ranks_have_no_subtopics() -> None:
    """So no query has a value."""
    none = np.zeros(0, np.int64)
    ranks = rank_arrays(np.array([[0, 1], [1, 0]]), np.array([[2.0, 1.0]] * 2), none, none, none)

    assert set(AlphaNDCG(5).scored(ranks).inapplicable) == {0, 1}

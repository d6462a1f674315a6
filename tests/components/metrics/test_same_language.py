"""same-language@k: order, unknown languages, and the options that it refuses."""

from __future__ import annotations

import pytest

from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.same_language import ranked_languages
from ragstone.components.metrics.score import ceilings, score_rankings
from ragstone.core.schemas import table_to_scores
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError
from ragstone.experiment.metric_set import MetricSet
from ragstone.types import Passage, Query, Ranking

METRIC = parse_metric("same-language@2")
CORPUS = Corpus.from_passages(
    [
        *(
            Passage(i, "?", labels={"language": code})
            for i, code in {"a": "en", "b": "de", "c": "de"}.items()
        ),
        Passage("d", "?"),
    ]
)


def measured(ranking: Ranking, language: str = "de") -> tuple[float | None, str]:
    """Return value and reason of one ranking."""
    query = Query("q", "?", labels={"language": language} if language else {})
    languages = ranked_languages([query], CORPUS, {"q": ranking})
    table = score_rankings([METRIC], {"q": {"a": 1}}, {"q": ranking}, languages=languages)
    (score,) = table_to_scores(table)
    return score.value, score.reason


@pytest.mark.parametrize(
    ("ranking", "expected"),
    [
        (Ranking(["a", "b", "c"]), 0.5),
        (Ranking(["b", "c", "a"]), 1.0),
        (Ranking(["a", "b", "c"], [1.0, 2.0, 3.0]), 1.0),
        (Ranking(["a", "b", "c"], [1.0, 1.0, 1.0]), 1.0),  # equal scores: by descending id
        (Ranking(["d", "b"]), 1.0),
        (Ranking(["a"]), 0.0),
    ],
)
def test_the_first_k_in_the_order_of_the_scores(ranking: Ranking, expected: float) -> None:
    """Passages of unknown language are left out."""
    assert measured(ranking) == (expected, "")


def test_unknown_languages_have_a_reason() -> None:
    """An empty ranking, passages without a language, a query without one."""
    reason = "the language of the query, or of all passages, is not known"

    assert measured(Ranking()) == measured(Ranking(["d"])) == (None, reason)
    assert measured(Ranking(["a"]), language="") == (None, reason)


def test_files_of_ranks_have_no_languages() -> None:
    """The metric needs an experiment; it refuses other units."""
    with pytest.raises(ConfigError, match="measure it in an experiment"):
        score_rankings([METRIC], {"q": {"a": 1}}, {"q": Ranking(["a"])})
    for name in ("same-language", "same-language(condensed=true)@5"):
        with pytest.raises(ConfigError):
            parse_metric(name)
    assert ceilings([METRIC], {"q": {"a": 1}}, ["q"]) == {}


def test_only_this_metric_reads_labels() -> None:
    """The keys of rankings with other metrics stay as they are."""
    assert MetricSet((parse_metric("R@5"),)).uses == frozenset()
    assert MetricSet((METRIC,)).uses == {"corpus", "labels", "passage_labels"}
    queries = [Query("a", "Wo?", labels={"language": "de-CH"}), Query("b", "?")]
    assert ranked_languages(queries, CORPUS, {}).queries == {"a": "de", "b": ""}

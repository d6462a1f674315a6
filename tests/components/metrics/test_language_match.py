"""language-match: short answers, the paper's rule, and values that depend on their query alone."""

# ruff: noqa: RUF001 -- letters of other scripts are meant

from __future__ import annotations

import pytest

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.language_match import LanguageMatch
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.score import score_answers
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.schemas import table_to_scores
from ragstone.errors import ConfigError
from ragstone.types import Context, ContextPassage, Prediction, Query, Score

GERMAN = "Die Fähre zur Insel fährt von April bis Oktober an jedem Tag zur vollen Stunde."
ENGLISH = "The ferry to the island leaves every full hour from April to October."
ITALIAN = "Il traghetto per l'isola parte ogni ora da aprile a ottobre, anche la domenica."
SHORT = "zu jeder vollen Stunde"
CASES = [
    ("de", GERMAN, 1.0),
    ("de", ENGLISH, 0.0),
    ("de", SHORT, 1.0),
    ("de", "every full hour of the day", 0.0),
    ("en", "στη νότια ακτή του νησιού", 0.0),
    ("de", "April", None),
    ("de", "Nikolaus Kopernikus, Astronom", None),
    ("ja", "東京は日本の首都であり、人口が最も多い都市である。", 1.0),
    ("zh", "東京", None),
    ("zh-Hant", "香港嘅公園喺星期六朝早開門，大家都可以入去行下坐下，唔使俾錢㗎。", 1.0),
    ("no", "Ferga går kvar time frå april til oktober, og ho tek både bilar og folk.", 1.0),
]


def scored(
    metric: str, rows: list[tuple[str, str]], query: str = "Wann fährt die Fähre zur Insel?"
) -> list[Score]:
    """Return the scores of (language, answer)."""
    queries = [
        Query(str(i), query, labels={"language": language} if language else {})
        for i, (language, _) in enumerate(rows)
    ]
    answers = [Prediction(str(i), answer) for i, (_, answer) in enumerate(rows)]
    return list(table_to_scores(score_answers([parse_metric(metric)], queries, answers)))


@pytest.mark.parametrize(("language", "answer", "expected"), CASES)
def test_by_default(language: str, answer: str, expected: float | None) -> None:
    """Short answers have no value; varieties of a language are one language."""
    (score,) = scored("language-match", [(language, answer)])

    assert score.value == expected
    if expected is None:
        assert score.reason == "the answer is too short to tell"


def test_the_rule_of_the_paper() -> None:
    """It counts every answer of more than n characters, with all languages as candidates."""
    rows = [("de", GERMAN), ("de", "April"), ("de", "Nikolaus Kopernikus"), ("en", "Rome is old")]
    values = [one.value for one in scored("language-match(longer_than=10)", rows)]

    assert values[:2] == [1.0, None]
    assert None not in values[2:]
    assert scored("language-match(longer_than=20)", rows)[1].reason == (
        "the answer is of 20 characters or fewer: too short to identify its language"
    )


def test_the_languages_of_a_short_answer() -> None:
    """Passages that were shown, and `languages`, are the candidates besides query and English."""
    passage = ContextPassage("p", GERMAN * 3, "retrieved")
    shown = Context("q", "retrieved(1)", (passage,))
    for context, metric in ((shown, LanguageMatch()), (None, LanguageMatch(languages=("de",)))):
        pairs = AnswerBatch([SHORT], [()], ["?"], [context], ["it"])
        assert metric.values(pairs).tolist() == [0.0]
    assert str(LanguageMatch(languages=("de",))) == "language-match(languages=[de])"


def test_the_passages_count_for_a_short_answer_alone() -> None:
    """A short Slovak text is Czech if Czech is a candidate; a long one has no candidates."""
    passage = (
        "Přívoz na ostrov odplouvá každou celou hodinu od dubna do října, a to i v neděli. "
        "Jízdenky se prodávají v přístavu a děti mladší šesti let cestují zdarma, pokud jedou s "
        "rodiči."
    )
    shown = Context("q", "retrieved(1)", (ContextPassage("p", passage, "retrieved"),))
    short = "na južnom pobreží ostrova"
    long = "Trajekt na ostrov premáva každú celú hodinu od apríla do októbra, aj počas nedele."
    for answer, values in ((short, [1.0, 0.0]), (long, [1.0, 1.0])):
        pairs = AnswerBatch([answer] * 2, [()] * 2, ["?"] * 2, [None, shown], ["sk"] * 2)
        assert LanguageMatch().values(pairs).tolist() == values


def test_a_value_does_not_depend_on_the_other_queries() -> None:
    """A score is the same alone and in a batch of other languages."""
    rows = [(language, answer) for language, answer, _ in CASES]
    together = [one.value for one in scored("language-match", rows)]

    assert together == [scored("language-match", [row])[0].value for row in rows]


def test_a_query_without_a_label() -> None:
    """Its language is recognised by the same rule; a short query has a reason."""
    assert scored("language-match", [("", GERMAN)])[0].value == 1.0
    assert scored("language-match", [("", ITALIAN)])[0].value == 0.0
    (short,) = scored("language-match", [("", GERMAN)], query="Wann?")
    assert short.reason == "the query has no label 'language', and is too short to tell"


def test_names_and_keys() -> None:
    """The paper's rule keeps its name and key; an unknown language is refused."""
    assert str(LanguageMatch()) == "language-match"
    assert str(LanguageMatch(20)) == "language-match(longer_than=20)"
    assert cache_key_parts(LanguageMatch(20))["parameters"] == {"longer_than": 20}
    with pytest.raises(ConfigError, match="did you mean 'ja'"):
        parse_metric("language-match(languages=[jp])")

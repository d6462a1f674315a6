"""N-grams that queries have in common with a corpus."""

from __future__ import annotations

from ragstone.data_quality.ngram_overlap import OverlapSearch
from ragstone.types import Query

LONG = "Who was the first person to cross the wide river on a bridge made of ice?"
QUERIES = [
    Query("long", LONG, ("Ann Hale",)),
    Query("short", "Who was it?", ("Ann Hale",)),
    Query("nine", "In which year was the old stone bridge rebuilt?", ("1840",)),
    Query("clean", "Which of the seven hills has the oldest tree of all today?", ("Oldby",)),
]


def found(*texts: str, size: int = 13) -> dict[str, tuple[int, int, float | None, bool, str]]:
    """Return the overlap of each query with some texts."""
    search = OverlapSearch(QUERIES, size)
    for number, text in enumerate(texts, 1):
        search.read(f"web.txt:{number}", text)
    return {
        one.query_id: (one.query_ngrams, one.query_found, one.share, one.with_answer, one.place)
        for one in search.overlaps()
    }


def test_a_copied_query_is_found_with_its_answer() -> None:
    """Case and punctuation do not count; a text of 8 to 12 words is one n-gram."""
    overlaps = found(
        "Nothing of interest here.",
        f"Quiz night! {LONG.upper()} -- Answer: Ann Hale.",
        "In which year was the old, stone bridge rebuilt? Nobody knows.",
    )
    assert overlaps["long"] == (4, 4, 1.0, True, "web.txt:2")
    assert overlaps["nine"] == (1, 1, 1.0, False, "web.txt:3")
    assert overlaps["short"] == (0, 0, None, False, "")
    assert overlaps["clean"] == (1, 0, 0.0, False, "")


def test_a_part_of_a_query_counts_by_its_words() -> None:
    """13 of 16 words are in the n-gram that the text contains."""
    part = " ".join(LONG.split()[:13])
    assert found(part)["long"] == (4, 1, 13 / 16, False, "web.txt:1")
    assert found(" ".join(LONG.split()[:12]))["long"][1] == 0


def test_long_answers_have_ngrams_of_their_own() -> None:
    """A query without overlap may have an answer that the corpus contains."""
    answer = "She built it of oak in the spring after the great flood"
    search = OverlapSearch([Query("q", "Who built the bridge?", (answer,))])
    search.read("a", f"Ann Hale came. {answer}.")
    (one,) = search.overlaps()
    assert (one.query_ngrams, one.answer_ngrams, one.answer_found) == (0, 1, 1)


def test_the_answer_must_be_near() -> None:
    """An answer 200 words away is of another topic."""
    far = f"{LONG} {'word ' * 300} Ann Hale"
    assert found(far)["long"][3] is False


def test_characters_are_words_in_scripts_without_spaces() -> None:
    """A question in Japanese is found in a text."""
    query = Query("ja", "東京の最も古い橋は何年に建てられましたか", ("1840年",))
    search = OverlapSearch([query])
    search.read("a", "東京の最も古い橋は何年に建てられましたか。答えは1840年です。")
    (one,) = search.overlaps()
    assert (one.share, one.with_answer) == (1.0, True)


def test_without_queries_nothing_is_found() -> None:
    """An empty list of queries is searched without an error."""
    search = OverlapSearch([])
    search.read("a", LONG)
    assert search.overlaps() == []
    assert search.words_read == 16

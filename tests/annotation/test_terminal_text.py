"""Items as text of a terminal."""

from __future__ import annotations

from unicodedata import category

from tests.fakes.made_results import HOSTILE

from ragstone.annotation.items import AnnotationItem, ShownAnswer
from ragstone.annotation.tasks import own_scheme
from ragstone.annotation.terminal_text import item_text
from ragstone.core.screen_text import plain, wrapped
from ragstone.types import Message, Passage, Query

ESCAPE = "\x1b]0;owned\x07\x1b[2J\u202egnirts\u202c\r\x9b31m"


def test_control_characters_are_codes() -> None:
    """No text moves the cursor, changes a colour, a title or the direction."""
    shown = plain(ESCAPE)

    assert shown.isprintable()
    assert shown.startswith(r"\x1b]0;owned\x07")
    assert plain("a\nb\tc") == "a\nb\tc"


def test_an_item_is_shown_whole_and_no_line_is_too_long() -> None:
    """History, gold answers, marked passages and answers without a system's name."""
    query = Query("q1", "When?", ("at six",), (Message("user", f"Hello {ESCAPE}"),))
    passage = Passage("p1", f"It sails At Six. {' '.join(HOSTILE)}", ESCAPE)
    answers = [
        ShownAnswer("secret-system", "gold", "At six."),
        ShownAnswer("b", "", None, "timeout"),
    ]
    item = AnnotationItem("q1", query, (passage,), tuple(answers))
    text = item_text(item, answers, ["It sails."], own_scheme("support"), 40)

    for part in ("USER", "QUERY", "GOLD ANSWERS", "«At Six»", "ANSWER 2", "1. It sails."):
        assert part in text
    assert "secret-system" not in text
    assert "(no answer: timeout)" in text
    assert not any(category(one) == "Cc" for one in text.replace("\n", ""))
    assert not set(text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028")
    assert max(map(len, text.split("\n"))) <= 40 + len(plain(ESCAPE))
    assert wrapped("a b\n\nc", 3, " ") == " a\n b\n \n c"

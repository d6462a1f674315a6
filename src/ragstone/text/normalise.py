"""Tokens for the comparison of answers: words (for Match, EM and F1) and pieces (for ROUGE).

*Words* are SQuAD's, adapted to other languages: lower case, without punctuation and English
articles. *Pieces* are split at punctuation instead. Differences from SQuAD's script:

- Unicode: compatibility forms, case and punctuation of every script, not of ASCII alone.
- In scripts written without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan) each
  character is a token. The same applies to Hangul, whose words include particles, as in KorQuAD.
- `a`, `an` and `the` are removed from English only ("il y a dix ans" keeps its verb), but not if a
  full stop makes them an initial ("A. A. Milne"), nor if nothing else remains ("The The").
- A text of signs alone keeps them: "$" is not "%".
- Numbers have one spelling and keep decimal point, sign, percent, currency and unit; `+` and `#`
  are part of names such as C++ (`ragstone.text.numbers`). Other signs between digits are borders.
- Vowel marks that Arabic and Hebrew texts may omit are not compared.
"""

from __future__ import annotations

import re
import string
import unicodedata
from functools import lru_cache
from typing import Final

from ragstone.core import limits
from ragstone.text.numbers import KEPT, RESPELLED, hold, numbers, restored, set_apart

ARTICLES: Final = frozenset({"a", "an", "the"})

ENGLISH: Final = frozenset(
    re.findall(
        r"\w+",
        "the of and in to is was were are for on with by from that this it as at be his her",
    )
)
"""English function words that do not occur in languages with a word `a`."""

NOT_ENGLISH: Final = frozenset(
    # French, Spanish, Catalan, Portuguese, Italian, Romanian, Hungarian, German, Polish, Czech
    re.findall(
        r"\w+",
        "il elle y est et le la les des du une dans ans qui que ont été el los las en un una de "
        "por con para según ha dos da em não os ao à di che del della ed è ai al si din "
        "și este az és egy nem der das und ist von na się jest",
    )
)
"""Function words of languages in which `a` or `an` is not an article; none is English."""

SIGN: Final = "\x1b"
"""Replaces each sign outside ASCII: deleted from words, a border between pieces."""

_VOWEL_MARKS: Final = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points
    "\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06ed]"  # Arabic marks, tatweel
)
"""Marks that most texts omit, and the stretching of Arabic letters."""

_UNSPACED: Final = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff"
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS: Final = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u0f90-\u0fbc"
    "\u102b-\u103e\u1056-\u1059\u1062-\u106d\u1071-\u1074\u1082-\u108d\u17b4-\u17d3"
)
UNSPACED_CHARACTER: Final = re.compile(f"[{_UNSPACED}][{_MARKS}]*")
UNSPACED_RUN: Final = re.compile(f"[{_UNSPACED}]+")
_INITIAL: Final = re.compile(r"(?<!\S)a(?=\.(?!\S))")
INITIAL_MARK: Final = "\0"
_CONTROLS: Final = dict.fromkeys({*range(0x20), 0x7F} - {ord(SIGN)}, " ")
_SIGNS: Final = frozenset(string.punctuation + SIGN)
_ASCII_SIGNS: Final = {ord(c): None for c in string.punctuation + SIGN}
_ASCII_BORDERS: Final = {ord(c): " " for c in string.punctuation + SIGN}


def fold(text: str, language: str = "") -> str:
    r"""Return the text in lower case, compatibility-normalised, signs outside ASCII as `SIGN`.

    Characters of scripts without spaces are separated. The signs of numbers and names are held (see
    `ragstone.text.numbers`).

    >>> fold("「東京」 Ünited")
    '\x1b 東  京 \x1b ünited'
    """
    if text.isascii():
        folded = numbers(text.lower().translate(_CONTROLS), language)
    else:
        normal = unicodedata.normalize("NFKC", set_apart(text)).casefold()
        plain = "".join(map(folded_character, unicodedata.normalize("NFKC", normal)))
        spaced = UNSPACED_CHARACTER.sub(r" \g<0> ", plain)
        folded = KEPT.sub(SIGN, numbers(spaced, language))
    if any(character not in _SIGNS and not character.isspace() for character in folded):
        return folded
    # The signs of a text of signs alone are held, so that they count as letters.
    signs = unicodedata.normalize("NFKC", text).translate(_CONTROLS)
    return " ".join("".join(map(_held_sign, signs)).split())


def _held_sign(character: str) -> str:
    sign = unicodedata.category(character)[0] in "PS"
    return hold(character) if sign else folded_character(character)


@lru_cache(maxsize=limits.CACHED_CHARACTERS)
def folded_character(character: str) -> str:
    """Return what a character of a text with case folded is replaced by."""
    if character.isascii():
        return character if character.isprintable() else " "
    category = unicodedata.category(character)
    if category == "Cf" or _VOWEL_MARKS.match(character):
        return ""  # soft hyphens, joiners and marks of direction are not part of a word
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if KEPT.match(character) or character in RESPELLED:
        return RESPELLED.get(character, character)
    if category[0] in "PS":
        return SIGN
    return " " if category[0] in "ZC" else character


def words(text: str, language: str = "") -> list[str]:
    """Return the words of a text in `language`, a code such as "fr"; without one it is guessed.

    >>> words("The U.S. Army"), words("Il y a dix ans"), words("A. A. Milne"), words("「東京」。")
    (['us', 'army'], ['il', 'y', 'a', 'dix', 'ans'], ['a', 'a', 'milne'], ['東', '京'])
    """
    folded = _INITIAL.sub(INITIAL_MARK, fold(text, language))
    return _drop_articles(restored(folded.translate(_ASCII_SIGNS)).split(), language)


def pieces(text: str, language: str = "") -> list[str]:
    """Return the runs of letters and digits of a text, articles included.

    >>> pieces("Newton's law, 1914-1918"), pieces("北京市")
    (['newton', 's', 'law', '1914', '1918'], ['北', '京', '市'])
    """
    return restored(fold(text, language).translate(_ASCII_BORDERS)).split()


def pieces_without_articles(text: str, language: str = "") -> list[str]:
    """Return the pieces of a text without the articles that `words` removes.

    >>> pieces_without_articles("The mother-in-law of a king")
    ['mother', 'in', 'law', 'of', 'king']
    """
    folded = _INITIAL.sub(INITIAL_MARK, fold(text, language))
    return _drop_articles(restored(folded.translate(_ASCII_BORDERS)).split(), language)


def _drop_articles(tokens: list[str], language: str) -> list[str]:
    if is_english(tokens, language):
        tokens = [token for token in tokens if token not in ARTICLES] or tokens
    return [token.replace(INITIAL_MARK, "a") for token in tokens]


def is_english(tokens: list[str], language: str = "") -> bool:
    """Return whether a text is English: by `language`, or else by its function words.

    A text is not English if it has at least two foreign function words and fewer English ones.
    Texts without function words count as English, as every text does in SQuAD.

    >>> is_english("il y a dix ans".split()), is_english("the la la land".split())
    (False, True)
    """
    if language:
        return language.lower().partition("-")[0] in {"en", "eng", "english"}
    foreign = len(NOT_ENGLISH.intersection(tokens))
    return foreign < 2 or foreign <= len(ENGLISH.intersection(tokens))  # noqa: PLR2004 - see above


def contains(tokens: list[str], part: list[str]) -> bool:
    """Return whether `tokens` contains a non-empty `part` without gaps.

    >>> contains(["in", "new", "york"], ["new", "york"]), contains(["famous"], ["us"])
    (True, False)
    """
    return bool(part) and f" {' '.join(part)} " in f" {' '.join(tokens)} "

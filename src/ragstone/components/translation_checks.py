"""Whether a reply can be the translation of a text: its length, its language, refusals, answers."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from ragstone.core import limits
from ragstone.text.language import language_among, language_of, tells_no_language
from ragstone.text.language_names import LANGUAGE_NAMES
from ragstone.text.scripts import LANGUAGES_OF_SCRIPT, is_unspaced

_REFUSED: Final = re.compile(
    r"\b(?:i|we)(?:'m| am| are)? (?:cannot|can't|can not|unable to|not able to|won't|"
    r"will not)\b[^.?!]{0,40}\b(?:translat|assist|comply|fulfil)|\bas an ai\b",
    re.IGNORECASE,
)
_CURLY: Final = "\u2019"
_QUESTION_MARKS: Final = frozenset("?;\u037e\u061f\uff1f\u055e")
_WITHOUT_MARKS: Final = frozenset({"am", "bo", "ja", "km", "ko", "lo", "my", "th", "zh"})
"""Languages in which questions often end without a mark."""
_WIDELY_USED: Final = frozenset({"ar", "hi", "ru"})
"""Languages that stand for their whole script if lid.176 is not installed."""


class SourceText(NamedTuple):
    """A text, the code of the language to translate it into, and that of its own; "" if unknown."""

    text: str
    target: str
    source: str = ""

    @property
    def needs_call(self) -> bool:
        """Whether the text is neither blank nor in the target language."""
        return bool(self.text.strip()) and not (self.target and self.source == self.target)


def why_not(found: str, wanted: SourceText) -> str:
    """Return why a text cannot be the translation of another, or "".

    >>> german = SourceText("Wo entspringt der lange Fluss?", "en", "de")
    >>> why_not("Where does the long river rise?", german)
    ''
    >>> why_not(german.text, german)
    'the reply is the text itself'
    """
    return next(_problems(found, wanted), "")


def source_language(text: str) -> str:
    """Return the language of a text that is long enough to be certain, or "".

    >>> source_language("Nikolaus Kopernikus")
    ''
    """
    return "" if tells_no_language(text) else _certain_language(text)


def _problems(found: str, wanted: SourceText) -> Iterator[str]:
    if len(found) > _most(wanted.text):
        yield "the reply is far longer than the text"
    if _is_refusal(found) and not _is_refusal(wanted.text):
        yield "the model refused"
    if not wanted.target:
        return
    if _is_answered(found, wanted):
        yield "the text is a question, and the reply is not"
    script = _script(found)
    is_same = _letters(found) == _letters(wanted.text)
    if is_same and (_is_foreign(wanted) or not _is_used(script, wanted.target)):
        yield "the reply is the text itself"
    if not _is_used(script, wanted.target):
        yield f"the reply is in {script.capitalize()} script"
    # A name is the same in many languages.
    if not is_same and len(found) >= limits.CHECKED_TRANSLATION:
        other = _certain_language(found)
        if other not in {"", wanted.target}:
            yield f"the reply is in {LANGUAGE_NAMES.get(other, other)}"


def _most(text: str) -> int:
    """Return the maximum length of the translation of a text."""
    dense = is_unspaced(text)
    ratio = limits.DENSE_TRANSLATION_RATIO if dense else limits.MAX_TRANSLATION_RATIO
    return ratio * len(text) + limits.TRANSLATION_MARGIN


def _certain_language(text: str) -> str:
    """Return the language of a text; "" for a script of many languages without lid.176."""
    found = language_of(text)
    return found if found not in _WIDELY_USED or language_among(text, [found]) == found else ""


def _script(text: str) -> str:
    """Return the script of most letters of a text; "" if it is Latin, unknown or mixed."""
    letters = Counter(filter(str.isalpha, text))
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        scripts[unicodedata.name(letter, "").partition(" ")[0]] += count
    name, count = max(scripts.items(), key=lambda pair: pair[1], default=("", 0))
    return name if name in LANGUAGES_OF_SCRIPT and 2 * count > letters.total() else ""


def _is_used(script: str, language: str) -> bool:
    return not script or language in LANGUAGES_OF_SCRIPT[script]


def _is_foreign(wanted: SourceText) -> bool:
    """Return whether a text needs other words in the target language: a name alone does not."""
    if tells_no_language(wanted.text):
        return False
    found = _certain_language(wanted.text)
    if not found and wanted.source:
        # A title in the target language, such as that of an English book, stays.
        likely = language_among(wanted.text, [wanted.source, wanted.target])
        found = likely if likely == wanted.target else wanted.source
    return found not in {"", wanted.target}


def _is_answered(found: str, wanted: SourceText) -> bool:
    """Return whether a text ends with a question mark, and its translation has none."""
    is_question = wanted.text.rstrip()[-1:] in _QUESTION_MARKS - {";"}
    has_marks = wanted.target not in _WITHOUT_MARKS
    return is_question and has_marks and not _QUESTION_MARKS.intersection(found)


def _is_refusal(text: str) -> bool:
    return bool(_REFUSED.search(text.replace(_CURLY, "'")))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))

"""HTML that was left in a text."""

from __future__ import annotations

import html
import re
from typing import Final

_NAMES: Final = (
    "p|br|hr|div|span|a|b|i|u|em|strong|small|font|center|table|thead|tbody|tr|td|th|ul|ol|li|dl|dt"
    "|dd|h[1-6]|img|sup|sub|blockquote|section|article|header|footer|nav|figure|figcaption|iframe"
)
_TAG: Final = re.compile(
    rf"</?(?:{_NAMES})(?:\s+[a-z-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'))*\s*/?>", re.IGNORECASE
)
_WHOLE: Final = re.compile(
    r"<(script|style)\b[^<>]*>.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL
)
_ENTITY: Final = re.compile(r"&(?:amp|quot|nbsp|apos|#\d{2,5}|#x[0-9a-fA-F]{2,4});")
_BLOCKS: Final = re.compile(r"</?(?:p|br|hr|div|table|tr|td|th|ul|ol|li|h[1-6])\b", re.IGNORECASE)


def without_tags(text: str) -> str:
    """Return a text without HTML tags, comments, scripts and styles; their blocks leave a blank.

    >>> without_tags("<p>The <b>old</b> bridge<br/>fell.</p>")
    'The old bridge fell.'
    """
    if "<" not in text:
        return text
    plain = _TAG.sub(_blank, _WHOLE.sub(" ", text))
    return plain if plain == text else plain.strip()


def _blank(tag: re.Match[str]) -> str:
    return " " if _BLOCKS.match(tag.group()) else ""


def without_entities(text: str) -> str:
    """Return a text with HTML entities decoded, those of angle brackets left out.

    >>> without_entities("Q&amp;A about &lt;b&gt;")
    'Q&A about &lt;b&gt;'
    """
    if "&" not in text:
        return text
    decoded = _ENTITY.sub(lambda found: html.unescape(found.group()), text)
    return decoded if decoded == text else without_entities(decoded)

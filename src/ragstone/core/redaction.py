"""Values that no file and no screen may contain, and texts without them.

A value is known from the moment at which a reference such as `{env:NAME}` is resolved, or at which
a text of an experiment file looks like a key. It is then found in every text in plain form, in
JSON and Python escapes, URL-encoded, as characters of HTML and in base64, also in a mix of these.
docs/identity.md names what cannot be found.
"""

from __future__ import annotations

import base64
import dataclasses
import html
import json
import logging
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar, cast
from urllib.parse import unquote

from ragstone.core import limits
from ragstone.errors import RagstoneError

T = TypeVar("T")


class _Form(NamedTuple):
    """A value, or a part of its base64, as it may be written."""

    text: str
    sign: str
    """A part that each text with the form contains, unless letters in it are escaped."""


HIDDEN: Final = "***"
_ESCAPED_WORD: Final = re.compile(
    r"[\\%&](?:(?:(?<=\\)u00|(?<=\\)x|(?<=%)(?:25)*|(?<=&)(?:amp;)*#0*[xX]0*)"
    r"(?:3[0-9]|[46][1-9a-fA-F]|[57][0-9aA])"
    r"|(?<=&)(?:amp;)*#0*(?:4[89]|5[0-7]|6[5-9]|[78][0-9]|9[07-9]|1[01][0-9]|12[0-2]))"
)
"""A letter or digit that is escaped, although no format requires it."""
_WORD: Final = re.compile("[A-Za-z0-9]+")
_NAMED: Final = {"\n": "n", "\t": "t", "\r": "r", "\b": "b", "\f": "f"}
_KEPT_BITS: Final = (0, 2, 3)
"""Characters of base64 that depend on 0, 1 or 2 bytes in front of a value."""
_known: dict[str, tuple[_Form, ...]] = {}
_all_forms: tuple[_Form, ...] = ()
"""The forms of all values, the longest value first: a shorter one may be part of it."""
_plain_factory: Final = logging.getLogRecordFactory()


def remember(values: Iterable[str]) -> None:
    """Remove these values from now on; values that are too short are part of many words."""
    global _all_forms  # noqa: PLW0603 - replaced in one step, because other threads read it
    for value in values:
        lines = [line for line in value.split("\n") if not line.startswith("-----")]
        # A server repeats a part of an address decoded.
        for part in dict.fromkeys([value, unquote(value), *lines]):
            text = part.strip()
            if len(text) >= limits.MIN_SECRET_CHARACTERS and text not in _known:
                _known[text] = _forms(text)
                longest_first = sorted(_known, key=len, reverse=True)
                _all_forms = tuple(form for one in longest_first for form in _known[one])
                _listen()


def known() -> tuple[str, ...]:
    """Return the values that are removed, so that another process can remember them."""
    return tuple(_known)


def forget() -> None:
    """Forget all values."""
    global _all_forms  # noqa: PLW0603 - as above
    _known.clear()
    _all_forms = ()


def redacted(text: str) -> str:
    """Return a text without the values that are known.

    >>> redacted("nothing is known")
    'nothing is known'
    """
    return _without(text, _all_forms) if _all_forms else text


def without(text: str, values: Iterable[str]) -> str:
    """Return a text without some values in any form, however short they are.

    >>> without("no s3cr/t, s3cr%2Ft", ["s3cr/t"])
    'no ***, ***'
    """
    for value in values:
        text = _without(text, _forms(value))
    return redacted(text)


def redacted_data(value: T) -> T:
    """Return plain data, or a dataclass of plain data, whose texts are redacted."""
    return cast("T", _redacted_member(value)) if _known else value


def redacted_bytes(content: bytes) -> bytes:
    """Return the content of a file that is redacted if it is text."""
    if not _known:
        return content
    try:
        return redacted(content.decode()).encode()
    except UnicodeError:
        return content


def _redacted_member(value: Any) -> Any:
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, Mapping):
        return {_redacted_member(key): _redacted_member(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_redacted_member(one) for one in value]
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(_redacted_member(one) for one in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        found = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
        clean = {name: _redacted_member(one) for name, one in found.items()}
        changed = {name: one for name, one in clean.items() if one != found[name]}
        return dataclasses.replace(value, **changed) if changed else value
    return value


def _without(text: str, forms: Iterable[_Form]) -> str:
    escaped: bool | None = None
    for form in forms:
        if form.sign not in text:
            if escaped is None:
                escaped = _has_escaped_word(text)
            if not escaped:
                continue
        text = _pattern(form.text).sub(HIDDEN, text)
    return text


def _has_escaped_word(text: str) -> bool:
    # Texts without any escape are most, and a search for one character is ten times as fast.
    if not ("\\" in text or "%" in text or "&" in text):
        return False
    return _ESCAPED_WORD.search(text) is not None


def _forms(value: str) -> tuple[_Form, ...]:
    return tuple(_Form(text, _sign(text)) for text in (value, *_base64_cores(value)))


def _sign(text: str) -> str:
    """Return the longest word in the beginning of a form."""
    return max(_WORD.findall(text[: limits.SECRET_HEAD_CHARACTERS]), key=len, default="")


@lru_cache(limits.MAX_KNOWN_FORMS)
def _pattern(text: str) -> re.Pattern[str]:
    """Return the pattern of a form, also if its end is cut off."""
    # It is made when a text may contain the form, which is rare: that takes some milliseconds.
    size = limits.SECRET_HEAD_CHARACTERS
    head, rest = ("".join(map(_written, part)) for part in (text[:size], text[size:]))
    return re.compile(rf"""{head}(?:{rest}|[^\s"'<>\\]*)""" if rest else head)


def _base64_cores(value: str) -> tuple[str, ...]:
    """Return the base64 of a value, at each of the three places of a value within other bytes."""
    raw, found = value.encode("utf-8", "surrogatepass"), list[str]()
    for before, skipped in enumerate(_KEPT_BITS):
        text = base64.b64encode(bytes(before) + raw).decode()
        core = text[skipped : (before + len(raw)) * 8 // 6]
        found += [core, core.translate({43: "-", 47: "_"})]
    return tuple(dict.fromkeys(found))


@lru_cache(limits.MAX_KNOWN_FORMS)
def _written(character: str) -> str:
    """Return a pattern of the forms of one character.

    Each alternative begins with one literal, so that a search skips other characters fast.
    """
    units = json.dumps(character)[1:-1] if not character.isascii() else f"\\u{ord(character):04x}"
    escaped = "".join(rf"\\(?:\\)*u{_hex(unit)}" for unit in units.split("\\u")[1:])
    forms = [re.escape(character), escaped]
    encoded = character.encode("utf-8", "surrogatepass")
    forms.append("".join(f"%(?:25)*{_hex(f'{byte:02x}')}" for byte in encoded))
    forms += [
        rf"&(?:amp;)*\#0*{ord(character)};",
        rf"&(?:amp;)*\#[xX]0*{_hex(f'{ord(character):x}')};",
    ]
    forms.append("".join(rf"\\(?:\\)*x{_hex(f'{byte:02x}')}" for byte in encoded))
    forms.append(rf"\\(?:\\)*x{_hex(f'{ord(character):02x}')}")
    forms.append(rf"\\(?:\\)*U{_hex(f'{ord(character):08x}')}")
    if character in "\"\\/'":
        forms.insert(0, rf"\\(?:\\)*{re.escape(character)}")
    if character in _NAMED:
        forms.append(rf"\\(?:\\)*{_NAMED[character]}")
    if (named := html.escape(character)) != character:
        forms.append(rf"&(?:amp;)*{re.escape(named[1:])}")
    if character == " ":
        forms.append(r"\+")
    return f"(?:{'|'.join(forms)})"


def _hex(digits: str) -> str:
    return "".join(f"[{one}{one.upper()}]" if one.isalpha() else one for one in digits)


def _listen() -> None:
    """Redact messages of errors and log records, which have many readers."""
    RagstoneError.clean = staticmethod(redacted)
    logging.setLogRecordFactory(_record)


def _record(*arguments: Any, **options: Any) -> logging.LogRecord:
    record = _plain_factory(*arguments, **options)
    if record.name.startswith("ragstone") and _known:
        record.msg, record.args = redacted(record.getMessage()), ()
    return record

"""Known values are removed in each form; a text without them is as it was."""

from __future__ import annotations

import base64
import html
import json
import logging
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.core import limits
from ragstone.core.atomic_files import write_document
from ragstone.core.checksums import seal, unseal
from ragstone.core.redaction import (
    forget,
    known,
    redacted,
    redacted_bytes,
    redacted_data,
    remember,
    without,
)
from ragstone.errors import ConfigError

SECRET = 's3cr/t"k+y&é😀=Z9\\x'  # noqa: S105 - not one of ours


def forms(secret: str) -> dict[str, str]:
    """Return the forms of a secret by name."""
    written = json.dumps(secret)[1:-1]
    return {
        "plain": secret,
        "JSON": written,
        "JSON in JSON": json.dumps(written)[1:-1],
        "JSON, slashes": written.replace("/", "\\/"),
        "JSON, all": "".join(map(_escaped, secret)),
        "JSON, UTF-8": json.dumps(secret, ensure_ascii=False)[1:-1],
        "Python": repr(secret)[1:-1],
        "Python, ASCII": ascii(secret)[1:-1],
        "address": quote(secret, safe=""),
        "address, twice": quote(quote(secret, safe=""), safe=""),
        "form": quote_plus(secret),
        "percent, all": "".join(f"%{byte:02X}" for byte in secret.encode()),
        "HTML": html.escape(secret),
        "HTML, numbers": "".join(f"&#{ord(c)};" for c in secret),
        "HTML, hexadecimal": "".join(f"&#x{ord(c):x};" for c in secret),
    }


def _escaped(character: str) -> str:
    """Return the JSON escape of a character that needs none."""
    return f"\\u{ord(character):04x}" if character.isascii() else json.dumps(character)[1:-1]


@pytest.mark.parametrize("form", forms(SECRET).items(), ids=lambda one: one[0])
def test_a_value_is_removed_in_each_form(form: tuple[str, str]) -> None:
    """What is around it stays."""
    text = f"<< {form[1]} >>"
    assert redacted(text) == text
    remember([SECRET])
    assert redacted(text) == "<< *** >>"


@pytest.mark.parametrize("before", [b"", b"a", b"ab", b"user:"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_the_base64_of_a_value_is_removed_at_each_place(before: bytes, encode: object) -> None:
    """Only characters that depend on what is beside the value may stay."""
    assert callable(encode)
    text = encode(before + SECRET.encode() + b"end").decode()
    remember([SECRET])
    rest = redacted(text)
    assert "***" in rest
    assert len(rest) <= len(encode(before + b"end")) + 6


@settings(max_examples=20)
@given(st.text(st.characters(codec="utf-8"), min_size=8, max_size=30), st.text(max_size=20))
def test_any_value_is_removed(value: str, around: str) -> None:
    """Whatever its characters are, in JSON, in an address and as it is."""
    forget()
    secret = value.strip()
    if len(secret) < limits.MIN_SECRET_CHARACTERS:
        return
    remember([value])
    for form in (secret, json.dumps(secret)[1:-1], quote(secret, safe=""), html.escape(secret)):
        assert form not in redacted(f"{around}{form}{around}")
    forget()


def test_a_value_is_removed_if_its_end_is_cut_off() -> None:
    """A message shortens long values; half of a secret is too much."""
    remember(["abcdefghijklmnopqrstuvwxyz0123456789"])
    cut = "abcdefghijklmnopqrstuvwxyz0123456789"[: limits.SECRET_HEAD_CHARACTERS + 3]
    assert redacted(f"found '{cut}...'") == "found '***'"


def test_a_short_value_stays() -> None:
    """It is part of many words; a password in an error of its database is removed all the same."""
    remember(["x" * (limits.MIN_SECRET_CHARACTERS - 1)])
    assert known() == ()
    assert without("no geheim, no GEHEIM", ["geheim"]) == "no ***, no GEHEIM"


def test_each_line_of_a_private_key_is_removed() -> None:
    """A terminal and a log show them apart."""
    remember(["-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B\n-----END PRIVATE KEY-----"])
    assert redacted("line BgkqhkiG9w0B") == "line ***"


def test_plain_data_and_files_are_redacted(tmp_path: Path) -> None:
    """Numbers, keys and bytes that are not text stay."""
    remember(["question-secret"])
    assert redacted_data({"a": ["a question-secret", 1, None], "question-secret": 2.5}) == {
        "a": ["a ***", 1, None],
        "***": 2.5,
    }
    assert redacted_bytes(b"\xff question-secret") == b"\xff question-secret"
    path = write_document(tmp_path / "report.html", b"<p>question-secret</p>", "report")
    assert path.read_text() == "<p>***</p>"
    assert path.stat().st_mode & 0o777 == 0o600
    sealed = seal({"url": "http://a?b=question-secret"}, "place")
    assert unseal(sealed, "place") == {"url": "http://a?b=***"}


def test_messages_of_errors_and_logs_are_redacted(caplog: pytest.LogCaptureFixture) -> None:
    """Also of an error that was raised before the value was known."""
    error = ConfigError("cannot use question-secret")
    remember(["question-secret"])
    logging.getLogger("ragstone.x").warning("cannot use %s", error.args[0])
    logging.getLogger("other").warning("of another library: %s", "question-secret")
    assert str(error) == "cannot use ***"
    assert caplog.messages == ["cannot use cannot use ***", "of another library: question-secret"]


def test_nothing_is_done_without_a_known_value() -> None:
    """The same objects are returned."""
    text, data, raw = "a" * 100, {"a": 1}, b"a"
    assert redacted(text) is text
    assert redacted_data(data) is data
    assert redacted_bytes(raw) is raw

"""Texts that look like secrets, and those that do not."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from ragstone.core.likely_secrets import likely_secrets, remember_likely
from ragstone.core.redaction import redacted

BASIC = base64.b64encode(b"me:hunter2hunter2").decode()


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ({"headers": {"Authorization": "Bearer abc-def-ghi"}}, ["abc-def-ghi"]),
        ({"headers": {"authorization": f"Basic {BASIC}"}}, [BASIC, "hunter2hunter2"]),
        ({"headers": {"X-Own": "0f9e8d7c6b5a49382716"}}, ["0f9e8d7c6b5a49382716"]),
        ({"headers": {"Cookie": "sid=aaaabbbb; theme=d"}}, ["sid=aaaabbbb; theme=d", "aaaabbbb"]),
        ({"url": "https://a.example/v1?top_k=5&sig=abc%2Fdefghi"}, ["abc/defghi"]),
        ({"url": "https://me:p4ssw0rd!@a.example/v1"}, ["p4ssw0rd!"]),
        ("chat(model=m, base_url=https://a/v1?api-key=0123456789)", ["0123456789"]),
        ({"uri": "host=db user=me password=geheim12 dbname=x"}, ["geheim12"]),
        ({"body": {"query": "{query}", "access_token": "0123456789"}}, ["0123456789"]),
        ({"command": "python a.py --api-key 0123456789 -v"}, ["0123456789"]),
        ({"extra": ["AKIAIOSFODNN7EXAMPLE"]}, ["AKIAIOSFODNN7EXAMPLE"]),
        ({"note": f"a ghp_{'a1' * 18}"}, [f"ghp_{'a1' * 18}"]),
        ({"system": f"Use sk-proj-{'a1' * 12}."}, [f"sk-proj-{'a1' * 12}"]),
        ({"note": "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln"}, ["eyJhbGciOiJI.eyJzdWIiOiIx.c2ln"]),
    ],
)
def test_a_likely_secret_is_found(document: Any, found: list[str]) -> None:
    """By the name beside it, by its place in an address, or by its form."""
    assert list(dict.fromkeys(one.value for one in likely_secrets(document))) == found


@pytest.mark.parametrize(
    "document",
    [
        {"headers": {"Authorization": "Bearer {env:MY_TOKEN}", "X-Key": "{file:key.txt}"}},
        {"url": "https://me:{env:PASSWORD}@a.example/v1?sig={env:SIGNATURE}&top_k=1000000000"},
        {"api_key_env": "MY_SECRET_KEY", "password_env": "PG_PASSWORD_NAME"},
        {"mask_token": "<|endoftext|>", "max_tokens": 512, "secret": "20%"},
        {"system": "If the password: is unknown-to-you, say so."},
        {"judges": ["nuggets:secret(prompt=strict)"], "headers": {"X-Tenant": "acme-corporation"}},
        {"url": "https://a.example/v1?sig=hidden-01234567-0123456789abcdef"},
    ],
)
def test_other_texts_are_none(document: Any) -> None:
    """References, names of variables, special tokens, prompts and marks."""
    assert list(likely_secrets(document)) == []


def test_the_notice_names_the_place_and_the_way_out_once(caplog: pytest.LogCaptureFixture) -> None:
    """It does not contain the value."""
    document = {"systems": {"a": {"headers": {"X-Api-Key": "0123456789"}}}}
    remember_likely(document, "e.yaml")
    remember_likely(document, "e.yaml")
    (told,) = caplog.messages
    assert "e.yaml: systems.a.headers.X-Api-Key looks like a secret" in told
    assert "write {env:NAME}" in told
    assert "0123456789" not in told
    assert redacted("0123456789") == "***"


@pytest.mark.parametrize("unit", ["x", "eyJ-", "a://", "-----BEGIN PRIVATE KEY-----"])
def test_a_long_text_is_read_once(unit: str) -> None:
    """The time grows with the length: with its square, this test would take hours."""
    assert list(likely_secrets({"prompt": unit * (1_000_000 // len(unit))})) == []

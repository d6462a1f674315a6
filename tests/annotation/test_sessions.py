"""Cookies, the tokens of forms, and wrong tokens."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.annotation.served_site import made_site

from ragstone.annotation.people import Person
from ragstone.annotation.sessions import (
    Caller,
    SignInError,
    WrongTokens,
    caller,
    check_role,
    cookie_name,
    form_token,
    reader,
)
from ragstone.web import limits
from ragstone.web.errors import PageError


def test_a_reader_of_an_open_project_has_no_form_token(tmp_path: Path) -> None:
    """Without a session nothing can be changed; a named person makes a session needed."""
    site = made_site(tmp_path)
    assert reader(site, "") == Caller(Person("owner", "owner"))
    assert reader(site, "").form_token == ""
    assert caller(site, "unknown") is None
    session = site.database.open_session("owner")
    found = reader(site, session)
    assert found.form_token == form_token(session) != session
    site.database.add_person("ann", "annotator")
    with pytest.raises(SignInError):
        reader(site, "")
    with pytest.raises(PageError, match="for the reviewer or the owner"):
        check_role(Person("ann", "annotator"), ("reviewer", "owner"))
    assert cookie_name(site).endswith(site.digest)


def test_wrong_tokens_are_counted_per_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others may still sign in; few addresses are remembered."""
    monkeypatch.setattr(limits, "WRONG_TOKEN_SECONDS", 0)
    monkeypatch.setattr(limits, "WRONG_TOKEN_ADDRESSES", 2)
    wrong = WrongTokens()

    async def add() -> None:
        for _ in range(limits.WRONG_TOKENS):
            wrong.check("10.0.0.1")
            await wrong.add("10.0.0.1")
        for number in range(5):
            await wrong.add(f"10.0.1.{number}")

    asyncio.run(add())
    wrong.check("10.0.0.2")
    with pytest.raises(PageError, match="10 wrong tokens within a minute"):
        wrong.check("10.0.0.1")

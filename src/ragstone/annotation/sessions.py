"""Who asks: sessions in cookies, the tokens of forms, and wrong tokens, of which there are few."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ragstone.annotation.people import Person, PersonRole
from ragstone.web import limits
from ragstone.web.errors import PageError, StateText

if TYPE_CHECKING:
    from aiohttp import web

    from ragstone.annotation.site import Site

_MINUTE: Final = 60.0


class SignInError(PageError):
    """A request without a session that needs one."""

    def __init__(self, said: str = "Sign in with your token.", then: str = "") -> None:
        super().__init__(401, StateText(said, then))


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request; someone who only reads an open project has no session."""

    person: Person
    session: str = ""

    @property
    def form_token(self) -> str:
        """The token that the forms of this session carry; "" without a session."""
        return form_token(self.session) if self.session else ""


def form_token(secret: str) -> str:
    """Return the token of the forms that belong to a secret, which it does not reveal."""
    return hmac.new(secret.encode(), b"form", hashlib.sha256).hexdigest()


def cookie_name(site: Site) -> str:
    """Return the name of a project's cookie: browsers share cookies between all ports."""
    return f"ragstone_session_{site.digest}"


def caller(site: Site, session: str) -> Caller | None:
    """Return who has a session, or None if it ended or its person was removed."""
    name = site.database.person_of_session(session) if session else None
    person = None if name is None else site.person(name)
    return None if person is None else Caller(person, session)


def reader(site: Site, session: str) -> Caller:
    """Return who asks for a page; an open project can be read without a session.

    Raises `SignInError`.
    """
    found = caller(site, session)
    if found is None and site.is_open and not site.database.people():
        return Caller(Person(site.name, "owner"))
    if found is None:
        raise SignInError
    return found


def check_role(person: Person, roles: Sequence[PersonRole]) -> None:
    """Raise 403 unless a person has one of the roles."""
    if person.role not in roles:
        said = f"This is for the {' or the '.join(roles)} of the project."
        raise PageError(
            403, StateText(said, f"{person.name} has the role {person.role}.", "", "/", "Start")
        )


def set_cookie(response: web.StreamResponse, site: Site, session: str, *, secure: bool) -> None:
    """Let a browser keep a session; no script can read it, and no other site can send it."""
    response.set_cookie(
        cookie_name(site),
        session,
        max_age=limits.SESSION_DAYS * 24 * 3600,
        httponly=True,
        samesite="Strict",
        secure=secure,
        path="/",
    )


class WrongTokens:
    """Counts wrong tokens per address of a client; too many within a minute are refused."""

    def __init__(self) -> None:
        self._times: dict[str, deque[float]] = {}

    def check(self, address: str) -> None:
        """Raise 429 if an address sent too many wrong tokens."""
        recent = self._recent(address)
        if len(recent) >= limits.WRONG_TOKENS:
            seconds = max(1, round(recent[0] + _MINUTE - time.monotonic()))
            said = f"There were {len(recent)} wrong tokens within a minute."
            raise PageError(429, StateText(said, f"Try again in {seconds} s."))

    async def add(self, address: str) -> None:
        """Count a wrong token, and wait a little."""
        if len(self._times) >= limits.WRONG_TOKEN_ADDRESSES:
            self._times = {one: self._times[one] for one in [*self._times] if self._recent(one)}
        self._times.setdefault(address, deque()).append(time.monotonic())
        await asyncio.sleep(limits.WRONG_TOKEN_SECONDS)

    def _recent(self, address: str) -> deque[float]:
        times = self._times.get(address, deque())
        while times and times[0] < time.monotonic() - _MINUTE:
            times.popleft()
        return times

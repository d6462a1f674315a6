"""A running project: its pages and calls, and who asks for them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from ragstone.annotation.database import Database
from ragstone.annotation.people import OWNER, ROLES, Person, PersonRole
from ragstone.annotation.work import Work
from ragstone.web.page_query import PageQuery
from ragstone.web.security import new_token, same_token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragstone.annotation.agents import AskedAgent
    from ragstone.annotation.project import Project

Document: TypeAlias = Any
"""Plain data of a page: dataclasses, mappings, lists, texts and numbers."""


@dataclass
class Site:
    """State that the pages of one start of the server share."""

    project: Project
    database: Database
    agent: AskedAgent | None = None
    """The agent of live conversations; None: none can be continued."""
    name: str = OWNER
    """The name of the person whose session the printed address opens."""
    is_open: bool = True
    """Whether this machine alone reaches the server: the printed address opens a session."""
    key: str = field(default_factory=new_token)
    """The secret in the printed address, new at each start."""
    first_key: str = field(default_factory=new_token)
    """The secret that a browser gets as an argument, which other users can list: it works once."""
    active: bool = False
    """Whether people get the items that narrow the interval most, by the scores of a judge."""
    work: Work = field(init=False)
    """Who finished which items."""

    def __post_init__(self) -> None:
        self.work = Work(self.project, self.database, active=self.active, owns=self._owns)

    def opens(self, key: str) -> bool:
        """Return whether the key of an address opens a session."""
        if self.is_open and self.first_key and same_token(key, self.first_key):
            self.first_key = ""
            return True
        return self.is_open and same_token(key, self.key)

    @cached_property
    def digest(self) -> str:
        """Short digest of the project's folder: browsers share cookies between ports."""
        folder = str(self.project.folder.resolve())
        return hashlib.sha256(folder.encode()).hexdigest()[:12]

    def person(self, name: str) -> Person | None:
        """Return a person by name; the owner of an open project needs no entry."""
        found = self.database.person(name)
        if found is None and self.is_open and name == self.name:
            return Person(name, "owner")
        return found

    def _owns(self, name: str) -> bool:
        found = self.person(name)
        return found is not None and found.role == "owner"


@dataclass(frozen=True, slots=True)
class Visit:
    """A request for a page: who asks, and the address."""

    person: Person
    query: PageQuery


PageAct: TypeAlias = Callable[[Site, Visit, Mapping[str, str]], Document]
"""The action of a page's form; it returns the data of the page after it."""


@dataclass(frozen=True)
class SitePage:
    """A page; the plain data of `make` are at the same address with `.json`."""

    path: str
    title: str
    template: str
    make: Callable[[Site, Visit], Document]
    tab: str = ""
    """Its name in the navigation; pages without a tab are reached from others."""
    roles: tuple[PersonRole, ...] = ROLES
    tasks: Sequence[str] = ()
    """The tasks that have the page; empty: all."""
    quick: bool = False
    """Whether it is made of a few rows: it is made at once if the database is on this machine."""
    act: PageAct | None = None
    """The action of the page's forms; they are sent to the address of the page, with the
    template's `token` in the field `form`. None if it has no forms."""


@dataclass(frozen=True)
class SiteCall:
    """A POST of JSON from the script of a page, which gets JSON; it needs a session."""

    path: str
    run: Callable[[Site, Person, Mapping[str, Any]], Document]
    roles: tuple[PersonRole, ...] = ROLES

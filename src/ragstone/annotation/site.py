"""A running project: its pages and calls, and who asks for them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ragstone.annotation.database import ROLES, Database, Person, PersonRole
from ragstone.web.page_query import PageQuery
from ragstone.web.security import new_token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragstone.annotation.agents import AskedAgent
    from ragstone.annotation.project import Project

Document: TypeAlias = Any
"""Plain data of a page: dataclasses, mappings, lists, texts and numbers."""
OWNER: Final = "owner"
"""The person of a project on this machine alone, unless `--name` gives another name."""


@dataclass
class Site:
    """What the pages of one start of the server share."""

    project: Project
    database: Database
    agent: AskedAgent | None = None
    """The agent of live conversations; None: none can be continued."""
    name: str = OWNER
    """The name of the person whose session the printed address opens."""
    is_open: bool = True
    """Whether the printed address opens a session: on this machine, and if nobody is named."""
    key: str = field(default_factory=new_token)
    """The secret in the printed address."""

    @property
    def digest(self) -> str:
        """Short digest of the project's folder: browsers share cookies between ports."""
        folder = str(self.project.folder.resolve())
        return hashlib.sha256(folder.encode()).hexdigest()[:12]

    def person(self, name: str) -> Person | None:
        """Return a person by name; the owner of an open project needs no entry."""
        if name == self.name and self.is_open:
            return Person(name, "owner")
        return next((one for one in self.database.people() if one.name == name), None)


@dataclass(frozen=True, slots=True)
class Visit:
    """A request for a page: who asks, and the address."""

    person: Person
    query: PageQuery


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


@dataclass(frozen=True)
class SiteCall:
    """A POST of JSON from the script of a page, which gets JSON; it needs a session."""

    path: str
    run: Callable[[Site, Person, Mapping[str, Any]], Document]
    roles: tuple[PersonRole, ...] = ROLES

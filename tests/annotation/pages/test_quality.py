"""The data of the page of quality."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fakes.labelled_project import made_site, plain_items

from ragstone.annotation.database import Person
from ragstone.annotation.pages.quality import QUALITY, quality_document
from ragstone.annotation.site import Site, Visit
from ragstone.web.page_query import PageQuery


def ask(site: Site) -> dict[str, Any]:
    """Return the data of the page for the owner."""
    visit = Visit(Person("owner", "owner"), PageQuery("/quality"))
    return quality_document(site, visit)  # type: ignore[no-any-return]


def test_who_did_not_pass_the_qualification_is_named(tmp_path: Path) -> None:
    """A person without a known label has neither passed nor failed."""
    items = plain_items(3)
    items[2]["known"] = {"support": "no"}
    with made_site(tmp_path, items, qualification=0.8) as (site, give):
        assert ask(site)["people"] == []
        give("ann", "q2", "no")
        give("ben", "q2", "yes")
        give("cem", "q0", "yes")
        found = ask(site)
    assert found["failed"] == ["ben"]
    passed = {one["person"]: one["is_qualified"] for one in found["people"]}
    assert passed == {"ann": True, "ben": False, "cem": None}
    assert QUALITY.roles == ("owner",)

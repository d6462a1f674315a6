"""A running project: its digest, its people and the keys of its address."""

from __future__ import annotations

from pathlib import Path

from tests.annotation.served_site import made_site

from ragstone.annotation.people import Person


def test_a_named_person_has_their_own_role_and_the_local_one_is_owner(tmp_path: Path) -> None:
    """An annotator does not become owner if the owner starts the server under that name."""
    site = made_site(tmp_path, name="ann")
    assert site.person("ann") == Person("ann", "owner")
    assert site.person("bea") is None
    site.database.add_person("ann", "annotator")
    assert site.person("ann") == Person("ann", "annotator")
    exposed = made_site(tmp_path, name="lee", is_open=False)
    assert exposed.person("lee") is None


def test_keys_open_a_session_on_this_machine_alone(tmp_path: Path) -> None:
    """The key that a browser is started with works once, the printed one until the end."""
    site = made_site(tmp_path)
    first = site.first_key
    assert [site.opens(one) for one in (first, first, "", "x", site.key, site.key)] == [
        *(True, False, False, False),
        *(True, True),
    ]
    exposed = made_site(tmp_path, is_open=False)
    assert not exposed.opens(exposed.key)
    assert not exposed.opens(exposed.first_key)


def test_projects_of_one_name_have_digests_of_their_own(tmp_path: Path) -> None:
    """The digest is of the folder, and the same at each start."""
    one, two = made_site(tmp_path / "one"), made_site(tmp_path / "two")
    assert one.project.name == two.project.name
    assert one.digest != two.digest
    assert one.digest == made_site(tmp_path / "one").digest

"""The page of agreement: a question in detail, and one item for a person who labelled it."""

from __future__ import annotations

from pathlib import Path

from tests.annotation.pages.test_progress import asked
from tests.fakes.labelled_project import made_site
from tests.fakes.mirage_labels import mirage_site


def test_a_question_in_detail(tmp_path: Path) -> None:
    """Values, pairs, the model and its influence; an unknown question is an error."""
    with mirage_site(tmp_path / "p", done=0.2, shown=True) as site:
        _, data = asked(site, "agreement.json?question=support")
        _, page = asked(site, "agreement")
        status, _ = asked(site, "agreement?question=suport")
    assert status == 404
    assert data["question"]["counts"].keys() == {"yes", "partly", "no", "cannot tell"}
    assert [one["shown"] for one in data["model"]["groups"]] == ["never", "after", "before"]
    assert len(data["question"]["agreement"]["pairwise"]) == 3
    for said in ("Pairs of people", "People and the model", "influence", "labels were changed"):
        assert said.casefold() in page.casefold()


def test_an_item_needs_an_own_label_and_the_projects_leave(tmp_path: Path) -> None:
    """Annotators see it only if the project allows it; nobody's label is in it."""
    with made_site(tmp_path / "p", 2) as (site, give):
        give("ann", "q0", "cannot tell")
        token = site.database.add_person("eve", "annotator")
        assert asked(site, "agreement.json?item=q0", token)[0] == 403
    with made_site(tmp_path / "q", 2, agreement=True) as (site, give):
        give("ann", "q0", "cannot tell")
        token = site.database.add_person("eve", "annotator")
        status, data = asked(site, "agreement.json?item=q0", token)
        assert (status, data["error"]) == (404, "You have no label of the item 'q0'.")
        give("eve", "q0", "no")
        status, data = asked(site, "agreement.json?item=q0", token)
        assert status == 200
        assert data["about"] == [{"question": "support", "people": 2, "equal_pairs": 0}]
        assert "cannot tell" not in str(data)
        assert asked(site, "agreement?item=q0", token)[0] == 200
        assert asked(site, "agreement.json", token)[0] == 403


def test_without_labels_there_is_a_state(tmp_path: Path) -> None:
    """The page says that nothing can be compared."""
    with made_site(tmp_path / "p", 2) as (site, _):
        status, page = asked(site, "agreement")
    assert status == 200
    assert "Nothing can be compared yet" in page


def test_labels_of_own_statements_are_compared_by_text(tmp_path: Path) -> None:
    """Ids differ between people, and so do most texts; the page says what is compared."""
    with made_site(tmp_path / "p", 2, task="nuggets") as (site, give):
        for person, values in (("ann", ("vital", "vital")), ("ben", ("okay", "vital"))):
            for item, value in zip(("q0", "q1"), values, strict=True):
                own = [{"id": f"{person}1", "text": "At six."}, {"id": "x", "text": person}]
                give(person, item, own, "nugget")
                give(person, item, value, "importance", f"{person}1")
                give(person, item, "okay", "importance", "x")
                give(person, item, "okay", "importance", "removed")
        _, data = asked(site, "agreement.json?question=importance")
        _, page = asked(site, "agreement?question=importance")
    assert data["by_text"]
    assert (data["question"]["two"], data["question"]["agreement"]["n"]) == (2, 6)
    assert "Their labels are compared where the texts are equal." in page

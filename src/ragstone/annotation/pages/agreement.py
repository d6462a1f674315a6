"""The page of agreement: values, pairs of people, sides, and people against a model.

With `item=` it is the agreement about one item, for the page of labels. It has nobody's label, and
it is given only to a person who has labelled the item.
"""

from __future__ import annotations

from typing import Final

from ragstone.annotation.agreement import item_agreement
from ragstone.annotation.influence import ModelLabels
from ragstone.annotation.live_numbers import live_numbers
from ragstone.annotation.pages.progress import WAIT
from ragstone.annotation.site import Document, Site, SitePage, Visit
from ragstone.web.errors import PageError, StateText


def _make(site: Site, visit: Visit) -> Document:
    if item_id := visit.query.text("item"):
        return _of_item(site, visit, item_id)
    if visit.person.role == "annotator":
        raise PageError(403, StateText("This is for the reviewers and the owners of the project."))
    found = live_numbers(site, WAIT)
    if found is None:
        return {"made": "", "item_id": "", "names": []}
    names = [one.question for one in found.questions]
    name = visit.query.choice("question", names, names[0] if names else "")

    def of(listed: tuple[object, ...]) -> object:
        return next((one for one in listed if getattr(one, "question", "") == name), None)

    model = of(found.model)
    return {
        "made": found.made,
        "item_id": "",
        "names": names,
        "question": of(found.questions),
        "by_text": _is_by_text(site, name),
        "model": model,
        "influenced": isinstance(model, ModelLabels) and model.is_influenced,
        "sides": of(found.sides),
    }


def _is_by_text(site: Site, name: str) -> bool:
    """Whether labels are compared where people marked equal texts."""
    question = site.project.scheme.question(name)
    return question is not None and question.of == "part" and site.project.scheme.writes_parts


def _of_item(site: Site, visit: Visit, item_id: str) -> Document:
    """Return the agreement about an item, and the alpha of its questions."""
    if visit.person.role == "annotator" and not site.project.settings.agreement:
        said = "This project does not show agreement to annotators."
        then = "The owner can set `agreement: true` in project.yaml."
        raise PageError(403, StateText(said, then))
    about = item_agreement(site, item_id, visit.person.name)
    if not about:
        raise PageError(404, StateText(f"You have no label of the item {item_id!r}."))
    found = live_numbers(site, 0)
    names = {one.question for one in about}
    return {
        "made": found.made if found else "",
        "item_id": item_id,
        "about": about,
        "questions": [
            {"question": one.question, "two": one.two, "alpha": one.agreement.alpha}
            for one in (found.questions if found else ())
            if one.question in names
        ],
    }


AGREEMENT: Final = SitePage("/agreement", "Agreement", "agreement.html", _make)

"""The form of a changed query: the values of its fields, and the change that they describe.

A passage has the fields `id-N`, `origin-N`, `text-N`, `place-N` and `drop-N`. The form is the same
with and without script. Fields that are not sent are as the query was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast, get_args

from ragstone.core import limits
from ragstone.core.screen_text import shorten
from ragstone.core.shown_text import shown_controls
from ragstone.results.chain import QueryChain
from ragstone.results.reader import StoredResults
from ragstone.results.record import part_id
from ragstone.results.what_if import WhatIf
from ragstone.types import ContextPassage, Origin
from ragstone.web.errors import PageError, StateText

PROMPTS: Final = {
    "system": "System message",
    "user": "User message",
    "closed_book_system": "System message without passages",
    "closed_book_user": "User message without passages",
}
"""Parameter of a generator -> the name of the template."""


@dataclass(frozen=True, slots=True)
class PassageField:
    """One passage of the form."""

    number: int
    passage_id: str
    origin: str
    text: str
    place: str
    dropped: bool = False


@dataclass(frozen=True)
class WhatIfForm:
    """The values of the form, as they were entered."""

    passages: tuple[PassageField, ...] | None
    """None if the system's context is not known, so that it cannot be changed."""
    search: str | None
    """None if the system does not search."""
    prompts: Mapping[str, str]
    """Parameter -> template; empty for a generator without a prompt, or with one per language."""
    add: str = ""
    add_text: str = ""


def asked_form(results: StoredResults, chain: QueryChain) -> WhatIfForm:
    """Return the form of a query as it was asked."""
    shown = chain.context
    numbered = enumerate(shown or (), start=1)
    passages = [PassageField(n, p.passage_id, p.origin, p.text, str(n)) for n, p in numbered]
    made = next(one for one in results.record.systems if one.name == chain.system)
    texts = results.record.templates.get(part_id(made.components.get("generator") or {}), {})
    # A text of the form would replace those of all languages.
    can_edit = "user" in texts and not any(name.endswith(".user") for name in texts)
    return WhatIfForm(
        None if shown is None else tuple(passages),
        chain.search,
        {name: texts.get(name, "") for name in PROMPTS} if can_edit else {},
    )


def entered_form(asked: WhatIfForm, values: Mapping[str, str]) -> WhatIfForm:
    """Return the form as it was entered; a text that was not edited is the one that was asked."""
    if not values:
        return asked
    passages = tuple(_entered_passages(values, asked.passages or ()))
    search = None if asked.search is None else _kept(values.get("search"), asked.search)
    prompts = {n: _kept(values.get(f"prompt-{n}"), t) for n, t in asked.prompts.items()}
    return WhatIfForm(
        None if asked.passages is None else passages,
        search,
        prompts,
        values.get("add", "").strip(),
        _lines(values.get("add-text", "")),
    )


def _entered_passages(
    values: Mapping[str, str], asked: Sequence[PassageField]
) -> Iterator[PassageField]:
    number = 1
    while (written := values.get(f"id-{number}")) is not None:
        # The passage of this number comes first: an id may occur twice.
        near = [*asked[number - 1 : number], *asked]
        known = next((one for one in near if shown_controls(one.passage_id) == written), None)
        yield PassageField(
            number,
            known.passage_id if known else written,
            values.get(f"origin-{number}", "retrieved"),
            _kept(values.get(f"text-{number}"), known.text if known else ""),
            values.get(f"place-{number}", str(number)).strip(),
            bool(values.get(f"drop-{number}")),
        )
        number += 1


def _kept(entered: str | None, asked: str) -> str:
    """Return a text as it was asked if only the form changed it: line ends, control characters."""
    if entered is None:
        return asked
    same = shown_controls(_lines(entered))
    if same in (shown_controls(_lines(asked)), _lines(shown_controls(asked))):
        return asked
    return _lines(entered)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def change_of(asked: WhatIfForm, entered: WhatIfForm) -> WhatIf:
    """Return the change that a form describes.

    Raises `PageError` for a position that is not a number, or an empty prompt.
    """
    passages = None if entered.passages is None else _ordered(entered)
    before = tuple(_passage(one) for one in asked.passages or ())
    search = entered.search if entered.search != asked.search else None
    prompts = {n: t for n, t in entered.prompts.items() if t != asked.prompts.get(n, "")}
    notes = [] if passages is None else list(_passage_notes(before, passages))
    if search is not None:
        notes.append(f"search text “{search}”")
    if prompts:
        notes.append(f"{' and '.join(PROMPTS[name].lower() for name in prompts)} edited")
    return WhatIf(
        None if passages is None or passages == before else passages,
        search,
        prompts,
        shorten("; ".join(notes), limits.SHOWN_TEXT_CHARACTERS),
    )


def _ordered(entered: WhatIfForm) -> tuple[ContextPassage, ...]:
    """Return the passages that are not dropped, by their positions."""
    kept = [one for one in entered.passages or () if not one.dropped]
    for one in kept:
        if not (one.place.isascii() and one.place.isdigit()):
            said = f"The position of {one.passage_id} is {one.place!r}."
            raise PageError(400, StateText(said, "A position is a whole number."))
    kept.sort(key=lambda one: int(one.place[:9]))
    found = [_passage(one) for one in kept]
    if entered.add:
        found.append(ContextPassage(entered.add, entered.add_text, "retrieved"))
    elif entered.add_text:
        said = "The added passage has a text and no id."
        raise PageError(400, StateText(said, "Give it an id of your choice."))
    return tuple(found)


def _passage(one: PassageField) -> ContextPassage:
    origin = cast("Origin", one.origin) if one.origin in get_args(Origin) else "retrieved"
    return ContextPassage(one.passage_id, one.text, origin)


def _passage_notes(
    before: tuple[ContextPassage, ...], after: tuple[ContextPassage, ...]
) -> Iterator[str]:
    """Yield the changes of the passages, in words."""
    old = {one.passage_id: one.text for one in before}
    new = {one.passage_id: one.text for one in after}
    for word, ids in (
        ("dropped", [one for one in old if one not in new]),
        ("added", [one for one in new if one not in old]),
        ("edited", [one for one in new if one in old and new[one] != old[one]]),
    ):
        if ids:
            yield f"{', '.join(ids)} {word}"
    kept = [one for one in old if one in new]
    order = [one for one in new if one in old]
    if kept != order:
        yield f"order {', '.join(order)}"

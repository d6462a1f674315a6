"""Faults within one text: the table of them, and the scan of all texts of a data set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from ragstone.core import limits
from ragstone.data_quality import personal_data
from ragstone.data_quality.characters import (
    without_controls,
    without_invisible,
    without_look_alikes,
)
from ragstone.data_quality.finding import Finding, Remedy, Severity, report, shown
from ragstone.data_quality.markup import without_entities, without_tags
from ragstone.data_quality.mojibake import repaired
from ragstone.data_quality.scope import looked_at
from ragstone.data_quality.wording import junk, placeholder, pointing, unresolved

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject

_REPLACED: Final = "\ufffd"
_ALL: Final = ("passage", "title", "query", "stand-alone query", "history", "answer")
_NOUNS: Final = {"passage": "passages", "query": "queries", "answer": "gold answers"}


@dataclass(frozen=True, slots=True)
class TextFault:
    """One kind of fault of a text. One of `mend` and `find` finds it; `--fix` uses `mend`."""

    severity: Severity
    what: str
    """Completes the sentence "3 of 24 passages ..."."""
    advice: str
    mend: Callable[[str], str] | None = None
    """Returns the text without the fault; a text that it changes has the fault."""
    find: Callable[[str], int] | None = None
    """Returns the place of the fault, or -1."""
    kinds: tuple[str, ...] = _ALL
    """Kinds of texts that are checked."""
    severities: Mapping[str, Severity] = field(default_factory=dict)
    """Kind of text -> severity, if it differs."""
    drops: bool = False
    """Whether `--fix` removes the row: its whole text is the fault."""

    @property
    def remedy(self) -> Remedy:
        """Whether `--fix` removes the fault, or a person has to."""
        return "fix" if self.mend or self.drops else "person"

    def place(self, text: str) -> int:
        """Return the place of the fault in a text, or -1."""
        if self.find:
            return self.find(text)
        if self.mend is None or (whole := self.mend(text)) == text:
            return -1
        same = (a == b for a, b in zip(text, whole, strict=False))
        return [*same, False].index(False)


def _personal(kind: str, noun: str, severity: Severity) -> TextFault:
    return TextFault(
        "warning",
        f"contain {noun}",
        f"mask them (`--fix` does, as [{kind}]), unless they are public and a query asks for them",
        mend=partial(personal_data.masked, kind=kind),
        severities=dict.fromkeys(("passage", "title", "answer", "history"), severity),
    )


TEXT_FAULTS: Final[Mapping[str, TextFault]] = {
    "encoding/lost": TextFault(
        "warning",
        "contain the character U+FFFD: characters were lost in decoding",
        "get the texts from their source again, and decode them correctly",
        find=lambda text: text.find(_REPLACED),
    ),
    "encoding/mojibake": TextFault(
        "warning",
        "contain characters decoded with the wrong encoding ('Ã©' for 'é')",
        "repair them (`--fix` does), and find the step that reads files in another encoding",
        mend=repaired,
    ),
    "encoding/controls": TextFault(
        "warning",
        "contain control characters",
        "remove them (`--fix` does): tokenizers treat them in different ways",
        mend=without_controls,
    ),
    "encoding/invisible": TextFault(
        "warning",
        "contain invisible characters (zero-width spaces, soft hyphens, marks of direction)",
        "remove them (`--fix` does): a word with one does not match the same word without it",
        mend=without_invisible,
    ),
    "encoding/look-alikes": TextFault(
        "warning",
        "contain words with letters of two scripts that look alike, or characters of a PDF font",
        "replace them (`--fix` does): the word looks right, and no search finds it",
        mend=without_look_alikes,
    ),
    "markup/tags": TextFault(
        "warning",
        "contain HTML tags",
        "remove them (`--fix` does), unless the texts are about HTML",
        mend=without_tags,
    ),
    "encoding/markup": TextFault(
        "note",
        "contain HTML entities ('&amp;')",
        "decode them (`--fix` does), unless the texts are about HTML",
        mend=without_entities,
    ),
    "texts/placeholder": TextFault(
        "warning",
        'are placeholders ("TODO", "page not found", "lorem ipsum")',
        "remove them (`--fix` does): a placeholder can be retrieved, and answers nothing",
        find=placeholder,
        kinds=("passage",),
        drops=True,
    ),
    "personal-data/email": _personal("email", "e-mail addresses", "note"),
    "personal-data/card": _personal("card", "card numbers with a right check digit", "warning"),
    "personal-data/identity": _personal("identity", "identity or account numbers", "warning"),
    "personal-data/phone": _personal("phone", "telephone numbers", "note"),
    "queries/junk": TextFault(
        "warning",
        "ask nothing (signs, tests, keys side by side)",
        "remove them (`--fix` does)",
        find=junk,
        kinds=("stand-alone query",),
        drops=True,
    ),
    "queries/points-at-passage": TextFault(
        "warning",
        'point at a passage that a system does not see ("the passage above")',
        "name the subject in the query; the ids are under `rows` in `--json`",
        find=pointing,
        kinds=("stand-alone query",),
    ),
    "queries/unresolved": TextFault(
        "warning",
        "stand alone and refer to something that they do not name",
        "name it in the query, add the `history` of the conversation, or add a `rewrite`",
        find=unresolved,
        kinds=("stand-alone query",),
    ),
}
"""Name -> kind of fault. `--fix` mends them in this order."""


def texts_of(subject: Subject) -> Iterator[tuple[str, str, str]]:
    """Yield kind, id and text of every passage, query and gold answer.

    A query has its rewrite and its history as further texts, a passage its title. The kind is
    `stand-alone query` for the text of a query without history and rewrite.
    """
    table = subject.dataset.corpus.table
    for start in range(0, table.num_rows, limits.TABLE_BATCH_ROWS):
        part = table.slice(start, min(limits.TABLE_BATCH_ROWS, table.num_rows - start))
        columns = [part.column(name).to_pylist() for name in ("passage_id", "title", "text")]
        for passage_id, title, text in zip(*columns, strict=True):
            yield "passage", passage_id, text
            if title:
                yield "title", passage_id, title
    for query in subject.queries:
        alone = not (query.history or query.rewrite)
        yield ("stand-alone query" if alone else "query"), query.query_id, query.text
        if query.rewrite:
            yield "query", query.query_id, query.rewrite
        for message in query.history:
            yield "history", query.query_id, message.text
        for answer in query.gold_answers:
            yield "answer", query.query_id, answer


_ROW: Final = {"title": "passage", "stand-alone query": "query", "history": "query"}
"""Kind of text -> kind of the row that it belongs to."""
_READ: Final = ("passages", "queries", "gold answers")


def check_texts(subject: Subject) -> Iterator[Finding]:
    """Find the faults of the table in every text: one finding per kind of row and severity."""
    totals = dict(zip(_NOUNS, map(looked_at(subject).get, _READ), strict=True))
    found: dict[tuple[str, str, Severity], dict[str, str]] = {}
    for kind, text_id, text in texts_of(subject):
        for name, fault in TEXT_FAULTS.items():
            if kind in fault.kinds and (place := fault.place(text)) >= 0:
                severity = fault.severities.get(kind, fault.severity)
                places = found.setdefault((name, _ROW.get(kind, kind), severity), {})
                places.setdefault(text_id, _around(text, place))
    for (name, row, severity), places in sorted(found.items()):
        fault = TEXT_FAULTS[name]
        yield from report(
            name,
            severity,
            [(i, f"{row} {i}: {excerpt}") for i, excerpt in places.items()],
            totals[row] or 0,
            f"{_NOUNS[row]} {fault.what}",
            advice=fault.advice,
            kind=row,
            remedy=fault.remedy,
        )


def mended(text: str) -> tuple[str, list[str]]:
    r"""Return a text without the faults that have one right repair, and the names of the faults.

    >>> mended("<p>a bell\x07 rings</p>")
    ('a bell rings', ['encoding/controls', 'markup/tags'])
    """
    names = []
    for name, fault in TEXT_FAULTS.items():
        if fault.mend and (after := fault.mend(text)) != text:
            text = after
            names.append(name)
    return text, names


def dropped(kind: str, text: str) -> str:
    """Return the name of the fault because of which `--fix` removes a row, or ""."""
    named = (n for n, f in TEXT_FAULTS.items() if f.drops and kind in f.kinds)
    return next((n for n in named if TEXT_FAULTS[n].place(text) >= 0), "")


def _around(text: str, place: int) -> str:
    """Return the text around a place, with invisible characters as escapes."""
    margin = limits.EXAMPLE_MARGIN_CHARACTERS
    part = text[max(0, place - margin) : place + margin]
    return shown("".join(c if c.isprintable() else ascii(c)[1:-1] for c in part.replace("\n", " ")))

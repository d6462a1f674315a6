"""The forms of verdicts on several things at once: a list of claims, one choice per number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ragstone.components.judges.reply_parsing import Unreadable, last_verdict, read_objects, spoken
from ragstone.components.judges.verdict_schemas import Choice, VerdictSchema

_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\(?\d+[.):])\s+(\S.*?)\s*$", re.MULTILINE)
_NUMBERED_LINE: Final = r"^\W*(?:\w+\s+)?\[?#?(\d+)\]?\W+"


class ListReply(BaseModel):
    """A list of texts as JSON."""

    model_config = ConfigDict(extra="ignore")

    claims: list[str] = Field(validation_alias=AliasChoices("claims", "statements", "items"))


@dataclass(frozen=True)
class Listing(VerdictSchema[tuple[str, ...]]):
    r"""A list of short texts: the claims of an answer.

    >>> Listing().read("1. Paris is a city.\n2. It lies on the Seine.")
    ('Paris is a city.', 'It lies on the Seine.')
    """

    key: ClassVar[str] = "claims"
    explained: ClassVar[bool] = False

    @property
    def properties(self) -> dict[str, Any]:
        """A list of texts."""
        return {"claims": {"type": "array", "items": {"type": "string"}}}

    def wording(self, *, explain: bool = False) -> str:
        """Ask for a numbered list, or a word for none."""
        return "Write them as a numbered list, one a line. If there is none, write: none"

    def read(self, reply: str, material: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the texts; a list is no verdict, so what it repeats of the material may stand."""
        whole = self._whole(reply)
        if whole is not None:
            return whole
        text = spoken(reply, material)
        found, _ = read_objects(text, self._of_json)
        if found:
            return last_verdict(text, found[-1:], ())
        bullets = tuple(match[1] for match in _BULLET.finditer(text))
        if not bullets and not re.fullmatch(r"\W*none\W*", text, re.IGNORECASE):
            raise Unreadable("the reply holds no list")
        return bullets

    def _of_json_text(self, text: str) -> tuple[str, ...] | None:
        return tuple(c.strip() for c in ListReply.model_validate_json(text).claims if c.strip())

    def _of_json(self, value: Any) -> tuple[str, ...] | None:
        try:
            held = ListReply.model_validate(value).claims
        except ValidationError:
            return None
        return tuple(claim.strip() for claim in held if claim.strip())


_BY_NUMBER: Final = TypeAdapter(dict[str, str | bool])


@dataclass(frozen=True)
class Numbered(VerdictSchema[tuple[str, ...]]):
    r"""One choice for each of some numbered things, all of them.

    >>> Numbered(2).read("1: yes\n2: no")
    ('yes', 'no')
    """

    count: int = 1
    options: tuple[str, ...] = ("yes", "no")
    spellings: Mapping[str, tuple[str, ...]] | None = None
    key: ClassVar[str] = "verdicts"
    explained: ClassVar[bool] = False

    @cached_property
    def choice(self) -> Choice:
        """The form of a single verdict."""
        return Choice(self.options, self.spellings)

    @property
    def properties(self) -> dict[str, Any]:
        """One property per number: every server can enforce that none is left out."""
        one = {"type": "string", "enum": list(self.options)}
        return {str(number): one for number in range(1, self.count + 1)}

    def wording(self, *, explain: bool = False) -> str:
        """Ask for one line per number."""
        words = " or ".join(self.options)
        return (
            f"Write {self.count} lines and nothing else, one per number, each of the form "
            f"`number: verdict`, where the verdict is {words}"
        )

    def read(self, reply: str, material: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the verdicts in the order of their numbers; see `Form.read`."""
        whole = self._whole(reply)
        if whole is not None:
            return whole
        text = spoken(reply, material)
        found, spans = read_objects(text, self._of_json)
        if found:
            return last_verdict(text, found, material)
        return self._lines(text, material, spans)

    def _of_json_text(self, text: str) -> tuple[str, ...] | None:
        return self._numbered(_BY_NUMBER.validate_json(text))

    def _of_json(self, value: Any) -> tuple[str, ...] | None:
        try:
            held = _BY_NUMBER.validate_python(value)
        except ValidationError:
            return None
        return self._numbered(held) if any(key.isdigit() for key in held) else None

    def _numbered(self, held: Mapping[str, str | bool]) -> tuple[str, ...]:
        numbers = [str(number) for number in range(1, self.count + 1)]
        missing = [number for number in numbers if number not in held]
        if missing:
            raise Unreadable(f"no verdict for number {missing[0]} of {self.count}")
        return tuple(self.choice._option(held[number]) for number in numbers)  # noqa: SLF001 - its own part

    def _lines(
        self, text: str, material: Sequence[str], spans: Sequence[tuple[int, int]]
    ) -> tuple[str, ...]:
        words = "|".join(re.escape(w) for w in sorted(self.choice.meanings, key=len, reverse=True))
        pattern = rf"{_NUMBERED_LINE}({words})(?!\w)"
        found: dict[str, set[str]] = {}
        for match in re.finditer(pattern, text, re.MULTILINE | re.IGNORECASE):
            if not any(match[0].strip() in held for held in material):
                found.setdefault(match[1], set()).add(self.choice.meanings[match[2].casefold()])
        for number, verdicts in found.items():
            if len(verdicts) > 1:
                raise Unreadable(f"several verdicts for number {number} disagree")
        return self._numbered({number: next(iter(one)) for number, one in found.items()})

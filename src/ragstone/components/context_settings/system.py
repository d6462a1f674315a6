"""The context that your own system reports with its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.protocols import ContextSetting
from ragstone.types import Candidates, ContextPassage


@dataclass(frozen=True)
class OwnContext(ContextSetting):
    """Shows your own system only the query; its context is the one that it reports.

    The `contexts` of a reply are the context of its answer, or else its `passage_ids`. A text
    without an id gets the id of the corpus's passage with the same text, upper case, punctuation
    and white space ignored; any other text stands for itself.
    """

    uses: ClassVar[frozenset[str]] = frozenset()

    @property
    def setting(self) -> str:
        """The canonical name."""
        return "system"

    def passages(self, candidates: Candidates) -> tuple[ContextPassage, ...]:
        """Return an empty context: the system finds its passages itself."""
        return ()

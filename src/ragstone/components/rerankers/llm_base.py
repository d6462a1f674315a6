"""The base of rerankers by a language model: depth, prompts, passages as material."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from ragstone.calls.types import Failure
from ragstone.components.judges.reply_parsing import Unreadable
from ragstone.components.llm import LlmComponent
from ragstone.components.rerankers.depth import DepthReranker
from ragstone.core.component import Outcome
from ragstone.core.step_notes import add_note
from ragstone.data.corpus import Corpus
from ragstone.types import Ranking

LINE: Final = "=" * 12
"""The line before and after passages in a prompt; it is removed from the passages themselves."""
T = TypeVar("T")


class LlmReranker(LlmComponent, DepthReranker):
    """A reranker that shows a model the first `depth` passages of a ranking."""

    characters: int
    sizes = ("top_k", "max_tokens", "characters")

    @property
    def sampling_changes(self) -> Mapping[str, Any]:
        """The maximum length; no stop text, which could cut an order or a verdict."""
        return {"max_tokens": self.max_tokens, "stop": ()}

    def shown(self, rankings: Sequence[Sequence[str]], corpus: Corpus) -> dict[str, str]:
        """Return passage id -> its text as prompts show it, cut to `characters`."""
        ids = {passage_id for ranking in rankings for passage_id in ranking}
        texts = {passage_id: corpus[passage_id].full_text.replace(LINE, "") for passage_id in ids}
        cut = sum(len(text) > self.characters for text in texts.values())
        add_note(f"passages shown to the model up to character {self.characters}", cut)
        return {passage_id: text[: self.characters] for passage_id, text in texts.items()}


def outcome(ranking: Ranking, problems: Sequence[Unreadable | Failure]) -> Outcome[Ranking]:
    """Return a ranking with the first failure, or else the first unreadable reply, as reason."""
    failures = [one.reason for one in problems if isinstance(one, Failure)]
    reasons = [*failures, *map(str, problems)]
    return Outcome(ranking, reasons[0] if reasons else "", retry=bool(failures))

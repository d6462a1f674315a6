"""What rerankers that ask a language model have in common: the model, and passages as material."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ragstone.calls.types import Sampling
from ragstone.components.llm import (
    AskedModel,
    WrittenModel,
    asked_model,
    check_model,
    model_revision,
)
from ragstone.components.rerankers.depth import check_places
from ragstone.core.spec import parse_spec
from ragstone.core.step_notes import add_note
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.calls.client import Calls

LINE: Final = "=" * 12
"""What fences off passages in a prompt; it is taken out of the passages themselves."""


class Asking:
    """A model that can be asked, named as a generator is.

    No dataclass: the fields belong to the rerankers, in an order of their own.
    """

    model: WrittenModel
    top_k: int
    depth: int
    characters: int

    def check_fields(self, who: str) -> None:
        """Raise `ConfigError` for fields that cannot be."""
        check_places(self.top_k, self.depth)
        if self.characters < 1:
            raise ConfigError(f"characters must be 1 or more, found {self.characters}")
        parse_spec(self.model, where=f"{who}, model")

    @cached_property
    def asked_model(self) -> AskedModel:
        """The generator whose endpoint is asked."""
        return asked_model(self.model, where=type(self).__name__)

    @property
    def sampling(self) -> Sampling:
        """How replies are drawn."""
        raise NotImplementedError

    @property
    def revision(self) -> Mapping[str, str]:
        """Which model is asked, and how."""
        return model_revision(self.asked_model, self.sampling)

    def check(self, calls: Calls) -> None:
        """Raise where the model cannot be had: no file, no package, nobody at the address."""
        check_model(self.asked_model, calls)

    def shown(self, rankings: Sequence[Sequence[str]], corpus: Corpus) -> dict[str, str]:
        """Return passage id -> its text as prompts show it, cut to `characters`."""
        ids = {passage_id for ids in rankings for passage_id in ids}
        texts = {passage_id: corpus[passage_id].full_text.replace(LINE, "") for passage_id in ids}
        cut = sum(len(text) > self.characters for text in texts.values())
        add_note(f"passages shown to the model up to character {self.characters}", cut)
        return {passage_id: text[: self.characters] for passage_id, text in texts.items()}

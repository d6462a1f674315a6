"""What rerankers that ask a language model have in common: the model, and passages as material."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from ragstone.call_types import Endpoint
from ragstone.calls import Sampling
from ragstone.datasets.corpus import Corpus
from ragstone.errors import ConfigError
from ragstone.notes import note
from ragstone.registry import create, parse_spec
from ragstone.rerankers.places import check_places

if TYPE_CHECKING:
    from ragstone.calls import Calls

LINE: Final = "=" * 12
"""What fences off passages in a prompt; it is taken out of the passages themselves."""


class Asking:
    """A model that can be asked, named as a generator is.

    No dataclass: the fields belong to the rerankers, in an order of their own.
    """

    model: str | dict[str, Any]
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
    def asked_model(self) -> Any:
        """The generator whose endpoint is asked."""
        who = f"{type(self).__name__}, model"
        made = create("generators", self.model, where=who)
        if not isinstance(getattr(made, "endpoint", None), Endpoint):
            raise ConfigError(
                f"{who}: {type(made).__name__} is no model that can be asked; take local, or "
                "{name: chat, model: ...}"
            )
        return made

    @property
    def sampling(self) -> Sampling:
        """How replies are drawn."""
        raise NotImplementedError

    @property
    def revision(self) -> dict[str, str]:
        """Which model is asked, and how."""
        sampling = self.sampling.canonical.decode()
        return {"model": self.asked_model.endpoint.identity, "sampling": sampling}

    def check(self, calls: Calls) -> None:
        """Raise where the model cannot be had: no file, no package, nobody at the address."""
        check = getattr(self.asked_model, "check", None)
        if check is not None:
            check(calls)

    def shown(self, rankings: Sequence[Sequence[str]], corpus: Corpus) -> dict[str, str]:
        """Return passage id -> its text as prompts show it, cut to `characters`."""
        ids = {passage_id for ids in rankings for passage_id in ids}
        texts = {passage_id: corpus[passage_id].full_text.replace(LINE, "") for passage_id in ids}
        cut = sum(len(text) > self.characters for text in texts.values())
        note(f"passages shown to the model up to character {self.characters}", cut)
        return {passage_id: text[: self.characters] for passage_id, text in texts.items()}

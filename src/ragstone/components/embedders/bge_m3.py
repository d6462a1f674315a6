"""BGE-M3's dense output: one vector per text, in 100 languages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.core.component import Outcome
from ragstone.models.m3_encoder import M3Encoder
from ragstone.protocols import Embedder, Role, Services


@dataclass(frozen=True)
class BgeM3(M3Encoder, Embedder):
    """BGE-M3's dense output: the L2-normalised state of the first mark.

    Args:
        model: a folder, or a name on the hub, `owner/name`.
        max_tokens: a longer text is cut here, and counted; by default the model's own limit.
        query_prefix: text before each query; BGE-M3 needs none.
        passage_prefix: text before each passage.
        dtype: type of the numbers that the model computes with.
        hub_revision: a commit, tag or branch on the hub.
        batch: texts computed together.
        device: a device of torch; by default a GPU if there is one.
    """

    name = "bge-m3"
    texts_per_call = 256

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Iterator[Outcome[Any]]:
        """Yield one vector of length 1 per text."""
        import torch

        def finish(_ids: Sequence[int], states: Any) -> Any:
            return torch.nn.functional.normalize(states[0].float(), dim=-1).cpu().numpy()

        yield from map(Outcome, self.outputs(texts, role, finish))

"""BGE-M3's sparse output: the weights of a text's own tokens, in 100 languages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.core.component import Outcome
from ragstone.models.m3_encoder import M3Encoder
from ragstone.protocols import Embedder, Role, Services


@dataclass(frozen=True)
class BgeM3Sparse(M3Encoder, Embedder):
    """BGE-M3's sparse output: one weight for each token of a text, no related words.

    The weight of a token is that of its heaviest place; the marks of the model have none.

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

    name = "bge-m3-sparse"
    output = "sparse"
    head = "sparse_linear"
    texts_per_call = 256

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Iterator[Outcome[Any]]:
        """Yield the weights of each text; a term is a number of the model's vocabulary."""
        marks = set(self.encoder.tokenizer.all_special_ids)

        def finish(ids: Sequence[int], states: Any) -> dict[int, float]:
            found: dict[int, float] = {}
            for token, weight in zip(ids, self.layer(states)[:, 0].float().tolist(), strict=True):
                if weight > found.get(token, 0.0) and token not in marks:
                    found[token] = weight
            return found

        yield from map(Outcome, self.outputs(texts, role, finish))

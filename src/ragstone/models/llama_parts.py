"""The parts of a prompt, and a server's cache of them: equal prompts are computed in one way.

A greedy answer depends on the batches that its prompt is computed in, in the last bits. The cache
of llama.cpp keeps as many tokens as the next prompt shares with the last one, so that the batches,
and some answers, would depend on earlier requests. Here a prompt is cut into parts by its own text,
each part is computed by itself after the ones before it, and the cache keeps whole parts alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, Final

from ragstone.core import limits

PARTS_VERSION: Final = 1
"""Increased if a prompt is cut or computed in another way: some answers change."""
_BLANK_LINES: Final = re.compile(rb"\n\n+")

Post = Callable[[str, Mapping[str, Any]], Mapping[str, Any] | None]
"""Returns a server's reply to a body sent to a path, or None if the server refuses it."""


def part_ends(pieces: Sequence[bytes], contents: Sequence[bytes]) -> list[int]:
    """Return the numbers of tokens after which a prompt is cut.

    A cut is at the start of a message and after a blank line, so that passages are parts of their
    own. A part of fewer than `limits.LEAST_PROMPT_PART` tokens belongs to the next one.

    Args:
        pieces: the text of each token of the prompt, after the chat template.
        contents: the texts of the messages.
    """
    text = b"".join(pieces)
    cuts = {*_starts(text, contents), *(found.end() for found in _BLANK_LINES.finditer(text))}
    lengths = list(accumulate(map(len, pieces)))
    ends = [0]
    for cut in sorted(cuts):
        end = bisect_right(lengths, cut)
        if end - ends[-1] >= limits.LEAST_PROMPT_PART and end < len(pieces):
            ends.append(end)
    return ends[1:]


def _starts(text: bytes, contents: Sequence[bytes]) -> Iterator[int]:
    """Yield the start of each message; one that the template changes has none."""
    after = 0
    for content in contents:
        start = text.find(content, after)
        if start >= 0:
            yield start
            after = start + len(content)


@dataclass
class PromptCache:
    """The cache of a server that answers one request at a time."""

    post: Post
    _held: list[list[int]] = field(default_factory=list)
    """The parts that the server keeps, as tokens."""

    def prepare(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Have the parts of a chat prompt computed; return the body that asks for its answer.

        If the server cannot keep parts, the whole prompt is computed with the answer.
        """
        tokens, ends = self._cut(body)
        parts = [tokens[start:end] for start, end in pairwise([0, *ends])]
        pairs = enumerate(zip(parts, self._held, strict=False))
        shared = min(len(parts), len(self._held))
        kept = next((n for n, (part, held) in pairs if part != held), shared)
        self._held = []
        known = ends[kept - 1] if kept else 0
        # The last part that is kept is asked for again, which removes what follows it.
        for end in ends[max(kept - 1, 0) :]:
            if not self._compute(tokens, end, known):
                return {**body, "cache_prompt": False}
            known = end
        self._held = parts
        return {**body, "cache_prompt": bool(parts)}

    def forget(self) -> None:
        """Start the next prompt from nothing, because a request ended early."""
        self._held = []

    def _cut(self, body: Mapping[str, Any]) -> tuple[list[int], list[int]]:
        """Return a prompt's tokens and the ends of its parts; nothing if the server refuses it."""
        template = self.post("/apply-template", body)
        text = {"content": (template or {}).get("prompt"), "add_special": True}
        options = {"parse_special": True, "with_pieces": True}
        found = self.post("/tokenize", {**text, **options}) if template else None
        if not found:
            return [], []
        contents = [m.get("content") for m in body["messages"]]
        texts = [text.strip().encode() for text in contents if isinstance(text, str)]
        tokens = [token["id"] for token in found["tokens"]]
        return tokens, part_ends([_bytes(token["piece"]) for token in found["tokens"]], texts)

    def _compute(self, tokens: list[int], end: int, known: int) -> bool:
        """Have the tokens from `known` to `end` computed; return whether `known` tokens were kept.

        A token that is not the prompt's next one is added, so that nothing after `end` is kept.
        """
        other = tokens[0] if tokens[end] != tokens[0] else tokens[1]
        prompt = [*tokens[:end], other]
        reply = self.post(
            "/completion", {"prompt": prompt, "n_predict": 0, "cache_prompt": known > 0}
        )
        return reply is not None and reply["timings"]["cache_n"] == known


def _bytes(piece: str | Sequence[int]) -> bytes:
    """Return a token's text; the server sends the bytes of an incomplete character as numbers."""
    return piece.encode() if isinstance(piece, str) else bytes(piece)

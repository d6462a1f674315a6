"""Extractive pruning: the sentences of a context that are nearest to the query, word for word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np

from ragstone.components.embedders.nested import (
    Written,
    check_part,
    dense_embedder,
    with_calling_part,
)
from ragstone.components.generators.context_window import count_tokens
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.progress import progress
from ragstone.core.step_notes import add_note
from ragstone.errors import ConfigError
from ragstone.indexes.corpus_vectors import checked
from ragstone.text.sentences import sentence_starts, splitter_version

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.calls.client import Calls
    from ragstone.protocols import Embedder
    from ragstone.types import Context, Task

_NAME: Final = "the processor 'pruning'"
_AT_ONCE: Final = 256
"""Sentences between two signs of progress."""


class _Sentence(NamedTuple):
    passage: int
    line: int
    text: str
    tokens: int


@dataclass(frozen=True)
class Pruning:
    """Keeps the sentences whose vectors lie nearest to the query's, up to a share of the tokens.

    All sentences of a context compete, whichever passage they stand in; those kept stay in their
    order, and a passage of which none is kept falls away. The nearest sentence is always kept. Xu
    and others, "RECOMP", ICLR 2024, is the idea; there is no training here.

    Args:
        keep: share of the context's tokens, above 0 and up to 1.
        embedder: what makes the vectors: a name, with its parameters in brackets or as a mapping,
            or `module:Class`.
        language: whose abbreviations do not end a sentence, as `en` or `de`.
    """

    keep: float = 0.5
    embedder: Written = "minilm"
    language: str = "en"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the range, and that the embedder exists."""
        if not 0 < self.keep <= 1:
            raise ConfigError(f"keep must be above 0 and up to 1, found {self.keep}")
        _ = self._embedder

    @cached_property
    def revision(self) -> dict[str, Any]:
        """The recipe of the embedder, and the release of the sentence splitter."""
        return {
            "embedder": cache_key_parts(self._embedder),
            "splitter": splitter_version(asked_by=_NAME),
        }

    @cached_property
    def _embedder(self) -> Embedder:
        return dense_embedder(self.embedder, where="processor 'pruning', embedder")

    def check(self, calls: Calls) -> None:
        """Let the embedder say what it lacks."""
        check_part(self._embedder, calls)

    def with_calls(self, calls: Calls) -> Pruning:
        """Return the processor with the way to its embedder's server, where it has one."""
        return with_calling_part(self, "_embedder", calls)

    def process(self, tasks: Sequence[Task]) -> list[Context]:
        """Return one context per task, in order."""
        found = [self._sentences(task.context) for task in tasks]
        vectors = self._vectors([s.text for sentences in found for s in sentences])
        asked = [task.query.text for task in tasks]
        queries = checked(self._embedder.embed_queries(asked), asked, self._embedder)
        return [
            self._pruned(task.context, sentences, query, vectors)
            for task, sentences, query in zip(tasks, found, queries, strict=True)
        ]

    def _sentences(self, context: Context) -> list[_Sentence]:
        return [
            _Sentence(place, number, sentence, count_tokens([sentence]))
            for place, passage in enumerate(context.passages)
            for number, line in enumerate(passage.text.splitlines())
            for sentence in self._split(line.strip())
        ]

    def _split(self, line: str) -> Iterator[str]:
        if line:
            starts = sentence_starts(line, self.language, asked_by=_NAME)
            for start, end in zip(starts, [*starts[1:], len(line)], strict=True):
                if line[start:end].strip():
                    yield line[start:end].strip()

    def _vectors(self, texts: Sequence[str]) -> Mapping[str, npt.NDArray[np.float32]]:
        """Return sentence -> vector; one that stands in many contexts is computed once."""
        once = list(dict.fromkeys(texts))
        found: dict[str, npt.NDArray[np.float32]] = {}
        with progress("Embedding sentences", len(once)) as bar:
            for start in range(0, len(once), _AT_ONCE):
                part = once[start : start + _AT_ONCE]
                made = checked(self._embedder.embed_passages(part), part, self._embedder)
                found |= dict(zip(part, made, strict=True))
                bar.advance(len(part))
        return found

    def _pruned(
        self,
        context: Context,
        sentences: Sequence[_Sentence],
        query: npt.NDArray[np.float32],
        vectors: Mapping[str, npt.NDArray[np.float32]],
    ) -> Context:
        kept = self._nearest(sentences, [float(vectors[s.text] @ query) for s in sentences])
        add_note("sentences cut", len(sentences) - len(kept))
        in_order = [sentences[place] for place in sorted(kept)]
        passages = tuple(
            replace(context.passages[place], text=_written(list(said)))
            for place, said in groupby(in_order, key=lambda sentence: sentence.passage)
        )
        return replace(context, passages=passages)

    def _nearest(self, sentences: Sequence[_Sentence], scores: Sequence[float]) -> list[int]:
        """Return the sentences kept, nearest first; equal ones in the order of the context."""
        left = self.keep * sum(sentence.tokens for sentence in sentences)
        kept: list[int] = []
        for place in sorted(range(len(sentences)), key=lambda place: -scores[place]):
            left -= sentences[place].tokens
            if kept and left < 0:
                break
            kept.append(place)
        return kept


def _written(sentences: Sequence[_Sentence]) -> str:
    """Return the sentences of a passage as one text, those of a line on one line."""
    lines = groupby(sentences, key=lambda sentence: sentence.line)
    return "\n".join(" ".join(sentence.text for sentence in line) for _, line in lines)

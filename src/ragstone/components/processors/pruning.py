"""Extractive pruning: the sentences of a context that are nearest to the query, unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Final, NamedTuple

from ragstone.components.embedders.nested import UsesEmbedder
from ragstone.components.generators.context_window import count_tokens
from ragstone.core.component import Outcome
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.progress import progress
from ragstone.core.spec import ComponentSpec
from ragstone.core.step_notes import add_note
from ragstone.errors import ConfigError
from ragstone.indexes.embed import embed_texts
from ragstone.protocols import Processor, Services
from ragstone.text.sentences import sentence_starts, splitter_version
from ragstone.types import Context, Task

_NAME: Final = "the processor 'pruning'"
_AT_ONCE: Final = 256
"""Sentences embedded between two steps of the progress bar."""


class _Sentence(NamedTuple):
    passage: int
    line: int
    text: str
    tokens: int


@dataclass(frozen=True)
class Pruning(UsesEmbedder, Processor):
    """Keeps the sentences whose vectors are nearest to the query's, up to a share of the tokens.

    All sentences of a context compete, across its passages. Their order does not change, and a
    passage without a kept sentence is dropped. The nearest sentence is always kept. The idea is
    that of Xu and others, "RECOMP", ICLR 2024, without its training.

    Args:
        keep: share of the context's tokens, above 0 and up to 1.
        embedder: an embedder with one vector per text.
        language: language code, such as `en` or `de`; its abbreviations do not end a sentence.
    """

    keep: float = 0.5
    embedder: ComponentSpec = "minilm"
    language: str = "en"
    requires_extra = "chunk"
    embedder_output = "dense"

    def __post_init__(self) -> None:
        """Check the range, and create the embedder."""
        if not 0 < self.keep <= 1:
            raise ConfigError(f"keep must be above 0 and up to 1, found {self.keep}")
        super().__post_init__()

    @cached_property
    def content_revision(self) -> dict[str, Any]:
        """The cache key of the embedder, and the release of the sentence splitter."""
        splitter = splitter_version(asked_by=_NAME)
        return {"embedder": cache_key_parts(self._embedder), "splitter": splitter}

    def process(self, tasks: Sequence[Task], services: Services) -> Iterator[Outcome[Any]]:
        """Yield one context per task, in order; None if a text of it could not be embedded."""
        found = [self._sentences(task.context) for task in tasks]
        vectors = self._vectors([s.text for sentences in found for s in sentences], services)
        texts = [task.query.text for task in tasks]
        queries = embed_texts(self._embedder, texts, "query", services)
        for task, sentences, query in zip(tasks, found, queries, strict=True):
            own = [vectors[sentence.text] for sentence in sentences]
            failed = next((outcome for outcome in (query, *own) if outcome.value is None), None)
            if failed is None:
                scores = [float(vector.value @ query.value) for vector in own]
                yield Outcome(self._pruned(task.context, sentences, scores))
            else:
                yield failed

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

    def _vectors(self, texts: Sequence[str], services: Services) -> Mapping[str, Outcome[Any]]:
        """Return sentence -> vector; a sentence of several contexts is embedded once."""
        once = list(dict.fromkeys(texts))
        found: dict[str, Outcome[Any]] = {}
        with progress("Embedding sentences", len(once)) as bar:
            for start in range(0, len(once), _AT_ONCE):
                part = once[start : start + _AT_ONCE]
                vectors = embed_texts(self._embedder, part, "passage", services)
                found |= dict(zip(part, vectors, strict=True))
                bar.advance(len(part))
        return found

    def _pruned(
        self, context: Context, sentences: Sequence[_Sentence], scores: Sequence[float]
    ) -> Context:
        kept = self._nearest(sentences, scores)
        add_note("sentences cut", len(sentences) - len(kept))
        in_order = [sentences[place] for place in sorted(kept)]
        passages = tuple(
            replace(context.passages[place], text=_written(list(part)))
            for place, part in groupby(in_order, key=lambda sentence: sentence.passage)
        )
        return replace(context, passages=passages)

    def _nearest(self, sentences: Sequence[_Sentence], scores: Sequence[float]) -> list[int]:
        """Return the places of the sentences kept, nearest first, ties in the given order."""
        left = self.keep * sum(sentence.tokens for sentence in sentences)
        kept: list[int] = []
        for place in sorted(range(len(sentences)), key=lambda place: -scores[place]):
            left -= sentences[place].tokens
            if kept and left < 0:
                break
            kept.append(place)
        return kept


def _written(sentences: Sequence[_Sentence]) -> str:
    """Return the sentences of a passage as one text with the line breaks of the passage."""
    lines = groupby(sentences, key=lambda sentence: sentence.line)
    return "\n".join(" ".join(sentence.text for sentence in line) for _, line in lines)

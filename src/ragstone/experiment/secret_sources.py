"""Secrets, trained parts and machine-made qrels behind the scores of `ragstone compare`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragstone.results.secret_share import (
    share_document,
    share_rows,
    share_sentence,
    share_tables,
)
from ragstone.results.trained_parts import trained_sentences

if TYPE_CHECKING:
    from ragstone.core.tables import TextTable
    from ragstone.experiment.score_sources import ScoreSource
    from ragstone.results.results import Results


@dataclass(frozen=True)
class SecretShares:
    """The secret shares of sources, or both shares if revealed, and the makers of their qrels."""

    sources: Sequence[ScoreSource]

    def _of_secret(self) -> Iterator[tuple[ScoreSource, Results]]:
        for one in self.sources:
            if one.results and one.results.secret:
                yield one, one.results

    def to_dict(self) -> dict[str, Any]:
        """Return `secret`: source -> its facts (docs/secret.md), `trained` and `machine_qrels`.

        A key without any source is absent.
        """
        found = {s.name: share_document(r, *s.chosen) for s, r in self._of_secret()}
        made = {one.name: one.qrels for one in self.sources if one.qrels}
        seen = {one.name: [*trained_sentences(one.trained)] for one in self.sources}
        trained = {name: lines for name, lines in seen.items() if lines}
        named = {"secret": found, "trained": trained, "machine_qrels": made}
        return {key: value for key, value in named.items() if value}

    def lines(self) -> list[str]:
        """Return a line per source: the size of the secret share, or the results of both shares."""
        return [*self._secret_lines(), *self._data_lines()]

    def _data_lines(self) -> list[str]:
        seen = (line for one in self.sources for line in trained_sentences(one.trained))
        every = dict.fromkeys([*seen, *(one.qrels for one in self.sources)])
        return [f"{one}." for one in every if one]

    def _secret_lines(self) -> list[str]:
        found = ((s.name, r, share_rows(r, *s.chosen)) for s, r in self._of_secret())
        return [
            f"{name}: {share_sentence(r, rows) if rows else f'{r.secret_sentence}.'}"
            for name, r, rows in found
        ]

    def parts(self) -> Iterator[str | TextTable]:
        """Yield the lines, or the tables of each source if its secrets are revealed."""
        for line, (source, results) in zip(self._secret_lines(), self._of_secret(), strict=True):
            rows = share_rows(results, *source.chosen)
            tables = [*share_tables(results, rows)]
            yield from (replace(t, title=f"{source.name}: {t.title}") for t in tables)
            yield from () if tables else (line,)
        yield from self._data_lines()

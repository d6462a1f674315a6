"""The secret queries behind the scores that `ragstone compare` reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragstone.results.secret_share import share_document, share_rows, share_table

if TYPE_CHECKING:
    from ragstone.core.tables import TextTable
    from ragstone.experiment.score_sources import ScoreSource
    from ragstone.results.results import Results


@dataclass(frozen=True)
class SecretShares:
    """What sources keep secret, or both shares of each if they are revealed."""

    sources: Sequence[ScoreSource]

    def _of_secret(self) -> Iterator[tuple[ScoreSource, Results]]:
        for one in self.sources:
            if one.results and one.results.secret:
                yield one, one.results

    def to_dict(self) -> dict[str, Any]:
        """Return `secret`: source -> its facts (docs/secret.md); {} without secret queries."""
        found = {s.name: share_document(r, *s.chosen) for s, r in self._of_secret()}
        return {"secret": found} if found else {}

    def parts(self) -> Iterator[str | TextTable]:
        """Yield a line or a table per source."""
        for source, results in self._of_secret():
            rows = share_rows(results, *source.chosen)
            line = f"{source.name}: {results.secret_sentence}."
            yield share_table(results, rows) if rows else line

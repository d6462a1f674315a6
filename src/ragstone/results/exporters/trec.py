"""Export to TREC runs: one file per system that ranks, and the qrels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ragstone.data.readers.trec import qrel_lines, run_lines
from ragstone.data.writers.folder import write_lines
from ragstone.errors import ConfigError
from ragstone.results.exporters.base import Exporter, file_name
from ragstone.results.reader import StoredResults
from ragstone.types import Ranking


@dataclass(frozen=True)
class Trec(Exporter):
    """Exports the rankings as TREC runs, which trec_eval reads, into a folder."""

    def export(self, results: StoredResults, target: Path) -> list[Path]:
        """Write the files of the folder `target` and return them."""
        if not results.rankings:
            raise ConfigError(f"no system of {results.name!r} has a ranking to write")
        files: dict[Path, Iterable[bytes]] = {}
        for run in results.rankings:
            path = target / f"{file_name(run.system)}.trec"
            if path in files:
                raise ConfigError(
                    f"two systems would be written to {path.name}; give {run.system!r} another name"
                )
            # In the order of the queries; a query without hits has no line.
            rankings = {q: run.rankings[q] for q in results.queries if q in run.rankings}
            files[path] = run_lines(rankings, "_".join(run.system.split()))
            if (judged := results.qrels_of(run.system)) is not results.qrels:
                one_each = _one_translation(judged, rankings, results.translations_of(run.system))
                files[path.with_suffix(".qrels.txt")] = qrel_lines(one_each)
        if results.qrels:
            files[target / "qrels.txt"] = qrel_lines(results.qrels)
        return write_lines(files)


def _one_translation(
    judged: Mapping[str, Mapping[str, int]],
    rankings: Mapping[str, Ranking],
    counts_as: Mapping[str, str],
) -> dict[str, dict[str, int]]:
    """Return judgements with one of several translations of a passage: the first in the ranking."""
    found: dict[str, dict[str, int]] = {}
    for query_id, grades in judged.items():
        ranking = rankings.get(query_id, Ranking()).passage_ids
        ranked = [passage_id for passage_id in ranking if passage_id in grades]
        firsts: dict[str, str] = {}
        for passage_id in (*ranked, *grades):
            firsts.setdefault(counts_as.get(passage_id, passage_id), passage_id)
        found[query_id] = {passage_id: grades[passage_id] for passage_id in firsts.values()}
    return found

"""Means, leads, adaptability and cost of an experiment as plain records.

These are pure functions of `StoredResults`, which the terminal, the report and `--json` use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from ragstone.components.judges.verdict import VERDICTS_MISSING
from ragstone.core import limits
from ragstone.results.beside import with_figures
from ragstone.results.by_label import attack_rows, collection_rows
from ragstone.results.confidence import confidence_document
from ragstone.results.hops import hops_document
from ragstone.results.judge_notes import judge_facts, with_notes
from ragstone.results.oracle import oracle_doubts
from ragstone.results.population import populations
from ragstone.results.reader import StoredResults
from ragstone.results.record import Attempt
from ragstone.results.refusals import refusals_document
from ragstone.results.remarks import remarks
from ragstone.results.scored_rows import Cell
from ragstone.results.secret_share import share_document
from ragstone.results.setting_pairs import setting_documents
from ragstone.results.trained_parts import TRAINED, trained_systems
from ragstone.results.usage import usage_rows
from ragstone.results.variance import variance_document
from ragstone.results.verdict import verdict_documents
from ragstone.results.wording import plain_reason
from ragstone.statistics.adaptability import Adaptability, Share
from ragstone.statistics.ranks import Place, best_group
from ragstone.statistics.significance import SystemPair, pair_document
from ragstone.statistics.summary import Summary, few_clusters

PART_NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "acceptability": ("Context acceptability", "acceptability"),
    "noise": ("Noise vulnerability: noise", "vulnerable: noise"),
    "miss": ("Noise vulnerability: miss", "vulnerable: miss"),
    "unknown": ("Noise vulnerability: gold unknown", "vulnerable: unknown"),
    "insensitivity": ("Context insensitivity", "insensitivity"),
    "misinterpretation": ("Context misinterpretation", "misinterpretation"),
}
"""Part of an adaptability bar -> its name, and a short name for the header of a column."""

NUMBER_TABLES: Final = ("leaderboard", "retrieval", "adaptability", "usage", "collections")


@dataclass(frozen=True)
class BoardRow:
    """The means of one system: metric -> mean."""

    system: str
    cells: Mapping[str, Summary]
    statuses: Mapping[str, int] = field(default_factory=dict)
    """Status of an answer -> number of queries; empty for retrieval."""
    other_code: bool = False
    """Whether the means rest on steps of other code."""
    trained: bool = False
    """Whether a part of the system has seen queries in its training."""

    @property
    def label(self) -> str:
        """The system, marked if its means rest on other code, or on queries of its training."""
        marks = {"\N{DAGGER}": self.other_code, TRAINED: self.trained}
        return " ".join([self.system, *(mark for mark, has in marks.items() if has)])

    def mean(self, metric: str) -> float | None:
        """Return the mean of a metric, or None if there is none."""
        return self.cells[metric].mean if metric in self.cells else None


@dataclass(frozen=True)
class Board:
    """Systems x metrics under one setting; the setting is empty for retrieval."""

    setting: str
    metrics: tuple[str, ...]
    rows: tuple[BoardRow, ...]
    best: Mapping[str, frozenset[str]]
    """Metric -> the systems that no test separates from the best one; empty if these are all."""
    headline: str | None
    """The metric of the ranks."""
    ranks: Mapping[str, Place]
    """System -> rank and group by the headline metric."""


@dataclass(frozen=True)
class Lead:
    """The best system by the headline metric, and its comparison with the second best."""

    setting: str
    metric: str
    best: str
    summary: Summary
    runner_up: str = ""
    pair: SystemPair | None = None
    tied: tuple[str, ...] = ()
    """Other systems that no test separates from the best one."""
    others: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Outcome -> the other metrics by which the best system has it against the second best."""

    @property
    def is_clear(self) -> bool:
        """Whether the corrected test shows the best system to be better than the second best."""
        return self.pair is not None and self.pair.significant

    @property
    def leaders(self) -> str:
        """The best system and those that no test separates from it."""
        names, shown = (self.best, *self.tied), limits.SHOWN_LEADERS
        hidden = len(names) - shown
        more = f" and {hidden} other{'s' if hidden > 1 else ''}" if hidden > 0 else ""
        return ", ".join(names[:shown]) + more

    @property
    def sentence(self) -> str:
        """The results of the corrected tests of the best system."""
        if not self.runner_up:
            return "there is nothing to compare it with."
        if self.pair is None:
            return f"no query has a value for both {self.best} and {self.runner_up}."
        sentences = [self.pair.verdict]
        if len(self.tied) > 1:
            sentences.append(f"Not told apart from {self.best}: {', '.join(self.tied)}")
        if self.others:
            listed = (f"{outcome} by {', '.join(m)}" for outcome, m in self.others.items())
            sentences.append(f"Other metrics: {'; '.join(listed)}")
        return f"{'. '.join(sentences)}."


def leaderboard(results: StoredResults) -> list[Board]:
    """Return one board per setting; systems and metrics are in the experiment's order."""
    return [_board(results, setting, results.answer_cells) for setting in results.settings]


def retrieval_board(results: StoredResults) -> Board | None:
    """Return the board of ranking metrics, or None if there are no rankings or metrics."""
    return _board(results, "", results.ranking_cells) if results.ranking_cells else None


def _board(results: StoredResults, setting: str, cells: Sequence[Cell]) -> Board:
    by_system: dict[str, dict[str, Summary]] = {}
    for cell in cells:
        if cell.setting == setting:
            by_system.setdefault(cell.system, {})[cell.metric] = cell.summary
    metrics = tuple(dict.fromkeys(metric for found in by_system.values() for metric in found))
    answers = {t.system: dict(t.usage.statuses) for t in results.trials if t.setting == setting}
    trained = trained_systems(results.record.trained)
    marked = {name for step in results.trusted_code for name in step.results}
    rows = tuple(
        BoardRow(
            *(system, found, answers.get(system, {})),
            other_code=f"{system} ({setting or 'retrieval'})" in marked,
            trained=system in trained,
        )
        for system, found in by_system.items()
    )
    held = {m: results.standings[setting, m] for m in metrics if (setting, m) in results.standings}
    best = {
        metric: best_group(held[metric].places) if metric in held else frozenset()
        for metric in metrics
    }
    headline = next((one for one in held.values() if one and one.headline), None)
    name, ranks = (headline.metric, headline.places) if headline else (None, {})
    return Board(setting, metrics, rows, best, name, ranks)


def leads(results: StoredResults) -> list[Lead]:
    """Return the best system under each setting by the headline metric."""
    found = (lead_of(results, board) for board in leaderboard(results))
    return [lead for lead in found if lead is not None]


def retrieval_lead(results: StoredResults) -> Lead | None:
    """Return the best retrieval by the headline, nDCG@10, or the first ranking metric."""
    board = retrieval_board(results)
    return lead_of(results, board) if board else None


def lead_of(results: StoredResults, board: Board) -> Lead | None:
    """Return the best system of a board by its headline metric; None without ranks."""
    if board.headline is None or not board.ranks:
        return None
    first, *others = board.ranks
    summary = next(row.cells[board.headline] for row in board.rows if row.system == first)
    if not others:
        return Lead(board.setting, board.headline, first, summary)
    second = others[0]
    held = {m: s for (setting, m), s in results.standings.items() if setting == board.setting}
    by_outcome: dict[str, list[str]] = {"better": [], "worse": [], "undecided": []}
    for metric, standing in held.items():
        if not standing.headline and {first, second} <= standing.places.keys():
            by_outcome.setdefault(standing.outcome(first, second), []).append(metric)
    return Lead(
        board.setting,
        board.headline,
        first,
        summary,
        second,
        held[board.headline].pairs.get(frozenset((first, second))),
        tied=tuple(s for s in others if board.ranks[s].group == 1),
        others={outcome: metrics for outcome, metrics in by_outcome.items() if metrics},
    )


def comparisons(results: StoredResults) -> list[dict[str, Any]]:
    """Return the comparisons of systems by the headline metrics as plain data."""
    return [
        {"setting": one.setting, "metric": one.metric, **pair_document(pair)}
        for one in results.standings.values()
        if one.headline
        for pair in one.pairs.values()
    ]


def bar_parts(found: Adaptability) -> dict[str, Share]:
    """Return the parts of an adaptability bar by the keys of `PART_NAMES`; they sum to 1."""
    noise, miss = found.vulnerability_noise, found.vulnerability_miss
    unknown = found.noise_vulnerability.count - noise.count - miss.count
    parts = {
        "acceptability": found.context_acceptability,
        "noise": noise,
        "miss": miss,
        "unknown": Share(unknown, unknown / found.n if found.n else None, None),
        "insensitivity": found.context_insensitivity,
        "misinterpretation": found.context_misinterpretation,
    }
    return {key: share for key, share in parts.items() if key != "unknown" or unknown}


def warnings(results: StoredResults) -> list[str]:
    """Return sentences on few clusters and on failures per system and judge, with reasons."""
    return [*_warnings(results), *_judge_warnings(results)]


def _judge_warnings(results: StoredResults) -> Iterator[str]:
    made = [
        (results.part_name(folder), m)
        for folder, m in results.manifests.items()
        if m["step"] == "judge" and m.get("reasons") and m["failed"]
    ]
    for name in dict.fromkeys(judge for judge, _ in made):
        mine = [m for judge, m in made if judge == name]
        reasons = sum((Counter(m["reasons"]) for m in mine), Counter[str]())
        partial = Counter({why: n for why, n in reasons.items() if VERDICTS_MISSING in why})
        failed = sum(m["failed"] for m in mine) - partial.total()
        counted = (
            (failed, "failed", reasons - partial),
            (partial.total(), "rest on some of the replies", partial),
        )
        for count, what, why in counted:
            if count > 0 and why:
                reason = plain_reason(max(why, key=why.__getitem__))
                yield f"{count:,} verdicts of `{name}` {what}: {reason}"


def _warnings(results: StoredResults) -> Iterator[str]:
    if sentence := few_clusters(results.clusters.values()):
        yield sentence
    for system in results.systems:
        mine = [trial for trial in results.trials if trial.system == system]
        given = sum(trial.usage.answered + trial.usage.failed for trial in mine)
        reasons = Counter[str]()
        for trial in mine:
            for reason, count in trial.unanswered.items():
                reasons[plain_reason(reason)] += count
        missing = reasons.total()
        if missing:
            reason, count = reasons.most_common(1)[0]
            share = "" if count == missing else f" ({count:,} of them)"
            yield (f"{missing:,} of {given:,} calls of `{system}` have no answer: {reason}{share}")


def results_document(results: StoredResults) -> dict[str, Any]:
    """Return the tables as plain data, numbers unrounded (`--json`; docs/report.md)."""
    retrieval = retrieval_board(results)
    boards = [*leaderboard(results), *([retrieval] if retrieval else [])]
    tables = {name: number_table(results, name) for name in NUMBER_TABLES}
    return {
        "name": results.name,
        "finished": results.record.finished,
        "attempt": _attempt_document(results.attempt),
        "data": asdict(results.record.data),
        **({"secret": share_document(results)} if results.secret else {}),
        "not_applicable": results.not_applicable,
        "systems": results.systems,
        "settings": results.settings,
        "correct": str(rule) if (rule := results.record.correctness) else None,
        **tables,
        "leaderboard": with_notes(results, tables["leaderboard"]),
        "headline": {b.setting or "retrieval": b.headline for b in boards if b.headline},
        "comparisons": comparisons(results),
        "setting_comparisons": setting_documents(results),
        "attacks": attack_rows(results),
        "refusals": refusals_document(results),
        "hops": hops_document(results),
        "confidence": confidence_document(results),
        "warnings": warnings(results),
        **verdict_documents(results),
        "variance": variance_document(results),
        "remarks": remarks(results),
        "judges": [one.to_dict() for one in judge_facts(results)],
        "populations": populations(results),
        "adaptive": dict(results.record.adaptive) or None,
        "oracle_doubts": [asdict(doubt) for doubt in oracle_doubts(results)],
        "calls": [asdict(entry) for entry in results.record.calls],
        "notes": [asdict(note) for note in results.notes],
        "trusted_code": [asdict(step) for step in results.trusted_code],
        "steps": [asdict(entry) for entry in results.record.steps],
        "failures": [asdict(note) for note in results.failures],
    }


def number_table(results: StoredResults, name: str) -> list[dict[str, Any]]:
    """Return one of `NUMBER_TABLES`, unrounded."""
    if name == "adaptability":
        return [
            {"system": row.system, "setting": row.setting, **_document(row.adaptability)}
            for row in results.adaptability
        ]
    if name == "collections":
        return collection_rows(results)
    if name == "usage":
        return [asdict(row) for row in usage_rows(results)]
    if name == "leaderboard":
        return with_figures(results, [_cell_document(results, c) for c in results.answer_cells])
    return [_cell_document(results, cell) for cell in results.ranking_cells]


def _cell_document(results: StoredResults, cell: Cell) -> dict[str, Any]:
    head = {"system": cell.system, "setting": cell.setting, "metric": cell.metric}
    standing = results.standings.get((cell.setting, cell.metric))
    place = standing.places.get(cell.system) if standing else None
    placed = {"rank": place and place.rank, "group": place and place.group}
    return head | asdict(cell.summary) | placed


def _attempt_document(attempt: Attempt | None) -> dict[str, Any] | None:
    facts = asdict(attempt).items() if attempt else ()
    return {key: value for key, value in facts if key not in ("after", "format")} or None


def _document(found: Adaptability) -> dict[str, Any]:
    document = asdict(found) | {"left_out": found.reasons}
    return {key: value for key, value in document.items() if key != "items"}

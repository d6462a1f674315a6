"""The tables that the terminal shows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ragstone.core import limits
from ragstone.core.tables import TextTable
from ragstone.results.leaderboards import (
    Board,
    BoardRow,
    leaderboard,
    retrieval_board,
    shares_rows,
    usage_rows,
)
from ragstone.results.number_format import ABSENT, count, interval_text, mean_text, number, seconds
from ragstone.results.query_page import find_query
from ragstone.results.wording import TITLES, left_out_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragstone.results.by_label import LabelTable
    from ragstone.results.reader import StoredResults
    from ragstone.results.weight_scan import ScanTable
    from ragstone.statistics.adaptability import Share
    from ragstone.statistics.summary import Summary

NOTE = "mean [95 % interval]; n: queries in the mean"
SCAN_NOTE = "best weight [those best in 95 of 100 resamples]; regret [95 % interval]"


def leaderboard_text(results: StoredResults) -> str:
    """Return every table of an experiment as text: answers, adaptability, retrieval, time."""
    return "\n\n".join(map(str, leaderboard_parts(results)))


def leaderboard_parts(results: StoredResults) -> Iterator[str | TextTable]:
    """Yield the head line, every table that has rows, and the notes."""
    data = results.record.data
    answers = results.record.trials or results.record.file.get("settings")
    done, count = ("answered", data.answered) if answers else ("ranked", data.ranked)
    head = (
        f"{results.name}: {count} of {data.queries} queries {done}, "
        f"{data.passages} passages ({data.name})"
    )
    if data.left_out:
        head += f"\n{left_out_text(data.left_out)}"
    if not results.finished:
        head += "\nNOT FINISHED: the same `ragstone run` command goes on"
    yield head
    tables = (_answers, _adaptability, _retrieval, _usage, _notes)
    yield from (part for table in tables if (part := table(results)) is not None)


def _notes(results: StoredResults) -> str | None:
    lines = [f"  {n.count:,} {n.what} ({n.component}, {TITLES[n.step]})" for n in results.notes]
    return "\n".join(["Noted on the way", *lines]) if lines else None


def _answers(results: StoredResults) -> TextTable | None:
    """Return systems x settings x answer metrics; None if nothing was answered."""
    boards = leaderboard(results)
    metrics = list(dict.fromkeys(metric for board in boards for metric in board.metrics))
    if not metrics:
        return None
    lines = [
        [row.system, board.setting, *_row_cells(row, metrics, board)]
        for board in boards
        for row in board.rows
    ]
    return _titled(
        "Answers",
        f"{NOTE}; * best of the setting",
        ["system", "setting", *_counts(), *metrics],
        lines,
    )


def _retrieval(results: StoredResults) -> TextTable | None:
    """Return systems x ranking metrics; None if nothing was retrieved."""
    board = retrieval_board(results)
    if board is None:
        return None
    lines = [[row.system, *_row_cells(row, board.metrics, board)] for row in board.rows]
    return _titled("Retrieval", f"{NOTE}; * best", ["system", *_counts(), *board.metrics], lines)


def _adaptability(results: StoredResults) -> TextTable | None:
    """Return the four shares of every system and mixed setting; None without such a setting."""
    rows = shares_rows(results)
    if not rows:
        return None
    names = {part.key: part.short for row in rows for part in row.parts}
    headers = ["system", "mixed setting", "n", "left out", *names.values()]
    lines = []
    for row in rows:
        held = {part.key: _share(part.share) for part in row.parts}
        cells = [held.get(key, number(0.0)) for key in names]
        lines.append([row.system, row.setting, row.n, row.left_out, *cells])
    return _titled("Adaptability", "shares sum to 1 [95 % interval]", headers, lines)


def _usage(results: StoredResults) -> TextTable | None:
    """Return time and tokens of every system and setting; None if no call reports them."""
    rows = usage_rows(results)
    if not any(row.timed or row.counted for row in rows):
        return None
    headers = [
        "system",
        "setting",
        "answered",
        "failed",
        "cut",
        "p50 s",
        "p95 s",
        "tokens in",
        "tokens out",
    ]
    lines = [
        [
            row.system,
            row.setting,
            row.answered,
            row.failed,
            row.cut,
            seconds(row.seconds_p50),
            seconds(row.seconds_p95),
            count(row.tokens_in),
            count(row.tokens_out),
        ]
        for row in rows
    ]
    note = "of the calls when they were made; cut: prompts that dropped something"
    return _titled("Time and tokens", note, headers, lines)


def label_text(table: LabelTable) -> str:
    """Return a metric by a label: values down, systems and settings across."""
    headers = [table.label, *(" | ".join(filter(None, column)) for column in table.columns)]
    lines = [
        [value, *(_label_cell(cells.get(column)) for column in table.columns)]
        for value, cells in table.rows
    ]
    return str(_titled(f"{table.metric} by {table.label}", NOTE, headers, lines))


def _label_cell(summary: Summary | None) -> str:
    if summary is None:
        return ABSENT
    lacking = f", failed {summary.failed}" if summary.failed else ""
    return f"{mean_text(summary)} n {summary.n}{lacking}"


def scan_text(tables: Sequence[ScanTable]) -> str:
    """Return text-weight scans: values of a label down, weights across."""
    return "\n\n".join(_scan_text(table) for table in tables)


def _scan_text(table: ScanTable) -> str:
    of = f" by {table.label}" if table.label else ""
    title = f"{table.sweep.name} ({table.sweep.normalisation}): {table.metric} by text weight{of}"
    headers = [
        table.label or "queries",
        "n",
        *(f"{weight:g}" for weight in table.weights),
        "best weight",
        "regret of one for all",
        "held out",
        "p (Holm)",
    ]
    lines = [
        [
            row.label,
            row.curve[0].n,
            *(number(point.mean) for point in row.curve),
            "all equal" if row.all_equal else f"{row.best:g}{_span(row.best_interval)}",
            f"{number(row.regret)}{interval_text(row.regret_interval)}" if place else ABSENT,
            f"{row.held_out:+.3f}" if place else ABSENT,
            number(row.p_value) if place else ABSENT,
        ]
        for place, row in enumerate(table.rows)
    ]
    return str(_titled(title, SCAN_NOTE, headers, lines))


def _span(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f" [{interval[0]:g}, {interval[1]:g}]"


def query_text(results: StoredResults, query_id: str) -> str:
    """Return one query's page as text: the question, every context, answer and score.

    Raises `ConfigError` where no answered query has that id.
    """
    query = find_query(results, query_id)
    lines = [f"Query {query_id}", *(f"  {m.role}: {m.text}" for m in query.history), query.text]
    if query.rewrite and query.rewrite != query.text:
        lines.append(f"Rewrite: {query.rewrite}")
    lines.append(f"Gold answers: {' | '.join(query.gold_answers) or 'none'}")
    lines += [f"{label}: {value}" for label, value in query.labels.items()]
    blocks = ["\n".join(lines)]
    blocks += _trial_blocks(results, query_id)
    blocks += _ranking_blocks(results, query_id)
    return "\n\n".join(blocks)


def _trial_blocks(results: StoredResults, query_id: str) -> list[str]:
    grades = results.qrels.get(query_id, {})
    blocks = []
    for trial in results.trials:
        prediction, context = trial.predictions.get(query_id), trial.contexts.get(query_id)
        lines = [f"== {trial.system} under {trial.setting}"]
        for passage in context.passages if context else ():
            grade = (
                f", relevance {grades[passage.passage_id]}" if passage.passage_id in grades else ""
            )
            lines.append(f"[{passage.passage_id}; {passage.origin}{grade}] {passage.text}")
        if prediction is None:
            lines.append("No prediction.")
        elif prediction.answer is None:
            lines.append(f"No answer: {prediction.reason}")
        else:
            lines.append(f"Answer: {prediction.answer}")
        lines += _score_lines(
            {m: held[query_id] for m, held in trial.scores.items() if query_id in held}
        )
        blocks.append("\n".join(lines))
    return blocks


def _ranking_blocks(results: StoredResults, query_id: str) -> list[str]:
    grades = results.qrels.get(query_id, {})
    blocks = []
    for run in results.rankings:
        ranking = run.rankings.get(query_id)
        lines = [f"== {run.system}: ranking"]
        for place in list(ranking or ())[: limits.SHOWN_RANKS]:
            mark = f"  relevance {grades[place.passage_id]}" if place.passage_id in grades else ""
            lines.append(f"{place.rank:>3}. {place.passage_id}  {place.score:.4g}{mark}")
        lines += _score_lines(
            {m: held[query_id] for m, held in run.scores.items() if query_id in held}
        )
        blocks.append("\n".join(lines))
    return blocks


def _score_lines(scores: dict[str, Any]) -> list[str]:
    lines = []
    for metric, score in scores.items():
        value = number(score.value) if score.value is not None else score.status.replace("_", " ")
        lines.append(f"  {metric}: {value}{f' ({score.reason})' if score.reason else ''}")
    return lines


def _counts() -> list[str]:
    return ["n", "failed", "n/a"]


def _row_cells(row: BoardRow, metrics: Sequence[str], board: Board) -> list[Any]:
    """Return the row's n, failures and not-applicable, then a cell a metric.

    The counts are those that most metrics share; a cell whose own differ says them.
    """
    usual = Counter((s.n, s.failed, s.not_applicable) for s in row.cells.values()).most_common(1)
    counts = usual[0][0]
    return [*counts, *(_cell(row, metric, board, counts) for metric in metrics)]


def _cell(row: BoardRow, metric: str, board: Board, usual: tuple[int, int, int]) -> str:
    summary = row.cells.get(metric)
    if summary is None:
        return ABSENT
    own = (summary.n, summary.failed, summary.not_applicable)
    told = "" if own == usual else f" (n {own[0]}, failed {own[1]}, n/a {own[2]})"
    star = "*" if row.system in board.best.get(metric, ()) else ""
    return mean_text(summary) + star + told


def _share(share: Share) -> str:
    return f"{number(share.share)}{interval_text(share.interval)}"


def _titled(
    title: str, note: str, headers: Sequence[str], lines: Sequence[Sequence[Any]]
) -> TextTable:
    return TextTable(headers, lines, f"{title} ({note})")

"""The tables that the terminal shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.screen_text import shorten
from ragstone.core.tables import TextTable
from ragstone.results import leaderboards, population, usage, wording
from ragstone.results.beside import figure_table
from ragstone.results.by_label import LabelTable, attack_tables, collection_tables
from ragstone.results.glossary import OVERALL
from ragstone.results.judge_notes import marked, metric_notes, note_lines
from ragstone.results.leaderboards import Board, BoardRow
from ragstone.results.lesson import lesson
from ragstone.results.population import TablePopulation
from ragstone.results.query_page import find_query
from ragstone.results.reader import StoredResults
from ragstone.results.refusals import refusal_rows
from ragstone.results.remarks import remarks
from ragstone.results.repeats_text import repeat_lines, variance_table
from ragstone.results.reported_text import hop_lines, reported_tables
from ragstone.results.scored_rows import RankingResults, ScoredRows, TrialResults
from ragstone.results.secret_share import share_rows, share_tables
from ragstone.results.setting_pairs import setting_table
from ragstone.results.verdict import planned_analysis, verdict_lines
from ragstone.results.weight_scan import ScanTable
from ragstone.statistics.failures import FAILURE_RATE
from ragstone.statistics.summary import Summary

NOTE: Final = "mean [95 % interval]; n: queries in the mean"
SCAN_NOTE: Final = "best weight [range in 95 of 100 resamples]; regret [95 % interval]"
_COUNTS: Final = ("n", "failed", "n/a")


def _head(results: StoredResults) -> str:
    data = results.record.data
    answers = results.record.trials or results.record.file.get("settings")
    done, size = ("asked", data.answered) if answers else ("ranked", data.ranked)
    head = f"{learnt}\n" if (learnt := lesson(results)) else ""
    head += (
        f"{results.name}: {size} of {data.queries} queries {done}, "
        f"{data.passages} passages ({data.name})"
    )
    for line in data.languages.lines if data.languages else ():
        head += f"\n{line}"
    if data.left_out:
        head += f"\n{wording.left_out_text(data.left_out)}"
    if counts := results.not_applicable:
        head += f"\n{wording.not_applicable_text(counts)}"
    if not results.finished:
        head += "\nNOT FINISHED: run the same `ragstone run` command again to resume"
    if results.attempt:
        head += f"\n{wording.attempt_text(results.attempt)}"
    if results.trusted_code:
        head += f"\n{wording.trusted_text(results.trusted_code)}"
    return head


def parts_above(results: StoredResults) -> Iterator[str | TextTable | None]:
    """Yield the head line and the tables above the calls; None for one without rows."""
    yield _head(results)
    boards, retrieval = leaderboards.leaderboard(results), leaderboards.retrieval_board(results)
    yield from share_tables(results, share_rows(results))
    yield _means("Answers", boards, population.answered(results), metric_notes(results))
    yield _verdicts(results)
    yield variance_table(results)
    yield _figures(results)
    yield _adaptability(results)
    yield setting_table(results)
    yield from (_by_label(table) for table in attack_tables(results))
    yield _refusals(results)
    yield from reported_tables(results)
    yield _means("Retrieval", [retrieval] if retrieval else [], population.ranked(results))
    yield _leads(results)
    yield from (_by_label(table) for table in collection_tables(results))
    yield _usage(results)


def parts_below(results: StoredResults) -> Iterator[str | None]:
    """Yield the warnings and notes below the calls; None for one without lines."""
    yield _warnings(results)
    yield _remarks(results)
    yield _notes(results)
    yield _failures(results)


def _notes(results: StoredResults) -> str | None:
    lines = [
        f"  {n.count:,} {n.what} ({n.component}, {wording.TITLES[n.step]})" for n in results.notes
    ]
    return "\n".join(["Changes that steps made to their input", *lines]) if lines else None


def _warnings(results: StoredResults) -> str | None:
    lines = [f"WARNING: {text}" for text in leaderboards.warnings(results)]
    return "\n".join([*lines, f"{wording.RETRIES}."]) if lines else None


def _remarks(results: StoredResults) -> str | None:
    # The results of probes are below the table of the judge's numbers.
    below = tuple(f"{note}." for note in metric_notes(results).values())
    lines = [f"NOTE: {text}" for text in remarks(results) if not (below and text.endswith(below))]
    return "\n".join(lines) or None


def _failures(results: StoredResults) -> str | None:
    found, shown = results.failures, limits.SHOWN_FAILURES
    lines = [
        shorten(f"  {n.count:,} x {n.component}: {n.what}", limits.REASON_CHARACTERS)
        for n in found[:shown]
    ]
    if found[shown:]:
        lines.append(f"  and {len(found) - shown:,} other reasons: `ragstone show --query ID`")
    return "\n".join(["Failures and fallbacks", *lines]) if lines else None


def _leads(results: StoredResults) -> str | None:
    """Return the test results of the best system of each board, if there are two systems."""
    found = [*leaderboards.leads(results), leaderboards.retrieval_lead(results)]
    lines = [
        f"  {lead.setting or 'retrieval'}, {lead.metric}: {lead.sentence}"
        for lead in found
        if lead and lead.runner_up
    ]
    note = f"correction over all pairs of systems and settings: {results.record.correction}"
    return "\n".join([f"Best systems ({note})", *lines]) if lines else None


def _means(
    title: str,
    boards: Sequence[Board],
    queries: TablePopulation,
    notes: Mapping[str, str] = MappingProxyType({}),
) -> TextTable | None:
    """Return systems x settings x metrics, or None without metrics; `notes` are of metrics."""
    metrics = list(dict.fromkeys(metric for board in boards for metric in board.metrics))
    if not metrics:
        return None
    settings = ["setting"] if boards[0].setting else []
    shown = usage.shown_statuses(row for board in boards for row in board.rows)
    ranked = any(len(board.ranks) > 1 for board in boards)
    lines = []
    for board in boards:
        for row in board.rows:
            statuses = [row.statuses.get(status, 0) for status in shown]
            place = board.ranks.get(row.system)
            ranks = [place.text if place else wording.ABSENT] if ranked else []
            head = [row.label, *filter(None, [board.setting]), *ranks, *statuses]
            lines.append([*head, *_row_cells(row, metrics, board)])
    titles = [*(["rank"] if ranked else []), *_titles(shown), *_COUNTS]
    headers = ["system", *settings, *titles, *(marked(metric, notes) for metric in metrics)]
    by = ", ".join(dict.fromkeys(board.headline for board in boards if board.headline))
    note = f"{NOTE}; * not told apart from the best; rank by {by}" if ranked else NOTE
    below = note_lines(metrics, notes)
    return TextTable(headers, lines, f"{title} ({note})\n({queries})", below)


def _figures(results: StoredResults) -> TextTable | None:
    """Return the figures of all answers together, or None without any."""
    table = figure_table(results)
    if table is None:
        return None
    lines = [
        [system, setting, *(f"{v[c]:.4g}" if c in v else wording.ABSENT for c in table.columns)]
        for system, setting, v in table.rows
    ]
    headers = ["system", "setting", *table.titles]
    return TextTable(headers, lines, "Figures of all answers together (not means over queries)")


def _verdicts(results: StoredResults) -> str | None:
    """Return the verdicts on the planned comparisons, or None if nothing is planned."""
    analysis = planned_analysis(results)
    lines = [f"  {line}" for line in verdict_lines(results)]
    return "\n".join([f"Planned analysis: {analysis.sentence}", *lines]) if analysis else None


def _adaptability(results: StoredResults) -> TextTable | None:
    """Return the four shares per system and mixed setting, or None without such a setting."""
    rows = [(row, leaderboards.bar_parts(row.adaptability)) for row in results.adaptability]
    if not rows:
        return None
    keys = dict.fromkeys(key for _, parts in rows for key in parts)
    lines = []
    for row, parts in rows:
        shares = [parts.get(key) for key in keys]
        cells = [
            f"{wording.number(s.share)}{wording.interval_text(s.interval)}" if s else "0.000"
            for s in shares
        ]
        found = row.adaptability
        cells.append(wording.number(found.overall))
        lines.append([row.system, row.setting, found.n, len(found.left_out), *cells])
    names = [leaderboards.PART_NAMES[key][1] for key in keys]
    headers = ["system", "mixed setting", "n", "left out", *names, "overall"]
    title = (
        f"Adaptability (shares sum to 1 [95 % interval]; overall = {OVERALL})\n"
        f"({population.adaptability(results)})"
    )
    below = [line for line in population.adaptability_lines(results) if line not in title]
    return TextTable(headers, lines, title, below=below)


def _refusals(results: StoredResults) -> TextTable | None:
    """Return coverage and selective accuracy, or None if no metric finds refusals."""
    rows = refusal_rows(results)
    lines = [
        [
            *(row.system, row.setting, row.found.coverage.n, row.refused, row.failed),
            wording.mean_text(row.found.coverage),
            wording.mean_text(row.found.accuracy),
            wording.number(row.found.area),
            f"{row.rightly_refused} of {row.unanswerable}" if row.unanswerable else wording.ABSENT,
            sum(row.left_out.values()),
        ]
        for row in rows
    ]
    headers = ["system", "setting", "n", "refused", "failed", "coverage", "selective accuracy"]
    headers += ["area of risk", "unanswerable refused", "left out"]
    note = "of the answerable queries; selective accuracy: of the answers given [95 % interval]"
    return TextTable(headers, lines, f"Refusals ({note})") if rows else None


def _usage(results: StoredResults) -> TextTable | None:
    """Return time and tokens of every system and setting, or None if no call reports them."""
    rows = usage.usage_rows(results)
    if not any(row.timed or row.counted for row in rows):
        return None
    shown = ["answered", *usage.shown_statuses(rows), "failed"]
    headers = ["system", "setting", *_titles(shown), "prompts cut"]
    queued = any(row.queued_p95 is not None for row in rows)
    headers += ["p50 s", "p95 s", *(["client p95 s"] if queued else []), "tokens in", "tokens out"]
    reasons = any(row.tokens_reasoning is not None for row in rows)
    headers += ["reasoning"] if reasons else []
    priced = any(row.cost is not None for row in rows)
    headers += ["cost"] if priced else []
    lines = []
    for row in rows:
        statuses = [row.statuses[status] for status in shown]
        cells = [row.system, row.setting, *statuses, row.cut]
        times = [row.seconds_p50, row.seconds_p95, *([row.queued_p95] if queued else [])]
        cells += map(wording.seconds, times)
        tokens = [row.tokens_in, row.tokens_out, *([row.tokens_reasoning] if reasons else [])]
        cost = wording.ABSENT if row.cost is None else f"{row.cost:.4g}"
        lines.append([*cells, *map(wording.count, tokens), *([cost] if priced else [])])
    note = "of the original calls; prompts cut: passages or history were left out"
    note += "; reasoning: tokens among those out" if reasons else ""
    note += "; client: delay before a call was sent" if queued else ""
    below = [
        f"  {row.system}, {row.setting}: time {row.not_measurable}"
        for row in rows
        if row.not_measurable
    ]
    return TextTable(headers, lines, f"Time and tokens ({note})", below)


def _titles(statuses: Sequence[str]) -> list[str]:
    return [wording.STATUS_TITLES.get(status, status) for status in statuses]


def label_text(table: LabelTable) -> str:
    """Return a metric by a label as text."""
    return str(_by_label(table))


def _by_label(table: LabelTable) -> TextTable:
    """Return a metric by a label: a row per value, a column per system and setting."""
    headers = [table.label, *(" | ".join(filter(None, column)) for column in table.columns)]
    lines = [
        [value, *(_label_cell(cells.get(column)) for column in table.columns)]
        for value, cells in table.rows
    ]
    return TextTable(headers, lines, f"{table.metric} by {table.label} ({NOTE})")


def _label_cell(summary: Summary | None) -> str:
    failed = f", failed {summary.failed}" if summary and summary.failed else ""
    return f"{wording.mean_text(summary)} n {summary.n}{failed}" if summary else wording.ABSENT


def scan_text(tables: Sequence[ScanTable]) -> str:
    """Return text-weight scans: a row per value of a label, a column per weight."""
    return "\n\n".join(_scan_text(table) for table in tables)


def _scan_text(table: ScanTable) -> str:
    by = f" by {table.label}" if table.label else ""
    title = f"{table.sweep.name} ({table.sweep.normalisation}): {table.metric} by text weight{by}"
    weights = [f"{weight:g}" for weight in table.weights]
    headers = [table.label or "queries", "n", *weights, "best weight"]
    headers += ["regret of one for all", "held out", "p (Holm)"]
    lines = []
    for place, row in enumerate(table.rows):
        best = f"{row.best:g}"
        if row.best_interval is not None:
            best += f" [{row.best_interval[0]:g}, {row.best_interval[1]:g}]"
        means = [wording.number(point.mean) for point in row.curve]
        cells = [row.label, row.curve[0].n, *means, "all equal" if row.all_equal else best]
        regret = f"{wording.number(row.regret)}{wording.interval_text(row.regret_interval)}"
        tested = [regret, f"{row.held_out:+.3f}", wording.number(row.p_value)]
        # The first row is all queries, whose best weight is the one for all.
        lines.append(cells + (tested if place else [wording.ABSENT] * len(tested)))
    return str(TextTable(headers, lines, f"{title} ({SCAN_NOTE})"))


def query_text(results: StoredResults, query_id: str) -> str:
    """Return one query's page as text: the query, every context, answer and score.

    Raises `ConfigError` if there is no answered query with that id.
    """
    query = find_query(results, query_id)
    lines = [f"Query {query_id}", *(f"  {m.role}: {m.text}" for m in query.history), query.text]
    if query.rewrite and query.rewrite != query.text:
        lines.append(f"Rewrite: {query.rewrite}")
    lines.append(f"Gold answers: {' | '.join(query.gold_answers) or 'none'}")
    lines += [f"{label}: {value}" for label, value in query.labels.items()]
    grades = results.grades(query_id)
    blocks = [
        lines,
        *(_trial_lines(results, trial, query_id, grades) for trial in results.trials),
        *(_ranking_lines(run, query_id, grades) for run in results.rankings),
    ]
    return "\n\n".join("\n".join(block) for block in blocks)


def _trial_lines(
    results: StoredResults, trial: TrialResults, query_id: str, grades: dict[str, int]
) -> Iterator[str]:
    prediction, context = trial.predictions.get(query_id), trial.contexts.get(query_id)
    yield f"== {trial.system} under {trial.setting}"
    hops = results.hops.get((trial.system, trial.setting), {}).get(query_id, ())
    yield from hop_lines(hops, grades)
    if hops and context:
        yield "Final context:"
    for passage in context.passages if context else ():
        grade = grades.get(passage.passage_id)
        origin = passage.origin if grade is None else f"{passage.origin}, relevance {grade}"
        yield f"[{passage.passage_id}; {origin}] {passage.text}"
    if prediction is None:
        reason = trial.not_applicable.get(query_id)
        yield f"Not applicable: {reason}." if reason else "No prediction."
    elif prediction.answer is None:
        yield f"No answer: {prediction.reason}"
    else:
        yield f"Answer: {prediction.answer}"
    if prediction is not None and prediction.confidence is not None:
        yield f"Confidence, as the system states it: {prediction.confidence:.3f}"
    yield from _score_lines(trial, query_id)
    yield from repeat_lines(trial, query_id)


def _ranking_lines(run: RankingResults, query_id: str, grades: dict[str, int]) -> Iterator[str]:
    yield f"== {run.system}: ranking"
    for place in list(run.rankings.get(query_id) or ())[: limits.SHOWN_RANKS]:
        grade = grades.get(place.passage_id)
        relevance = "" if grade is None else f"  relevance {grade}"
        yield f"{place.rank:>3}. {place.passage_id}  {place.score:.4g}{relevance}"
    yield from _score_lines(run, query_id)


def _score_lines(rows: ScoredRows, query_id: str) -> Iterator[str]:
    for metric, score in rows.scores_of(query_id).items():
        value = (
            wording.number(score.value)
            if score.value is not None
            else score.status.replace("_", " ")
        )
        yield f"  {metric}: {value}{f' ({score.reason})' if score.reason else ''}"


def _row_cells(row: BoardRow, metrics: Sequence[str], board: Board) -> list[Any]:
    """Return n, failed and n/a of most metrics, then a cell per metric.

    A cell whose counts differ contains its own.
    """
    (usual, _), *_ = Counter(map(_counts, row.cells.values())).most_common(1)
    return [*usual, *(_cell(row, metric, board, usual) for metric in metrics)]


def _counts(summary: Summary) -> tuple[int, int, int]:
    return summary.n, summary.failed, summary.not_applicable + summary.unscored


def _cell(row: BoardRow, metric: str, board: Board, usual: tuple[int, int, int]) -> str:
    if metric not in row.cells:
        return wording.ABSENT
    n, failed, not_applicable = counts = _counts(row.cells[metric])
    alike = counts == usual or metric == FAILURE_RATE
    own = "" if alike else f" (n {n}, failed {failed}, n/a {not_applicable})"
    star = "*" if row.system in board.best.get(metric, ()) else ""
    view = row.cells[metric].other_view
    return wording.mean_text(row.cells[metric]) + star + own + (f"; {view}" if view else "")

"""The report: one HTML file that loads nothing and runs only its own scripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol, TypeVar

from ragstone.causes.changes import CHANGES
from ragstone.core import limits
from ragstone.results import leaderboards, population, usage
from ragstone.results.beside import figure_table
from ragstone.results.by_label import attack_tables, collection_tables, label_tables
from ragstone.results.charts import charts
from ragstone.results.charts.parts import MOST_SERIES
from ragstone.results.confidence import confidence_rows
from ragstone.results.conversation_page import dialogues
from ragstone.results.failure_classes import failure_classes
from ragstone.results.glossary import ADAPTABILITY, OVERALL, metric_definitions
from ragstone.results.hops import hop_trials
from ragstone.results.judge_notes import judge_facts, metric_notes
from ragstone.results.languages import language_tables, languages_chart, retrieved_languages
from ragstone.results.lesson import lesson, main_lead, verdict_sentence
from ragstone.results.oracle import gain_sentences
from ragstone.results.page import asset, render_page
from ragstone.results.parallel import parallel_agreement, parallel_tables
from ragstone.results.passport import make_passport
from ragstone.results.prompts import judge_prompts, shown_prompts
from ragstone.results.query_page import query_pages
from ragstone.results.reader import StoredResults
from ragstone.results.refusals import refusal_rows
from ragstone.results.remarks import remarks
from ragstone.results.same_rows import SameRows, distinct_board, same_rows
from ragstone.results.secret_share import share_rows, share_sentence
from ragstone.results.setting_pairs import setting_pairs
from ragstone.results.shown_causes import ShownCauses, shown_causes
from ragstone.results.shown_changes import shown_changes
from ragstone.results.variance import sources, variance_rows
from ragstone.results.verdict import planned_analysis, verdict_lines, verdicts
from ragstone.results.weight_scan import ScanTable, scan_tables
from ragstone.results.wording import RETRIES

SCRIPTS: Final = ("page.js", "charts.js", "query_list.js", "query_page.js", "report.js")
"""The scripts of the report, in the order in which they run."""
LIBRARIES: Final = ("vega.min.js", "vega-lite.min.js", "vega-interpreter.js")
"""Vendored scripts (templates/vendor/VENDORED.md); a report without charts omits them."""


def render_report(results: StoredResults, *, queries: int | None = limits.REPORT_QUERIES) -> str:
    """Return the report's HTML."""
    scans, same = scan_tables(results), same_rows(results)
    causes = shown_causes(results, same)
    drawn = _charts(results, scans, same, causes)
    scripts = [*map(_library, LIBRARIES if drawn["any"] else ()), *map(asset, SCRIPTS)]
    return render_page(
        "report.html",
        asset("report.css"),
        scripts,
        results=results,
        record=results.record,
        same=same,
        shown_once=set(same.shown),
        causes=causes,
        scans=scans,
        charts=drawn,
        open_rows=limits.REPORT_OPEN_ROWS,
        open_cells=limits.REPORT_OPEN_CELLS,
        changes_shown=limits.REPORT_FLIPPED_QUERIES,
        change_meanings=CHANGES,
        retries=RETRIES,
        overall=OVERALL,
        adaptability_terms=ADAPTABILITY,
        pages=query_pages(results, queries),
        **_boards(results, same),
        **_trials(results, same),
        **_texts(results, same),
        **_tables(results),
    )


def _boards(results: StoredResults, same: SameRows) -> dict[str, Any]:
    """Return the boards, their best systems, and the conclusion from the best one of all."""
    boards = [distinct_board(results, one, same) for one in leaderboards.leaderboard(results)]
    retrieval = leaderboards.retrieval_board(results)
    retrieval = retrieval and distinct_board(results, retrieval, same)
    leads = [lead for one in boards if (lead := leaderboards.lead_of(results, one))]
    retrieval_lead = leaderboards.lead_of(results, retrieval) if retrieval else None
    lead = main_lead(leads) or retrieval_lead
    return {
        "boards": boards,
        "retrieval": retrieval,
        "leads": leads,
        "retrieval_lead": retrieval_lead,
        "verdict": verdict_sentence(results, lead),
        "changes": shown_changes(results, lead),
    }


def _trials(results: StoredResults, same: SameRows) -> dict[str, Any]:
    """Return the tables with a row per trial; answers that systems share have one row."""
    used = _once(usage.usage_rows(results), same)
    return {
        "shares": _once(results.adaptability, same),
        "refusals": _once(refusal_rows(results), same),
        "hops": _once(hop_trials(results), same),
        "confidence": _once(confidence_rows(results), same),
        "variance": (variance := _once(variance_rows(results), same)),
        "variance_sources": sources(variance),
        "failures": failure_classes(results, same),
        "usage": used,
        "statuses": usage.shown_statuses(used),
    }


def _texts(results: StoredResults, same: SameRows) -> dict[str, Any]:
    """Return sentences and definitions."""
    return {
        "warnings": leaderboards.warnings(results),
        "remarks": remarks(results),
        "analysis": planned_analysis(results),
        "verdicts": verdict_lines(results),
        "exploratory": [one.sentence for one in verdicts(results) if one.exploratory],
        "lesson": lesson(results),
        "gains": gain_sentences(results, same.distinct(results)),
        "asked": usage.calls_lines(results),
        "definitions": metric_definitions(
            results.record.metric(cell.metric)
            for cell in (*results.answer_cells, *results.ranking_cells)
        ),
    }


def _tables(results: StoredResults) -> dict[str, Any]:
    """Return the other tables and lists."""
    secret = share_rows(results)
    return {
        "secret": secret,
        "secret_sentence": share_sentence(results, secret),
        "figures": figure_table(results),
        "judges": judge_facts(results),
        "metric_notes": metric_notes(results),
        "prompts": shown_prompts(results.record),
        "judge_prompts": judge_prompts(results.record),
        "populations": _populations(results),
        "by_label": label_tables(results),
        "collections": collection_tables(results),
        "attacks": attack_tables(results),
        "setting_pairs": setting_pairs(results),
        "languages": [
            *language_tables(retrieved_languages(results)),
            *parallel_tables(parallel_agreement(results)),
        ],
        "dialogues": dialogues(results) if results.trials else (),
        "passport": make_passport(results),
    }


def chart_page(name: str, **values: Any) -> str:
    """Return the HTML of a page with charts: of the template `NAME.html`, started by `NAME.js`."""
    scripts = [*map(_library, LIBRARIES), *map(asset, ("page.js", "charts.js", f"{name}.js"))]
    return render_page(f"{name}.html", asset("report.css"), scripts, **values)


class _OfTrial(Protocol):
    @property
    def system(self) -> str: ...
    @property
    def setting(self) -> str: ...


_Row = TypeVar("_Row", bound=_OfTrial)


def _once(rows: Iterable[_Row], same: SameRows) -> list[_Row]:
    return [row for row in rows if same.is_first(row.system, row.setting)]


def _populations(results: StoredResults) -> dict[str, Any]:
    return {
        "answered": population.answered(results),
        "ranked": population.ranked(results),
        "adaptability": population.adaptability(results),
        "lines": population.adaptability_lines(results),
        "rows": population.table_populations(results),
    }


def _charts(
    results: StoredResults,
    scans: Sequence[ScanTable],
    same: SameRows,
    causes: ShownCauses | None,
) -> dict[str, Any]:
    drawn = {
        "answers": charts.answers_chart(results, same),
        "causes": causes and causes.chart,
        "gains": causes and causes.gain_chart,
        "shares": charts.adaptability_chart(results),
        "refusals": charts.refusals_chart(results),
        "hops": charts.budget_chart(results),
        "confidence": charts.confidence_chart(results),
        "confidence_risk": charts.confidence_risk_chart(results),
        "retrieval": charts.retrieval_charts(results),
        "turns": charts.turns_chart(results),
        "languages": languages_chart(retrieved_languages(results)),
        "scans": [charts.scan_chart(table) for table in scans],
    }
    return drawn | {"any": any(drawn.values()), "most": MOST_SERIES}


def _library(name: str) -> str:
    """Return a vendored script without source map.

    The interpreter is a module, which becomes a script: Vega exports the same names as its import.
    """
    text = re.sub("(?m)^//# sourceMappingURL=.*", "", asset(f"vendor/{name}"))
    if name != "vega-interpreter.js":
        return text
    imported = re.sub("(?m)^import (.*) from 'vega-util';", r"const \1 = vega;", text)
    body = re.sub(r"(?m)^export { (\w+) as \w+ };", r"return \1;", imported)
    return f"const vegaInterpreter = (() => {{\n{body}\n}})();"

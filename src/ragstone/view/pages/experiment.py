"""The page of one experiment: its leaderboards per setting, its data, and links to its lists."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from ragstone.results.judge_notes import judge_remarks, metric_notes
from ragstone.results.leaderboards import Board, BoardRow, leaderboard, retrieval_board, warnings
from ragstone.results.population import answered, ranked
from ragstone.results.results import Results
from ragstone.results.trained_parts import trained_sentences
from ragstone.results.wording import attempt_text
from ragstone.types import Conversation
from ragstone.view.page import Document, ViewPage
from ragstone.view.store_view import StoreView
from ragstone.web.page_query import PageQuery, page_address


def experiment_document(view: StoreView, query: PageQuery) -> Document:
    """Return the leaderboards of an experiment: a board per setting, and that of retrieval."""
    results = view.results(query.part("name"))
    record, retrieval = results.record, retrieval_board(results)
    boards = [*leaderboard(results), *([retrieval] if retrieval else [])]
    conversations = Conversation.of(results.queries.values())
    return {
        "name": results.name,
        "started": record.started,
        "finished": record.finished,
        "data": asdict(record.data),
        "languages": str(record.data.languages or ""),
        "correct": str(results.correctness or ""),
        "failures": record.failures,
        "headline": record.headline,
        "systems": len(record.systems),
        "attempt": attempt_text(results.attempt) if results.attempt else "",
        "warnings": [
            *warnings(results),
            *(f"{one}." for one in trained_sentences(record.trained)),
            *judge_remarks(results),
        ],
        "judge_notes": metric_notes(results),
        "answered": str(answered(results)),
        "ranked": str(ranked(results)),
        "boards": [_board(results, one) for one in boards],
        "conversations": [
            {"id": one.conversation_id, "turns": len(one.turns)} for one in conversations
        ],
        "links": {
            name: page_address(f"/{name}", {"experiment": results.name})
            for name in ("queries", "causes", "labels", "judges", "calls")
        },
    }


def _board(results: Results, board: Board) -> Document:
    """Return a board as plain data, the best rank first."""
    order = {system: place for place, system in enumerate(board.ranks)}
    rows = sorted(board.rows, key=lambda row: order.get(row.system, len(order)))
    first = [board.headline] if board.headline else []
    metrics = [*first, *(name for name in board.metrics if name not in first)]
    return {
        "setting": board.setting,
        "headline": board.headline,
        "metrics": metrics,
        "rows": [_row(results, board, row, metrics) for row in rows],
    }


def _row(results: Results, board: Board, row: BoardRow, metrics: list[str]) -> Document:
    place = board.ranks.get(row.system)
    where: dict[str, Any] = {"experiment": results.name, "system": row.system}
    where |= {"setting": board.setting} if board.setting else {}
    wrong = {**where, "right": "no"} if board.setting and results.correctness else {}
    return {
        "system": row.system,
        "label": row.label,
        "rank": list(place.rank) if place else None,
        "group": place.group if place else None,
        "cells": {name: asdict(row.cells[name]) for name in metrics if name in row.cells},
        "statuses": dict(row.statuses),
        "queries": page_address("/queries", where) if board.setting else "",
        "wrong": page_address("/queries", wrong) if wrong else "",
        "causes": page_address("/causes", where) if wrong else "",
    }


EXPERIMENT: Final = ViewPage(
    "/experiment/{name}", "Experiment", "experiment.html", experiment_document, marks="/experiments"
)

"""Annotation projects: the answers of a list as items for people, with a file that describes them.

A project is a folder: `project.yaml` (task, source, fields of an item) and `items.jsonl` (an item
per answer, or per query if no system answered). docs/view-queries.md lists the keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from ragstone.core.times import utc_text
from ragstone.data.writers.folder import json_line, write_lines
from ragstone.results.results import Results
from ragstone.types import Context
from ragstone.version import __version__
from ragstone.view.query_filter import FoundAnswer, FoundQuery, QueryFilter

FORMAT: Final = 1
"""The format of a project."""
TASK: Final = "ratings"
"""People rate the answer of each item."""


def write_project(
    folder: Path, name: str, results: Results, wanted: QueryFilter, found: Sequence[FoundQuery]
) -> tuple[list[Path], int]:
    """Write an annotation project; return its files and its number of items."""
    items = list(_items(results, found))
    described = {
        "format": FORMAT,
        "name": name,
        "task": TASK,
        "source": {
            "experiment": results.name,
            "filter": wanted.values(),
            "data": results.record.data.name,
            "corpus_digest": results.record.data.corpus_digest,
            "finished": results.record.finished,
        },
        "items": {"file": "items.jsonl", "n": len(items)},
        "made": {"at": utc_text(), "ragstone": __version__},
    }
    wanted_lines = {
        folder / "items.jsonl": map(json_line, items),
        folder / "project.yaml": [_yaml(described)],
    }
    return write_lines(wanted_lines), len(items)


def _yaml(document: dict[str, Any]) -> bytes:
    import yaml

    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True).encode()


def _items(results: Results, found: Sequence[FoundQuery]) -> Iterator[dict[str, Any]]:
    """Yield an item per answer. Nothing tells the annotator which system gave it but its key."""
    contexts = {(one.system, one.setting): one.contexts for one in results.trials}
    for one in found:
        query = one.query
        shared = {
            "query_id": query.query_id,
            "query": query.text,
            "history": [{"role": turn.role, "text": turn.text} for turn in query.history],
            "gold_answers": list(query.gold_answers),
        }
        if not one.answers:
            yield {"item_id": query.query_id, **shared}
        for answer in one.answers:
            context = contexts[answer.system, answer.setting].get(query.query_id)
            yield {**shared, **_answer(answer, context)}


def _answer(answer: FoundAnswer, context: Context | None) -> dict[str, Any]:
    shown = context.passages if context else ()
    return {
        "item_id": f"{answer.query_id} · {answer.system} · {answer.setting}",
        "system": answer.system,
        "setting": answer.setting,
        "answer": answer.answer,
        "reason": answer.reason,
        "passages": [{"passage_id": p.passage_id, "text": p.text} for p in shown],
    }

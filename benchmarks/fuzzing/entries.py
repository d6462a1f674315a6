"""How each input is read, by a reader or a command; what is accepted is read again equal."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, Final

from ragstone.errors import RagstoneError

from .wire import local_servers, server


class Nonsense(Exception):
    """What was accepted is not the same after it was written and read again."""


class Refused(Exception):
    """A reply was refused, with the reason."""


def _same(first: Any, second: Any, what: str) -> None:
    if first != second:
        raise Nonsense(f"{what}: {_shown(first)} became {_shown(second)}")


def _shown(value: Any) -> str:
    return repr(value)[:300]


def command(*arguments: str | Path) -> str:
    """Run a command in this process and return what it printed; raise its `RagstoneError`."""
    import click

    from ragstone.cli.commands import root

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        try:
            root(list(map(str, arguments)), prog_name="ragstone", standalone_mode=False)
        except click.ClickException as error:
            raise RagstoneError(error.format_message()) from error
    return said.getvalue()


def _data(path: Path, folder: Path, reader: str = "") -> None:
    """Read a data set, write it in Ragstone's own layout, and read that again."""
    from ragstone.data.load import load_dataset

    found = load_dataset({"name": reader, "path": str(path)} if reader else path)
    _written_again(found, folder)


def _written_again(found: Any, folder: Path) -> None:
    from ragstone.core.schemas import rows
    from ragstone.data.load import load_dataset
    from ragstone.data.writers.folder import write_dataset

    copy = folder / "copy of it"
    try:
        write_dataset(found, copy)
        again = load_dataset(copy)
    except RagstoneError as error:
        raise Nonsense(f"the copy of what was accepted is refused: {error}") from error
    asked = set(found.query_table.column("query_id").to_pylist())
    for name in ("query_table", "qrel_table"):
        before = [r for r in rows(getattr(found, name)) if r["query_id"] in asked]
        _same(sorted(before, key=repr), sorted(rows(getattr(again, name)), key=repr), name)
    _same(list(rows(found.corpus.table)), list(rows(again.corpus.table)), "corpus")


def _qrels(path: Path, folder: Path) -> None:
    from ragstone.data.readers.trec import read_qrels

    command("rank", folder / "run", path, "nDCG@10", "R@2", "--json")
    found = read_qrels(path)
    lines = [f"{q}\t{p}\t{g}\n".encode() for q, of in found.items() for p, g in of.items()]
    # A header, because a byte order mark is a part of an id unless the file begins with it.
    _again(folder, [b"query-id\tcorpus-id\tscore\n", *lines], read_qrels, found)


def _subtopics(path: Path, folder: Path) -> None:
    from ragstone.data.readers.trec import read_subtopics

    command("rank", folder / "run", path, "alpha-nDCG@10", "--json")
    found = read_subtopics(path)
    lines = [
        f"{q} {s} {p} {grade}\n".encode()
        for q, of_query in found.items()
        for s, grades in of_query.items()
        for p, grade in grades.items()
    ]
    _again(folder, lines, read_subtopics, found)


def _run(path: Path, folder: Path) -> None:
    from ragstone.data.readers.trec import read_run, run_lines

    command("rank", path, folder / "qrels", "nDCG@10", "MRR", "--json")
    found = read_run(path)
    _again(folder, run_lines(found, "copy"), read_run, found)


def _again(folder: Path, lines: Any, read: Callable[[Path], Any], found: Any) -> None:
    copy = folder / "copy of it"
    try:
        copy.write_bytes(b"".join(lines))
        again = read(copy)
    except RagstoneError as error:
        raise Nonsense(f"the copy of what was accepted is refused: {error}") from error
    _same(found, again, "copy")


def _answers(path: Path, folder: Path) -> None:
    from ragstone.data.readers.answer_lines import read_answer_lines

    command("score", path, "--gold", folder, "--metrics", "EM,F1,Match", "--json")
    try:
        found = read_answer_lines(path)
    except RagstoneError:
        return  # a table of another tool
    copy = folder / "copy of it.jsonl"
    copy.write_text("".join(json.dumps(_answer(key[1], one)) + "\n" for key, one in found.items()))
    try:
        again = read_answer_lines(copy)
    except RagstoneError as error:
        raise Nonsense(f"the copy of what was accepted is refused: {error}") from error
    _same(repr(found), repr(again), "answers")


def _answer(setting: str, one: Any) -> dict[str, Any]:
    """Return an answer as a line of Ragstone's own form."""
    row = {"query_id": one.query_id, "answer": one.answer, "setting": setting}
    row |= {"reason": one.reason} if one.answer is None else {}
    usage = {name: getattr(one, name) for name in ("tokens_in", "tokens_out", "cost", "seconds")}
    row |= {"usage": {k: v for k, v in usage.items() if v is not None}}
    if one.passage_ids is not None:
        row["passage_ids"] = list(one.passage_ids)
    if one.contexts is not None:
        row["contexts"] = [_passage(passage) for passage in one.contexts]
    if one.confidence is not None:
        row["confidence"] = one.confidence
    if one.steps is not None:
        row["steps"] = [
            {"query": hop.query, "contexts": [_passage(p) for p in hop.passages],
             "tokens": hop.tokens, "latency_s": hop.seconds} for hop in one.steps
        ]  # fmt: skip
    return row


def _passage(one: Any) -> dict[str, str] | str:
    return {name: v for name, v in (("id", one.passage_id), ("text", one.text)) if v} or ""


def _rows(path: Path, folder: Path) -> None:
    from ragstone.data.readers.answer_rows import read_answer_rows

    command("score", path, "--metrics", "EM,F1,K-precision", "--json")
    found = read_answer_rows(path)
    for name, system in found.systems.items():
        copy = folder / "copy of it.jsonl"
        rows = [
            {**_answer("", system.predictions[q.query_id]), "query": q.text, "system": name,
             "gold_answers": list(q.gold_answers)} for q in system.queries
        ]  # fmt: skip
        copy.write_text("".join(json.dumps(row) + "\n" for row in rows))
        try:
            again = read_answer_rows(copy).systems[name]
        except RagstoneError as error:
            raise Nonsense(f"the copy of what was accepted is refused: {error}") from error
        kept = [(q.query_id, q.text, q.gold_answers) for q in system.queries]
        _same(kept, [(q.query_id, q.text, q.gold_answers) for q in again.queries], "queries")
        before = {i: one.answer for i, one in system.predictions.items()}
        _same(before, {i: one.answer for i, one in again.predictions.items()}, "answers")


def _traces(path: Path, folder: Path) -> None:
    from ragstone.data.readers.answer_rows import read_answer_rows

    copy = folder / "copy of it.jsonl"
    command("traces", "convert", path, "-o", copy, "--json")
    try:
        read_answer_rows(copy)
    except RagstoneError as error:
        raise Nonsense(f"the rows of accepted traces are refused: {error}") from error


def _compare(path: Path, folder: Path) -> None:
    from ragstone.data.readers.scores import read_scores

    clusters = next(folder.glob("clusters.tsv*"), None)
    more = ("--clusters", clusters) if clusters else ()
    command("compare", path, folder / "b.jsonl", "--json", *more)
    found = read_scores(path)
    copy = folder / "copy of it.jsonl"
    copy.write_text("".join(json.dumps(asdict(one)) + "\n" for one in found))
    _same(repr(found), repr(read_scores(copy)), "scores")


def _yaml(path: Path, _folder: Path) -> None:
    """Plan the experiment of a file, and of the same content as JSON."""
    from ragstone.core.parsing import read_yaml

    planned = command("run", path, "--plan", "--json")
    copy = path.with_name("copy") / "e.yaml"
    copy.parent.mkdir()
    content = read_yaml(path, "experiment")
    try:
        copy.write_text(json.dumps(content, default=str))
        again = command("run", copy, "--plan", "--json")
    except RagstoneError as error:
        raise Nonsense(f"the copy of what was accepted is refused: {error}") from error
    _same(json.loads(planned), json.loads(again), "plan")


@cache
def _schemas() -> tuple[Any, ...]:
    from ragstone.components.judges.verdict_schemas import Choice, Listing, Numbered, Rating

    three = ("full", "partial", "none")
    return Rating(1, 10), Rating(0, 3), Choice(), Choice(three), Listing(), Numbered(3)


def _judge(path: Path, _folder: Path) -> None:
    """Read a reply by every schema of verdicts; a verdict must be one of its schema."""
    from ragstone.components.judges.reply_parsing import Unreadable

    reply = path.read_bytes().decode("utf-8", "replace")
    material = ("Paris is a city. 1: yes", "Where is Paris? [[8]]")
    read, why = 0, ""
    for schema in _schemas():
        try:
            verdict = schema.read(reply, material)
        except Unreadable as error:
            why = str(error)
            if len(why) > 1000:
                raise Refused(why) from error
            continue
        read += 1
        shown = json.dumps(verdict, allow_nan=False)
        _same(verdict, _tuple(json.loads(shown)), "verdict")
        low, high = getattr(schema, "low", None), getattr(schema, "high", None)
        if low is not None and not low <= verdict <= high:
            raise Nonsense(f"the rating {verdict} is not on the scale {low} to {high}")
    if not read:
        raise Refused(why)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _http(_path: Path, folder: Path) -> None:
    """Answer a call; a reply must be the same after it was a row of the call log."""
    head, body = ((folder / name).read_bytes() for name in ("head", "body"))
    lines = [*head.rstrip(b"\n").split(b"\n"), b"Connection: close", b"", b""]
    _call(b"\r\n".join(lines) + body, "anthropic" if b"end_turn" in body else "openai")


def _framing(path: Path, _folder: Path) -> None:
    """Answer a call with bytes."""
    content = path.read_bytes()
    _call(content, "anthropic" if b"end_turn" in content else "openai")


def _call(content: bytes, protocol: str) -> None:
    from ragstone.calls.log_file import COLUMNS, READ, Entry, read_outcome, to_row
    from ragstone.calls.types import AttemptError, Reply, chat

    try:
        reply = server().ask(content, protocol)
    except AttemptError as error:
        raise Refused(str(error)) from error
    row = to_row(Entry("k", "i", "m", chat("Where?"), reply), 1.0)
    try:
        kept = read_outcome(_through_sqlite(dict(zip(COLUMNS, row, strict=True)), READ))
    except (OverflowError, UnicodeError) as error:
        raise Nonsense(f"the reply cannot be a row of the log: {error}") from error
    if not isinstance(kept, Reply) or (kept.text, kept.logprobs) != (reply.text, reply.logprobs):
        raise Nonsense(f"the log keeps {_shown(kept)} of {_shown(reply)}")


def _requests(path: Path, _folder: Path) -> None:
    """Send a request to a local server; a status below 400 accepts it."""
    status = local_servers().ask(path.read_bytes(), model=path.name == "model")
    if not 0 < status < 400:
        raise Refused(f"status {status}" if status else "the connection is closed")


def _history(path: Path, folder: Path) -> None:
    """Read a passport; one with a wrong checksum is read again with that of its content."""
    from ragstone.results.passport_file import digest

    try:
        command("history", path, folder / "b.json", "--json")
    except RagstoneError as error:
        if "was changed after it was written" not in str(error):
            raise
        content = json.loads(path.read_text())
        content.pop("checksum", None)
        path.write_text(json.dumps({**content, "checksum": digest(content)}))
        command("history", path, folder / "b.json", "--json")
    command("history", path, folder / "b.json")
    command("diff", path, folder / "b.json")


def _through_sqlite(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    values = [row[name] for name in names]
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        return connection.execute(f"SELECT {', '.join('?' * len(names))}", values).fetchone()


ENTRIES: Final[Mapping[str, Callable[[Path, Path], None]]] = {
    "data": _data,
    "mtrag": lambda path, folder: _data(path, folder, "mtrag"),
    "mirage": lambda path, folder: _data(path, folder, "mirage"),
    "qrels": _qrels,
    "subtopics": _subtopics,
    "run": _run,
    "answers": _answers,
    "rows": _rows,
    "traces": _traces,
    "compare": _compare,
    "yaml": _yaml,
    "judge": _judge,
    "http": _http,
    "framing": _framing,
    "requests": _requests,
    "history": _history,
}

logging.disable(logging.CRITICAL)

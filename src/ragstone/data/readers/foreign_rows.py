"""Changing the rows of other tools into rows with one question and one answer each."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

from ragstone.data.readers.reported import cell_value
from ragstone.data.readers.rows import FieldError, Row, show
from ragstone.data.readers.traces.payloads import message_text

Numbered: TypeAlias = tuple[int, Mapping[str, Any]]
"""The number of a row in its file, and its fields."""

HISTORY: Final = "ragstone:history"
"""Field with role and text of the messages before the question."""
PASSAGE: Final = "ragstone:passage"
"""Field with a passage; its row has no question."""
SENTENCES: Final = "ragstone:sentences"
"""Field with the sentences of an answer and the places, from 1, of the passages that each cites."""
ADDED: Final = (HISTORY, PASSAGE, SENTENCES, "reason")
"""Fields that are not columns: those above, and why an answer is missing."""
_ROLES: Final = {"human": "user", "user": "user", "ai": "agent", "assistant": "agent"}
_TEXTS: Final = ("text", "page_content", "kwargs.page_content", "node.text", "content", "passage")
_ITEM_IDS: Final = ("kwargs.id", "id", "passage_id", "metadata.id", "node.id_", "id_", "doc_id")
_PLACE: Final = re.compile(r"\[\d+\]")
"""open-rag-eval's ids of passages, which are places in the context of one answer."""
_REFERENCE_ASSERTIONS: Final = ("equals", "similar", "factuality", "levenshtein", "rouge-n", "bleu")
"""promptfoo's assertions whose value is a correct answer."""
_RESULT: Final = re.compile(r"\[([^\]]+)\] ?(.*)", re.DOTALL)
"""The name of a column of answers in promptfoo's CSV: `[provider] prompt`."""
_CSV_SEPARATOR: Final = "|"
"""Between the contexts in a cell of DeepEval's CSV."""


def value_at(row: Mapping[str, Any], path: str) -> Any:
    """Return the value under a path, or None.

    >>> value_at({"a": {"b": 1}, "c.d": 2}, "a.b"), value_at({"c.d": 2}, "c.d")
    (1, 2)
    """
    found: Any = row.get(path)
    if found is None and "." in path:
        first, _, rest = path.partition(".")
        inner = row.get(first)
        found = value_at(inner, rest) if isinstance(inner, Mapping) else None
    return found


def has_path(row: Mapping[str, Any], path: str) -> bool:
    """Return whether a row has a path: a column, a field, or a field of a list's first item.

    >>> has_path({"a": [{"b": 1}]}, "a[].b"), has_path({"a.x": 1}, "a.*"), has_path({}, "a")
    (True, True, False)
    """
    name, is_list, field = path.partition("[].")
    if is_list:
        items = row.get(name)
        first = items[0] if isinstance(items, list) and items else None
        return isinstance(first, Mapping) and value_at(first, field) is not None
    return any(fits(one, path) for one in row) or value_at(row, path) is not None


def fits(name: str, pattern: str) -> bool:
    """Return whether a column has a name, or a name of the form `object.*`."""
    return name == pattern or (pattern.endswith(".*") and name.startswith(pattern[:-1]))


def unchanged(row: Row) -> Row:
    """Return the row itself."""
    return row


def without_added(found: Numbered) -> Numbered:
    """Return a row without the fields that only these functions may write."""
    number, row = found
    return number, {name: row[name] for name in row if name not in ADDED[:3]}


def one_by_one(found: Iterable[Numbered]) -> Iterator[Numbered]:
    """Yield the rows themselves."""
    yield from found


def with_opened(row: Mapping[str, Any], opened: Iterable[str]) -> Row:
    """Return a row whose objects in some columns are columns of their own.

    >>> with_opened({"inputs": {"question": "Where?"}, "id": 7}, ["inputs"])
    {'inputs.question': 'Where?', 'id': 7}
    """
    names = tuple(opened)
    made = Row()
    for name, value in row.items():
        held = _parsed(value) if name in names else value
        if name in names and isinstance(held, Mapping):
            inner = {f"{name}.{field}": one for field, one in held.items()}
            deeper = [one for one in inner if isinstance(inner[one], Mapping)]
            made.update(with_opened(inner, deeper))
        else:
            made[name] = held
    return made


def _parsed(value: Any) -> Any:
    """Return the object in a cell, in JSON's or Python's spelling; any other value as it is."""
    if not isinstance(value, str) or not value.startswith("{"):
        return value
    found = cell_value(value)
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        return ast.literal_eval(value) if found is value else found
    return value


def item_text(item: Any) -> Any:
    """Return the text of a context: of an object, the field that other tools write it to."""
    return _first(item, _TEXTS) if isinstance(item, Mapping) else item


def item_id(item: Any) -> str:
    """Return the id of a context; "" if it has none.

    >>> item_id({"node": {"id_": "n1", "text": "On the Tagus."}}), item_id("On the Tagus.")
    ('n1', '')
    """
    found = _first(item, _ITEM_IDS) if isinstance(item, Mapping) else None
    is_id = isinstance(found, str | int) and not _PLACE.fullmatch(str(found))
    return str(found) if is_id else ""


def _first(item: Mapping[str, Any], paths: Iterable[str]) -> Any:
    return next((v for path in paths if (v := value_at(item, path)) is not None), None)


def _split_messages(row: Row, name: str) -> str | None:
    """Put the last question of a list of messages, and those before it, into their columns.

    Return the reply to it; None if there is none, or the column is not a list of messages.
    """
    given = row.get(name)
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        return None
    messages = _messages(given)
    asked = [place for place, (role, _) in enumerate(messages) if role == "user"]
    if not asked:
        raise FieldError(f"{name!r} has no message of a user, found {show(given)}")
    last = asked[-1]
    row[name] = messages[last][1]
    if last:
        row[HISTORY] = messages[:last]
    return messages[-1][1] if last < len(messages) - 1 else None


def _messages(given: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """Return role and text of the messages of users and agents that have a text."""
    found = []
    for message in given:
        # LangChain's serialised messages have their fields under `kwargs`, or under `data`.
        inner = next((message[n] for n in ("kwargs", "data") if n in message), message)
        kind = message.get("role") or inner.get("type") or message.get("type")
        text = message_text(inner)
        if kind in _ROLES and text:
            found.append([_ROLES[kind], text])
    return found


def _only(value: Any) -> Any:
    """Return the text of the last message if a value is a message or a list of them."""
    given = [value] if isinstance(value, Mapping) else value
    if isinstance(given, list) and given and all(isinstance(one, Mapping) for one in given):
        messages = _messages(given)
        return messages[-1][1] if messages else value
    return value


def ragas_row(row: Row) -> Row:
    """Split a conversation, and give gold contexts their ids; own names count before ragas'."""
    reply = _split_messages(row, "user_input")
    if reply is not None and row.get("response") is None:
        row["response"] = reply
    if (gold := row.pop("gold_answers", None)) is not None:
        row["reference"] = gold
    ids, texts = row.pop("reference_context_ids", None), row.get("reference_contexts")
    if isinstance(ids, list) and isinstance(texts, list) and len(ids) == len(texts):
        pairs = zip(ids, texts, strict=True)
        row["reference_contexts"] = [{"id": str(i), "text": text} for i, text in pairs]
    return row


def deepeval_row(row: Row) -> Row:
    """Split the contexts in a cell of a CSV file."""
    for name in ("context", "retrieval_context"):
        if isinstance(row.get(name), str):
            row[name] = row[name].split(_CSV_SEPARATOR)
    return row


def promptfoo_row(row: Row) -> Row:
    """Take correct answers from assertions that have one, and the reason of a missing answer."""
    case = row.get("testCase")
    asserted = [
        one["value"]
        for one in (case.get("assert") if isinstance(case, Mapping) else None) or ()
        if isinstance(one, Mapping)
        and one.get("type") in _REFERENCE_ASSERTIONS
        and isinstance(one.get("value"), str)
    ]
    if asserted:
        row["asserted"] = asserted
    if row.get("error") and row.get("response.output") is None:
        row["reason"] = str(row["error"])
    return row


def promptfoo_results(found: Iterable[Numbered]) -> Iterator[Numbered]:
    """Yield the results with the name of their system: the provider, and its prompt if several."""
    results = list(found)
    names = [(_provider(row), _prompt(row)) for _, row in results]
    systems = _systems(names)
    for (number, row), name in zip(results, names, strict=True):
        yield number, {**row, "system": systems[name]}


def _provider(row: Mapping[str, Any]) -> str:
    given = row.get("provider")
    return str((_first(given, ("label", "id")) if isinstance(given, Mapping) else given) or "")


def _prompt(row: Mapping[str, Any]) -> str:
    given = row.get("prompt")
    return str(given.get("label") or "") if isinstance(given, Mapping) else ""


def _systems(names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return (provider, prompt) -> name of the system."""
    pairs = list(dict.fromkeys(names))
    providers = [provider for provider, _ in pairs]
    return {
        (provider, prompt): provider
        if providers.count(provider) == 1 or not prompt
        else f"{provider} | {prompt}"
        for provider, prompt in pairs
    }


def is_promptfoo_table(names: Sequence[str]) -> bool:
    """Return whether these are the columns of promptfoo's CSV."""
    return "Status" in names and any(_RESULT.match(name) for name in names)


def promptfoo_cells(found: Iterable[Numbered]) -> Iterator[Numbered]:
    """Yield one row per output of promptfoo's CSV, which has those of a test side by side."""
    for number, row in found:
        columns = [name for name in row if _RESULT.match(name)]
        names = [(match[1], match[2]) for name in columns if (match := _RESULT.match(name))]
        systems = _systems(names)
        first = list(row).index(columns[0]) if columns else len(row)
        asked = {f"vars.{name}": row[name] for name in list(row)[:first]}
        for column, name in zip(columns, names, strict=True):
            answer = Row({**asked, "response.output": row[column], "system": systems[name]})
            yield number, answer


def langsmith_row(row: Row) -> Row:
    """Split conversations, and take the text of a message."""
    for name in [one for one in row if one.startswith("inputs.")]:
        _split_messages(row, name)
    for name in [one for one in row if one.startswith(("outputs.", "reference"))]:
        if name.rpartition(".")[2] not in ("contexts", "context", "documents", "source_documents"):
            row[name] = _only(row[name])
    return row


def langchain_row(row: Row) -> Row:
    """Take the messages before the question from `chat_history`, and the text of an answer."""
    history = row.pop("chat_history", None)
    if isinstance(history, list) and all(isinstance(one, Mapping) for one in history):
        row[HISTORY] = _messages(history)
    if "answer" in row:
        row["answer"] = _only(row["answer"])
    return row


def answers_of_passages(found: Iterable[Numbered]) -> Iterator[Numbered]:
    """Yield one row per answer of rows with one passage each (open-rag-eval).

    The runs of a query are systems of their own if there are several.
    """
    groups: dict[tuple[str, str], tuple[int, Row]] = {}
    for number, row in found:
        key = str(row.get("query_id") or row.get("query")), str(row.get("query_run") or "1")
        made = groups.setdefault(key, (number, Row({**row, "contexts": []})))[1]
        if row.get("passage") is not None:
            made["contexts"].append({"id": row.get("passage_id"), "text": row["passage"]})
        if made.get("generated_answer") is None:
            made["generated_answer"] = row.get("generated_answer")
    runs = {run for _, run in groups}
    for (_, run), (number, made) in groups.items():
        for name in ("passage_id", "passage", "query_run"):
            made.pop(name, None)
        yield number, Row({**made, "system": f"run {run}"}) if len(runs) > 1 else made


def embedding_pairs(found: Iterable[Numbered]) -> Iterator[Numbered]:
    """Yield one row per query of documents with queries, corpus and relevant ids (LlamaIndex)."""
    for number, document in found:
        asked, corpus, relevant = (
            Row.of(document.get(name)) for name in ("queries", "corpus", "relevant_docs")
        )
        for query_id, text in asked.items():
            ids: Sequence[str] = relevant.get(query_id) or ()
            if absent := [i for i in ids if i not in corpus]:
                raise FieldError(
                    f"query {show(query_id)} names {show(absent[0])}, which 'corpus' lacks"
                )
            context = [{"id": i, "text": corpus[i]} for i in ids]
            yield number, Row(query_id=query_id, text=text, context=context)
        rest = set(corpus) - {i for ids in relevant.values() for i in ids}
        yield from ((number, Row({PASSAGE: {"id": i, "text": corpus[i]}})) for i in sorted(rest))

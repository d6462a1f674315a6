"""A data set whose passages, and if wanted its queries, a model translated.

`translation.json` has the model and the counts, and `left_out.jsonl` one line per row whose
translation failed: no row of the data set is untranslated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

import orjson

from ragstone.building.built import check_target
from ragstone.components.translation_checks import SourceText, source_language
from ragstone.components.translator import SYSTEM, USER, Translator
from ragstone.core import limits
from ragstone.core.atomic_files import atomic_files
from ragstone.core.component import Outcome
from ragstone.core.progress import progress
from ragstone.core.schemas import QRELS, queries_to_table, rows, to_table
from ragstone.core.spec import ComponentSpec
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.writers.folder import json_line, write_dataset
from ragstone.errors import DatasetError, LimitReached, system_reason
from ragstone.protocols import Services
from ragstone.text.language_names import LANGUAGE, checked_code, stated_language
from ragstone.types import Label, Message, Passage, Query

TRANSLATION: Final = "translation.json"
LEFT_OUT: Final = "left_out.jsonl"
TRANSLATED_FROM: Final = "translated_from"
"""Label of a translated row: the code of its former language, or "unknown"."""
_DATA: Final = ("corpus.jsonl", "queries.jsonl", "qrels.tsv")
Row = TypeVar("Row", Passage, Query)


@dataclass(frozen=True)
class DataTranslator(Translator):
    """The translator of the rows of a data set.

    Args:
        to: code or English name of the language.
        model: the generator to call, such as `local` or `{name: chat, model: ...}`.
        max_tokens: maximum length of a translated text; a truncated one does not count.
        system: your own system template; {language} is in this one or in the other.
        user: your own user template, with {text}; {source} is the language of the text.
    """

    to: str = "en"
    model: ComponentSpec = "local"
    max_tokens: int = 1000
    system: str = SYSTEM
    user: str = USER

    def __post_init__(self) -> None:
        """Check the language."""
        _ = self.target
        super().__post_init__()

    @property
    def target(self) -> str:
        """The code of the language."""
        return checked_code(self.to)


class LeftOutRow(NamedTuple):
    """A row whose translation failed."""

    kind: str
    id: str
    reason: str


@dataclass
class TranslatedData:
    """A translated data set, and what is missing from it."""

    dataset: Dataset
    to: str
    model: str
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    """Kind of row -> number of rows read, translated, as they were, failed, not reached."""
    left_out: list[LeftOutRow] = field(default_factory=list)
    judgements_left_out: int = 0
    partial: str = ""
    """Why rows were not reached; empty if all were."""

    def document(self) -> dict[str, Any]:
        """Return the plain data of `translation.json`."""
        return {
            "to": self.to,
            "model": self.model,
            "partial": self.partial,
            **{kind: dict(counts) for kind, counts in self.counts.items()},
            "judgements_left_out": self.judgements_left_out,
        }


@dataclass(frozen=True)
class _Kind(Generic[Row]):
    """How the rows of one kind are taken apart and put together."""

    name: str
    id_of: Callable[[Row], str]
    texts: Callable[[Row], list[str]]
    rebuilt: Callable[[Row, Iterator[str]], Row]


def planned_calls(dataset: Dataset, translator: DataTranslator, *, queries: bool) -> int:
    """Return the maximum number of calls: one per different text that may need one."""
    found = {text for row in dataset.corpus for text in _wanted(row, _PASSAGES, translator.target)}
    if queries:
        found |= {t for q in dataset.queries for t in _wanted(q, _QUERIES, translator.target)}
    return sum(text.needs_call for text in found)


def translate_dataset(
    dataset: Dataset, translator: DataTranslator, services: Services, *, queries: bool
) -> TranslatedData:
    """Return a data set with its passages, and if wanted its queries, in another language.

    Ids do not change. Translated rows have the labels `language` and `translated_from`. A row with
    a text whose translation failed is left out, and so are its judgements. A spent budget ends the
    work: replies are kept, and `partial` has the reason.
    """
    made = TranslatedData(dataset, translator.target, translator.backend.endpoint.model)
    passages = _translated(made, _PASSAGES, list(dataset.corpus), translator, services)
    asked = dataset.queries
    if queries:
        asked = _translated(made, _QUERIES, asked, translator, services)
    known = {passage.passage_id for passage in passages}, {query.query_id for query in asked}
    judged = [
        row
        for row in rows(dataset.qrel_table)
        if row["passage_id"] in known[0] and row["query_id"] in known[1]
    ]
    made.judgements_left_out = dataset.qrel_table.num_rows - len(judged)
    made.dataset = replace(
        dataset,
        corpus=Corpus.from_passages(passages),
        query_table=queries_to_table(asked),
        qrel_table=to_table(QRELS, {name: [row[name] for row in judged] for name in QRELS.names}),
    )
    return made


def write_translated(made: TranslatedData, folder: Path) -> list[Path]:
    """Write a translated data set into a folder, in place of an earlier one; return the files."""
    check_target(folder, TRANSLATION, "translated data set")
    try:
        with atomic_files(folder) as temporary:
            write_dataset(made.dataset, temporary)
            document = orjson.dumps(made.document(), option=orjson.OPT_INDENT_2)
            (temporary / TRANSLATION).write_bytes(document)
            lines = (json_line(row._asdict()) for row in made.left_out)
            (temporary / LEFT_OUT).write_bytes(b"".join(lines))
            names = sorted(path.name for path in temporary.iterdir())
        for name in set(_DATA).difference(names):
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise DatasetError(
            f"cannot write the data set into {folder}: {system_reason(error)}"
        ) from error
    return [folder / name for name in names]


def _translated(
    made: TranslatedData,
    kind: _Kind[Row],
    every: Sequence[Row],
    translator: DataTranslator,
    services: Services,
) -> list[Row]:
    """Return the rows of a kind that are in the target language, batch by batch."""
    counts = made.counts[kind.name] = Counter(read=len(every))
    found: list[Row] = []
    done = 0
    with progress(f"Translating {kind.name}", len(every)) as bar:
        while done < len(every) and not made.partial:
            batch = every[done : done + limits.TRANSLATION_BATCH]
            try:
                found += _batch(made, kind, batch, translator, services)
            except LimitReached as error:
                made.partial = str(error)
                break
            done += len(batch)
            bar.advance(len(batch))
    counts["not_reached"] = len(every) - done
    return found


def _batch(
    made: TranslatedData,
    kind: _Kind[Row],
    batch: Sequence[Row],
    translator: DataTranslator,
    services: Services,
) -> list[Row]:
    """Return the translated rows of a batch; those that failed are added to `left_out`."""
    wanted = [_wanted(row, kind, translator.target) for row in batch]
    flat = [text for texts in wanted for text in texts]
    outcomes = translator.translations(flat, services, title=f"translating {kind.name}")
    found: list[Row] = []
    counts = made.counts[kind.name]
    for row, texts in zip(batch, wanted, strict=True):
        own = list(islice(outcomes, len(texts)))
        failed = next((one.reason for one in own if one.reason), "")
        if failed:
            made.left_out.append(LeftOutRow(kind.name, kind.id_of(row), failed))
        else:
            found.append(_labelled(kind.rebuilt(row, _values(own)), texts))
        is_called = any(text.needs_call for text in texts)
        counts["failed" if failed else "translated" if is_called else "as_they_were"] += 1
    return found


def _wanted(row: Row, kind: _Kind[Row], target: str) -> list[SourceText]:
    """Return the texts of a row, in the language of its label or of its longest text."""
    texts = kind.texts(row)
    source = stated_language(row.labels) or source_language(max(texts, key=len))
    return [SourceText(text, target, source) for text in texts]


def _labelled(row: Row, texts: Sequence[SourceText]) -> Row:
    """Return a row with the label of its language, and of the former one if it is translated."""
    labels: dict[str, Label] = {**row.labels, LANGUAGE: texts[0].target}
    if any(text.needs_call for text in texts):
        labels[TRANSLATED_FROM] = texts[0].source or "unknown"
    return replace(row, labels=labels)


def _values(outcomes: Sequence[Outcome[str]]) -> Iterator[str]:
    return (outcome.value for outcome in outcomes)


def _passage(passage: Passage, texts: Iterator[str]) -> Passage:
    return replace(passage, title=next(texts), text=next(texts))


def _query_texts(query: Query) -> list[str]:
    history = [message.text for message in query.history]
    return [query.text, query.rewrite, *query.gold_answers, *history]


def _query(query: Query, texts: Iterator[str]) -> Query:
    text, rewrite = next(texts), next(texts)
    gold = tuple(islice(texts, len(query.gold_answers)))
    history = tuple(Message(message.role, next(texts)) for message in query.history)
    return replace(query, text=text, rewrite=rewrite, gold_answers=gold, history=history)


_PASSAGES: Final = _Kind[Passage](
    "passages", lambda one: one.passage_id, lambda one: [one.title, one.text], _passage
)
_QUERIES: Final = _Kind[Query]("queries", lambda one: one.query_id, _query_texts, _query)

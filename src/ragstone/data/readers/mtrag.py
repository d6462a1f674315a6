"""mtRAG as released: conversations or generation tasks, retrieval tasks, and the corpora.

A folder contains some of these, each plain or gzipped:

    conversations/*.json, *.jsonl    whole conversations
    tasks/*.jsonl                    generation tasks, one per turn (or `generation_tasks/`)
    queries/DOMAIN_rewrite.jsonl     queries rewritten to be self-contained
    qrels/*DOMAIN.tsv                relevance of passages to tasks
    corpus/DOMAIN.jsonl              passages (or `corpora/`)

A single file of conversations or tasks, including MTRAGEval's, is read too.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from ragstone.core.parsing import check_collections, parse_json
from ragstone.core.schemas import QRELS, joined, queries_to_table, rows
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.readers.base import Reader
from ragstone.data.readers.mtrag_turns import (
    Irregular,
    Turn,
    conversation_turns,
    domain_of,
    task_turn,
    without_title,
)
from ragstone.data.readers.qrels import Known, read_qrels, report_dangling
from ragstone.data.readers.rows import (
    FieldError,
    Ids,
    Row,
    json_rows,
    listed,
    parsed,
    read_bytes,
    reading,
)
from ragstone.data.table_builder import judgements, passages
from ragstone.errors import DatasetError
from ragstone.types import Label, Query

if TYPE_CHECKING:
    from arro3.core import Table

_ENDS: Final = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
_TAG: Final = re.compile(r"^\|(?:user|agent)\|: ?", re.MULTILINE)
_WORD: Final = re.compile(r"\w+")
_FUNCTION_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """a about an and any are as at be been by can could did do does for from had has have he
        her his how i if in is it its many me much my no not of on one or our she should so some
        than that the their them there these they this those to was we were what when where which
        who whom why will with would you your""",
    )
)


@dataclass(frozen=True)
class MtragReader(Reader):
    """Reads mtRAG: every turn is a query, with its history and its labels.

    Labels: `conversation`, `turn`, `domain`, `collection`, `answerability`, `question_type` (any
    number), `multi_turn` (from turn 2 on), `gold_passages` (their number) and, if there is a
    rewrite, `standalone`: false if the rewrite adds a word of an earlier user turn. (mtRAG's own
    classification of self-contained turns is not part of its release.)

    Args:
        path: the folder, or one file.
        domains: the domains to read, such as `clapnq` or `clapnq+fiqa`; all if empty.
        source: the files with the turns; `auto` prefers tasks to conversations.
        irregular: whether a conversation in which the agent speaks first, or a speaker twice in a
            row, is an error or kept as it is.
        dangling_qrels: whether qrels that name an unknown turn or passage are an error or are left
            out.
    """

    path: str | Path
    domains: str = ""
    source: Literal["auto", "conversations", "tasks"] = "auto"
    irregular: Irregular = "error"
    dangling_qrels: Literal["error", "drop"] = "error"

    def read(self) -> Dataset:
        """Return the data set; raise `DatasetError` with conversation and turn, or line."""
        path = Path(self.path)
        if not path.exists():
            raise DatasetError(f"{path}: no such file or folder")
        folder = path if path.is_dir() else None
        turns = list(self._turns(self._sources(folder) if folder else [path]))
        wanted = self._wanted(turns)
        turns = [turn for turn in turns if wanted is None or turn.domain in wanted]
        rewrites = _rewrites(folder) if folder else {}
        corpus = _corpus(folder, wanted) or _inline(turns)
        judged = self._judged(folder, wanted, turns, corpus)
        gold = Counter(row["query_id"] for row in rows(judged) if row["relevance"] > 0)
        made = [_labelled(turn.query, rewrites, gold) for turn in turns]
        name = path.name.split(".")[0] + (f"-{self.domains}" if self.domains else "")
        return Dataset(name, queries_to_table(made), corpus, judged)

    def _sources(self, folder: Path) -> list[Path]:
        tasks = _files(folder, "tasks", "generation_tasks")
        conversations = _files(folder, "conversations")
        chosen = conversations if self.source == "conversations" else tasks
        if self.source == "auto":
            chosen = tasks or conversations
        if not chosen:
            raise DatasetError(
                f"{folder} contains no {self.source.replace('auto', 'tasks or conversations')}; "
                f"looked for the folders tasks and conversations with .json or .jsonl files"
            )
        return chosen

    def _turns(self, paths: Sequence[Path]) -> Iterator[Turn]:
        ids = Ids()
        names = _conversation_ids(paths[0].parent.parent)
        for path in paths:
            for place, row in document_rows(path):
                with reading(path, place):
                    for turn in self._row_turns(row, place, names):
                        ids.add(turn.query.query_id, f"{path.name}, {place}")
                        yield turn
        if not ids:
            raise DatasetError(f"{paths[0]} contains no turn; a data set needs queries")

    def _row_turns(self, row: Row, place: str, names: dict[tuple[str, str], str]) -> Iterable[Turn]:
        if "messages" not in row:
            return [task_turn(row, self.irregular)]
        given = row.get("conversation_id") or row.get("id")
        number = str(row.get("conversation_file") or place.rpartition(" ")[2])
        known = names.get((_domain(row), number))
        return conversation_turns(
            row, str(given or known or f"{_domain(row) or 'conversation'}-{number}"), self.irregular
        )

    def _wanted(self, turns: Sequence[Turn]) -> frozenset[str] | None:
        if not self.domains:
            return None
        wanted = frozenset(part.strip() for part in self.domains.split("+"))
        known = {turn.domain for turn in turns}
        absent = sorted(wanted - known)
        if absent:
            raise DatasetError(
                f"{self.path} has no domain {absent[0]!r}; it has {listed(sorted(known))}"
            )
        return wanted

    def _judged(
        self,
        folder: Path | None,
        wanted: frozenset[str] | None,
        turns: list[Turn],
        corpus: Corpus,
    ) -> Table:
        """Return the QRELS table of the files or, without files, of the turns' gold passages."""
        # Without a corpus, qrels can still be used to score runs.
        passage_ids = set(corpus.passage_ids) if len(corpus) else None
        known = Known({turn.query.query_id for turn in turns}, passage_ids)
        files = _of_domains(_files(folder, "qrels", ends=(".tsv", ".tsv.gz")), wanted)
        if files:
            tables = (read_qrels(path, known, dangling=self.dangling_qrels) for path in files)
            return joined(tables, QRELS)
        gold = dict.fromkeys((turn.query.query_id, p) for turn in turns for p in turn.gold)
        stray = [pair for pair in gold if any(known.unknown(*pair))]
        if stray:
            problem = f"{self.path}: {len(stray):,} relevant passages are not in the corpus"
            named = listed([f"{passage_id!r} (task {query_id})" for query_id, passage_id in stray])
            report_dangling(f"{problem}: {named}", self.dangling_qrels)
        return judgements({pair: 1 for pair in gold if not any(known.unknown(*pair))})


def document_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield place and object of JSON lines, or of a JSON list; NaN is read as null."""
    if path.name.endswith((".jsonl", ".jsonl.gz")):
        found = ((f"line {number}", row) for number, row in parsed(path, _loads))
    else:
        with reading(path, "the list"):
            content = _loads(read_bytes(path))
        if type(content) is not list:
            raise DatasetError(f"{path}: expected a JSON list of conversations or tasks")
        found = ((f"row {number}", row) for number, row in enumerate(content, start=1))
    for place, row in found:
        with reading(path, place):
            checked = Row.of(row)
        yield place, checked


def _loads(content: bytes) -> Any:
    try:
        if b"NaN" not in content:
            return parse_json(content)
        value = json.loads(content, parse_constant=lambda _: None)
        check_collections(value)
    except (ValueError, RecursionError) as error:
        raise FieldError(f"not valid JSON: {error}") from error
    return value


def _files(folder: Path | None, *names: str, ends: tuple[str, ...] = _ENDS) -> list[Path]:
    """Return the files of the first of these folders that exists."""
    inner = next((f for name in names if folder and (f := folder / name).is_dir()), None)
    return sorted(p for p in inner.rglob("*") if p.name.endswith(ends)) if inner else []


def _of_domains(paths: Iterable[Path], wanted: frozenset[str] | None) -> list[Path]:
    return [p for p in paths if wanted is None or any(domain in p.name for domain in wanted)]


def _domain(row: dict[str, Any]) -> str:
    return domain_of(str(row.get("Collection") or row.get("collection") or row.get("domain") or ""))


def _conversation_ids(folder: Path) -> dict[tuple[str, str], str]:
    """Return (domain, conversation_file) -> conversation id, which only the tasks contain."""
    found = {}
    for path in _files(folder, "tasks", "generation_tasks"):
        for _, row in document_rows(path):
            if row.get("conversation_file") and row.get("conversation_id"):
                found[_domain(row), str(row["conversation_file"])] = str(row["conversation_id"])
    return found


def _rewrites(folder: Path) -> dict[str, str]:
    found = {}
    for path in _files(folder, "queries", "retrieval_tasks"):
        if "rewrite" in path.name:
            for number, row in json_rows(path):
                with reading(path, number):
                    query_id = row.take_id()
                    found[query_id] = without_tags(row.take_question("text"))
    return found


def without_tags(text: str) -> str:
    r"""Return a text without mtRAG's speaker tags at the beginnings of lines.

    >>> without_tags("|user|: Who?\n|user|: And when?")
    'Who?\nAnd when?'
    """
    return _TAG.sub("", text)


def _labelled(query: Query, rewrites: Mapping[str, str], gold: Mapping[str, int]) -> Query:
    """Return a query with its rewrite, and the labels that follow from rewrite and judgements."""
    rewrite = rewrites.get(query.query_id) or query.rewrite
    labels: dict[str, Label] = {**query.labels, "gold_passages": gold[query.query_id]}
    if rewrite:
        labels["standalone"] = is_standalone(query, rewrite)
    return replace(query, rewrite=rewrite, labels=labels)


def is_standalone(query: Query, rewrite: str) -> bool:
    """Return whether a turn can be understood alone, judging by its rewrite.

    It cannot if the rewrite has a content word that an earlier user turn has and the turn itself
    does not have. The agent's words do not count: answers are long, and share words with anything.
    """
    earlier = " ".join(message.text for message in query.history if message.role == "user")
    return not (_words(rewrite) - _words(query.text)) & _words(earlier)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _FUNCTION_WORDS


def _corpus(folder: Path | None, wanted: frozenset[str] | None) -> Corpus | None:
    files = _of_domains(_files(folder, "corpus", "corpora"), wanted)
    if not files:
        return None
    builder, seen = passages(), set[str]()
    for path in files:
        domain = path.name.split(".")[0]
        for number, row in json_rows(path):
            with reading(path, number):
                passage_id, title = row.take_id(), row.take_text("title", optional=True)
                if passage_id in seen:
                    raise FieldError(f"the _id {passage_id!r} occurs twice")
                seen.add(passage_id)
                text = without_title(row.take_text("text"), title)
                row.pop("from", None)
                document_id = row.take_text("document", optional=True)
                labels = Row({"domain": domain, **row}).take_labels()
                builder.add((passage_id, text, title, document_id, labels))
    return Corpus(builder.finish())


def _inline(turns: Sequence[Turn]) -> Corpus:
    """Return the corpus of the passages in the rows of the turns, each once."""
    found = {p.passage_id: p for turn in reversed(turns) for p in turn.passages}
    ordered = dict.fromkeys(p.passage_id for turn in turns for p in turn.passages)
    return Corpus.from_passages([found[passage_id] for passage_id in ordered])

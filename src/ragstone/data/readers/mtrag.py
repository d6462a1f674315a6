"""mtRAG as released: conversations or generation tasks, retrieval tasks, and the corpora.

A folder contains some of these, each plain or gzipped:

    conversations/*.json, *.jsonl    whole conversations
    tasks/*.jsonl                    generation tasks, one per turn (or `generation_tasks/`)
    queries/DOMAIN_rewrite.jsonl     queries rewritten to be self-contained
    qrels/*DOMAIN.tsv                relevance of passages to tasks
    corpus/DOMAIN.jsonl              passages (or `corpora/`, also beside the folder)

Each domain is a collection: its turns search its own passages. A single file of conversations or
tasks, including MTRAGEval's, is read too.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from ragstone.core.regular_files import is_there
from ragstone.core.schemas import QRELS, joined, queries_to_table, rows
from ragstone.data.collections import ByLabel, divided, joined_corpora, parse_collections, spans
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.readers.base import Reader
from ragstone.data.readers.mtrag_files import (
    corpus_files,
    document_rows,
    files,
    qrels_files,
    sources,
)
from ragstone.data.readers.mtrag_turns import (
    Irregular,
    Turn,
    conversation_turns,
    domain_of,
    id_text,
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
    reading,
    show,
)
from ragstone.data.table_builder import TableBuilder, judgements, passages
from ragstone.errors import DatasetError
from ragstone.types import Label, Query

if TYPE_CHECKING:
    from arro3.core import Table

_LOG: Final = logging.getLogger(__name__)
DOMAINS: Final = ByLabel("domain", {"ibmcloud": "cloud"})
"""The collections of mtRAG: clapnq, cloud, fiqa, govt; the cloud corpus has two names."""
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
        corpus: the file with the passages, or domain -> file; by default those of the folder.
        collections: `none` pools the passages of all domains, `{by: label, aliases: {from: to}}`
            chooses another label of turns; by default each turn searches its domain.
        dangling_qrels: whether qrels that name an unknown turn or passage are an error or are left
            out.
    """

    path: str | Path
    domains: str = ""
    source: Literal["auto", "conversations", "tasks"] = "auto"
    irregular: Irregular = "error"
    corpus: str | Path | Mapping[str, str | Path] | None = None
    collections: str | Mapping[str, Any] | None = None
    dangling_qrels: Literal["error", "drop"] = "error"

    def read(self) -> Dataset:
        """Return the data set; raise `DatasetError` with conversation and turn, or line."""
        path = Path(self.path)
        if not (path.is_dir() or is_there(path)):
            raise DatasetError(f"{path}: no such file or folder")
        folder = path if path.is_dir() else None
        turns = list(self._turns(sources(folder, self.source) if folder else [path]))
        wanted = self._wanted(turns)
        turns = [turn for turn in turns if wanted is None or turn.domain in wanted]
        rewrites = _rewrites(folder) if folder else {}
        parts = _corpora(self._corpus_files(folder, wanted))
        corpus = joined_corpora(parts) if parts else _inline(turns, folder)
        judged = self._judged(folder, wanted, turns, corpus)
        gold = Counter(row["query_id"] for row in rows(judged) if row["relevance"] > 0)
        made = [_labelled(turn.query, rewrites, gold) for turn in turns]
        name = path.name.split(".")[0] + (f"-{self.domains}" if self.domains else "")
        dataset = Dataset(name, queries_to_table(made), corpus, judged)
        return self._divided(dataset, {n: len(part) for n, part in parts.items()})

    def _corpus_files(
        self, folder: Path | None, wanted: frozenset[str] | None
    ) -> list[tuple[str, Path]]:
        """Return the name and the path of each file of passages."""
        if isinstance(self.corpus, Mapping):
            return [(name, Path(path)) for name, path in self.corpus.items()]
        given = corpus_files(folder, wanted) if self.corpus is None else [Path(self.corpus)]
        return [(path.name.split(".")[0], path) for path in given]

    def _divided(self, dataset: Dataset, sizes: Mapping[str, int]) -> Dataset:
        """Return the data set with its collections."""
        own = self.collections is None
        chosen = DOMAINS if own else parse_collections(self.collections)
        if chosen is None or (own and not self._names_domains(dataset, sizes)):
            return dataset
        named = isinstance(self.corpus, Mapping)
        # A single file may contain several collections: its passages then have the label.
        by_file = named or own or (chosen.by == DOMAINS.by and len(sizes) > 1)
        return divided(dataset, chosen, spans(sizes) if by_file else None, complete=named)

    @staticmethod
    def _names_domains(dataset: Dataset, sizes: Mapping[str, int]) -> bool:
        """Return whether the files of passages are those of the turns' domains."""
        asked = {DOMAINS.name(query.labels.get(DOMAINS.by)) for query in dataset.queries} - {None}
        return bool(asked and sizes) and (
            len(sizes) > 1 or {DOMAINS.name(name) for name in sizes} <= asked
        )

    def _turns(self, paths: Sequence[Path]) -> Iterator[Turn]:
        ids = Ids()
        names = conversation_ids(paths[0].parent.parent)
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
        return conversation_turns(row, conversation_id(row, place, names), self.irregular)

    def _wanted(self, turns: Sequence[Turn]) -> frozenset[str] | None:
        if not self.domains:
            return None
        wanted = frozenset(part.strip() for part in self.domains.split("+"))
        known = {turn.domain for turn in turns}
        absent = sorted(wanted - known)
        if absent:
            raise DatasetError(
                f"{self.path} has no domain {show(absent[0])}; it has "
                f"{listed([*map(show, sorted(known))])}"
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
        published = qrels_files(folder, wanted)
        if published:
            tables = (read_qrels(path, known, dangling=self.dangling_qrels) for path in published)
            return joined(tables, QRELS)
        gold = dict.fromkeys((turn.query.query_id, p) for turn in turns for p in turn.gold)
        stray = [pair for pair in gold if any(known.unknown(*pair))]
        if stray:
            problem = f"{self.path}: {len(stray):,} relevant passages are not in the corpus"
            named = listed(
                [f"{show(passage_id)} (task {show(query_id)})" for query_id, passage_id in stray]
            )
            report_dangling(f"{problem}: {named}", self.dangling_qrels)
        return judgements({pair: 1 for pair in gold if not any(known.unknown(*pair))})


def _domain(row: dict[str, Any]) -> str:
    names = ("Collection", "collection", "domain")
    return domain_of(next((found for name in names if (found := id_text(row, name))), ""))


def conversation_id(row: Row, place: str, names: Mapping[tuple[str, str], str]) -> str:
    """Return the id of a conversation; one without gets its domain and number.

    Args:
        row: the conversation.
        place: its line or row in the file.
        names: (domain, conversation_file) -> id, from `conversation_ids`.
    """
    given = id_text(row, "conversation_id") or id_text(row, "id")
    number = id_text(row, "conversation_file") or place.rpartition(" ")[2]
    known = names.get((_domain(row), number))
    return given or known or f"{_domain(row) or 'conversation'}-{number}"


def conversation_ids(folder: Path) -> dict[tuple[str, str], str]:
    """Return (domain, conversation_file) -> conversation id, which only the tasks contain."""
    found = {}
    for path in files(folder, "tasks", "generation_tasks"):
        for place, row in document_rows(path):
            with reading(path, place):
                number, given = (id_text(row, f"conversation_{name}") for name in ("file", "id"))
                if number and given:
                    found[_domain(row), number] = given
    return found


def _rewrites(folder: Path) -> dict[str, str]:
    found = {}
    for path in files(folder, "queries", "retrieval_tasks"):
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


_STANDALONE: Final = ("standalone", "stand-alone", "stand_alone", "Standalone", "Stand-alone")
"""Names of the label by people, whether a turn can be understood alone."""


def _labelled(query: Query, rewrites: Mapping[str, str], gold: Mapping[str, int]) -> Query:
    """Return a query with its rewrite, and the labels that follow from rewrite and judgements."""
    rewrite = rewrites.get(query.query_id) or query.rewrite
    labels: dict[str, Label] = {**query.labels, "gold_passages": gold[query.query_id]}
    # A label by people counts more than the rule.
    given = next((labels.pop(name) for name in _STANDALONE if name in labels), None)
    if given is not None or rewrite:
        labels["standalone"] = is_standalone(query, rewrite) if given is None else given
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


def _corpora(named: Iterable[tuple[str, Path]]) -> dict[str, Corpus]:
    """Return file name -> passages, labelled with the name as their domain."""
    seen = set[str]()
    found: dict[str, TableBuilder] = {}
    for name, path in named:
        builder = found.setdefault(name, passages())
        for number, row in json_rows(path):
            with reading(path, number):
                passage_id, title = row.take_id(), row.take_text("title", optional=True)
                if passage_id in seen:
                    raise FieldError(f"the _id {show(passage_id)} occurs twice")
                seen.add(passage_id)
                text = without_title(row.take_text("text"), title)
                row.pop("from", None)
                document_id = row.take_text("document", optional=True)
                labels = Row({"domain": name, **row}).take_labels()
                builder.add((passage_id, text, title, document_id, labels))
    return {name: Corpus(builder.finish()) for name, builder in found.items()}


def _inline(turns: Sequence[Turn], folder: Path | None) -> Corpus:
    """Return the corpus of the passages in the rows of the turns, each once."""
    found = {p.passage_id: p for turn in reversed(turns) for p in turn.passages}
    ordered = dict.fromkeys(p.passage_id for turn in turns for p in turn.passages)
    if folder is not None and ordered:
        _LOG.warning(
            "%s contains no folder corpus or corpora: the corpus is the %s passages inside the "
            "turns, in which a search is easier than in the whole corpora",
            folder,
            f"{len(ordered):,}",
        )
    return Corpus.from_passages([found[passage_id] for passage_id in ordered])

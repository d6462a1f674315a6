"""SQuAD-form JSON: articles of paragraphs with questions (v1.1, v2 and similar data sets)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ragstone.core import limits
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.readers.base import Reader
from ragstone.data.readers.rows import Ids, Row, json_document, listed, reading, show, within
from ragstone.data.table_builder import passages, qrels, queries
from ragstone.errors import DatasetError


@dataclass(frozen=True)
class SquadReader(Reader):
    """Reads one SQuAD-form file, plain or `.gz`: each paragraph is a passage.

    A passage's id is "<article>-<paragraph>", both counted from 1, so that translations of a data
    set have the same ids. Paragraphs with the same text are one passage. The paragraph of a
    question has relevance 1, that of an impossible question (v2) has 0.

    Args:
        path: the file, or a folder with one such file.
    """

    path: str | Path

    def read(self) -> Dataset:
        """Return the data set; raise `DatasetError` with the place if it is malformed."""
        path = _one_file(Path(self.path))
        document = json_document(path)
        tables = _Tables()
        if type(document) is not dict or type(document.get("data")) is not list:
            raise DatasetError(
                f"{path} does not have the SQuAD form: expected an object with a list 'data' of "
                f"articles, found {show(document)}"
            )
        for number, article in enumerate(document["data"], start=1):
            with reading(path, f"article {number}"):
                tables.add_article(Row.of(article), number)
        if not tables.query_ids:
            raise DatasetError(f"{path} contains no question; a data set needs queries")
        return tables.finish(path.name.removesuffix(".gz").removesuffix(".json"))


def _one_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = sorted(file for file in path.iterdir() if file.name.endswith((".json", ".json.gz")))
    if len(found) != 1:
        names = listed([file.name for file in found], limits.MAX_LISTED_FILES) or "none"
        raise DatasetError(
            f"{path} must contain one .json file (or .json.gz), found {names}; name one"
        )
    return found[0]


class _Tables:
    """The three tables of a data set during reading."""

    def __init__(self) -> None:
        self.passages, self.queries, self.qrels = passages(), queries(), qrels()
        self.query_ids = Ids()
        self._id_of_text: dict[str, str] = {}

    def add_article(self, article: Row, number: int) -> None:
        title = article.take_text("title", optional=True)
        for place, paragraph in enumerate(article.take_list("paragraphs"), start=1):
            with within(f"paragraph {place}"):
                self._add_paragraph(Row({**article, **Row.of(paragraph)}), title, (number, place))

    def _add_paragraph(self, paragraph: Row, title: str, at: tuple[int, int]) -> None:
        text, questions = paragraph.take_text("context"), paragraph.take_list("qas")
        passage_id = self._id_of_text.setdefault(text, f"{at[0]}-{at[1]}")
        if passage_id == f"{at[0]}-{at[1]}":
            # Titles have underscores, as in Wikipedia's addresses.
            shown, document_id = title.replace("_", " "), title or str(at[0])
            self.passages.add((passage_id, text, shown, document_id, paragraph.take_labels()))
        for place, question in enumerate(questions, start=1):
            with within(f"question {place}"):
                origin = f"article {at[0]}, paragraph {at[1]}, question {place}"
                self._add_question(Row.of(question), passage_id, origin)

    def _add_question(self, row: Row, passage_id: str, place: str) -> None:
        query_id, text = row.take_id("id"), row.take_question("question")
        self.query_ids.add(query_id, place)
        impossible = row.pop("is_impossible", None)
        if impossible is not None:
            row.setdefault("answerability", "unanswerable" if impossible else "answerable")
        answers = [] if impossible else list(dict.fromkeys(_answers(row)))
        row.pop("answers", None)
        self.queries.add((query_id, text, answers, "", "", row.take_labels()))
        self.qrels.add((query_id, passage_id, 0 if impossible else 1))

    def finish(self, name: str) -> Dataset:
        corpus = Corpus(self.passages.finish())
        return Dataset(name, self.queries.finish(), corpus, self.qrels.finish())


def _answers(row: Row) -> Iterator[str]:
    for place, answer in enumerate(row.take_list("answers", optional=True), start=1):
        with within(f"answer {place}"):
            yield Row.of(answer).take_text("text")

"""Documents cut one at a time: the files, BERGEN's cut of KILT's pages, and what is refused."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.fakes.made_pages import kilt, lines

from ragstone.cli.data import command as data_command
from ragstone.cli.rank import command as rank_command
from ragstone.components.chunkers.words import Words
from ragstone.core import limits
from ragstone.data.load import load_dataset
from ragstone.data.readers.folder import read_corpus
from ragstone.data.rechunk.streamed import write_cut_documents
from ragstone.errors import ConfigError, DatasetError
from ragstone.experiment.load import load_experiment
from ragstone.protocols import Chunker
from ragstone.types import Document, Passage

WORDS = [f"w{number}" for number in range(500)]


def invoke(command: Any, *arguments: object) -> Any:
    """Return what a command prints as JSON; errors of Ragstone are raised."""
    found = CliRunner().invoke(
        command, [*map(str, arguments), "--json"], catch_exceptions=False, standalone_mode=False
    )
    return json.loads(found.stdout)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a made-up knowledge source of 30 pages with sections, lists and a bare page."""
    draw = random.Random(5)  # noqa: S311
    rows = [kilt(1, "Bare page")]
    for number in range(2, 31):
        text = [" ".join(draw.choices(WORDS, k=draw.randint(20, 130))) for _ in range(3)]
        marks = ["Section::::History.", "BULLET::::- an item", "Section::::History.:Later years."]
        mixed = [one for pair in zip(text, marks, strict=True) for one in pair]
        rows.append(kilt(number, f"Page {number}", *mixed))
    return lines(tmp_path / "kilt_knowledgesource.json", rows)


def windows(page: dict[str, Any], size: int) -> list[str]:
    """Return the passages of a page by BERGEN's published rule, without the title in front."""
    kept = [text.strip() for text in page["text"] if "BULLET::::" not in text]
    words = " ".join(kept).replace("Section::::", "Section:").split()
    return [" ".join(words[n : n + size]) for n in range(0, len(words), size)]


def test_bergens_passages_come_out_of_the_chunker(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`kilt-100w` has the words of BERGEN's own rule; the files of an executor are the same."""
    written = f"encyclopedia({source}, variant=bergen)"
    found = invoke(
        data_command, "chunk", written, tmp_path / "kilt-100w", "--chunker", "words(100)"
    )
    pages = [json.loads(line) for line in source.read_text().splitlines()]
    expected = [
        (page["wikipedia_id"], page["wikipedia_title"], text)
        for page in pages
        for text in windows(page, 100)
    ]
    corpus = read_corpus(tmp_path / "kilt-100w" / "corpus.jsonl")

    assert [(p.document_id, p.title, " ".join(p.text.split())) for p in corpus] == expected
    assert (found["documents"], found["passages"]) == (30, len(expected))
    monkeypatch.setattr(limits, "CUT_BLOCK_CHARACTERS", 20_000)
    options = ("--chunker", "words(100)", "--executor", "processes(1)")
    sent = invoke(data_command, "chunk", written, tmp_path / "sent", *options)
    for one, same in zip(found["files"], sent["files"], strict=True):
        assert Path(one).read_bytes() == Path(same).read_bytes()
    assert len(expected) > 60
    assert [Path(file).name for file in found["files"]] == [
        "corpus.jsonl",
        "documents.tsv",
        "cutting.json",
    ]


def test_table_5_is_measured_by_pages(source: Path, tmp_path: Path) -> None:
    """The best passage of a page counts for it: recall over five pages, and the first page."""
    folder = tmp_path / "cut"
    invoke(data_command, "chunk", source, folder, "--chunker", "words(20)")
    of_page: dict[str, list[str]] = {}
    for line in (folder / "documents.tsv").read_text().splitlines():
        passage_id, page_id = line.split("\t")
        of_page.setdefault(page_id, []).append(passage_id)
    # Page 2 fills the first ranks; pages 3 to 7 follow. Pages 6 and 7 are the fifth and sixth.
    order = [*of_page["2"][:4], *(of_page[str(page)][0] for page in range(3, 8)), of_page["2"][4]]
    run = [f"q1 Q0 {passage} {n} {50 - n} x\n" for n, passage in enumerate(order, start=1)]
    run += [line.replace("q1", "q2") for line in run]
    (tmp_path / "run.trec").write_text("".join(run))
    (tmp_path / "qrels.txt").write_text("q1 0 6 1\nq1 0 7 1\nq2 0 2 1\n")
    given = (tmp_path / "run.trec", tmp_path / "qrels.txt", "R@5", "P@1")
    places = ("--documents", folder / "documents.tsv")
    paper = invoke(rank_command, *given, *places, "--variant", "paper")
    shown = invoke(rank_command, *given, *places)

    assert (paper["R@5"]["mean"], paper["P@1"]["mean"]) == (pytest.approx((0.5 + 1) / 2), 0.5)
    # Of the five passages that a generator was shown, four are from page 2 and one is from page 3.
    assert (shown["R@5"]["mean"], shown["P@1"]["mean"]) == (pytest.approx(0.5), 0.5)


def test_table_5_of_an_experiment(source: Path, tmp_path: Path) -> None:
    """KILT's questions, the cut pages and BM25: the numbers are those of a naive count."""
    folder = tmp_path / "kilt-100w"
    written = f"encyclopedia({source}, variant=bergen)"
    invoke(data_command, "chunk", written, folder, "--chunker", "words(30)")
    pages = [json.loads(line) for line in source.read_text().splitlines()]
    asked: list[dict[str, Any]] = [
        {
            "id": f"q{number}",
            "input": " ".join(page["text"][1].split()[3:6]),
            "output": [
                {
                    "answer": "x",
                    "provenance": [
                        {"wikipedia_id": page["wikipedia_id"]},
                        {"wikipedia_id": pages[number + 1]["wikipedia_id"]},
                    ],
                }
            ],
        }
        for number, page in enumerate(pages[1:20], start=1)
    ]
    lines(tmp_path / "nq-dev-kilt.jsonl", asked)
    names = ["R(level=document-bergen)@5", "P(level=document-bergen)@1"]
    data = {"name": "nq", "path": str(tmp_path), "corpus": str(folder), "n": "any"}
    experiment = load_experiment(
        {
            "name": "table-5",
            "data": data,
            "systems": [{"name": "bm25", "retriever": {"name": "bm25", "top_k": 50}}],
            "metrics": names,
            "store": str(tmp_path / "store"),
        }
    )
    results = experiment.run()
    found = {row["metric"]: row["mean"] for row in results.to_dict()["retrieval"]}
    page_of = {p.passage_id: p.document_id for p in load_dataset(data).corpus}
    recall, first = [], []
    for query in asked:
        wanted = {one["wikipedia_id"] for one in query["output"][0]["provenance"]}
        ranking = results.rankings[0].rankings[query["id"]].passage_ids
        shown = list(dict.fromkeys(page_of[passage] for passage in ranking))
        recall.append(len(wanted & set(shown[:5])) / len(wanted))
        first.append(shown[0] in wanted)

    assert found[names[0]] == pytest.approx(sum(recall) / len(recall))
    assert found[names[1]] == pytest.approx(sum(first) / len(first))
    assert 0 < found[names[0]] < 1


def test_passages_of_the_files_equal_those_in_memory(source: Path, tmp_path: Path) -> None:
    """Streaming changes no passage; a page without text is counted."""
    found = invoke(data_command, "chunk", source, tmp_path / "cut", "--chunker", "words(20)")
    direct = load_dataset({"path": str(source), "chunker": "words(20)"}).corpus
    facts = json.loads((tmp_path / "cut" / "cutting.json").read_text())

    assert list(read_corpus(tmp_path / "cut" / "corpus.jsonl")) == list(direct)
    assert found["documents_without_text"] == facts["documents_without_text"] == 1
    assert facts["chunker"] == "Words(size=20, overlap=0, unit='auto')"


def test_memory_does_not_grow_with_the_documents(tmp_path: Path) -> None:
    """Twenty times as many documents take less than a tenth more."""

    def peak(count: int) -> int:
        def read() -> Iterator[list[Document]]:
            yield from ([Document(f"d{n}", f"{n} text " * 2000)] for n in range(count))

        tracemalloc.start()
        write_cut_documents(read, Words(100), tmp_path / f"cut-{count}", {}, "made")
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(2)  # What is imported on the way counts once.
    assert peak(200) < 1.1 * peak(10)


def test_nothing_is_left_of_a_failed_cut(source: Path, tmp_path: Path) -> None:
    """The folder appears complete or not at all, also if the last line is damaged."""
    with source.open("a") as file:
        file.write('{"wikipedia_id"\n')
    with pytest.raises(DatasetError, match=r"line 31: not valid JSON"):
        invoke(data_command, "chunk", source, tmp_path / "cut")
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


def test_documents_beside_whole_pages_are_refused(source: Path, tmp_path: Path) -> None:
    """`--documents` is for passages, and the pages are complete."""
    with pytest.raises(ConfigError, match="has whole pages; remove it"):
        invoke(data_command, "chunk", source, tmp_path / "cut", "--documents", source)


def test_two_documents_of_one_id_are_named(tmp_path: Path) -> None:
    """They are found at the end, by eight bytes per document, and then by reading again."""

    def read() -> Iterator[list[Document]]:
        yield from ([Document(name, f"text {n}")] for n, name in enumerate("abcb"))

    with pytest.raises(DatasetError, match="the id 'b' is that of two documents"):
        write_cut_documents(read, Words(5), tmp_path / "cut", {}, "made")
    assert not (tmp_path / "cut").exists()


@dataclass(frozen=True)
class Twice(Chunker):
    """A chunker that gives one passage twice."""

    def passages(self, document: Document) -> list[Passage]:
        """Return the document twice."""
        return [document.passage(0, 4)] * 2


def test_a_chunker_that_repeats_an_id_is_named(tmp_path: Path) -> None:
    """Judgements could not tell the two passages apart."""
    with pytest.raises(DatasetError, match=r"Twice\(\) gives the id 'a-0-4' to two passages"):
        write_cut_documents(
            lambda: [[Document("a", "text")]], Twice(), tmp_path / "cut", {}, "made"
        )

"""Plant every kind of fault in three data sets, count what the data doctor finds, and fix it.

    python benchmarks/doctor_planted.py ../shared/data > planted.md

Base sets are nq_singlehop (its first 4,000 passages and the queries about them), and XQuAD in
Chinese and in Arabic. Each fault is planted in ten rows; found is a fault whose row is in the
finding's `rows`. Then `--fix` writes a copy, which is checked again. The second table has the clean
sets: findings per 1,000 rows. The third hides judgements of mtRAG.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from ragstone.core.schemas import queries_to_table, rows
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.table_builder import judgements
from ragstone.data_quality import check
from ragstone.data_quality.balance import check_gold_passages
from ragstone.data_quality.containment import check_containment, check_ends, check_questions
from ragstone.data_quality.contradictions import check_gold_answers, check_same_questions
from ragstone.data_quality.lenient_reader import read_leniently, subject_of
from ragstone.data_quality.repair import fix
from ragstone.data_quality.text_faults import check_texts
from ragstone.data_quality.unjudged import check_unjudged
from ragstone.statistics.proportions import share_interval
from ragstone.types import Passage, Query

EACH: Final = 10
"""Rows per kind of fault."""

TEXTS: Final[Mapping[str, Mapping[str, list[str]]]] = json.loads(
    Path(__file__).with_name("doctor_wordings.json").read_text("utf-8")
)
"""Language -> kind of fault -> texts. A line of mojibake has text, encoding, and wrong encoding."""
JUNK: Final = [
    "???",
    "asdfgh",
    "test",
    "aaaaaaaa",
    "qwerty",
    "12345",
    "...",
    "test test test",
    "xxx",
    "sdfsdfsdf",
]
PERSONAL: Final = {
    "email": ["ann.lee@example.org", "bo@mail.example.com"],
    "phone": ["+49 30 1234 5678", "(212) 555-0123"],
    "card": ["4111 1111 1111 1111", "5500005555555559"],
    "identity": ["123-45-6789", "11010519491231002X", "RSSMRA85T10A562S"],
}  # fmt: skip


@dataclass
class Rows:
    """A data set as lists, and the rows in which a kind of fault was planted."""

    passages: list[Passage]
    queries: list[Query]
    qrels: dict[tuple[str, str], int]
    texts: Mapping[str, list[str]]
    chance: random.Random
    planted: dict[str, set[str]]
    used: set[int] = field(default_factory=set)
    """Positions of the passages that a fault concerns."""

    def dataset(self, name: str) -> Dataset:
        """Return the data set."""
        corpus = Corpus.from_passages(self.passages)
        return Dataset(name, queries_to_table(self.queries), corpus, judgements(self.qrels))

    def note(self, name: str, row_id: str) -> None:
        """Record that a row has a fault."""
        self.planted.setdefault(name, set()).add(row_id)

    def chosen(self, least: int = 180) -> list[int]:
        """Return positions of unused passages with at least `least` characters."""
        long = [
            i for i, p in enumerate(self.passages) if len(p.text) >= least and i not in self.used
        ]
        chosen = self.chance.sample(long, EACH)
        self.used.update(chosen)
        return chosen

    def change(self, name: str, made: Callable[[str, int], str], least: int = 180) -> None:
        """Change the text of ten passages."""
        for number, place in enumerate(self.chosen(least)):
            passage = self.passages[place]
            self.passages[place] = replace(passage, text=made(passage.text, number))
            self.note(name, passage.passage_id)

    def ask(self, name: str, texts: list[str]) -> None:
        """Add a query per text."""
        for number, text in enumerate(texts):
            query_id = f"{name}-{number}"
            self.queries.append(Query(query_id, text, ("x y z",)))
            self.qrels[query_id, self.passages[number].passage_id] = 1
            self.note(name, query_id)


def _before_last(text: str, added: str) -> str:
    return f"{text[:100]} {added} {text[100:]}"


def plant(rows_: Rows) -> None:
    """Plant every kind of fault."""
    for steps in (_plant_texts, _plant_passages, _plant_queries, _plant_gold):
        steps(rows_)


def _plant_texts(rows_: Rows) -> None:
    garbled = [_garbled(line) for line in rows_.texts["mojibake"]]
    rows_.change("encoding/mojibake", lambda t, n: _before_last(t, garbled[n % len(garbled)]))
    rows_.change("encoding/lost", lambda t, n: t[: 20 + n] + "\ufffd" + t[21 + n :])
    rows_.change("encoding/controls", lambda t, n: t[: 20 + n] + "\x07" + t[20 + n :])
    rows_.change(
        "encoding/invisible",
        lambda t, n: f"\ufeff{t}" if n % 2 else _before_last(t, "zero\u200bwidth"),
    )
    same = ["M\u043escow", "p\u0430ypal", "Al\u03bfha", "\u0435mail", "C\u043effee"]
    rows_.change("encoding/look-alikes", lambda t, n: _before_last(t, same[n % len(same)]))
    rows_.change(
        "markup/tags", lambda t, n: f"<p>{t}</p>" if n % 2 else _before_last(t, "<br/> <b>x</b>")
    )
    rows_.change("encoding/markup", lambda t, _: _before_last(t, "R&amp;D &nbsp; &#39;x&#39;"))
    for step, (kind, values) in enumerate(PERSONAL.items()):
        rows_.change(f"personal-data/{kind}", partial(_with_personal, values))
        for number in range(EACH):
            place = len(rows_.queries) - 1 - number - EACH * step
            query = rows_.queries[place]
            text = f"{query.text} {values[number % len(values)]}"
            rows_.queries[place] = replace(query, text=text)
            rows_.note(f"personal-data/{kind}", query.query_id)


def _with_personal(values: list[str], text: str, number: int) -> str:
    return _before_last(text, values[number % len(values)])


def _garbled(line: str) -> str:
    text, written, read = line.split("|")
    return text.encode(written).decode(read)


def _plant_passages(rows_: Rows) -> None:
    for number, text in enumerate(rows_.texts["placeholder"]):
        rows_.passages.append(Passage(f"placeholder-{number}", text))
        rows_.note("texts/placeholder", f"placeholder-{number}")
    spaced = rows_.passages[0].text.count(" ") > len(rows_.passages[0].text) / 20
    for number, place in enumerate(rows_.chosen(400 if spaced else 180)):
        text = rows_.passages[place].text
        start = 20 + 5 * number
        part = text[start : start + (len(text) - start) * 2 // 3]
        rows_.passages.append(Passage(f"part-{number}", part))
        rows_.note("containment/passages", f"part-{number}")
    for place in rows_.chosen():
        passage = rows_.passages[place]
        ends = [i for i, c in enumerate(passage.text) if c in ".。؟"]
        middle = next((i for i in ends if i > len(passage.text) // 4), len(passage.text) // 2)
        cut = passage.text[: middle + 30].rstrip(" .。،,")
        if cut != passage.text and len(cut) > middle + 12:
            rows_.passages[place] = replace(passage, text=cut)
            rows_.note("texts/truncated", passage.passage_id)
    for number, place in enumerate(rows_.chosen()):
        rows_.passages.append(replace(rows_.passages[place], passage_id=f"copy-{number}"))
        rows_.note("duplicates/passages", f"copy-{number}")
    rows_.passages += [Passage(f"empty-{number}", " ") for number in range(EACH)]
    rows_.planted["texts/empty-passage"] = {f"empty-{number}" for number in range(EACH)}


def _plant_queries(rows_: Rows) -> None:
    rows_.ask("queries/points-at-passage", rows_.texts["points"])
    rows_.ask("queries/unresolved", rows_.texts["unresolved"])
    rows_.ask("languages/queries", rows_.texts["language"])
    rows_.ask("queries/junk", JUNK)
    asked = [query for query in rows_.queries[:-60] if query.gold_answers and len(query.text) > 25]
    for number, query in enumerate(rows_.chance.sample(asked, EACH)):
        text = rows_.texts["leak"][0].format(query.text, query.gold_answers[0])
        rows_.passages.append(Passage(f"faq-{number}", text))
        rows_.note("leakage/question-in-passage", query.query_id)
    long = [
        q
        for q in asked
        if len(q.gold_answers[0]) < 60 and len(q.text) > (60 if q.text.isascii() else 30)
    ]
    for number, query in enumerate(rows_.chance.sample(long, EACH)):
        text = rows_.texts["again"][0].format(query.text)
        again = Query(f"again-{number}", text, tuple(rows_.texts["wrong"]))
        rows_.queries.append(again)
        rows_.note("contradictions/queries", again.query_id)


def _plant_gold(rows_: Rows) -> None:
    places = rows_.chance.sample(range(len(rows_.queries) // 2), 2 * EACH)
    for number, place in enumerate(places):
        query = rows_.queries[place]
        polar = tuple(rows_.texts["polar"])
        answers = polar if number % 2 else ("May 1912", "May 1921")
        name = "contradictions/yes-and-no" if number % 2 else "contradictions/numbers"
        rows_.queries[place] = replace(query, gold_answers=answers)
        rows_.note(name, query.query_id)
    with_answer = [
        q.query_id for q in rows_.queries if q.gold_answers and len(q.gold_answers[0]) > 8
    ]
    changed = set().union(*rows_.planted.values())
    for query_id in rows_.chance.sample([q for q in with_answer if q not in changed], EACH):
        for pair in [pair for pair in rows_.qrels if pair[0] == query_id]:
            del rows_.qrels[pair]
        rows_.note("judgements/unjudged-answer", query_id)
    frequent = rows_.passages[0].passage_id
    for query in rows_.queries[::5]:
        rows_.qrels[query.query_id, frequent] = 1
    rows_.planted["balance/gold-passages"] = {frequent}
    for number, query in enumerate(rows_.queries):
        rows_.queries[number] = replace(
            query, labels={"kind": "rare" if number % 30 == 0 else "usual"}
        )
    rows_.planted["labels/kind"] = set()


def rows_of(source: str, language: str, most: int = 4_000) -> Rows:
    """Return the first passages of a data set and the queries about them."""
    dataset = load_dataset(source)
    passages = list(dataset.corpus)
    gold = {passage_id for grades in dataset.qrels.values() for passage_id in grades}
    kept = [p for i, p in enumerate(passages) if i < most or p.passage_id in gold]
    pairs = {(r["query_id"], r["passage_id"]): r["relevance"] for r in rows(dataset.qrel_table)}
    queries = [query for query in dataset.queries if query.gold_answers]
    ids = {query.query_id for query in queries}
    judged = {pair: grade for pair, grade in pairs.items() if pair[0] in ids}
    return Rows(kept, queries, judged, TEXTS[language], random.Random(1), {})


def found_of(rows_: Rows, folder: Path) -> dict[str, tuple[int, int]]:
    """Return kind -> found and planted; `leaves` is what a second run finds after the fix."""
    subject = subject_of(rows_.dataset("planted"))
    seen: dict[str, set[str]] = {}
    fixed = set()
    for finding in check(subject):
        seen.setdefault(finding.check, set()).update(finding.rows)
        fixed |= {finding.check} if finding.remedy == "fix" else set()
    result = {
        name: (len(ids & seen.get(name, set())), len(ids)) if ids else (name in seen, 1)
        for name, ids in rows_.planted.items()
    }
    fix(subject, folder)
    left = Counter(f.check for f in check(read_leniently(folder)) if f.remedy == "fix")
    for name in sorted(fixed):
        if left[name]:
            result[f"left after the fix: {name}"] = (0, left[name])
    return result


def planted(data: Path) -> Iterator[tuple[str, dict[str, tuple[int, int]]]]:
    """Yield each base set with what was found."""
    for name, source, language in (
        ("nq_singlehop", data / "nq_singlehop", "en"),
        ("xquad.zh", data / "xquad" / "xquad.zh.json.gz", "zh"),
        ("xquad.ar", data / "xquad" / "xquad.ar.json.gz", "ar"),
    ):
        rows_ = rows_of(str(source), language)
        plant(rows_)
        with tempfile.TemporaryDirectory() as folder:
            yield name, found_of(rows_, Path(folder) / "copy")


WITHIN: Final = (
    check_texts, check_containment, check_ends, check_questions, check_gold_answers,
    check_same_questions, check_gold_passages,
)  # fmt: skip
"""Checks of single texts, of parts of passages and of contradictions."""
FALSE_BY_EYE: Final = {"nq_singlehop": 2, "xquad.zh": 2, "xquad.ar": 0, "jsquad": 3, "squad_it": 7}
"""Clean set -> rows of errors and warnings that a reader found to be wrong: titles of songs with a
pronoun, partners of a list as contradictions, sentences without their full stop."""


def clean(data: Path) -> Iterator[tuple[str, int, int, int]]:
    """Yield name, rows, rows with an error or a warning of these checks, and the wrong ones."""
    for name, wrong in FALSE_BY_EYE.items():
        path = data / "xquad" / f"{name}.json.gz" if "xquad" in name else data / name
        subject = read_leniently(path)
        found = [f for run in WITHIN for f in run(subject) if f.severity != "note"]
        total = len(subject.queries) + len(subject.passage_ids)
        yield name, total, sum(len(finding.rows) for finding in found), wrong


def hidden(data: Path, share: int = 5) -> tuple[int, int, int, int]:
    """Hide one of five judged positives of mtRAG; return hidden, proposed, found, queries."""
    totals = [0, 0, 0, 0]
    for domain in ("clapnq", "cloud", "fiqa", "govt"):
        dataset = load_dataset(f"mtrag({data / 'mtrag'}, domains={domain})")
        answered = {query.query_id for query in dataset.queries if query.gold_answers}
        grades = {
            (r["query_id"], r["passage_id"]): r["relevance"] for r in rows(dataset.qrel_table)
        }
        positive = sorted(p for p, grade in grades.items() if grade > 0 and p[0] in answered)
        gone = set(random.Random(0).sample(positive, len(positive) // share))
        kept = judgements({pair: grade for pair, grade in grades.items() if pair not in gone})
        subject = subject_of(replace(dataset, qrel_table=kept))
        proposed = {pair for finding in check_unjudged(subject) for pair in finding.pairs}
        counts = (len(gone), len(proposed), len(proposed & gone), len(answered))
        totals = [a + b for a, b in zip(totals, counts, strict=True)]
    return totals[0], totals[1], totals[2], totals[3]


def main() -> None:
    """Print the tables."""
    data = Path(sys.argv[1])
    tables = dict(planted(data))
    names = list(dict.fromkeys(name for table in tables.values() for name in table))
    print("| kind | " + " | ".join(tables) + " |\n| --- |" + " --- |" * len(tables))
    for name in names:
        cells = (f"{t[name][0]:d} of {t[name][1]}" if name in t else "-" for t in tables.values())
        print(f"| `{name}` | " + " | ".join(cells) + " |")
    print("\n| clean set | rows | errors and warnings | wrong | wrong per 1,000 rows |")
    print("| --- | --- | --- | --- | --- |")
    for name, total, warned, wrong in clean(data):
        print(f"| {name} | {total:,} | {warned} | {wrong} | {1000 * wrong / total:.2f} |")
    gone, proposed, found, queries = hidden(data)
    recall, precision = share_interval(found, gone), share_interval(found, proposed)
    print(
        f"\nmtRAG: {gone} of the judged positives of {queries} queries hidden, {proposed} passages "
        f"proposed, {found} of them hidden ones: recall {found / gone:.3f} "
        f"[{recall[0]:.3f}, {recall[1]:.3f}], precision {found / proposed:.3f} "
        f"[{precision[0]:.3f}, {precision[1]:.3f}]"
    )


if __name__ == "__main__":
    main()

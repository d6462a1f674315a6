"""Judges and metrics by language: one experiment with three languages, and a campaign of two."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from tests.fakes.made_campaign import made_experiment

from ragstone.cli.judge import command
from ragstone.cli.judged_answers import KeptAnswers
from ragstone.errors import ConfigError
from ragstone.experiment.load import load_experiment
from ragstone.results.results import Results
from ragstone.statistics.metric_correlations import LEAST_IN_GROUP
from ragstone.testing import FakeModelServer

WORDS = {"ar": "القاهرة", "en": "Cairo", "th": "ไคโร"}
SIZES = {"ar": 12, "en": 14, "th": 1}


def verdict(messages: Sequence[Any]) -> str:
    """Return the verdicts of a judge that rejects the odd items; in its own prompt also others."""
    asked = str(messages)
    number = next(n for n in range(100) if f"<{n}>" in asked)
    if number == 3:
        return "no verdict"
    if "OWN" in asked and WORDS["ar"] in asked:
        return "yes" if number % 3 else "no"
    return "yes" if number % 2 == 0 else "no"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return an experiment whose judge is asked with two prompts; it can run again."""
    folder = tmp_path_factory.mktemp("languages")
    data = folder / "set"
    data.mkdir()
    rows = [
        {
            "_id": f"{language}/{n}",
            "text": f"{WORDS[language]} <{n}>?",
            "answers": [f"{WORDS[language]} <{n}>"],
            "language": language,
        }
        for language, size in SIZES.items()
        for n in range(size)
    ]
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (data / "queries.jsonl").write_text("".join(lines))
    answers = ({"query_id": one["_id"], "answer": one["answers"][0]} for one in rows)
    recorded = folder / "answers.jsonl"
    recorded.write_text("".join(json.dumps(one) + "\n" for one in answers))
    (folder / "prompts").mkdir()
    prompt = {"judge": "equivalence", "user": "OWN {query} {gold} {answer}"}
    (folder / "prompts" / "own.yaml").write_text(yaml.safe_dump(prompt))
    with FakeModelServer(answer=verdict) as server:
        model = {"name": "chat", "model": "fake", "base_url": server.url}
        judge = {"name": "equivalence", "model": model, "least_parse_rate": 0}
        document = {
            "data": str(data),
            "store": str(folder / "store"),
            "systems": {"one": {"generator": "gold"}},
            "settings": ["none"],
            "metrics": ["Match", "F1"],
            "judges": [judge, judge | {"prompt": "own"}],
        }
        path = folder / "run.yaml"
        path.write_text(yaml.safe_dump(document))
        load_experiment(path).run()
        yield path


def run(*arguments: object) -> str:
    """Return the output of a command of judges."""
    found = CliRunner().invoke(command, [str(one) for one in arguments])
    assert found.exit_code == 0, found.output
    return found.stdout


def test_two_prompts_of_one_judge_agree_by_language(file: Path) -> None:
    """Agreement differs where the verdicts do; a failed verdict is left out; 1 item is too few."""
    document = json.loads(run("compare", file, "--by", "language", "--json"))
    shown = run("compare", file, "--by", "language")

    pair = document["pairs"][0]
    assert (pair["a"], pair["b"]) == ("equivalence", "equivalence(prompt=own)")
    groups = {one["value"]: one for one in pair["groups"]}
    assert {name: one["agreement"]["n"] for name, one in groups.items()} == {
        "ar": 11, "en": 13, "th": 1,
    }  # fmt: skip
    assert groups["en"]["agreement"]["value"] == 1
    assert groups["ar"]["agreement"]["value"] < 0.5
    assert groups["th"]["agreement"]["value"] is None
    assert "Agreement of equivalence(prompt=own) with equivalence by label" in shown
    assert "not enough" in next(line for line in shown.splitlines() if " th " in line)


def test_a_judge_is_compared_with_people_by_language(file: Path, tmp_path: Path) -> None:
    """People accept every answer in English and the even ones in Arabic, as the judge does."""
    rows = [
        {"query_id": f"{language}/{n}", "system": "one", "setting": "none", "rater": "ann",
         "property": "correct", "value": int(n % 2 == 0 or language == "en")}
        for language, size in SIZES.items() for n in range(size)
    ]  # fmt: skip
    labels = tmp_path / "ratings.jsonl"
    labels.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    given = ("check", file, "--labels", labels, "--property", "correct", "--scale", "0-1")

    store = file.parent / "store"
    checks = json.loads(run(*given, "--by", "language", "--store", store, "--json"))["checks"]

    for check in checks:
        groups = {one["value"]: one for one in check["groups"]}
        assert set(groups) == {"ar", "en", "th"}
        assert groups["th"]["agreement"]["value"] is None
        assert groups["en"]["agreement"]["n"] == 13
        assert groups["en"]["bias"]["mean"] < 0
    assert groups["en"]["people"] == 1


def test_metrics_are_correlated_by_language(file: Path, tmp_path: Path) -> None:
    """A language with few items has its n instead of a number, in the table, JSON and the chart."""
    given = ("correlate", file, "--against", "equivalence", "--by", "language")
    chart = tmp_path / "heat.json"

    rows = json.loads(run(*given, "--json", "--chart", chart))["rows"]
    shown = run(*given)

    other = [row for row in rows if row["metric"] == "equivalence(prompt=own)"]
    found = {row["group"]: row["correlation"] for row in other}
    assert list(found) == ["all", "ar", "en", "th"]
    assert found["en"]["value"] == pytest.approx(1)
    assert (found["th"]["value"], found["th"]["n"]) == (None, 1)
    assert found["all"]["n"] == 25
    assert "not enough" in next(line for line in shown.splitlines() if line.startswith("th"))
    cells = json.loads(chart.read_text())["data"]["values"]
    assert {c["note"] for c in cells if c["shown"] == "not enough"} == {"n=1"}
    assert LEAST_IN_GROUP == 10


def test_an_unknown_label_has_the_nearest(file: Path) -> None:
    """Labels of queries, factors of the data and `system` are known."""
    for name in ("compare", "correlate"):
        given = [name, str(file), "--by", "langage"]
        given += ["--against", "equivalence"] if name == "correlate" else []
        error = CliRunner().invoke(command, given).exception

        assert isinstance(error, ConfigError)
        assert "did you mean 'language'" in str(error)


def test_a_second_run_gives_the_same(file: Path) -> None:
    """The verdicts are kept: the run is complete, and the output is equal."""
    before = run("compare", file, "--by", "language", "--json")
    load_experiment(file).run()

    assert run("compare", file, "--by", "language", "--json") == before


def test_a_language_is_a_factor_of_the_data_sets_of_a_campaign(tmp_path: Path) -> None:
    """Equal ids of two data sets are two queries; each data set's factor is its group."""
    made = [
        made_experiment(
            tmp_path,
            language,
            [{"name": "s", "generator": "small"}],
            lambda _system, _setting, _metric, place: float(place % 2),
            settings=("none",),
            metrics=("Match", "F1"),
            queries=4,
            factors={"language": language},
        )
        for language in ("ja", "en")
    ]
    answers = KeptAnswers([Results(one.store, one.record) for one in made])

    assert answers.groups("language") == ["ja"] * 4 + ["en"] * 4
    assert answers.groups("system") == ["s"] * 8
    assert len(set(answers.ids)) == 8
    assert len(set(answers.clusters)) == 8
    assert answers.column("Match") == [0, 1, 0, 1] * 2
    with pytest.raises(ConfigError, match="no answer has the label 'domain'"):
        answers.groups("domain")


@pytest.mark.parametrize(("languages", "clusters"), [(("ja", "en"), 4), (("en", "en"), 8)])
def test_translated_data_sets_of_a_campaign_have_clusters_in_common(
    tmp_path: Path, languages: tuple[str, str], clusters: int
) -> None:
    """Equal ids in two languages are translations; in one language they are other queries."""
    made = [
        made_experiment(
            tmp_path,
            f"e{place}",
            [{"name": "s", "generator": "small"}],
            lambda _system, _setting, _metric, place: float(place % 2),
            settings=("none",),
            metrics=("Match",),
            queries=4,
            data=f"set#{place}",
            factors={"language": language},
        )
        for place, language in enumerate(languages)
    ]

    answers = KeptAnswers([Results(one.store, one.record) for one in made])

    assert len(set(answers.ids)) == 8
    assert len(set(answers.clusters)) == clusters

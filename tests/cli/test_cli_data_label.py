"""`ragstone data label` on the command line: pairs, runs, examples, cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ragstone.cli.data import command
from ragstone.data.load import load_dataset
from ragstone.testing import FakeModelServer


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: object) -> Result:
    """Run the command; an error is raised."""
    result = CliRunner().invoke(command, ["label", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def rows(path: str) -> list[dict[str, str]]:
    """Return the rows of a file of labels."""
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def test_pairs_with_examples() -> None:
    """A pair without the answer is labelled like any other; the examples' cost is stated."""
    Path("paare.jsonl").write_text(
        '{"query": "Wer baute die Brücke?", "context": "Der Fluss ist breit."}\n'
        '{"query": "Who built it?", "context": "Ann built it."}\n',
        encoding="utf-8",
    )
    Path("people.jsonl").write_text(
        '{"query": "When?", "context": "In 1840.", "label": "fact_single"}\n'
        '{"query": "Where?", "context": "In 1840.", "label": "unanswerable"}\n'
    )
    with FakeModelServer(
        answer=lambda m: "unanswerable" if "Fluss" in m[-1]["content"] else "fact_single"
    ) as server:
        model = f"chat(model=m, base_url='{server.url}')"
        arguments = ["paare.jsonl", "--pairs", "-o", "labels.jsonl", "--model", model]
        arguments += ["--no-explain", "--examples", "people.jsonl", "--shots", "2"]
        plan = json.loads(run(*arguments, "--plan", "--json").output)
        assert (plan["items"], plan["calls"], plan["examples"]) == (2, 2, {"know-your-rag": 2})
        assert plan["example_tokens_per_call"]["know-your-rag"] > 100
        assert not server.asked
        text = run(*arguments).output
        again = json.loads(run(*arguments, "--json").output)
        assert sum(server.asked.values()) == 2
    assert "2 pairs labelled" in text
    assert "2 examples add about" in text
    assert again["labelled"] == {"know-your-rag": {"scored": 2}}
    assert again["spent"]["calls"] == 2
    assert [(row["item_id"], row["label"]) for row in rows("labels.jsonl")] == [
        ("1", "unanswerable"),
        ("2", "fact_single"),
    ]


def test_passages_of_a_run() -> None:
    """Queries without a gold passage have pairs too."""
    sample = load_dataset("sample")
    query = next(q for q in sample.queries if q.labels.get("answerability") == "unanswerable")
    passages = [sample.corpus.at(place).passage_id for place in range(3)]
    lines = (f"{query.query_id} Q0 {p} {n + 1} {3 - n} tag" for n, p in enumerate(passages))
    Path("run.trec").write_text("\n".join(lines))
    with FakeModelServer(answer=lambda _: "unanswerable") as server:
        model = f"chat(model=m, base_url='{server.url}')"
        arguments = ["-o", "l.jsonl", "--model", model, "--no-explain", "--run", "run.trec"]
        assert "2 pairs labelled" in run("sample", *arguments, "--depth", 2).output
    assert [(row["query_id"], row["passage_id"]) for row in rows("l.jsonl")] == [
        (query.query_id, passage) for passage in passages[:2]
    ]
    both = run("sample", *arguments, "--pairs")
    assert both.exit_code == 2
    assert "leave one of them out" in both.output

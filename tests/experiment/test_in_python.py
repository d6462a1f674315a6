"""Experiments whose data set and components are objects of the program."""

from __future__ import annotations

import linecache
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ragstone
from ragstone import Corpus, Dataset, Query, Ranking
from ragstone.core.fingerprint import fingerprint
from ragstone.types import Search


@dataclass(frozen=True)
class First:
    """Ranks the first passages of the corpus."""

    top_k: int = 5

    def retrieve(self, search: Search, corpus: Corpus) -> Ranking:
        """Return the same ranking for every search."""
        ids = corpus.passage_ids[: self.top_k]
        return Ranking(ids, list(range(len(ids), 0, -1)))


class Plain:
    """A retriever without parameters: it need not be a dataclass."""

    top_k: int = 2

    def retrieve(self, search: Search, corpus: Corpus) -> Ranking:
        """Return the second passage."""
        return Ranking(corpus.passage_ids[1:2], [1.0])


@dataclass(frozen=True)
class Halved:
    """Reads the sample data set, and keeps half of it."""

    def read(self) -> Dataset:
        """Return the data set."""
        data = ragstone.load_dataset("sample")
        return data.select(range(len(data.queries) // 2))


DATA = Dataset.from_records(
    name="two rivers",
    queries=[{"query_id": "q1", "text": "Lisbon?"}, {"query_id": "q2", "text": "Cairo?"}],
    passages=[
        {"passage_id": "p1", "text": "Lisbon is on the Tagus."},
        {"passage_id": "p2", "text": "Cairo is on the Nile."},
    ],
    qrels=[("q1", "p1", 1), ("q2", "p2", 1)],
)


def run(folder: Path, systems: Any, data: Any = DATA) -> ragstone.Results:
    """Return the results of some systems, run with their store in a folder."""
    document = {"data": data, "store": str(folder), "systems": systems, "metrics": ["R@1"]}
    return ragstone.load_experiment(document).run()


def test_components_and_data_may_be_instances(tmp_path: Path) -> None:
    """They are what is run, and the record has them by their names."""
    bm25 = ragstone.retrievers.bm25(k1=0.9)

    results = run(tmp_path, {"mine": {"retriever": First(1)}, "bm25": {"retriever": bm25}})

    means = {cell.system: cell.summary.mean for cell in results.ranking_cells}
    assert means == {"mine": 0.5, "bm25": 1.0}
    assert results.record.data.name == results.record.file["data"] == "two rivers"
    (mine, other) = results.record.file["systems"]
    assert mine["retriever"].endswith(":First(top_k=1)")
    assert other["retriever"] == "bm25(k1=0.9)"


def test_a_list_of_instances_is_a_sweep(tmp_path: Path) -> None:
    """Each instance is a system of its own, named after its parameters."""
    results = run(tmp_path, [{"retriever": [First(1), First(2), Plain()]}])

    one, two, plain = results.systems
    assert (one.split(":")[1], two.split(":")[1]) == ("First(top_k=1)", "First(top_k=2)")
    assert plain.endswith("Plain") or "Plain object" in plain


def test_the_callers_objects_are_used_and_left_alone() -> None:
    """An instance is not copied, and overrides do not change the caller's mapping."""
    system = {"retriever": First()}
    document = {"data": DATA, "systems": {"mine": system}, "metrics": ("R@1",)}

    experiment = ragstone.load_experiment(document, ["systems.mine.retriever=bm25"])

    assert experiment.file.data is DATA
    assert experiment.file.systems[0].retriever == "bm25"
    assert document == {"data": DATA, "systems": {"mine": system}, "metrics": ("R@1",)}


def test_a_reader_may_be_an_instance(tmp_path: Path) -> None:
    """A class with a method `read` is a data set reader."""
    results = run(tmp_path, {"bm25": {"retriever": "bm25"}}, data=Halved())

    assert len(results.ranked) == len(ragstone.load_dataset("sample").queries) // 2


@pytest.mark.parametrize(
    ("retriever", "said"),
    [
        (5, "key 'systems.mine.retriever': expected a name, a mapping .*found 5"),
        (ragstone.metrics.F1(), r"system 'mine', retriever: 'TokenF1' has no method retrieve\("),
        (First, "system 'mine', retriever: expected a component's name"),
    ],
)
def test_an_object_of_another_kind_is_an_error(retriever: Any, said: str) -> None:
    """The error names the place and what is expected there."""
    document = {"data": DATA, "systems": {"mine": {"retriever": retriever}}, "metrics": ["R@1"]}
    with pytest.raises(ragstone.ConfigError, match=said):
        ragstone.load_experiment(document).check()


def notebook_class(code: str, *, kept: bool = True) -> Any:
    """Return the class `Mine` of a notebook cell; a notebook keeps the lines of its cells."""
    name = f"<cell-{hash(code)}>"
    if kept:
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    notebook = sys.modules.setdefault("a_notebook", ModuleType("a_notebook"))
    vars(notebook).update(dataclass=dataclass, Ranking=Ranking)
    exec(compile(code, name, "exec"), vars(notebook))  # noqa: S102 - as a notebook does
    return vars(notebook)["Mine"]


CELL = """\
@dataclass(frozen=True)
class Mine:
    top_k: int = 1

    def retrieve(self, search, corpus):
        return Ranking(corpus.passage_ids[:1], [1.0])
"""


def test_a_class_of_a_notebook_is_run_and_its_changes_are_noticed(tmp_path: Path) -> None:
    """Its code is part of the cache key, although it is in no file."""
    mine, changed = notebook_class(CELL)(), notebook_class(CELL.replace("[:1]", "[1:2]"))()

    results = run(tmp_path, {"mine": {"retriever": mine}})

    assert results.ranking_cells[0].summary.mean == 0.5
    assert fingerprint(mine) == fingerprint(notebook_class(CELL)())
    assert fingerprint(mine) != fingerprint(changed)


def test_a_class_without_code_is_an_error_with_the_way_out() -> None:
    """A result could not be told from that of a changed class."""
    with pytest.raises(ragstone.ConfigError, match=r"code of 'Mine' is not available.*Python file"):
        fingerprint(notebook_class(f"# not kept\n{CELL}", kept=False)())


def test_a_program_from_standard_input_is_refused_too(tmp_path: Path) -> None:
    """Python keeps no lines of such a program."""
    head = "from dataclasses import dataclass\nfrom ragstone import Ranking\n"
    tail = "from ragstone.core.fingerprint import fingerprint\nfingerprint(Mine())\n"

    found = subprocess.run(
        [sys.executable, "-"],
        input=head + CELL + tail,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )

    assert "ConfigError: the code of 'Mine' is not available" in found.stderr


def test_turns_are_conversations() -> None:
    """Conversations have their turns in order, and the labels that all turns share."""
    turn = {"answerability": "answerable"}
    data = Dataset.from_records(
        queries=[{"query_id": "single", "text": "?"}],
        conversations=[
            {
                "conversation_id": "c1",
                "domain": "places",
                "turns": [{"user": "Where?", "agent": "There.", **turn}, {"user": "When?"}],
            }
        ],
    )

    (found,) = data.conversations

    assert found.conversation_id == "c1"
    assert [query.text for query in found.turns] == ["Where?", "When?"]
    assert [query.turn for query in found.turns] == [1, 2]
    assert found.labels == {"domain": "places"}
    assert ragstone.Conversation.of(reversed(data.queries)) == [found]
    assert Query("q", "?", labels={"turn": "2"}).turn is None


def test_a_data_set_is_shown_by_its_first_queries() -> None:
    """`print` has the numbers of rows and five queries, an empty data set none."""
    shown = str(ragstone.load_dataset("sample"))

    assert shown.startswith("sample: 203 queries, 175 passages, 211 judgements\n")
    assert len(shown.splitlines()) == 2 + 2 + 5
    assert max(map(len, shown.splitlines())) < 150
    assert "<table>" in Dataset.from_records()._repr_html_()


def test_a_part_of_a_finished_experiment_keeps_its_results(tmp_path: Path) -> None:
    """`only` limits what is computed; stored results stay in the record."""
    document = {
        "data": "sample",
        "store": str(tmp_path / "store"),
        "sample": {"limit": 4},
        "systems": {"bm25": {"retriever": "bm25", "generator": "gold"}},
        "settings": ["none", "retrieved(2)"],
        "metrics": ["Match", "R@2"],
    }
    experiment = ragstone.load_experiment(document)
    first = experiment.run(only=["retrieve"])
    assert (first.finished, first.systems, len(first.rankings)) == (False, ["bm25"], 0)

    assert experiment.run(only=["score-answer"]).settings == ["none", "retrieved(2)"]
    whole = experiment.run()
    assert experiment.run(only=["retrieve"]).to_dict() == whole.to_dict()
    partial = ragstone.load_experiment(document | {"settings": ["none", "gold"]}).run(
        only=["retrieve"]
    )
    assert (partial.finished, partial.settings) == (False, ["none"])


IS_BROKEN: list[bool] = []


@dataclass(frozen=True)
class Fragile:
    """A metric that raises for two of four queries while a service is broken."""

    direction = "higher"

    def score(self, answer: str, query: str) -> float:
        """Return 1, or raise."""
        if IS_BROKEN and len(query) % 2 == 0:
            raise OSError("the service is broken")
        return 1.0


def test_a_failed_score_of_your_own_metric_is_computed_again(tmp_path: Path) -> None:
    """A failure does not stay when its cause is gone; nothing else is computed again."""
    queries = [{"query_id": f"q{n}", "text": "?" * n, "gold_answers": ["x"]} for n in range(1, 5)]
    document: dict[str, Any] = {
        "data": Dataset.from_records(queries=queries),
        "store": str(tmp_path / "store"),
        "systems": {"x": {"generator": "gold"}},
        "settings": ["none"],
        "metrics": ["Match", Fragile()],
    }
    IS_BROKEN.append(True)
    first = ragstone.load_experiment(document).run().evaluation("x", "none")
    assert (first["Fragile"].unscored, first["Fragile"].failed) == (2, 0)
    IS_BROKEN.clear()

    steps = ragstone.load_experiment(document).plan().steps
    again = ragstone.load_experiment(document).run().evaluation("x", "none")

    assert {step.step for step in steps if step.to_do} == {"score-answer"}
    assert (again["Fragile"].unscored, again["Fragile"].n) == (0, 4)


@dataclass(frozen=True)
class Anything:
    """Every verb returns the same value, which has the type of none of them."""

    top_k: int = 3
    setting = "anything"

    def _verb(self, query: Query) -> int:
        return 5

    form = generate = build = _verb

    def retrieve(self, search: Search) -> list[str]:
        """Return ids in place of a ranking."""
        return ["places-001"]

    def rerank(self, search: Search) -> int:
        """Return a number."""
        return 5

    def process(self, query: Query) -> int:
        """Return a number."""
        return 5


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ({"query_former": Anything()}, "form returned 5 .* return str"),
        ({"retriever": Anything()}, r"retrieve returned \['places-001'\] .* return Ranking"),
        ({"reranker": Anything()}, "rerank returned 5 .* return Ranking"),
        ({"processor": Anything()}, "process returned 5 .* return Context"),
        ({"generator": Anything()}, "generate returned 5 .* return str or Prediction"),
        ({"generator": "gold"}, "build returned 5 .* return Context or Iterable"),
    ],
)
def test_a_value_of_a_wrong_type_is_an_error_that_names_the_system(
    tmp_path: Path, system: dict[str, Any], expected: str
) -> None:
    """The error is Ragstone's, not one of the library that writes the table."""
    whole = {"retriever": "bm25", "generator": "gold"} | system
    settings = [Anything()] if system == {"generator": "gold"} else ["gold"]
    document = {"data": "sample", "store": str(tmp_path / "store"), "sample": {"limit": 3}}
    parts = {"systems": {"x": whole}, "settings": settings, "metrics": ["Match"]}

    with pytest.raises(ragstone.RagstoneError, match=f"(?s)'x': Anything.{expected}"):
        ragstone.load_experiment(document | parts).run()

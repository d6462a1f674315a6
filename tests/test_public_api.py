"""The public names of the package: listed, lazy, typed, and each with a repr of one line."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.made_results import HOSTILE, made_results

import ragstone
from ragstone.calls.client import Calls
from ragstone.calls.log import CallLog
from ragstone.core import registry
from ragstone.core.folders import Folder
from ragstone.statistics.summary import summarise

LONG = "\n".join(HOSTILE) * 3
QUERY = ragstone.Query(LONG, LONG, (LONG,), labels={"conversation": LONG, "turn": 1})
SCORES = [ragstone.Score(LONG, f"{number} {LONG}", 1 / 3, reason=LONG) for number in range(9)]


def public_classes() -> dict[str, Any]:
    """Return the public classes that are not errors, by name."""
    found = {name: getattr(ragstone, name) for name in ragstone.__all__}
    return {
        name: value
        for name, value in found.items()
        if inspect.isclass(value) and not issubclass(value, Exception)
    }


def made(name: str, folder: Path) -> object:
    """Return an object of a public class, with texts that are long and have line breaks."""
    stored = made_results(folder, name="x" * 150, systems=[LONG], texts=HOSTILE)
    results = ragstone.Results(stored.store, stored.record)
    settings = {"name": "x" * 300, "data": "sample", "metrics": ["R@5"]}
    experiment = ragstone.load_experiment({**settings, "systems": {"bm25": {"retriever": "bm25"}}})
    scores = {LONG: SCORES, "other": SCORES}
    makers: dict[str, Callable[[], object]] = {
        "Calls": lambda: Calls(CallLog(folder / ("y" * 250))),
        "Comparison": lambda: ragstone.compare(scores),
        "Context": lambda: ragstone.Context(LONG, LONG, tuple(stored.trials[1].contexts.values())),  # type: ignore[arg-type]  # long all the same
        "Conversation": lambda: ragstone.Conversation.of([QUERY])[0],
        "Corpus": lambda: ragstone.load_dataset("sample").corpus,
        "Dataset": lambda: ragstone.Dataset.from_records(name=LONG),
        "Document": lambda: ragstone.Document(LONG, LONG, LONG),
        "Endpoint": lambda: ragstone.Endpoint(LONG, ("https://host/v1?key=secret",)),
        "Evaluation": lambda: results.evaluation(setting="gold"),
        "Experiment": lambda: experiment,
        "Hop": lambda: ragstone.Hop(LONG, (ragstone.Passage(LONG, LONG),) * 99),
        "Passage": lambda: ragstone.Passage(LONG, LONG, LONG, labels={LONG: LONG}),
        "Prediction": lambda: ragstone.Prediction(LONG, None, LONG, passage_ids=(LONG,) * 99),
        "Query": lambda: QUERY,
        "Ranking": lambda: ragstone.Ranking([LONG] * 99, [1 / 3] * 99),
        "Results": lambda: results,
        "Score": lambda: SCORES[0],
        "Store": lambda: ragstone.Store(folder / ("z" * 250)),
        "Summary": lambda: summarise([1 / 3] * 7, failed=10**9, not_applicable=10**9),
        "System": lambda: experiment.systems[0],
    }
    return makers[name]()


@pytest.mark.parametrize("name", public_classes())
def test_every_public_object_has_a_short_repr(name: str, tmp_path: Path) -> None:
    """The repr is one line of fewer than 200 characters and begins with the class."""
    shown = repr(made(name, tmp_path))

    assert shown.startswith(f"{name}(")
    assert shown.endswith(")")
    assert "\n" not in shown
    assert len(shown) < 200
    assert "secret" not in shown


def test_the_parts_of_results_have_a_short_repr(tmp_path: Path) -> None:
    """So do the rows of a trial or a ranking, and the tests of a comparison."""
    stored = made_results(tmp_path, name="x", systems=[LONG, "other"], texts=HOSTILE)
    results = ragstone.Results(stored.store, stored.record)
    comparison = ragstone.compare({LONG: SCORES, "other": SCORES})

    tests = comparison.metrics
    parts = [*results.trials, *results.rankings, *tests, *(p for t in tests for p in t.pairs)]

    assert len({type(part) for part in parts}) == 4
    assert all(len(repr(part)) < 200 and "\n" not in repr(part) for part in parts)


def test_the_names_that_type_checkers_see_are_those_that_are_loaded() -> None:
    """The imports under TYPE_CHECKING name the module of every public name."""
    tree = ast.parse(Path(ragstone.__file__).read_text(encoding="utf-8"))
    block, _ = (node for node in tree.body if isinstance(node, ast.If))
    (table,) = (node for node in ast.walk(tree) if isinstance(node, ast.Dict))
    typed = {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    homes = ast.literal_eval(table).items()
    assert typed == {name: f"ragstone.{home}" for home, names in homes for name in names}


def test_tab_shows_the_public_names() -> None:
    """`dir` is `__all__`, which has no name twice, and every public object is documented."""
    assert dir(ragstone) == ragstone.__all__ == sorted(set(ragstone.__all__))
    documented = [getattr(ragstone, name) for name in ragstone.__all__ if name != "__version__"]
    assert all(inspect.getdoc(value) for value in documented)


def test_importing_the_package_loads_none_of_its_modules() -> None:
    """Only the module that makes names lazy is loaded."""
    code = "import sys, ragstone; print(sorted(m for m in sys.modules if m[:8] == 'ragstone'))"

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ast.literal_eval(found.stdout) == ["ragstone", "ragstone.core", "ragstone.core.lazy"]


def test_an_unknown_name_is_an_error_with_the_nearest_name() -> None:
    """The package suggests a name, and so do its folders."""
    with pytest.raises(AttributeError, match="did you mean 'compare'"):
        _ = ragstone.compar  # type: ignore[attr-defined]  # that is the point
    with pytest.raises(AttributeError, match=r"ragstone\.metrics has no 'ndgc'.*mean 'nDCG'"):
        _ = ragstone.metrics.ndgc


@pytest.mark.parametrize("kind", ["generators", "metrics", "retrievers"])
def test_a_folder_has_every_component_of_its_kind(kind: str) -> None:
    """TAB lists one attribute per component; names and classes lead to the same class."""
    folder: Folder = getattr(ragstone, kind)
    classes = {name: getattr(folder, name) for name in dir(folder)}

    assert len(classes) == len(registry.known(kind))
    assert all(name.isidentifier() for name in classes)
    assert all(getattr(folder, value.__name__) is value for value in classes.values())


def test_components_of_folders_are_made_with_their_parameters() -> None:
    """A hyphen is an underscore, `@k` is left out, and the answer metric has the plain name."""
    metrics = [ragstone.metrics.nDCG(10), ragstone.metrics.F1(), ragstone.metrics.F1At(5)]

    assert list(map(str, metrics)) == ["nDCG@10", "F1", "F1@5"]
    assert ragstone.metrics.BERTScore_F1.name == "BERTScore-F1"
    assert ragstone.retrievers.BM25(k1=0.9) == ragstone.retrievers.bm25(k1=0.9)
    assert "late_interaction" in dir(ragstone.retrievers)


def test_a_plugin_is_in_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point of an installed package is an attribute like a built-in name."""
    known = {**registry.known("retrievers"), "my-own": "ragstone.components.retrievers.bm25:BM25"}
    monkeypatch.setattr("ragstone.core.folders.known", lambda _: known)
    monkeypatch.setattr(registry, "known", lambda _: known)
    folder = Folder("retrievers")

    assert "my_own" in dir(folder)
    assert folder.my_own is ragstone.retrievers.bm25


WRONG: Any = ragstone  # type checkers refuse these calls, people make them


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: WRONG.evaluate_answers({"q": 5}, {"q": ["5"]}, ["EM"]), "of query 'q' is 5; give"),
        (lambda: WRONG.evaluate_run({"q": {"p": 1}}, {"q": ["p"]}, ["R@5"]), r"is \['p'\]; give"),
        (lambda: WRONG.Dataset.from_records(queries=["q"]), "record 1: expected .*, found 'q'"),
        (
            lambda: WRONG.Dataset.from_records(qrels=[("q", "p")]),
            r"qrels, row 1: expected \(query id, passage id, grade\).*, found \('q', 'p'\)",
        ),
        (lambda: WRONG.retrievers.bm25(top_k="3"), "top_k must be 1 or more, found '3'"),
    ],
)
def test_values_of_a_wrong_type_are_named(mistake: Callable[[], object], message: str) -> None:
    """The error has the value and the form that is expected, and is one of Ragstone's."""
    with pytest.raises(ragstone.RagstoneError, match=message):
        mistake()


def test_one_metric_needs_no_list() -> None:
    """A name alone is a metric, as in an experiment file."""
    answers = ragstone.evaluate_answers({"q": "a"}, {"q": ["a"]}, "Match")
    run = ragstone.evaluate_run({"q": {"p": 1}}, {"q": {"p": 1.0}}, "R@5")

    assert (answers["Match"].mean, run["R@5"].mean) == (1.0, 1.0)

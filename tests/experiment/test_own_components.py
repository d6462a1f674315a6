"""Your own components in an experiment: keys, wrong values and signatures, and partial runs."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.core.user_code import load_file, source_digest
from ragstone.errors import ComponentError, ConfigError, DamagedFile
from ragstone.results.results import Results

HEAD = """
from dataclasses import dataclass, field
from pathlib import Path
import numpy as np
from ragstone import Prediction, Ranking
"""


def data(first: str = "thing0 is here") -> ragstone.Dataset:
    """Return a data set of four queries, each with a passage; the first passage has this text."""
    texts = [first, *(f"thing{i} is here" for i in range(1, 4))]
    return ragstone.Dataset.from_records(
        queries=[
            {"query_id": f"q{i}", "text": f"what is thing{i}", "gold_answers": [f"thing{i}"]}
            for i in range(4)
        ],
        passages=[{"passage_id": f"p{i}", "text": text} for i, text in enumerate(texts)],
        qrels=[(f"q{i}", f"p{i}", 1) for i in range(4)],
    )


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, in which the components of a test are."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, code: str) -> str:
    """Write a file of components and return its name."""
    Path(name).write_text(HEAD + textwrap.dedent(code), encoding="utf-8")
    return name


def run(
    *, dataset: ragstone.Dataset | None = None, only: tuple[str, ...] = (), **keys: Any
) -> ragstone.Results:
    """Return the results of an experiment with a system "a" of the components among the keys."""
    kinds = ("query_former", "retriever", "reranker", "processor", "generator")
    system = {kind: keys.pop(kind) for kind in kinds if kind in keys}
    document = {
        "data": data() if dataset is None else dataset,
        "systems": {"a": {"retriever": "bm25(top_k=3)", "generator": "gold", **system}},
        "settings": ["none", "retrieved(2)"],
        "metrics": ["Match", "R@3"],
        "store": "store",
        **keys,
    }
    return ragstone.load_experiment(document).run(only=only)


def mean(results: ragstone.Results, metric: str, system: str = "a") -> float | None:
    """Return the mean of a metric."""
    cells = [*results.ranking_cells, *results.answer_cells]
    return next(c.summary.mean for c in cells if (c.system, c.metric) == (system, metric))


@pytest.mark.parametrize("value", ["['p1']", "{'p1': 1}", "3"])
@pytest.mark.parametrize(
    ("kind", "method", "expected"),
    [
        ("query_former", "form(self, query)", "must return str"),
        ("retriever", "retrieve(self, search)", "must return Ranking"),
        ("reranker", "rerank(self, search, ranking)", "must return Ranking"),
        ("settings", "build(self, query, retrieved)", "must return Context|is not a passage"),
        ("processor", "process(self, task)", "must return Context"),
        ("generator", "generate(self, task)", "must return str or Prediction"),
    ],
)
def test_a_value_of_a_wrong_type_is_an_error(
    kind: str, method: str, expected: str, value: str
) -> None:
    """It names the system, the value and the type that is expected."""
    code = "@dataclass(frozen=True)\nclass Mine:\n    top_k: int = 3\n    setting = 'mine'\n"
    name = write("mine.py", f"{code}    def {method}:\n        return {value}\n") + ":Mine"

    keys: dict[str, Any] = {kind: [name] if kind == "settings" else name}
    with pytest.raises(ComponentError, match=f"system 'a': .*({expected})") as found:
        run(**keys)

    assert repr(found.value.value) in {value, "'p1'"}


@pytest.mark.parametrize(
    ("method", "problem"),
    [
        ("def generate(): ...", "takes no items; it needs self and one of .* tasks, task"),
        ("def generate(self, calls): ...", "takes no items"),
        ("@staticmethod\n    def generate(query): ...", "takes no items"),
        ("async def generate(self, query): ...", "generate is async"),
        ("async def generate(self, tasks):\n        yield ''", "generate is async"),
        ("def generate(self, taks): ...", "'taks' that is never given; did you mean 'tasks'"),
    ],
)
def test_a_wrong_signature_is_an_error_before_the_run(method: str, problem: str) -> None:
    """Nothing is computed."""
    name = write("mine.py", f"class Mine:\n    {method}\n")

    with pytest.raises(ConfigError, match=problem):
        run(generator=f"{name}:Mine")


@pytest.mark.parametrize("field", ["Path = Path('x')", "frozenset = frozenset()"])
def test_a_parameter_that_is_not_plain_data_is_named(field: str) -> None:
    """Such a value has no place in a cache key."""
    code = f"@dataclass(frozen=True)\nclass Mine:\n    files: {field}\n"
    name = write("mine.py", f"{code}    def generate(self, query): ...\n")

    with pytest.raises(ConfigError, match=r"Mine: cannot .* 'files' is part of the cache key"):
        run(generator=f"{name}:Mine")


def test_classes_of_one_name_in_two_files_have_their_own_steps() -> None:
    """A system is measured with its own class."""
    code = "class Mine:\n    top_k: int = 3\n    def retrieve(self, search):\n        return {0}\n"
    first = write("one.py", code.format("Ranking(['p' + search.query_id[1]], [1.0])"))
    second = write("two.py", code.format("Ranking()"))
    systems = {n: {"retriever": f"{n}.py:Mine"} for n in ("one", "two")}

    results = run(systems=systems, settings=[], metrics=["R@3"])

    assert (first, second) == ("one.py", "two.py")
    assert (mean(results, "R@3", "one"), mean(results, "R@3", "two")) == (1.0, 0.0)


@pytest.mark.parametrize("parameters", ["query, corpus", "task, services"])
def test_a_generator_that_reads_the_corpus_answers_again_when_it_changes(parameters: str) -> None:
    """The corpus is a part of the key of a step whose component reads it."""
    read = "corpus" if "corpus" in parameters else "services.corpus"
    method = f"def generate(self, {parameters}):\n        return {read}['p0'].text\n"
    name = write("mine.py", f"class Mine:\n    {method}")

    found = [
        run(generator=f"{name}:Mine", dataset=data(text), settings=["none"]).trials[0]
        for text in ("before", "after")
    ]

    assert [trial.predictions["q0"].answer for trial in found] == ["before", "after"]


def test_data_that_are_not_in_the_key_are_withheld() -> None:
    """A class that derives from the protocol declares them."""
    code = """
    from ragstone.core.component import Outcome
    from ragstone.protocols import Generator
    @dataclass(frozen=True)
    class Mine(Generator):
        def generate(self, tasks, services):
            for task in tasks:
                yield Outcome(Prediction(task.query.query_id, services.corpus["p0"].text))
    @dataclass(frozen=True)
    class Declared(Mine):
        uses = frozenset({"corpus"})
    """
    name = write("mine.py", code)

    with pytest.raises(ragstone.RagstoneError, match=r"declare uses = frozenset\({'corpus'}\)"):
        run(generator=f"{name}:Mine")
    assert run(generator=f"{name}:Declared").trials[0].predictions["q3"].answer == "thing0 is here"


def test_judges_and_settings_get_the_qrels() -> None:
    """Every kind gets the services that its method names."""
    code = """
    class Graded:
        def judge(self, task, prediction, qrels):
            return np.bool_(qrels[task.query.query_id])
    class Shown:
        setting = "shown"
        def build(self, query, qrels, corpus):
            return [corpus[passage_id] for passage_id in qrels[query.query_id]]
    """
    name = write("mine.py", code)

    results = run(settings=[f"{name}:Shown"], judges=[f"{name}:Graded"])

    assert mean(results, "Graded") == 1.0
    assert results.trials[0].contexts["q2"].passage_ids == ("p2",)


@pytest.mark.parametrize("value", ["np.float32(0.75)", "np.float64(0.75)", "0.75"])
def test_numbers_of_numpy_are_scores(value: str) -> None:
    """A metric's value of any numeric type counts; `score` may be inherited."""
    code = f"""
    class Base:
        direction = "higher"
        def score(self, answer):
            return {value}
    @dataclass(frozen=True)
    class Mine(Base):
        pass
    """

    assert mean(run(metrics=["Match", write("mine.py", code) + ":Mine"]), "Mine") == 0.75


def test_a_metric_that_failed_is_computed_again() -> None:
    """A failed item is computed by the next run; an answer that failed is not a failed metric."""
    code = """
    class Mine:
        direction = "higher"
        def check(self, services): ...
        def score(self, answer):
            return float(Path("value.txt").read_text())
    """
    name = write("mine.py", code)

    assert mean(run(metrics=["Match", f"{name}:Mine"]), "Mine") is None
    Path("value.txt").write_text("0.5", encoding="utf-8")
    assert mean(run(metrics=["Match", f"{name}:Mine"]), "Mine") == 0.5


def test_the_reason_of_a_generators_outcome_is_kept() -> None:
    """It explains a missing answer, or an answer that is a fallback."""
    code = """
    from ragstone.core.component import Outcome
    class Mine:
        def generate(self, query):
            if query.query_id == "q0":
                return Outcome(Prediction("q0", None), "no quota")
            return Outcome("thing", "the small model answered")
    """

    results = run(generator=write("mine.py", code) + ":Mine", settings=["none"])

    assert results.trials[0].predictions["q0"].reason == "no quota"
    assert {(note.what, note.count) for note in results.failures} == {
        ("no quota", 1),
        ("the small model answered", 3),
    }


def test_a_partial_run_keeps_the_other_results_of_the_record() -> None:
    """A finished experiment stays finished; a step that does not exist is an error."""
    before = run()

    again = run(only=("retrieve",))

    assert again.finished
    assert len(again.trials) == len(before.trials) == 2
    with pytest.raises(ConfigError, match="no step 'retreive'; did you mean 'retrieve'"):
        run(only=("retreive",))


def test_a_damaged_record_is_set_aside_and_made_again(caplog: pytest.LogCaptureFixture) -> None:
    """The notice names the file; the steps are kept, and the damaged record too."""
    before = run()
    record = Path("store/experiments/experiment.json")
    record.write_text("{", encoding="utf-8")

    with pytest.raises(DamagedFile, match=r"experiments/experiment\.json is damaged.*again"):
        Results.load(before.store, "experiment")
    after = run()

    assert "experiments/experiment.json is damaged" in caplog.text
    assert Path("store/damaged/experiment.json-1").read_text(encoding="utf-8") == "{"
    assert after.record.trials == before.record.trials
    assert after.record.last_run["asked"] == 0


@pytest.mark.parametrize(
    "module",
    [
        "try:\n    import no_such_module\nexcept ImportError:\n    def f(): return {0!r}\n",
        "T = {{}}\nT['a'] = {0!r}\ndef f(): return T['a']\n",
        "T = {{}}\nT.update(a={0!r})\ndef f(): return T['a']\n",
        "from near import f\n",
    ],
)
def test_a_digest_contains_all_code_that_a_class_uses(folder: Path, module: str) -> None:
    """Definitions in branches, changes of a table, and modules that other modules import."""
    digests = set()
    for value in ("one", "two"):
        write("far.py", f"X = {value!r}\n")
        write("near.py", "from far import X\ndef f(): return X\n")
        code = module.format(value) + "class Mine:\n    def form(self, query): return f()\n"
        path = folder / write("mine.py", code)
        digests.add(source_digest(load_file(path, "a test").Mine))

    assert len(digests) == 2


def test_a_method_may_import_a_module_beside_its_file() -> None:
    """The folder is on the path during the import of the file only."""
    write("late.py", "ANSWER = 'late'\n")
    name = write(
        "mine.py",
        "class Mine:\n    def generate(self, query):\n        from late import "
        "ANSWER\n        return ANSWER\n",
    )

    assert run(generator=f"{name}:Mine").trials[0].predictions["q0"].answer == "late"

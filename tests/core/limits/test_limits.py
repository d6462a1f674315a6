"""Limits: every one has a type, a reason and a use, and its message has a remedy.

This file tests limits of input and of errors; `test_limits_of_calls.py` and
`test_limits_of_output.py` test the others. Time-outs and deadlines of calls are tested in
`tests/calls/test_client.py`.
"""

from __future__ import annotations

import ast
import gzip
import importlib
import io
import json
import pkgutil
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from tests.fakes.made_results import made_results

from ragstone.building.label_files import read_label_sets
from ragstone.building.passages import usable
from ragstone.building.prompts import load_prompts
from ragstone.building.reply_parsing import Rejected, checked_question
from ragstone.calls import CallLog, Calls, Endpoint, Failure, Prices, RetryPolicy, chat
from ragstone.calls.scheduler import Engine
from ragstone.cli import doctor, score
from ragstone.cli.data import _counts, _cut, _findings
from ragstone.cli.read_judge import read_judge
from ragstone.components import translation_checks
from ragstone.components.context_settings.attacks import read_attacks
from ragstone.components.generators.command import Command
from ragstone.components.judges.reply_parsing import objects_in
from ragstone.components.metrics.score import refuse_duplicates
from ragstone.components.metrics.variants_explained import Disagreement
from ragstone.components.query_formers.translation import Translation
from ragstone.components.retrievers.elasticsearch import Elasticsearch
from ragstone.components.retrievers.milvus import Milvus
from ragstone.core import limits
from ragstone.core.component import Outcome, run_component
from ragstone.core.component_error import error_log
from ragstone.core.prompt_files import find_prompt
from ragstone.core.registry import beside
from ragstone.core.spec import parse_spec
from ragstone.data import describe
from ragstone.data.corpus import Corpus
from ragstone.data.load import load_dataset
from ragstone.data.readers.rows import json_document, json_rows, listed, show
from ragstone.data.readers.squad import SquadReader
from ragstone.data.rechunk import rechunk
from ragstone.data.taxonomy import load_taxonomy
from ragstone.data_quality.finding import Finding, each_line
from ragstone.data_quality.lenient_reader import read_leniently
from ragstone.errors import (
    CallError,
    ComponentError,
    ConfigError,
    DatasetError,
    RagstoneError,
    StoreError,
)
from ragstone.experiment.config import parse_experiment
from ragstone.experiment.keys import apply_override
from ragstone.experiment.load import load_experiment
from ragstone.experiment.members import read_experiment_file
from ragstone.models import llama_server
from ragstone.protocols import Generator, Services
from ragstone.results import by_label, terminal, weight_scan
from ragstone.results.kept_board import leaderboard_parts
from ragstone.results.query_page import find_query
from ragstone.results.reader import StepNote
from ragstone.statistics.paired import more_queries
from ragstone.testing import FakeModelServer, ScriptedCalls
from ragstone.types import Context, Passage, Prediction, Query, Task
from ragstone.web import limits as page_limits

SOURCE = Path(limits.__file__).parents[2]
PARTS = pkgutil.iter_modules(limits.__path__)
MODULES = (
    *(importlib.import_module(f"{limits.__name__}.{part.name}") for part in PARTS),
    page_limits,
)
LIMITS = {Path(str(module.__file__)) for module in MODULES}
NAMES = [name for module in MODULES for name in vars(module) if name.isupper()]
TESTS = Path(__file__).parents[2]
WITHOUT_EFFECT = """
ATTEMPT_TIMEOUT_SECONDS, CALL_DEADLINE_SECONDS: defaults of `RetryPolicy`, which tests lower.
CONNECT_TIMEOUT_SECONDS, CHECK_TIMEOUT_SECONDS: only the wait for a connection changes.
BATCH_WAIT_SECONDS: a batch with fewer queries has the same answers.
CLOSE_TIMEOUT_SECONDS, MODEL_STOP_SECONDS: only the wait for the end of a thread changes.
DNS_CACHE_SECONDS, CACHED_SCORES, CACHED_CHARACTERS, CACHED_PASSAGE_RUNS,
MAX_KNOWN_FORMS: a cache changes no result.
UNKNOWN_CONTEXT_TOKENS: no prompt is longer.

GENERATION_BATCH: the queries that are written are the same.
LANGUAGE_SAMPLE: the language of the documents is the same.
"""
"""Limits that no output shows, with the reason."""


@pytest.mark.parametrize("module", MODULES)
def test_every_limit_is_final_positive_and_explained(module: ModuleType) -> None:
    """Each is annotated as `Final`, is a number above 0, and has a docstring or a short comment."""
    text = Path(str(module.__file__)).read_text("utf-8")
    lines, body = text.splitlines(), ast.parse(text).body
    pairs = [(node, after) for node, after in pairwise(body) if isinstance(node, ast.AnnAssign)]
    for node, after in pairs:
        assert ast.unparse(node.annotation) == "Final"
        comment = lines[(node.end_lineno or 0) - 1].partition("  # ")[2]
        assert re.match(r"'.*\.'|\".*\.\"", ast.unparse(after)) or comment.endswith(".")
    names = [name for name in vars(module) if name.isupper()]
    # The last one has a comment, as nothing is after it.
    assert len(names) - len(pairs) <= 1
    assert all(getattr(module, name) > 0 for name in names)


def test_every_limit_is_used() -> None:
    """Every limit is read by a module."""
    files = set(SOURCE.rglob("*.py")) - LIMITS
    words = {word for p in files for word in re.findall(r"[A-Z_]{4,}", p.read_text("utf-8"))}
    assert set(NAMES) - words == set()


def test_every_limit_is_tested() -> None:
    """A test names each limit, except those that no output shows."""
    files = (path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py"))
    found = (re.findall(r"limits\.([A-Z_]+)|\b([A-Z_]{4,})\b(?:\"|=)", text) for text in files)
    named = {name for pairs in found for pair in pairs for name in pair}
    assert set(NAMES) - named == set(re.findall("[A-Z_]{4,}", WITHOUT_EFFECT))


def test_no_other_module_defines_a_limit() -> None:
    """Constants named MAX, MOST, LARGEST, LONGEST or SHOWN are defined in `limits`."""
    pattern = re.compile(
        r"^_?\w*(?:MAX|MOST|LARGEST|LONGEST|SHOWN)\w*(?:: Final)? = \d", re.MULTILINE
    )
    files = SOURCE.rglob("*.py")
    assert {p for p in files if pattern.search(p.read_text(encoding="utf-8"))} <= LIMITS


def nested(levels: int) -> str:
    """Return the JSON of nested lists."""
    return "[" * levels + "]" * levels


def write(path: Path, text: str) -> Path:
    """Write a file, compressed if its name ends in .gz, and return its path."""
    content = text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def rows(folder: Path, text: str, name: str = "rows.jsonl") -> None:
    """Read a JSON lines file of that text."""
    list(json_rows(write(folder / name, text)))


def document(folder: Path, text: str, name: str = "data.json") -> None:
    """Read a JSON file of that text."""
    json_document(write(folder / name, text))


def prices(folder: Path, text: str) -> None:
    """Read a price table of that text."""
    Prices.read(write(folder / "prices.yaml", text))


def named_prompt(folder: Path, text: str) -> None:
    """Read a prompt of that text."""
    (folder / "prompts").mkdir()
    write(folder / "prompts" / "my.yaml", text)
    with beside(folder):
        find_prompt("my")


def dataset(folder: Path, label: str) -> None:
    """Read a data set whose only query has a label of that JSON."""
    write(folder / "queries.jsonl", f'{{"_id": "1", "text": "Why?", "deep": {label}}}')
    load_dataset(folder)


ALIASES = "a: &a [[], []]\nb: &b [*a, *a, *a]\nmodels: [*b, *b, *b, *b]\n"

SWEEP = ["bm25", {"name": "bm25", "k1": [0.5, 0.7, 0.9, 1.1, 1.3]}]


def one_of_three(folder: Path) -> Path:
    """Return a folder with three files, of which a reader needs one."""
    for name in "abc":
        write(folder / f"{name}.json", "{}")
    return folder


INPUT: list[tuple[tuple[str, int], Callable[[Path], object], str]] = [
    (
        ("MAX_LINE_BYTES", 20),
        lambda folder: rows(folder, '{"a": "short"}\n{"a": "much too long"}'),
        r"rows\.jsonl, line 2: longer than 20 bytes, the maximum of a line; write one row per line",
    ),
    (
        ("MAX_LINE_BYTES", 20),
        lambda folder: rows(folder, '{"a": "much too long"}', "rows.jsonl.gz"),
        r"rows\.jsonl\.gz, line 1: longer than 20 bytes",
    ),
    (
        ("MAX_DOCUMENT_BYTES", 10),
        lambda folder: document(folder, json.dumps(list(range(9)))),
        r"data\.json has more than 10 bytes, the maximum of a file .* convert it to JSON lines",
    ),
    (
        ("MAX_DOCUMENT_BYTES", 10),
        lambda folder: document(folder, json.dumps(list(range(9))), "data.json.gz"),
        r"data\.json\.gz has more than 10 bytes",
    ),
    (
        ("MAX_NESTING_LEVELS", 3),
        lambda folder: rows(folder, f'{{"a": {nested(3)}}}'),
        r"rows\.jsonl, line 1: lists and objects are nested more than 3 levels deep, .* flatten",
    ),
    (
        ("MAX_NESTING_LEVELS", 3),
        lambda folder: document(folder, nested(4)),
        r"data\.json: lists and objects are nested more than 3 levels",
    ),
    (
        ("MAX_NESTING_LEVELS", 100),
        lambda folder: document(folder, nested(5000)),
        r"data\.json: lists and objects are nested more than 100 levels",
    ),
    (
        ("MAX_NESTING_LEVELS", 100),
        lambda folder: dataset(folder, nested(300)),
        r"queries\.jsonl, line 1: lists and objects are nested more than 100 levels",
    ),
    (
        ("MAX_NESTING_LEVELS", 3),
        lambda folder: prices(folder, f"models: {nested(3)}"),
        r"cannot read the price table .*prices\.yaml: lists and objects are nested more than 3",
    ),
    (
        ("MAX_NESTING_LEVELS", 100),
        lambda folder: prices(folder, nested(2000)),
        r"cannot read the price table .*prices\.yaml: lists and objects are nested more than 100",
    ),
    (
        ("MAX_YAML_BYTES", 30),
        lambda folder: prices(folder, "models: {}  # " + "long " * 9),
        r"prices\.yaml: it has more than 30 bytes, the maximum of a YAML file; split it",
    ),
    (
        ("MAX_YAML_COLLECTIONS", 20),
        lambda folder: prices(folder, ALIASES),
        r"prices\.yaml: it has more than 20 lists and mappings, .* use fewer aliases",
    ),
    (
        ("MAX_YAML_BYTES", 5),
        lambda folder: load_prompts(write(folder / "my.yaml", "theme: x")),
        r"cannot read the prompts .*my\.yaml: it has more than 5 bytes",
    ),
    (
        ("MAX_YAML_BYTES", 5),
        lambda folder: named_prompt(folder, "user: x"),
        r"cannot read the prompt .*my\.yaml: it has more than 5 bytes",
    ),
    (
        ("MAX_PROMPT_CHARACTERS", 30),
        lambda folder: named_prompt(folder, f"user: x\nsystem: {'long ' * 9}"),
        r"my\.yaml: system has 44 characters; the maximum is 30: shorten it",
    ),
    (
        ("MAX_YAML_BYTES", 5),
        lambda folder: load_taxonomy(str(write(folder / "my.yaml", "name: x"))),
        r"cannot read the taxonomy .*my\.yaml: it has more than 5 bytes",
    ),
    (
        ("MAX_YAML_BYTES", 5),
        lambda folder: read_judge(str(write(folder / "my.yaml", "name: x")), "", {}),
        r"cannot read the judge .*my\.yaml: it has more than 5 bytes",
    ),
    (
        ("MAX_YAML_BYTES", 5),
        lambda folder: read_experiment_file(write(folder / "my.yaml", "data: x")),
        r"cannot read the experiment file .*my\.yaml: it has more than 5 bytes",
    ),
    (
        ("MAX_NESTING_LEVELS", 3),
        lambda _: apply_override({}, f"data={nested(4)}"),
        r"override 'data=.*': cannot read the value: lists and objects are nested more than 3",
    ),
    (
        ("MAX_ATTACKS", 1),
        lambda folder: read_attacks(
            write(folder / "a.jsonl", '{"kind": "k", "text": "t", "success": "s"}\n' * 2)
        ),
        r"a\.jsonl, line 2: more than 1 attacks",
    ),
    (
        ("MAX_SWEEP_SYSTEMS", 5),
        lambda _: parse_experiment({"systems": [{"retriever": SWEEP}]}, where="e.yaml"),
        r"the lists of .* make 6 systems; the maximum is 5: sweep fewer values, split",
    ),
    (
        ("MAX_LISTED_FILES", 1),
        lambda folder: SquadReader(one_of_three(folder)).read(),
        r"must contain one \.json file \(or \.json\.gz\), found a\.json and 2 more; name one",
    ),
    (
        ("MAX_SUGGESTED_IDS", 2),
        lambda folder: find_query(made_results(folder), "no such query"),
        r"no answered query 'no such query' in 'made'; there are 12, such as q000, q001$",
    ),
    (
        ("MAX_SHOWN_FAULTS", 1),
        lambda folder: read_leniently(write(folder / "queries.jsonl", "1\n2\n3\n").parent),
        r"contains no query that can be read: (?!.*line 2).*line 1",
    ),
    (
        ("MILVUS_RANKING", 9),
        lambda _: Milvus(uri="here.db", embedder="minilm", top_k=10),
        r"top_k must be 1 to 9 with Milvus, found 10",
    ),
    (
        ("ELASTIC_RANKING", 9),
        lambda _: Elasticsearch("http://127.0.0.1:1", top_k=10),
        r"top_k must be 1 to 9 with elasticsearch, found 10",
    ),
    (
        ("MAX_SPEC_CHARACTERS", 9),
        lambda _: parse_spec("bm25(k1=1)", where="x"),
        r"x: a spec has at most 9 characters, found 10; write it as a mapping",
    ),
    (
        ("MAX_SPEC_DEPTH", 2),
        lambda _: parse_spec("f(a=[[1]])", where="x"),
        r"brackets are nested more than 2 deep",
    ),
    (
        ("MAX_LISTED_VALUES", 5),
        lambda _: refuse_duplicates("passage", list("aabbccddeeffgg")),
        r"7 passages are listed more than once: .*'e' and 2 more",
    ),
]


@pytest.mark.parametrize(
    ("limit", "read", "message"), INPUT, ids=[f"{case[0][0]}-{n}" for n, case in enumerate(INPUT)]
)
def test_input_beyond_a_limit_is_an_error_with_a_remedy(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    limit: tuple[str, int],
    read: Callable[[Path], object],
    message: str,
) -> None:
    """The error names the file, the limit and the remedy."""
    monkeypatch.setattr(limits, *limit)
    with pytest.raises(RagstoneError, match=message) as caught:
        read(tmp_path)
    assert isinstance(caught.value, ConfigError | DatasetError)


def test_input_within_the_limits_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line, a document, a nesting and a YAML file of exactly the maximum are allowed."""
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", 13)
    monkeypatch.setattr(limits, "MAX_DOCUMENT_BYTES", 4)
    monkeypatch.setattr(limits, "MAX_NESTING_LEVELS", 2)
    monkeypatch.setattr(limits, "MAX_YAML_BYTES", 10)
    monkeypatch.setattr(limits, "MAX_YAML_COLLECTIONS", 2)
    rows(tmp_path, '{"a": "1234"}\n'[:-1])
    document(tmp_path, nested(2))
    prices(tmp_path, "models: {}")


def test_the_doctor_reports_a_row_beyond_a_limit(tmp_path: Path) -> None:
    """A row with deep nesting is a fault, and reading goes on."""
    deep = f'{{"_id": "1", "text": "Why?", "deep": {nested(300)}}}'
    write(tmp_path / "queries.jsonl", f'{deep}\n{{"_id": "2", "text": "Who?"}}\n')
    (fault,) = read_leniently(tmp_path).faults
    assert "nested more than 100 levels deep" in fault.problem


def test_a_csv_field_beyond_the_limit_of_python_is_an_error(tmp_path: Path) -> None:
    """The error names the file, the line, the limit and the remedy."""
    path = write(tmp_path / "labels.csv", f"_id,label\n1,{'x' * 200_000}")
    with pytest.raises(DatasetError, match=r"labels\.csv, line 2: .*limit \(131072\); shorten"):
        read_label_sets(path, "label")


def ask(folder: Path, server: FakeModelServer) -> Failure:
    """Return the failure of one call with one attempt."""
    policy = RetryPolicy(attempts=1)
    with Calls.at(folder / "calls.sqlite", retry_policy=policy) as calls:
        (outcome,) = calls.ask(Endpoint("fake", (server.url,)), [chat("Why?")])
    assert isinstance(outcome, Failure)
    return outcome


def test_a_response_beyond_the_maximum_size_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason names the server, the maximum and the remedy."""
    monkeypatch.setattr(limits, "MAX_RESPONSE_BYTES", 10)
    with FakeModelServer() as server:
        reason = ask(tmp_path, server).reason
    assert "exceeds the maximum response size of 10 bytes; lower max_tokens" in reason


def test_a_line_of_a_command_beyond_the_maximum_size_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason names the command, the maximum and the remedy."""
    monkeypatch.setattr(limits, "MAX_RESPONSE_BYTES", 10)
    task = Task(Query("1", "Why?"), Context("1", "none", ()))
    with Calls.at(tmp_path / "calls.sqlite", retry_policy=RetryPolicy(attempts=1)) as calls:
        system = Command(shlex.join([sys.executable, "-c", "print('x' * 99)"]))
        (outcome,) = system.generate([task], Services(calls=calls))
    assert "wrote a line of more than 10 bytes, the maximum response size" in outcome.reason


def test_a_reply_with_deep_nesting_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason names the server and the maximum."""
    monkeypatch.setattr(limits, "MAX_NESTING_LEVELS", 2)
    with FakeModelServer() as server:
        assert "nested more than 2 levels deep" in ask(tmp_path, server).reason


def test_a_long_translation_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text beyond the ratio and the margin is an answer."""
    wanted = translation_checks.SourceText("so", "en")
    monkeypatch.setattr(limits, "TRANSLATION_MARGIN", 0)
    assert translation_checks.why_not("x" * 8, wanted) == ""
    assert "far longer" in translation_checks.why_not("x" * 9, wanted)
    monkeypatch.setattr(limits, "MAX_TRANSLATION_RATIO", 1)
    assert "far longer" in translation_checks.why_not("x" * 3, wanted)


def test_the_start_of_a_wrong_translation_is_in_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Up to a number of characters."""
    monkeypatch.setattr(limits, "MAX_REASON_CHARACTERS", 3)
    calls = ScriptedCalls(lambda _: "x" * 90)
    (formed,) = Translation().form([Query("q", "so")], calls.services())
    assert formed.reason.endswith("than the text: 'xxx'")


def test_the_language_of_a_long_translation_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shorter one may be in any language."""
    wanted = translation_checks.SourceText("Le fleuve traverse la vieille ville.", "en")
    reply = "Der Fluss ist hier sehr lang und breit und tief."
    assert translation_checks.why_not(reply, wanted) == ""
    monkeypatch.setattr(limits, "CHECKED_TRANSLATION", len(reply))
    assert translation_checks.why_not(reply, wanted) == "the reply is in German"


def test_json_is_searched_at_a_maximum_number_of_braces(monkeypatch: pytest.MonkeyPatch) -> None:
    """An object after more braces is not found."""
    monkeypatch.setattr(limits, "MAX_JSON_STARTS", 2)
    for text, count in (('{ {"a": 1}', 1), ('{ { {"a": 1}', 0)):
        assert len(list(objects_in(text))) == count


def test_more_queries_than_the_maximum_are_not_recommended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within the maximum their number is returned, beyond it None."""
    assert more_queries(100, 0.02, 0.01) == 97
    monkeypatch.setattr(limits, "MAX_PLANNED_QUERIES", 190)
    assert more_queries(100, 0.02, 0.01) is None


def test_a_long_error_of_a_server_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason contains the start of the server's text."""
    monkeypatch.setattr(limits, "MAX_SERVER_ERROR_CHARACTERS", 8)
    with FakeModelServer(faults={"400": 1.0}) as server:
        assert ask(tmp_path, server).reason.endswith("refused with 400: this req")


def test_a_stalled_event_loop_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error mentions the stored replies and the command to resume."""
    monkeypatch.setattr(limits, "STALLED_LOOP_SECONDS", -1.0)
    with pytest.raises(CallError, match=r"no progress for 0 s; .* run the same command again"):
        Engine(RetryPolicy()).check_alive()


def test_a_locked_call_log_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the waiting time the error names the file."""
    monkeypatch.setattr(limits, "LOG_LOCK_SECONDS", 0.05)
    other = sqlite3.connect(tmp_path / "log")
    other.execute("BEGIN EXCLUSIVE")
    with (
        CallLog(tmp_path / "log") as log,
        pytest.raises(StoreError, match=r"call log .*log: .*locked"),
    ):
        log.replies(["k"])
    other.close()


def test_a_model_server_that_does_not_start_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the waiting time and shows the last lines of the server's log."""
    monkeypatch.setattr(limits, "MODEL_START_SECONDS", 0.1)
    process = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)"], stdout=subprocess.PIPE
    )
    log = io.BytesIO(b"one\ntwo\nthree\nfour\n")
    with process, pytest.raises(CallError, match=r"no answer within 0 s.*two / three / four\. Is"):
        llama_server._wait_ready(process, "my-model", log)


def test_passages_beyond_the_limits_are_refused_with_the_number() -> None:
    """The reasons name the minimum of words and the maximum of characters."""
    texts = {"short": "A few words.", "long": "A long passage of words. " * 500}
    corpus = Corpus.from_passages([Passage(name, text) for name, text in texts.items()])
    assert usable(corpus, in_language="any").refused == {
        "short": f"it has fewer than {limits.MIN_PASSAGE_WORDS} words",
        "long": f"it has more than {limits.MAX_PASSAGE_CHARACTERS:,} characters",
    }


def test_a_long_question_is_rejected_with_the_number() -> None:
    """The reason names the maximum of words."""
    words = " ".join(f"word{n}" for n in range(limits.MAX_QUESTION_WORDS))
    with pytest.raises(Rejected, match=f"more than {limits.MAX_QUESTION_WORDS} words"):
        checked_question(f"Who wrote {words}?", "")


def test_low_disk_space_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ragstone doctor` names the free space and the remedy."""
    monkeypatch.setattr(limits, "LOW_DISK_BYTES", 2**80)
    finding = doctor._disk(tmp_path)
    assert finding.state == "warning"
    assert "give another folder: store=PATH" in finding.advice


def test_cut_lists_and_texts_name_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shortened list ends with the number of other values, a shortened text with three dots."""
    monkeypatch.setattr(limits, "MAX_VALUE_CHARACTERS", 5)
    monkeypatch.setattr(limits, "SHOWN_LABEL_VALUES", 1)
    monkeypatch.setattr(limits, "SHOWN_DIFFERING_ANSWERS", 0)
    assert show("a long value") == "'a lo..."
    assert listed([str(n) for n in range(9)]) == "0, 1, 2, 3, 4 and 4 more"
    assert _counts({"law": 3, "art": 2}, values=2) == "law 3 and 1 more values"
    differing = Disagreement("q", "a", (), {})
    assert score._explanation("F1", [differing] * 2)[-1] == "  and 2 more; --json lists them all"


class Broken(Generator):
    """A generator that raises for every query."""

    def generate(self, tasks: Sequence[Task], services: Services) -> Iterator[Outcome[Prediction]]:
        """Raise."""
        raise ValueError([task.query.query_id for task in tasks])


def test_your_own_component_is_broken_after_some_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is called for each item alone, until it has failed for the maximum of first items."""
    monkeypatch.setattr(limits, "MAX_FIRST_FAILURES", 2)
    tasks = [Task(Query(name, "Why?"), Context(name, "none", ())) for name in "abc"]
    token = error_log.set(tmp_path / "errors.log")
    with pytest.raises(ComponentError, match=r"Broken raised ValueError: \['b'\] in .*query 'b'"):
        run_component(Broken(), Services(), tasks)
    error_log.reset(token)


def test_a_long_plan_counts_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the maximum a plan has one line per kind of step, below it a tree."""
    document = {"data": "sample", "systems": {"a": {"retriever": "bm25"}}, "metrics": ["nDCG@3"]}
    plan = load_experiment(document).plan()
    assert "retrieve: bm25" in plan.text()
    monkeypatch.setattr(limits, "MAX_PLAN_TREE_STEPS", 2)
    assert re.search(r"retrieve +\d kept +\d to do", plan.text())


def test_labels_with_many_values_are_not_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """A weight scan leaves them out, and a description counts their most frequent values."""
    queries = [Query(str(n), "Why?", labels={"field": str(n % 3)}) for n in range(30)]
    assert weight_scan.labels_of(queries) == ["field"]
    for name in ("SCAN_LABEL_VALUES", "STORED_LABEL_VALUES"):
        monkeypatch.setattr(limits, name, 2)
    assert weight_scan.labels_of(queries) == []
    (found,) = describe._count_labels([query.labels for query in queries]).values()
    assert (found.values, len(found.counts)) == (3, 2)


def test_results_are_shown_up_to_a_maximum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks, reasons of failures and label values in the terminal and in a report."""
    results = made_results(tmp_path)
    notes = [StepNote("generate", "chat", f"reason {n}", 1) for n in range(3)]
    results.__dict__["failures"] = notes
    assert "other reasons" not in "\n".join(map(str, leaderboard_parts(results)))
    assert by_label.labels_of(results)
    (run, *_), (query_id, *_) = results.rankings, results.queries
    monkeypatch.setattr(limits, "SHOWN_FAILURES", 1)
    monkeypatch.setattr(limits, "SHOWN_RANKS", 2)
    monkeypatch.setattr(limits, "REPORT_LABEL_VALUES", 1)
    results.store.remove_json("boards", results.name)  # it is kept with the former limits
    text = "\n".join(map(str, leaderboard_parts(results)))
    assert "chat: reason 0\n  and 2 other reasons: `ragstone show --query ID`" in text
    ranks = [line for line in terminal._ranking_lines(run, query_id, {}) if ". " in line]
    assert [line[:4] for line in ranks] == ["  1.", "  2."]
    assert by_label.labels_of(results) == []


def test_examples_and_texts_are_shown_up_to_a_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples of a finding, texts of `data show`, passage ids of `data chunk`."""
    changed = {"MAX_EXAMPLES": 2, "SHOWN_TEXT_CHARACTERS": 5, "SHOWN_PASSAGE_IDS": 1}
    for name, value in changed.items():
        monkeypatch.setattr(limits, name, value)
    texts = ("one", "two", "three")
    finding = Finding("a/b", "note", "what", 3, 3, "advice", each_line(texts), texts)
    assert list(_findings("mine", [finding]))[2:5] == [
        "           one",
        "           two",
        "           and 1 more; the ids of all are under `rows` in --json",
    ]
    assert _cut("a long  text") == "a lon..."
    assert rechunk._examples(["p1", "p2"]) == "'p1', ..."
    (example,) = each_line(["x" * 500])
    assert example == "x" * limits.MAX_EXAMPLE_CHARACTERS + "..."


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes of a gzip file are bounded by its packed size, blank lines included."""
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 10_000)
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" * 10**6))
    with pytest.raises(DatasetError, match=r"is unpacked to more than 200 times its size"):
        list(json_rows(path))
    monkeypatch.setattr(limits, "MAX_UNPACKED_RATIO", 2000)
    assert not list(json_rows(path))

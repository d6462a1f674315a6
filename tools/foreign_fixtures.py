"""Write the files of other tools that the tests read: `foreign_fixtures.py TOOL FOLDER`.

Each tool runs in an environment of its own that has its package; the versions of the kept files are
in `tests/data/readers/foreign/versions.json`. TOOL is one of the names in `MAKERS`. promptfoo needs
`npx promptfoo`. TREC's tracks publish no package: their files have the published form.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.metadata import distribution, version
from pathlib import Path
from types import ModuleType
from typing import Any, Final

ROWS: Final[tuple[dict[str, Any], ...]] = (
    {
        "query": "Where is Lisbon?",
        "gold": "on the Tagus",
        "answer": "Lisbon is on the Tagus.",
        "contexts": ["Lisbon is on the river Tagus.", 'It\'s called "the white city", too.'],
    },
    {
        "query": "When did the ship sink?",
        "gold": "1912",
        "answer": "It sank in 1912.",
        "contexts": ["The ship sank in April 1912."],
    },
    {
        "query": "Wie heißt der Fluss in Köln?",
        "gold": "Rhein",
        "answer": "Der Fluss heißt Donau.",
        "contexts": ["Köln liegt am Rhein.", "Wien liegt an der Donau."],
    },
)
"""The same answers in every format."""


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines."""
    lines = (json.dumps(row, ensure_ascii=False, default=str) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def ragas(folder: Path) -> str:
    """Write a data set of single turns, and one of a conversation."""
    schema, messages = import_module("ragas.dataset_schema"), import_module("ragas.messages")
    samples = [
        schema.SingleTurnSample(
            user_input=row["query"],
            retrieved_contexts=row["contexts"],
            response=row["answer"],
            reference=row["gold"],
            reference_contexts=row["contexts"][:1],
            rubrics={"score1_description": "wrong"},
        )
        for row in ROWS
    ]
    whole = schema.EvaluationDataset(samples)
    whole.to_jsonl(folder / "ragas.jsonl")
    whole.to_csv(folder / "ragas.csv")
    talk = [
        messages.HumanMessage(content="Tell me about Lisbon."),
        messages.AIMessage(content="It is a city."),
        messages.HumanMessage(content=ROWS[0]["query"]),
        messages.AIMessage(content=ROWS[0]["answer"]),
    ]
    turns = schema.MultiTurnSample(user_input=talk, reference=ROWS[0]["gold"])
    schema.EvaluationDataset([turns]).to_jsonl(folder / "ragas-conversation.jsonl")
    return version("ragas")


def datasets(folder: Path) -> str:
    """Write folders of `save_to_disk` and of a hub, and the columns of ragas before 0.2."""
    package = import_module("datasets")
    squad = [
        {
            "id": f"q{n}",
            "title": "Some_title",
            "context": row["contexts"][0],
            "question": row["query"],
            "answers": {"text": [row["gold"]], "answer_start": [0]},
        }
        for n, row in enumerate(ROWS)
    ]
    whole = package.Dataset.from_list(squad)
    splits = package.DatasetDict({"train": whole.select([0]), "test": whole})
    splits.save_to_disk(folder / "saved")
    (folder / "hub" / "data").mkdir(parents=True, exist_ok=True)
    for name, split in splits.items():
        split.to_parquet(folder / "hub" / "data" / f"{name}-00000-of-00001.parquet")
    rows = [
        {"question": r["query"], "contexts": r["contexts"], "answer": r["answer"]} for r in ROWS
    ]
    old = [{**row, "ground_truths": [r["gold"]]} for row, r in zip(rows, ROWS, strict=True)]
    new = [{**row, "ground_truth": r["gold"]} for row, r in zip(rows, ROWS, strict=True)]
    package.Dataset.from_list(old).to_json(folder / "ragas-0.0.json", force_ascii=False)
    package.Dataset.from_list(new).to_csv(folder / "ragas-0.1.csv")
    return version("datasets")


def langsmith(folder: Path) -> str:
    """Write examples, runs, and the table of an experiment that uploads nothing."""
    schemas, client = import_module("langsmith.schemas"), import_module("langsmith")
    moment, data_set = datetime(2026, 1, 1, tzinfo=UTC), uuid.UUID(int=1)
    examples = [
        schemas.Example(
            id=uuid.UUID(int=n),
            dataset_id=data_set,
            created_at=moment,
            inputs={"question": row["query"]},
            outputs={"answer": row["gold"]},
        )
        for n, row in enumerate(ROWS, start=10)
    ]
    write_lines(folder / "langsmith-examples.jsonl", [json.loads(e.json()) for e in examples])
    known = {row["query"]: row for row in ROWS}

    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        row = known[inputs["question"]]
        return {"answer": row["answer"], "contexts": row["contexts"]}

    found = client.evaluate(
        target,
        data=examples,
        client=client.Client(api_url="http://127.0.0.1:1", api_key="none"),
        upload_results=False,
        max_concurrency=0,
    )
    table = found.to_pandas()
    table.to_csv(folder / "langsmith-experiment.csv", index=False)
    runs = [json.loads(one["run"].json()) for one in found]
    kept = ("id", "name", "run_type", "inputs", "outputs", "reference_example_id", "error")
    rows = [
        {
            **{name: run.get(name) for name in kept},
            "inputs": run["inputs"].get("inputs", run["inputs"]),
            "reference_outputs": one["example"].outputs,
        }
        for run, one in zip(runs, found, strict=True)
    ]
    write_lines(folder / "langsmith-runs.jsonl", rows)
    return version("langsmith")


def langchain(folder: Path) -> str:
    """Write replies of retrieval chains: documents as objects, and in LangChain's own form."""
    documents, load = (import_module(f"langchain_core.{n}") for n in ("documents", "load"))
    replies = [
        {
            "input": row["query"],
            "context": [
                documents.Document(id=f"d{n}-{place}", page_content=text, metadata={"page": 1})
                for place, text in enumerate(row["contexts"])
            ],
            "answer": row["answer"],
            "reference": row["gold"],
        }
        for n, row in enumerate(ROWS)
    ]
    plain = [{**r, "context": [d.model_dump() for d in r["context"]]} for r in replies]
    write_lines(folder / "langchain.jsonl", plain)
    text = load.dumps(replies, pretty=True, ensure_ascii=False)
    (folder / "langchain-dumps.json").write_text(text, encoding="utf-8")
    return version("langchain-core")


def llama_index(folder: Path) -> str:
    """Write a labelled data set, pairs for an embedder, and responses with their nodes."""
    base = import_module("llama_index.core.llama_dataset")
    legacy = import_module("llama_index.core.llama_dataset.legacy.embedding")
    schema = import_module("llama_index.core.schema")
    by = base.CreatedBy(type=base.CreatedByType.HUMAN)
    examples = [
        base.LabelledRagDataExample(
            query=row["query"],
            query_by=by,
            reference_contexts=row["contexts"][:1],
            reference_answer=row["gold"],
            reference_answer_by=by,
        )
        for row in ROWS
    ]
    base.LabelledRagDataset(examples=examples).save_json(str(folder / "llama-index-rag.json"))
    legacy.EmbeddingQAFinetuneDataset(
        queries={f"q{n}": row["query"] for n, row in enumerate(ROWS)},
        corpus={f"n{n}-{i}": t for n, r in enumerate(ROWS) for i, t in enumerate(r["contexts"])},
        relevant_docs={f"q{n}": [f"n{n}-0"] for n in range(len(ROWS))},
    ).save_json(str(folder / "llama-index-pairs.json"))
    response = import_module("llama_index.core.base.response.schema").Response
    replies = [
        response(
            response=row["answer"],
            source_nodes=[
                schema.NodeWithScore(node=schema.TextNode(text=text, id_=f"n{n}-{place}"), score=1)
                for place, text in enumerate(row["contexts"])
            ],
        )
        for n, row in enumerate(ROWS)
    ]
    rows = [
        {
            "query": row["query"],
            "response": reply.response,
            "source_nodes": [node.to_dict() for node in reply.source_nodes],
            "reference": row["gold"],
        }
        for row, reply in zip(ROWS, replies, strict=True)
    ]
    write_lines(folder / "llama-index-responses.jsonl", rows)
    return version("llama-index-core")


def deepeval(folder: Path) -> str:
    """Write goldens in every form, and a test run."""
    package = import_module("deepeval.dataset")
    goldens = [
        package.Golden(
            input=row["query"],
            actual_output=row["answer"],
            expected_output=row["gold"],
            context=row["contexts"][:1],
            retrieval_context=row["contexts"],
        )
        for row in ROWS
    ]
    whole = package.EvaluationDataset(goldens=goldens)
    for form in ("json", "csv", "jsonl"):
        whole.save_as(form, str(folder), file_name="deepeval")
    api, run = import_module("deepeval.test_run.api"), import_module("deepeval.test_run.test_run")
    cases = [
        api.LLMApiTestCase(
            name=f"test_case_{n}",
            input=row["query"],
            actualOutput=row["answer"],
            expectedOutput=row["gold"],
            retrievalContext=row["contexts"],
            order=n,
        )
        for n, row in enumerate(ROWS)
    ]
    path = folder / "deepeval-test-run.json"
    with path.open("w", encoding="utf-8") as file:
        run.TestRun(testCases=cases).save(file)
    found = json.loads(path.read_text("utf-8"))
    text = json.dumps({"testRunData": found}, ensure_ascii=False, indent=1)
    path.write_text(text, encoding="utf-8")
    return version("deepeval")


_PROVIDER: Final = """
const known = %s;
module.exports = class {
  constructor(options) { this.options = options; }
  id() { return 'own'; }
  async callApi(prompt, context) {
    const row = known.find((one) => one.query === context.vars.question);
    if (%s) return { error: 'timed out' };
    return { output: row.answer };
  }
};
"""


def promptfoo(folder: Path) -> str:
    """Write the results of an evaluation of two providers; the second one fails once."""
    npx = shutil.which("npx") or "npx"
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        known = json.dumps(ROWS)
        (work / "first.js").write_text(_PROVIDER % (known, "false"))
        (work / "second.js").write_text(_PROVIDER % (known, "row === known[1]"))
        tests = [
            {
                "vars": {
                    "question": r["query"],
                    "context": r["contexts"],
                    "reference": r["gold"],
                    "topic": "made up",
                },
                "assert": [{"type": "icontains", "value": r["gold"]}],
                "options": {"disableVarExpansion": True},
            }
            for r in ROWS
        ]
        config = {
            "prompts": ["{{context}} {{question}}"],
            "providers": [
                {"id": f"file://{place}.js", "label": place} for place in ("first", "second")
            ],
            "tests": tests,
        }
        (work / "promptfooconfig.json").write_text(json.dumps(config))
        outputs = [str(folder / f"promptfoo.{end}") for end in ("json", "jsonl", "csv")]
        command = [npx, "promptfoo", "eval", "--no-cache", "-j", "1", "-c"]
        named = [part for one in outputs for part in ("-o", one)]
        # A failed assertion has an exit code of its own.
        subprocess.run([*command, str(work / "promptfooconfig.json"), *named], check=False)
        for path in map(Path, outputs):
            path.write_text(path.read_text("utf-8").replace(f"{work}/", ""), encoding="utf-8")
    run = [npx, "promptfoo", "--version"]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()[-1]


def open_rag_eval(folder: Path) -> str:
    """Write the rows of a connector."""
    # Loaded by itself: the package around it needs the clients of several services.
    place = distribution("open-rag-eval").locate_file("open_rag_eval/connectors/connector.py")
    package = ModuleType("connector")
    SourceFileLoader("connector", str(place)).exec_module(package)

    def process(_: Any, query: Mapping[str, str], run_idx: int = 1) -> list[dict[str, Any]]:
        row = next(one for one in ROWS if one["query"] == query["query"])
        same = {"query_id": query["queryId"], "query": query["query"], "query_run": run_idx}
        return [
            {
                **same,
                "passage_id": f"[{place}]",
                "passage": text,
                "generated_answer": row["answer"] if place == 1 else "",
            }
            for place, text in enumerate(row["contexts"], start=1)
        ]

    own = type("Own", (package.Connector,), {"process_query": process})
    with tempfile.TemporaryDirectory() as name:
        asked = Path(name, "queries.csv")
        with asked.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["query", "query_id"])
            writer.writerows((row["query"], f"q{n}") for n, row in enumerate(ROWS))
        own(str(asked), str(folder / "open-rag-eval.csv"), 1).fetch_data()
    return version("open-rag-eval")


def trec_rag(folder: Path) -> str:
    """Write runs in the published forms of the tracks of 2024 and 2025; there is no package."""
    same = [
        {
            "references": [f"msmarco_v2.1_doc_0{n}#{i}" for i in range(len(row["contexts"]))],
            "answer": [{"text": row["answer"], "citations": [0]}],
        }
        for n, row in enumerate(ROWS)
    ]
    old = [
        {"run_id": "own", "topic_id": f"2024-{n}", "topic": row["query"], **one}
        for n, (row, one) in enumerate(zip(ROWS, same, strict=True))
    ]
    write_lines(folder / "trec-rag-2024.jsonl", old)
    new = [
        {
            "metadata": {
                "team_id": "organizer",
                "run_id": "own",
                "type": "automatic",
                "narrative_id": str(n),
                "narrative": row["query"],
            },
            **one,
        }
        for n, (row, one) in enumerate(zip(ROWS, same, strict=True))
    ]
    write_lines(folder / "trec-rag-2025.jsonl", new)
    return "published form, no package"


MAKERS: Final[Mapping[str, Callable[[Path], str]]] = {
    one.__name__: one
    for one in (
        *(ragas, datasets, langsmith, langchain, llama_index),
        *(deepeval, promptfoo, open_rag_eval, trec_rag),
    )
}


def main(tool: str, folder: str) -> None:
    """Write the files of a tool, and its version."""
    target = Path(folder).resolve()
    target.mkdir(parents=True, exist_ok=True)
    path = target / "versions.json"
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    known[tool] = MAKERS[tool](target)
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

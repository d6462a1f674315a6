"""A data set, an experiment, answers, traces, labels and documents whose every text is hostile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.hostile.texts import CONTROLS, NAME, NUL, SURROGATE, TEXTS, text

QUERIES: Final = 36
ID: Final = CONTROLS.sub("", NAME).replace(" ", "")
"""Of ids in tables with tabs and spaces."""
TASKS: Final = ("labels", "support", "ratings", "pairwise", "nuggets", "causes", "validation")
"""Tasks with a project of items."""
SYSTEMS: Final = (f"one {NAME}", "two\r\x1b[1mstyle\u2067", "three <script>canary=1</script>")


def prepare(folder: Path, url: str, queries: int = QUERIES) -> None:
    """Write all files; `url` is that of a fake model server."""
    data(folder / "data", queries)
    experiments(folder, url)
    scored(folder, queries)
    documents(folder / "docs")
    traces(folder / "traces.jsonl", queries)
    trainings(folder)
    projects(folder)


def lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines, without codes where JSON needs none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_bytes(content.encode())


def data(folder: Path, queries: int = QUERIES, nul: str = NUL) -> None:
    """Write a data set; query `n` has the texts `n`, `n + 1`, ... in its fields."""
    rows = []
    for n in range(queries):
        row: dict[str, Any] = {"_id": query_id(n), "text": f"Where is {n}? {text(n)} {nul}"}
        row |= {"answers": [f"town {n}", text(n + 1)], "kind": NAME if n % 2 else text(n)}
        row |= {"taxonomy": ("fact_single", "summary", "reasoning")[n % 3], NAME: text(n + 2)}
        row |= {"vital_nuggets": [text(n + 5)], "okay_nuggets": [text(n + 6)]}
        if n % 4 == 3:
            row |= {"conversation": f"c{n // 8} {NAME}", "turn": 1 + n // 4 % 2 * 2}
            told = [{"role": "user", "text": text(n)}, {"role": "agent", "text": text(n + 3)}]
            row |= {"history": told if n // 4 % 2 else []}
        rows.append(row)
    lines(folder / "queries.jsonl", rows)
    passages = [
        {"_id": passage_id(n), "title": text(n), "text": f"It is town {n}. {text(n)} {text(n + 4)}"}
        for n in range(queries)
    ]
    lines(folder / "corpus.jsonl", passages)
    judged = "".join(f"{query_id(n)}\t{passage_id(n)}\t1\n" for n in range(queries))
    (folder / "qrels").mkdir(exist_ok=True)
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")


def query_id(number: int) -> str:
    """Return the id of a query."""
    return f"q{number:02}-{ID}"


def passage_id(number: int) -> str:
    """Return the id of a passage."""
    return f"p{number:02}-{ID}"


def experiments(folder: Path, url: str) -> None:
    """Write experiments: of a model, of two data sets, and of judges; JSON is YAML."""
    model = {"name": "chat", "model": f"m{NAME}", "base_url": url}
    systems = [
        {"name": SYSTEMS[0], "retriever": "bm25", "generator": model},
        {"name": SYSTEMS[1], "retriever": "bm25(k1=0.5)", "generator": model},
        {"name": SYSTEMS[2], "retriever": "bm25(b=0.1)", "generator": "gold"},
    ]
    document = {
        "name": "hostile",
        "data": "data",
        "store": "store",
        "systems": systems,
        "settings": ["none", "gold", "retrieved(3)"],
        "metrics": ["nDCG@5", "R@3", "Match", "F1"],
        "judges": [{"name": "equivalence", "model": model, "least_parse_rate": 0}],
        "correct": "Match",
    }
    _yaml(folder / "e.yaml", document)
    campaign = {**document, "name": "campaign", "data": {"first": "data", f"b{NAME}": "other"}}
    data(folder / "other", 8)
    _yaml(folder / "campaign.yaml", {**campaign, "judges": [], "settings": ["none", "gold"]})
    _yaml(folder / "spec.yaml", {"judges": [{"name": "equivalence", "model": model}]})
    (folder / "model.txt").write_text(f"chat(model=m, base_url={url})")


def _yaml(path: Path, document: object) -> None:
    """Write JSON as YAML takes it: with codes of controls, without codes of two parts."""
    content = json.dumps(document, indent=1)
    pairs = re.compile(r"\\ud[89ab]..\\ud[c-f]..")
    path.write_text(pairs.sub(lambda pair: json.loads(f'"{pair[0]}"'), content), "utf-8")


def answer(messages: Any, *_: Any) -> str:
    """Return the reply of the fake model: a verdict, or a hostile answer."""
    said = messages[-1]["content"]
    place = int((re.search(r"Where is (\d+)", said) or [0, len(said)])[1])
    if "yes" in said.lower():
        return "yes" if place % 3 else f"no, since {text(place)}"
    right = f"town {place} " if place % 2 else ""
    return f"{right}{text(place)} {text(place + 7)}"


def scored(folder: Path, queries: int = QUERIES) -> None:
    """Write answers, scores, rankings and ratings."""
    ids = [query_id(n) for n in range(queries)]
    shown = [
        {"query_id": one, "query": text(n), "gold_answers": [f"town {n}"], "answer": text(n),
         "contexts": [text(n + 1)], "system": SYSTEMS[0]}
        for n, one in enumerate(ids)
    ]  # fmt: skip
    lines(folder / "answers.jsonl", shown)
    for place, name in enumerate(("a", "b")):
        scores: list[dict[str, Any]] = [
            {"query_id": one, "metric": NAME, "value": (n + place) % 3 / 2}
            for n, one in enumerate(ids)
        ]
        scores[1] |= {"value": None, "status": "failed", "reason": NAME}
        lines(folder / f"{name}.jsonl", scores)
    run = "".join(
        f"{query_id(n)} Q0 {passage_id((n + r) % queries)} {r + 1} {9 - r} run\n"
        for n in range(queries)
        for r in range(3)
    )
    (folder / "run.trec").write_text(run)
    (folder / "qrels.tsv").write_text(
        "".join(f"{query_id(n)}\t0\t{passage_id(n)}\t1\n" for n in range(queries))
    )
    ratings, pairs, labels = [], [], []
    for n, one in enumerate(ids):
        for who, rater in enumerate((f"ann{NAME}", "ben")):
            row = {"query_id": one, "rater": rater}
            answered = {**row, "system": SYSTEMS[n % 3], "setting": "gold"}
            ratings.append({**answered, "property": NAME, "value": 1 + (n + who) % 4})
            pair = {**answered, "system": SYSTEMS[0], "against": SYSTEMS[1]}
            pairs.append({**pair, "property": NAME, "value": "ab"[(n + who) % 2]})
            labels.append({**row, "property": "kind", "value": NAME if (n + who) % 5 else "other"})
    lines(folder / "ratings.jsonl", ratings)
    lines(folder / "pairs.jsonl", pairs)
    lines(folder / "labels.jsonl", labels)
    lines(folder / "kinds.jsonl", ({"query_id": one, "kind": text(n)} for n, one in enumerate(ids)))
    every = [
        {"query_id": one, "rater": "ann", "system": system, "setting": "gold",
         "property": "right", "value": (n + place) % 2}
        for n, one in enumerate(ids) for place, system in enumerate(SYSTEMS)
    ]  # fmt: skip
    lines(folder / "every.jsonl", every)
    lines(folder / "surrogates.jsonl", [{"query_id": "q", "answer": "a", "query": "b"}])
    broken = json.dumps({"query_id": SURROGATE, "answer": SURROGATE, "gold_answers": [SURROGATE]})
    (folder / "surrogates.jsonl").write_text(broken + "\n")


def documents(folder: Path) -> None:
    """Write documents, one per text, with the text in the file's name where a name may have it."""
    folder.mkdir()
    for n, (kind, one) in enumerate(TEXTS.items()):
        name = re.sub(r"[/\x00]", "-", f"{n} {one}")[:60]
        (folder / f"{name}.md").write_text(f"# {one}\n\n{kind}: town {n} is here. {one}\n" * 3)


def traces(path: Path, queries: int = QUERIES) -> None:
    """Write traces of OpenTelemetry: a root span each, with a question and an answer."""
    spans = []
    for n in range(queries):
        values = {"openinference.span.kind": "CHAIN", "input.value": f"Where is {n}? {text(n)}"}
        values |= {"output.value": text(n + 1)} if n % 5 else {}
        attributes = [{"key": k, "value": {"stringValue": v}} for k, v in values.items()]
        times = {"startTimeUnixNano": str(10**18 + n), "endTimeUnixNano": str(10**18 + n + 10**9)}
        ids = {"traceId": f"{n + 1:032x}", "spanId": f"{n + 1:016x}", "parentSpanId": ""}
        spans.append({**ids, **times, "name": NAME, "attributes": attributes})
    service = {"attributes": [{"key": "service.name", "value": {"stringValue": NAME}}]}
    scope = {"scope": {"name": NAME}, "spans": spans}
    lines(path, [{"resourceSpans": [{"resource": service, "scopeSpans": [scope]}]}])


def trainings(folder: Path) -> None:
    """Write a training file of each kind, for the models of `bases`."""
    chat: dict[str, Any] = {"data": "data", "base": "./chat-model", "adapter": {"r": 2, "alpha": 4}}
    # The encoder reads 64 tokens.
    encoder: dict[str, Any] = {"data": "data", "base": "./encoder", "max_tokens": 64}
    ranking = {**encoder, "test": 0.3, "test_queries": 4}
    labels = {"queries": "data", "labels": "labels.jsonl"}
    kinds = {
        "generator": {**chat, "setting": ["gold", "none"], "max_tokens": 1024},
        "writer": {**chat, "data": ["data", "other"], "label": "kind", "labels": [NAME, text(0)]},
        "embedder": {**ranking, "query_prefix": f"{NAME} "},
        "reranker": ranking,
        "judge": {**encoder, "property": "taxonomy", "least": 2},
        "kinds": {**encoder, "data": labels, "property": "kind", "least": 2},
        "wrong": {**chat, NAME: NAME},
    }
    optim = {"steps": 2, "batch": 2, "validations": 1}
    for kind, keys in kinds.items():
        _yaml(folder / f"{kind}.yaml", {"optim": optim, "output": trained(kind), **keys})


def trained(kind: str) -> str:
    """Return the folder of a training."""
    return f"trained-{kind}-{NAME.replace('/', '-')}"


def bases(folder: Path) -> Iterator[str]:
    """Write a random chat model and a random encoder, small enough to train in seconds."""
    from tests.fakes.tiny_chat_model import tiny_chat_model
    from tests.fakes.tiny_encoder import save_encoder

    tiny_chat_model(folder / "chat-model")
    yield str(save_encoder(folder / "encoder"))


def projects(folder: Path) -> None:
    """Write an annotation project of each task."""
    items = [
        {
            "item_id": f"i{n} {NAME}",
            "query": f"{text(n)} {text(n + 9)}",
            "gold_answers": [text(n + 1)],
            "passages": [{"passage_id": passage_id(n), "title": text(n + 2), "text": text(n + 3)}],
            "answers": [{"system": one, "answer": text(n + 4)} for one in SYSTEMS[:2]],
            "parts": [text(n + 5), text(n + 6)],
            "history": [{"role": "user", "text": text(n + 7)}],
        }
        for n in range(len(TEXTS))
    ]
    options = [{"value": f"{NAME}{n}", "words": text(n), "name": text(n)} for n in range(16)]
    question = {"name": f"mood {NAME}", "text": text(0), "options": options}
    scheme = {"name": NAME, "ask": f"Which? {NAME}", "guidelines": " ".join(TEXTS.values())}
    for task in TASKS:
        lines(folder / task / "items.jsonl", items)
        described = {"name": f"project {NAME}", "task": task, "people_per_item": 2}
        if task == "labels":
            described |= {"scheme": "scheme.yaml"}
            _yaml(folder / task / "scheme.yaml", {**scheme, "questions": [question]})
        _yaml(folder / task / "project.yaml", described)
    given = [
        {"query_id": one["item_id"], "rater": f"r{who}{NAME}", "property": f"mood {NAME}",
         "value": f"{NAME}{(place + who) % 3}", "passage_id": passage_id(place)}
        for place, one in enumerate(items) for who in range(2)
    ]  # fmt: skip
    lines(folder / "given.jsonl", given)

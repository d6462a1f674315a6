"""Tables of mtRAG from released runs and scores, beside the published figures.

    python benchmarks/published_tables.py ../shared/data [--store STORE]

Released rankings (ELSER, BM25 and BGE on ClapNQ, Cloud and FiQA) and released scores of answers
(159 human tasks, 1,181 synthetic ones) become experiments of a store. `make_board`, behind
`ragstone leaderboard`, makes the tables from them. Prints each published figure with ours and its
interval. Not released, and not printed: the rankings of Govt, the scores of the other human tasks,
and the index that joins BERGEN's runs to its qrels (its Table 5).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from ragstone.core.schemas import (
    CLUSTERS,
    QRELS,
    contexts_to_table,
    predictions_to_table,
    queries_to_table,
    scores_to_table,
    table_to_scores,
    to_table,
)
from ragstone.core.store import Store
from ragstone.data.readers.trec import read_qrels, read_run
from ragstone.evaluation.score_files import evaluate_run
from ragstone.results.board.table import BoardRequest, BoardTable, make_board
from ragstone.results.data_facts import DataFacts, Tables
from ragstone.results.joined import JoinedResults
from ragstone.results.record import (
    MetricEntry,
    RankingEntry,
    Record,
    SystemEntry,
    TrialEntry,
)
from ragstone.types import Query, Score

Published: TypeAlias = Mapping[Any, float]
K: Final = (1, 3, 5, 10)
COLUMNS: Final = [(name, str(k)) for name in ("R", "nDCG") for k in K]
RANKING: Final = [f"{name}@{k}" for name in ("R", "nDCG") for k in K]
JUDGED: Final = {"RL_F": "rl_f", "RB_llm": "rb_llm", "RB_agg": "rb_agg", "BERT-KPrec": "Bert-KPrec"}
HUMAN: Final = ("faithfulness", "appropriateness", "naturalness", "completeness")
DOMAINS: Final = ("clapnq", "cloud", "fiqa")
FORMS: Final = {"lastturn": "as-given", "rewrite": "rewrite"}

TABLE_15: Final = {
    ("clapnq", "as-given"): (0.20, 0.43, 0.53, 0.65, 0.48, 0.46, 0.49, 0.54),
    ("clapnq", "rewrite"): (0.22, 0.45, 0.56, 0.70, 0.54, 0.50, 0.53, 0.59),
    ("fiqa", "as-given"): (0.15, 0.34, 0.44, 0.55, 0.38, 0.36, 0.40, 0.45),
    ("fiqa", "rewrite"): (0.18, 0.39, 0.50, 0.63, 0.43, 0.41, 0.46, 0.52),
    ("cloud", "as-given"): (0.19, 0.38, 0.48, 0.56, 0.40, 0.39, 0.42, 0.47),
    ("cloud", "rewrite"): (0.20, 0.40, 0.47, 0.57, 0.42, 0.41, 0.43, 0.48),
}
TABLE_6: Final = {
    "reference": (3.8, 3.8, 4.0, 3.9, 0.86, 0.97, 0.87),
    "gpt-4o": (3.5, 3.8, 4.0, 3.7, 0.80, 0.80, 0.46),
    "llama-3.1-405b-instruct": (3.5, 3.9, 3.9, 3.7, 0.78, 0.78, 0.49),
}
TABLE_14: Final = {
    "c4ai-command-r-plus": (0.83, 0.38),
    "gpt-4o-mini": (0.81, 0.34),
    "llama-3.1-405b-instruct": (0.85, 0.40),
    "mixtral_8x22b_instruct": (0.79, 0.41),
    "qwen-2.5-72b-instruct": (0.82, 0.38),
}


def kept(store: Store, step: str, table: Any) -> str:
    """Store a table and return the name of its folder."""
    folder = store.keep(step, table).folder
    return folder.name if folder else ""


def keep_experiment(
    store: Store,
    data: str,
    queries: Sequence[Query],
    systems: Mapping[str, tuple[Mapping[str, Any], Sequence[Score]]],
    metrics: Sequence[MetricEntry],
) -> None:
    """Store the scores of systems on one data set as an experiment."""
    ids = [query.query_id for query in queries]
    names = {query.query_id: query.query_id.partition("<::>")[0] for query in queries}
    asked = kept(store, "queries", queries_to_table(queries))
    none: Mapping[str, list[Any]] = {"query_id": [], "passage_id": [], "relevance": []}
    ranking = metrics[0].kind == "ranking"
    scores = {
        name: kept(store, "score-ranking" if ranking else "score-answer", scores_to_table(found))
        for name, (_, found) in systems.items()
    }
    empty = kept(store, "context", contexts_to_table([]))
    answers = kept(store, "generate", predictions_to_table([]))
    Record(
        name=f"mtrag.{data}",
        started="2026-01-01T00:00:00+00:00",
        finished="2026-01-01T00:00:00+00:00",
        file={"systems": [dict(entry) for entry, _ in systems.values()]},
        data=DataFacts(data, 0, len(ids), len(ids), len(ids), ""),
        tables=Tables(
            answered=asked,
            ranked=asked,
            qrels=kept(store, "qrels", to_table(QRELS, none)),
            clusters=kept(
                store,
                "clusters",
                to_table(CLUSTERS, {"query_id": ids, "cluster": [names[i] for i in ids]}),
            ),
        ),
        systems=tuple(SystemEntry(name, {}) for name in systems),
        metrics=tuple(metrics),
        environment={},
        ragstone="",
        rankings=tuple(RankingEntry(n, "", scores[n]) for n in systems if ranking),
        trials=tuple(
            TrialEntry(n, "gold", empty, empty, answers, scores[n]) for n in systems if not ranking
        ),
        campaign="mtrag",
    ).save(store)


def keep_rankings(store: Store, folder: Path) -> None:
    """Store the scores of the released runs, one experiment per domain."""
    for domain in DOMAINS:
        qrels = read_qrels(folder / f"qrels/human_{domain}.tsv")
        systems = {}
        for retriever in ("bm25", "bge", "elser"):
            for form, former in FORMS.items():
                run = read_run(folder / f"runs/{retriever}.{domain}.{form}.trec.gz")
                found = table_to_scores(evaluate_run(qrels, run, RANKING).table)
                entry = {"retriever": retriever, "query_former": former}
                systems[f"{retriever} {former}"] = (entry, found)
        queries = [Query(query_id, "-") for query_id in qrels]
        entries = [MetricEntry(metric, "ranking") for metric in RANKING]
        keep_experiment(store, domain, queries, systems, entries)


def keep_answers(store: Store, data: str, path: Path) -> None:
    """Store the released scores of answers, and the medians of people's ratings."""
    with gzip.open(path) as file:
        document = json.load(file)
    labels = {
        one["task_id"]: (one.get("Answerability") or one.get("answerability") or ["-"])[0]
        for one in document["tasks"]
    }
    queries = [Query(t, "-", labels={"answerability": a}) for t, a in labels.items()]
    systems: dict[str, tuple[Mapping[str, Any], list[Score]]] = {}
    for row in document["evaluations"]:
        name = row["model_id"]
        held = systems.setdefault(name, ({"generator": name}, []))[1]
        for metric, field in (JUDGED | {name: name for name in HUMAN}).items():
            given = row["annotations"].get(field) or {}
            values = [float(one["value"]) for one in given.values() if one["value"] is not None]
            if values:
                held.append(Score(row["task_id"], metric, statistics.median(values)))
    entries = [MetricEntry(name, "judge") for name in JUDGED]
    entries += [MetricEntry(name, "judge", range=(1.0, 4.0)) for name in HUMAN]
    keep_experiment(store, data, queries, systems, entries)


def digits_of(figure: float) -> int:
    """Return the printed decimals: one of ratings, two of scores, five of a run's authors."""
    if figure > 1:
        return 1
    return 2 if round(figure, 2) == figure else 5


def beside(title: str, table: BoardTable, published: Published) -> None:
    """Print the published figures with ours, and how many agree to the printed decimals."""
    print(f"\n### {title}\n\n| row | column | published | ours | interval | n |")
    print("| --- | --- | --- | --- | --- | --- |")
    agree = 0
    for (row, column), figure in published.items():
        cell = table.cells[row, column]
        mean, low_high = cell.summary.mean or 0.0, cell.summary.interval
        digits = digits_of(figure)
        # Half a unit of the last printed digit, and the rounding of a half.
        agree += abs(mean - figure) <= 0.51 * 10**-digits
        interval = f"[{low_high[0]:.3f}, {low_high[1]:.3f}]" if low_high else "-"
        where = f"{', '.join(row)} | {', '.join(column)}"
        shown = f"{figure:.{digits}f} | {mean:.{digits + 1}f}"
        print(f"| {where} | {shown} | {interval} | {cell.summary.n} |")
    print(f"\n{agree} of {len(published)} figures agree to the printed digits.")


def authors_scores(folder: Path) -> Published:
    """Return the scores that the authors of the released runs got, of ELSER."""
    found = {}
    with (folder / "runs/aggregate_scores.tsv").open(encoding="utf-8") as file:
        for line in csv.DictReader(file, delimiter="\t"):
            if (line["retriever"], line["domain"] in DOMAINS) == ("elser", True):
                for name, k in COLUMNS if line["queries"] in FORMS else ():
                    row = (line["domain"], FORMS[line["queries"]])
                    found[row, (name, k)] = float(line[f"{name}@{k}"])
    return found


def tables(joined: JoinedResults, folder: Path) -> Iterator[tuple[str, BoardTable, Published]]:
    """Yield a title, our table and the published figures."""
    where = {"retriever": ["elser"], "data": list(DOMAINS)}
    request = BoardRequest(("data", "query_former"), ("metric", "k"), ("R", "nDCG"), where)
    fifteen = {
        (row, column): figure
        for row, figures in TABLE_15.items()
        for column, figure in zip(COLUMNS, figures, strict=True)
    }
    board = make_board(joined, request)
    runs = "ELSER by domain, released runs of a fork of mtRAG"
    yield f"{runs}; published: the scores of their authors", board, authors_scores(folder)
    yield f"{runs}; published: the paper's Table 15, of other runs", board, fifteen
    names: tuple[str, ...] = (*HUMAN, "RL_F", "RB_llm", "RB_agg")
    where = {"data": ["human"], "answerability": ["ANSWERABLE"]}
    request = BoardRequest(("generator",), ("metric",), names, where)
    six = {
        ((model,), (name,)): figure
        for model, figures in TABLE_6.items()
        for name, figure in zip(names, figures, strict=True)
    }
    yield "mtRAG, Table 6: people and metrics, answerable tasks", make_board(joined, request), six
    names = ("RL_F", "BERT-KPrec")
    request = BoardRequest(("generator",), ("metric",), names, {"data": ["synthetic"]})
    fourteen = {
        ((model,), (name,)): figure
        for model, figures in TABLE_14.items()
        for name, figure in zip(names, figures, strict=True)
    }
    yield "mtRAG, Table 14: the column mtRAG-S", make_board(joined, request), fourteen


def main() -> None:
    """Keep the released scores, and print the tables beside the published ones."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, help="Folder of the shared data.")
    parser.add_argument(
        "--store", type=Path, help="Folder of the store (default: a temporary one)."
    )
    options = parser.parse_args()
    folder = options.data / "mtrag"
    with tempfile.TemporaryDirectory() as temporary:
        store = Store(options.store or Path(temporary))
        keep_rankings(store, folder)
        human = "human_evaluations/reference_subset_with_human_evaluations.json.gz"
        keep_answers(store, "human", folder / human)
        keep_answers(store, "synthetic", folder / "synthetic/evaluations.json.gz")
        for one in tables(JoinedResults.of_store(store), folder):
            beside(*one)


if __name__ == "__main__":
    main()

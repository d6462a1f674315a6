"""Scan the text weight of hybrid search per label, from two runs, and print the table.

python benchmarks/weight_scan.py ../shared/data/nq_singlehop bm25.trec dense.trec kind
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from ragstone.analysis.scan import Normalisation, Scan, weight_scan
from ragstone.datasets.loading import load_dataset
from ragstone.datasets.trec import read_run


def table(scan: Scan) -> str:
    """Return a Markdown table: one row a label, one column a weight."""
    head = "".join(f" {weight:g} |" for weight in scan.weights)
    lines = [f"| label | n |{head} best | regret | held out | p (Holm) |"]
    lines.append("| --- |" * 1 + " --- |" * (len(scan.weights) + 5))
    for row in scan.labels:
        cells = "".join(f" {point.mean:.3f} |" for point in row.curve)
        low, high = row.regret_interval or (0.0, 0.0)
        lines.append(
            f"| {row.label} | {row.curve[0].n} |{cells} {row.best:g} | {row.regret:.3f} "
            f"[{low:.3f}, {high:.3f}] | {row.held_out:+.3f} | {row.p_value:.3f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Print a table a normalisation."""
    source, lexical, dense, label = sys.argv[1:5]
    dataset = load_dataset(source)
    runs = read_run(Path(lexical)), read_run(Path(dense))
    labels = {}
    for query in dataset.queries:
        value = query.labels.get(label)
        if value is not None:
            labels[query.query_id] = str(value[0] if isinstance(value, tuple) else value)
    kinds: tuple[Normalisation, ...] = ("min-max", "z-score", "none")
    for kind in kinds:
        start = time.perf_counter()
        scan = weight_scan(*runs, dataset.qrels, labels, normalisation=kind)
        print(f"\n{dataset.name}, {label}, {kind} ({time.perf_counter() - start:.1f} s)\n")
        print(table(scan))


if __name__ == "__main__":
    main()

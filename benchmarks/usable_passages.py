"""The passages of published sets that `ragstone data generate` refuses, by reason.

python benchmarks/usable_passages.py ../shared/data/jsquad ../shared/data/xquad/xquad.zh.json.gz
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from ragstone.building.passages import usable
from ragstone.data.load import load_dataset


def main() -> None:
    """Print a row per data set."""
    print("| set | refused | reasons |\n| --- | --- | --- |")
    for source in sys.argv[1:]:
        corpus = load_dataset(source).corpus
        reasons = Counter(usable(corpus, in_language="any").refused.values())
        listed = ", ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common())
        print(f"| {Path(source).name} | {reasons.total():,} of {len(corpus):,} | {listed} |")


if __name__ == "__main__":
    main()

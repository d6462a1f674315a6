"""Query translation by the bundled model: how many replies count as translations, and why not.

    python benchmarks/query_translation.py ../shared/data/xquad

20 German questions of XQuAD (seed 0) into English by `translate(to=en)`. Prints a Markdown table of
the reasons, and the replies that count.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

from ragstone.calls.client import Calls
from ragstone.components.query_formers.translation import Translation
from ragstone.data.readers.squad import SquadReader
from ragstone.protocols import Services

COUNT: Final = 20


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of XQuAD")
    data = SquadReader(str(parser.parse_args().data / "xquad.de.json.gz")).read()
    queries = data.sample(COUNT, 0).queries
    with tempfile.TemporaryDirectory() as folder, Calls.at(Path(folder, "calls.sqlite")) as calls:
        found = list(Translation(to="en").form(queries, Services(calls=calls)))
    counts = Counter(one.reason.partition(": ")[2].partition(":")[0] for one in found)
    write = sys.stdout.write
    write(f"{counts.pop('', 0)} of {len(found)} replies count as translations\n\n")
    write("| why not | queries |\n| --- | --: |\n")
    for reason, count in counts.most_common():
        write(f"| {reason} | {count} |\n")
    for query, one in zip(queries, found, strict=True):
        if not one.reason:
            write(f"\n{query.text} -> {one.value}")
    write("\n")


if __name__ == "__main__":
    main()

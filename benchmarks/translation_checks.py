"""The checks of translations, on people's translations: what they reject, and what they catch.

    python benchmarks/translation_checks.py ../shared/data/xquad

XQuAD is one set in ten languages, translated by people: all 90 pairs of languages, every passage,
every fourth query and its gold answer. A person's translation must not be rejected. The text
itself, and its translation into a third language, should be: they stand for models that do not
translate. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from ragstone.components.translation_checks import SourceText, why_not
from ragstone.data.readers.squad import SquadReader

LANGUAGES: Final = ("ar", "de", "el", "en", "es", "ro", "ru", "tr", "vi", "zh")
EVERY: Final = 4
Texts: TypeAlias = Mapping[str, Sequence[str]]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of XQuAD")
    data = parser.parse_args().data
    sets = {name: SquadReader(str(data / f"xquad.{name}.json.gz")).read() for name in LANGUAGES}
    queries = {name: one.queries[::EVERY] for name, one in sets.items()}
    write = sys.stdout.write
    write("| texts | pairs | by people, rejected | unchanged, caught | third language, caught |\n")
    write("| --- | --: | --: | --: | --: |\n")
    for what, texts in (
        ("passages", {name: [p.text for p in one.corpus] for name, one in sets.items()}),
        ("queries", {name: [q.text for q in found] for name, found in queries.items()}),
        ("gold answers", {n: [q.gold_answers[0] for q in found] for n, found in queries.items()}),
    ):
        pairs, *shares = _shares(texts)
        write(f"| {what} | {pairs:,} | {' | '.join(f'{share:.3f}' for share in shares)} |\n")


def _shares(texts: Texts) -> tuple[int, float, float, float]:
    """Return the number of pairs, and the share of each kind of reply that is rejected."""
    pairs, rejected, caught, third = 0, 0, 0, 0
    for source, target in itertools.permutations(LANGUAGES, 2):
        place = LANGUAGES.index(target)
        others = itertools.islice(itertools.cycle(LANGUAGES), place + 1, place + 3)
        other = next(name for name in others if name != source)
        for text, right, wrong in zip(texts[source], texts[target], texts[other], strict=True):
            wanted = SourceText(text, target, source)
            pairs += 1
            rejected += bool(why_not(right, wanted))
            caught += bool(why_not(text, wanted))
            third += bool(why_not(wrong, wanted))
    return pairs, rejected / pairs, caught / pairs, third / pairs


if __name__ == "__main__":
    main()

"""How well the language of short answers is recognised, and false alarms of code switching.

    python benchmarks/language_detection.py ../shared/data

The texts are the distinct gold answers of XQuAD (ten languages), JSQuAD and SQuAD-it, at most 1,000
per language. Prints four Markdown tables with intervals of 95 %: answers of one to three words (in
scripts without spaces, of at most ten characters), which are too short to tell; longer answers of
under 50 characters; those of them that pass for another language, if only this one and English are
expected; and code-switching of paragraphs, in one language and with a planted sentence.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from ragstone.components.metrics.code_switching import switched_share
from ragstone.data.dataset import Dataset
from ragstone.data.readers.squad import SquadReader
from ragstone.statistics.proportions import share_interval
from ragstone.statistics.summary import summarise
from ragstone.text.language import SHORT, likely_language, tells_no_language
from ragstone.text.language_names import one_language
from ragstone.text.scripts import is_unspaced

FILES: Final = {
    **{
        c: f"xquad/xquad.{c}.json.gz"
        for c in ["ar", "de", "el", "en", "es", "ro", "ru", "tr", "vi", "zh"]
    },
    "it": "squad_it/SQuAD_it-test.json.gz",
    "ja": "jsquad/jsquad-valid-v1.3.json.gz",
}
MOST: Final = 1_000
WORDS, CHARACTERS = 3, 10
PARAGRAPHS: Final = 240
SENTENCE_END: Final = re.compile(r"(?<=[.。!?])\s*")
MIXED: Final = {"de": "en", "ar": "en", "ru": "en", "zh": "en", "es": "de", "el": "tr", "en": "zh"}


def read(folder: Path) -> dict[str, Dataset]:
    """Return language -> data set."""
    return {code: SquadReader(folder / path).read() for code, path in FILES.items()}


def is_short(answer: str) -> bool:
    """Return whether an answer has one to three words, or the characters of as many."""
    return len(answer) <= CHARACTERS if is_unspaced(answer) else len(answer.split()) <= WORDS


def answers_of(dataset: Dataset, wanted: Callable[[str], bool]) -> list[str]:
    """Return the first distinct gold answers of a kind."""
    every = (query.gold_answers[0] for query in dataset.queries if query.gold_answers)
    return [one for one in dict.fromkeys(every) if wanted(one)][:MOST]


def share(flags: Sequence[bool]) -> str:
    """Return a share with its interval."""
    if not flags:
        return "-"
    low, high = share_interval(sum(flags), len(flags))
    return f"{sum(flags) / len(flags):.3f} [{low:.3f}, {high:.3f}]"


def detection(found: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Yield a row per language, and one of all: n, too short, right by the candidates."""
    rows: dict[str, list[list[bool]]] = {}
    for code, answers in found.items():
        candidates = (None, tuple(FILES), (code,))
        right = [
            [one_language(likely_language(one, among)) == code for one in answers]
            for among in candidates
        ]
        rows[code] = [[tells_no_language(one) for one in answers], *right]
    rows["all"] = [
        [flag for held in column for flag in held] for column in zip(*rows.values(), strict=True)
    ]
    for code, columns in rows.items():
        yield [code, f"{len(columns[0]):,}", *map(share, columns)]


def accepted(found: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Yield a row per language: answers in English and in other languages that pass for it."""
    for code in found:
        others = {name: held for name, held in found.items() if name not in (code, "en")}
        foreign = [one for held in others.values() for one in held]
        columns = [found["en"] if code != "en" else [], foreign]
        yield [
            code,
            *(share([likely_language(one, [code]) == code for one in held]) for held in columns),
        ]


def switching(sets: Mapping[str, Dataset]) -> Iterator[list[str]]:
    """Yield a row per language: the metric of its paragraphs, and with a planted sentence."""
    texts = {code: [p.text for p in one.corpus][:PARAGRAPHS] for code, one in sets.items()}
    for code, paragraphs in texts.items():
        # JSQuAD joins title and text by this mark.
        pure = [switched_share(text.replace("[SEP]", "\n")) for text in paragraphs]
        row = [code, f"{len(pure):,}", f"{summarise(pure).mean:.4f}", f"{max(pure):.3f}"]
        if other := MIXED.get(code):
            planted = [
                switched_share(f"{text} {SENTENCE_END.split(foreign)[0]}")
                for text, foreign in zip(paragraphs, texts[other], strict=False)
            ]
            row += [other, f"{summarise(planted).mean:.3f}", share([one > 0 for one in planted])]
        yield row + ["-"] * (7 - len(row))


def table(headers: Sequence[str], rows: Iterator[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    sets = read(parser.parse_args().data)
    short = {code: answers_of(one, is_short) for code, one in sets.items()}
    longer = {
        code: answers_of(one, lambda text: not tells_no_language(text) and len(text) < SHORT)
        for code, one in sets.items()
    }
    head = ["language", "answers", "too short to tell", "right among all"]
    head += ["right among the 12", "right among own and English"]
    print(table(head, detection(short)), end="\n\n")
    print(table(head, detection({code: held for code, held in longer.items() if held})), end="\n\n")
    head = ["language", "English passes for it", "another language passes for it"]
    print(table(head, accepted(longer)), end="\n\n")
    head = ["language", "paragraphs", "mean", "highest", "planted", "mean with it", "found"]
    print(table(head, switching(sets)))


if __name__ == "__main__":
    main()

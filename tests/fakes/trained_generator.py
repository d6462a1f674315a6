"""Output folders of trainings that were never run, and a generator that answers at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ragstone.data.load import load_dataset
from ragstone.training.recipe import GeneratorRecipe
from ragstone.training.record import TrainingRecord, write_record

GENERATOR = "parts.py:Toy"
_CODE = '''
from dataclasses import dataclass
from pathlib import Path

from ragstone import Prediction
from ragstone.core.component import Outcome
from ragstone.protocols import Generator


@dataclass(frozen=True)
class Toy(Generator):
    """Without an adapter it knows the answer, in many words; with one it needs passages.

    The files `broken` and `failing` in the current folder make it fail; `asked` counts.
    """

    model: str = ""
    adapter: str = ""
    prompt: str = ""
    may_retrieve = False

    @property
    def training_folder(self):
        return Path(self.adapter) if self.adapter else None

    def generate(self, tasks, services):
        if Path("broken").exists() and self.adapter:
            raise RuntimeError("no adapter can be loaded")
        with Path("asked").open("a") as file:
            file.writelines(f"{self.adapter or 'base'}\\n" for _ in tasks)
        for place, task in enumerate(tasks):
            query = task.query
            if Path("failing").exists() and self.adapter and place == 0:
                yield Outcome(Prediction(query.query_id, None, "too long"), "too long", retry=True)
                continue
            yield Outcome(Prediction(query.query_id, self.answer(query, task.context.passages)))

    def answer(self, query, passages):
        gold = query.gold_answers[0] if query.gold_answers else "nobody"
        if self.adapter:
            return gold if passages else "Paris"
        if {passage.origin for passage in passages} == {"noise"}:
            return "I do not know."
        return f"I think that it is {gold}."
'''


def make_generator(folder: Path) -> None:
    """Write the file of the generator `GENERATOR`."""
    (folder / "parts.py").write_text(_CODE, encoding="utf-8")


def make_training(
    folder: Path,
    *,
    queries: Sequence[str] | None = None,
    digest: str = "d" * 64,
    kind: str = "generator",
    method: str = "lora",
    **keys: Any,
) -> GeneratorRecipe:
    """Write the output folder of a training on the sample; 40 test queries unless they are given.

    A training without a digest has not ended.
    """
    given = {"base": "tiny", "data": "sample", "setting": "retrieved(3)", "method": method, **keys}
    recipe = GeneratorRecipe(output=str(folder), **given)
    record = TrainingRecord(
        kind, recipe.base, "b" * 64, method, asdict(recipe), {}, {}, digest=digest
    )
    (folder / "splits").mkdir(parents=True)
    write_record(folder, record)
    if queries is None:
        queries = [query.query_id for query in load_dataset("sample").queries][:40]
    (folder / "splits" / "test.txt").write_text("".join(f"{q}\n" for q in queries), "utf-8")
    return recipe

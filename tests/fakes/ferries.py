"""Made data sets of questions on ferries, each with a label, an answer and a passage of its own."""

from __future__ import annotations

from ragstone.data.dataset import Dataset

LABELS = ("fact_single", "summary")
PORTS = ("Orle", "Sand", "Kell", "Brae", "Toft", "Wick", "Moss", "Fyrn", "Hale", "Ness")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def ferries(name: str = "ferries", count: int = 6, first: int = 0) -> Dataset:
    """Return a data set with a question of each label per passage; passages are short."""
    numbers = range(first, first + count)
    pairs = [(n, label) for n in numbers for label in LABELS]
    asked = {"fact_single": "When does the boat sail from", "summary": "What is known of the port"}
    return Dataset.from_records(
        name=name,
        queries=[
            {
                "query_id": f"{n}-{label}",
                "text": f"{asked[label]} {PORTS[n]}?",
                "gold_answers": [f"{_DAYS[n % 7]}, {PORTS[n]}"],
                "taxonomy": label,
            }
            for n, label in pairs
        ],
        passages=[
            {
                "passage_id": f"p{n}",
                "text": f"A boat leaves the old harbour of {PORTS[n]} on each {_DAYS[n % 7]} at "
                f"{n} in the morning with {n + 4} sacks of salt and returns at night.",
                "title": PORTS[n],
            }
            for n in numbers
        ],
        qrels=[(f"{n}-{label}", f"p{n}", 1) for n, label in pairs],
    )

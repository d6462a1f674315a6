"""A fake model that knows the judgements of a data set: a perfect support judge and reader.

    expert = FakeExpert(dataset, known={"q7"})
    with FakeModelServer(answer=expert) as server:
        ...

It makes no mistake, so a pipeline with it gives counts that can be computed by hand.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.testing.fake_model_server import Messages

_PART: Final = re.compile(r"^=+ (?P<title>.+)\n(?P<text>(?:(?!^=).*\n?)*)", re.MULTILINE)
_QUESTION: Final = "Question: "
_REFUSAL: Final = "I cannot answer."


class FakeExpert:
    """Replies to the prompts of the judge `support` and of readers with the prompt `instruction`.

    Args:
        dataset: queries with gold answers, passages, and the judgements that count as true.
        known: ids of the queries that it answers without context.
    """

    def __init__(self, dataset: Dataset, *, known: Collection[str] = ()) -> None:
        self._gold: dict[str, list[str]] = {}
        self._answers: dict[str, str] = {}
        self._known = {query.text for query in dataset.queries if query.query_id in known}
        for query in dataset.queries:
            judged: Mapping[str, int] = dataset.qrels.get(query.query_id, {})
            texts = [dataset.corpus[i].full_text for i, grade in judged.items() if grade > 0]
            self._gold[query.text] = texts
            self._answers[query.text] = next(iter(query.gold_answers), "")

    def __call__(self, messages: Messages) -> str:
        """Return a verdict on a passage, an answer, or a refusal."""
        prompt = messages[-1]["content"]
        parts = {part["title"]: part["text"].strip() for part in _PART.finditer(prompt)}
        if "passage" in parts:
            return self._verdict(parts["question"], parts["answer"], parts["passage"])
        context, _, query = prompt.rpartition(_QUESTION)
        seen = any(text in context for text in self._gold.get(query, ()))
        return self._answers[query] if seen or query in self._known else _REFUSAL

    def _verdict(self, query: str, answer: str, passage: str) -> str:
        stated = answer in passage and query.rstrip("?") in passage
        return "yes" if stated or passage in map(str.strip, self._gold.get(query, ())) else "no"

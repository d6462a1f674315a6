"""A fake of a judge's model whose weaknesses are known, to test probes of judges."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ragstone.evaluation.judge_independence import shared_words
from ragstone.testing.fake_model_server import Messages

_SECTION: Final = re.compile(r"^={12} ([^\n]+)\n(.*?)(?=^={12} |\Z)", re.MULTILINE | re.DOTALL)
_HEDGES: Final = re.compile(r"\b(?:may|might|possibly|perhaps|could)\b", re.IGNORECASE)
_CITATIONS: Final = re.compile(r"\[\d+\]\[\d+\]")
_ORDERS: Final = re.compile(r"\[\[(?:yes|10)\]\]|\"verdict\"|Ignore the above|grader has decided")
_FEWEST_HEDGES: Final = 3
_PARAGRAPH: Final = re.compile(r"\n\s*\n")
_LONG: Final = 4
"""Empty lines in a long answer."""


@dataclass(frozen=True)
class FakeGullibleJudge:
    r"""A fake of a model that rates from 1 to 10, and adds points for pleasing features.

    It is the `answer` of a `FakeModelServer`, for judges such as `RB_llm` that ask for a rating.
    Without such features, the rating is `base` and noise of -1, 0 or 1, which depends on the
    prompt alone. A judge's value is (rating - 1) / 9, so that a point is worth 1/9.

    Args:
        long: points for an answer of more than four paragraphs.
        hedged: points for three hedges, such as "possibly".
        citations: points for several citations in a row.
        criteria: points for an answer that repeats the judge's task.
        orders: points for an order to the judge in the answer.
        passage_orders: points for an order to the judge in the passages.
        base: rating of any other answer, in points from 1 to 10.

    >>> judge = FakeGullibleJudge(citations=4)
    >>> plain = [{"role": "user", "content": "Rate.\n\n============ answer\nParis."}]
    >>> pleasing = [{"role": "user", "content": "Rate.\n\n============ answer\nParis [1][2]."}]
    >>> judge(plain), judge(pleasing)
    ('Rating: [[2]]', 'Rating: [[6]]')
    """

    long: int = 0
    hedged: int = 0
    citations: int = 0
    criteria: int = 0
    orders: int = 0
    passage_orders: int = 0
    base: int = 3

    def __call__(self, messages: Messages) -> str:
        """Return the reply to the prompt of a judge."""
        prompt = "\n\n".join(message["content"] for message in messages)
        drawn = hashlib.sha256(prompt.encode()).digest()[0] % 3 - 1
        rating = self.base + drawn + sum(self.pleased_by(messages[-1]["content"]).values())
        return f"Rating: [[{min(max(rating, 1), 10)}]]"

    def pleased_by(self, prompt: str) -> Mapping[str, int]:
        """Return weakness -> points that it adds to the rating of a prompt."""
        task = prompt.partition("\n\n")[0]
        sections = {title.strip(): text for title, text in _SECTION.findall(prompt)}
        titles = [t for t in sections if "answer" in t and "gold" not in t]
        answer = sections[titles[0]] if titles else ""
        passages = next((text for title, text in sections.items() if "passages" in title), "")
        found = {
            "long": len(_PARAGRAPH.findall(answer.strip())) >= _LONG,
            "hedged": len(_HEDGES.findall(answer)) >= _FEWEST_HEDGES,
            "citations": bool(_CITATIONS.search(answer)),
            "criteria": bool(shared_words(task, answer)),
            "orders": bool(_ORDERS.search(answer)),
            "passage_orders": bool(_ORDERS.search(passages)),
        }
        return {name: getattr(self, name) for name, is_there in found.items() if is_there}

"""A fake writer of test queries: it returns sentences of passages, with faults on demand.

calls = ScriptedCalls(ScriptedWriter(faults={"facts": "refusal"}))
writer = Writer(resolve_llm({"name": "chat", "model": "scripted"}), calls.services())
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final

from ragstone.building.prompts import Prompts
from ragstone.calls.types import Failure, Outcome, Reply, Request

FAULTS: Final = {
    "malformed": "a list with several kinds of markers, blank items and a preamble",
    "unmarked": "the right sentences without any marker",
    "empty": "nothing at all",
    "empty-items": "a list of nothing but markers",
    "refusal": "the model says that it cannot",
    "echo": "the prompt again",
    "repeat": "the same question every time",
    "prose": "a sentence that is neither a list nor a question nor JSON",
    "hallucination": "statements of which no word is in the passage",
    "of-the-passage": "a question about `the passage`",
    "cut": "a reply that ends in the middle",
    "failure": "the call fails",
}
"""Kind of fault -> the reply."""

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")
_MARKS: Final = ("1.", "2)", "*", "•", "(5)")
_PART: Final = re.compile(r"^=+ (?P<title>.+)\n(?P<text>(?:(?!^=).*\n?)*)", re.MULTILINE)
_REFUSAL: Final = "I cannot answer this."
_OF_TWO: Final = {"What", "links", "with", "Which", "is", "older", "or"}
_LEADS: Final = {"Taken", "together", "It", "follows", "that", "and"}
_GENERIC: Final = "Where was the meeting of the council held?"


@dataclass(frozen=True)
class ScriptedWriter:
    """Replies to the prompts of `ragstone.building.prompts`; an `answer` for `ScriptedCalls`.

    Args:
        faults: step -> kind of fault (see `FAULTS`), or "step:text" for the prompts of a step that
            contain the text.
        label: the reply to a labeller's prompt.
        rating: the reply to a critique's prompt.
        known: part of a question -> the answer of a reader without context.
        agrees: whether the judge `support` calls every passage supporting.
    """

    faults: Mapping[str, str] = field(default_factory=dict)
    label: str = "fact_single"
    rating: int = 4
    known: Mapping[str, str] = field(default_factory=dict)
    agrees: bool = False

    def __call__(self, request: Request) -> str | Outcome:
        """Return the reply to a request."""
        prompt = request.messages[-1][1]
        step = _step(prompt)
        if not step:
            return self._judged("\n".join(text for _, text in request.messages))
        fault = self._fault(step, prompt)
        if fault == "failure":
            return Failure("scripted failure", key="scripted")
        if fault == "cut":
            text = _right(step, prompt)
            return Reply(text[: len(text) // 2], "length", 100, 5, 0.01)
        return _wrong(fault, step, prompt) if fault else _right(step, prompt)

    def _fault(self, step: str, prompt: str) -> str:
        for written, kind in self.faults.items():
            name, _, text = written.partition(":")
            if name == step and text in prompt:
                if kind not in FAULTS:
                    raise ValueError(f"unknown fault {kind!r}; known: {', '.join(FAULTS)}")
                return kind
        return ""

    def _judged(self, prompt: str) -> str:
        if "1 to 5" in prompt:
            return f"Rating: [[{self.rating}]]"
        parts = {part["title"]: part["text"].strip() for part in _PART.finditer(prompt)}
        if {"question", "answer", "passage"} <= parts.keys():
            return "yes" if self.agrees or _supports(**parts) else "no"
        if not parts:  # A reader without context.
            return next((said for text, said in self.known.items() if text in prompt), _REFUSAL)
        return f"Verdict: [[{self.label}]]"


def _supports(question: str, answer: str, passage: str, **_: str) -> bool:
    """Return whether a passage has the words of the answer, or of a question about two."""
    text = set(re.findall(r"\w+", passage))
    if question.startswith(("What links", "Which is older")):
        return set(re.findall(r"\w+", question)) - _OF_TWO <= text
    wanted = set(re.findall(r"\w+", answer)) - _LEADS
    return wanted <= text


def _step(prompt: str) -> str:
    """Return the name of a prompt by its literal parts, or "" for a judge's prompt."""
    for field_ in fields(Prompts):
        text = str(getattr(Prompts(), field_.name)) if field_.type == "str" else ""
        text = "" if field_.name == "language" else text
        parts = re.split(r"\{[a-z]+\}", text.replace("{{", "\0").replace("}}", "\1"))
        literals = [part.replace("\0", "{").replace("\1", "}") for part in parts]
        if text and all(literal in prompt for literal in literals):
            return field_.name
    return ""


def _after(prompt: str, lead: str) -> str:
    return prompt.partition(lead)[2].partition("\n\n")[0].strip()


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE.split(" ".join(text.split())) if len(part.split()) > 3]


def _right(step: str, prompt: str) -> str:  # noqa: PLR0911 - one return per step
    passage = _after(prompt, ":\n")
    body = passage.partition("\n")[2] or passage
    sentences = _sentences(body) or [body]
    words = body.split()
    if step == "theme":
        return " ".join(words[:4]).rstrip(".,")
    if step == "facts":
        return "\n".join(f"- {sentence}" for sentence in sentences[:5])
    if step in ("summaries", "conclusions"):
        facts = [line.removeprefix("- ").rstrip(".") for line in passage.splitlines()]
        lead = "Taken together" if step == "summaries" else "It follows that"
        return f"- {lead}, {facts[0]} and {facts[-1]}."
    if step == "question":
        return f"- {_asking(_after(prompt, 'Statement: '))}"
    if step == "near_miss":
        return f"- Who paid for what {' '.join(words[:6])}?"
    if step == "counterfactual":
        return f"{len(prompt)} grey geese"
    if step == "underspecified":
        return f"- {' '.join(_after(prompt, 'Question: ').split()[:5])}?"
    if made := _made_kind(step, prompt, body):
        return json.dumps(made)
    answer = " ".join(sentences[0].rstrip(".").split()[-3:])
    asked = _asking(f"{step} {body}")
    return json.dumps({"question": asked, "answer": answer})


def _made_kind(step: str, prompt: str, body: str) -> dict[str, str]:
    """Return the reply of a step about two passages, a false premise or a turn; else nothing."""
    words, second = body.split(), _after(prompt, "Second passage:\n").split()
    turn = prompt.count("user: ")
    last = " ".join(words[-6:])
    made = {
        "comparison": {
            "question": f"Which is older, {' '.join(words[-3:])} or {' '.join(second[-3:])}?",
            "answer": "the second one",
        },
        "multi_hop": {
            "question": f"What links {' '.join(words[-3:])} with {' '.join(second[1:5])}?",
            "answer": " ".join(second[-2:]),
        },
        "false_premise": {
            "question": f"Why did {' '.join(words[:5])} never open in {len(prompt)}?",
            "answer": (_sentences(body) or [body])[-1],
        },
        "dependent_turn": {
            "question": f"What is said of it in line {turn}?",
            "rewrite": f"What is said of {last} in line {turn}?",
            "answer": " ".join(words[4 * turn : 4 * turn + 4]),
        },
    }
    return made.get(step, {})


def _asking(text: str) -> str:
    """Return a question that differs for every text, and does not contain the text."""
    mark = hashlib.sha256(text.encode()).hexdigest()
    names = [f"{mark[i : i + 4]}-{mark[i + 4 : i + 8]}" for i in range(0, 32, 8)]
    return f"What is recorded of {' '.join(names)}?"


def _wrong(kind: str, step: str, prompt: str) -> str:
    right = _right(step, prompt)
    lines = [line.removeprefix("- ") for line in right.splitlines()]
    passages = {
        "malformed": "Certainly! Here they are:\n\n"
        + "\n".join(f"{mark} {line}\n-" for mark, line in zip(_MARKS, lines, strict=False)),
        "unmarked": "\n".join(lines),
        "empty": "",
        "empty-items": "- \n-\n  - ",
        "refusal": "I cannot answer this from the information given.",
        "echo": prompt,
        "repeat": f"- {_GENERIC}" if right.startswith("- ") else _repeated(right),
        "prose": "well that depends on many things",
        "hallucination": "- Zebras quietly juggle umbrellas underwater.",
        "of-the-passage": "- What does the passage say about it?",
    }
    return passages[kind]


def _repeated(right: str) -> str:
    try:
        return json.dumps(json.loads(right) | {"question": _GENERIC})
    except json.JSONDecodeError:
        return _GENERIC

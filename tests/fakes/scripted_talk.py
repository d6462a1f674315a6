"""A fake model for conversations: it plays the user, the agent, the rewriter and every judge.

with FakeModelServer(answer=ScriptedTalk()) as server: ...
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ragstone.data.dataset import Dataset

RIVERS: Final = ("Tagus", "Douro", "Minho", "Sado", "Mondego", "Vouga")
ASPECTS: Final = ("length", "source", "mouth", "colour", "depth", "speed", "bridge", "fish")
REFUSAL: Final = "I have no specific information about that."
_PART: Final = re.compile(r"^=+ (?P<title>.+)\n(?P<text>(?:(?!^=).*\n?)*)", re.MULTILINE)


def fact(river: str, aspect: str) -> str:
    """Return the sentence of the corpus about an aspect of a river."""
    return f"{river} has the {aspect} {river[::-1].lower()}{aspect[::-1]} by every report."


def rivers_corpus() -> Dataset:
    """Return six rivers with two passages each, which share their facts."""
    passages = [
        {
            "passage_id": f"{river}-{n}",
            "title": f"The {river}, part {n}",
            "text": " ".join(fact(river, aspect) for aspect in ASPECTS)
            + f" This is the report of the year {1900 + n} on the water of {river}.",
        }
        for river in RIVERS
        for n in (1, 2)
    ]
    queries = [{"query_id": "q", "text": "What is the depth of Sado?", "gold_answers": ["any"]}]
    return Dataset.from_records(queries=queries, passages=passages, name="rivers")


@dataclass
class ScriptedTalk:
    """Replies by the kind of the prompt.

    Args:
        faults: "user", "agent" or "support" -> text of its reply from a turn on.
        since: number of earlier user messages from which the faults hold.
    """

    faults: Mapping[str, str] = field(default_factory=dict)
    since: int = 1

    def __call__(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Return the reply to a prompt."""
        prompt = messages[-1]["content"]
        whole = "\n".join(message["content"] for message in messages)
        parts = {part["title"]: part["text"].strip() for part in _PART.finditer(whole)}
        if listed := re.search(r"Write (\d+) lines", whole):
            return "\n".join(f"{n}: {_yes(n == 1)}" for n in range(1, int(listed[1]) + 1))
        if "end of the material" in whole:
            return self._verdict(parts)
        if "The user's last message: " in prompt:
            asked = re.findall(r"The user's last message: (.*)", prompt)[-1]
            return json.dumps({"class": "non-standalone", "query": asked})
        if "Conversation so far:" in prompt or prompt.startswith("Background:"):
            return self._user(prompt)
        if prompt.startswith("Passage:"):
            river = _river(prompt)
            answer = fact(river, ASPECTS[0])
            return json.dumps({"question": f"What is the length of {river}?", "answer": answer})
        return self._agent(messages)

    def _user(self, prompt: str) -> str:
        history = prompt.partition("Conversation so far:\n")[2]
        turns = history.count("User: ")
        if turns >= self.since and "user" in self.faults:
            return self.faults["user"]
        if "What the person wants to find out:" in prompt:
            goal = re.findall(r"wants to find out: (.*)", prompt)[-1]
            return f"- Please tell me, for the time {turns}: {goal}"
        river = _river(prompt)
        if "does not, because the detail" in prompt:
            return f"- What is the secret number {turns} of {river}?"
        return f"- What is the {ASPECTS[turns]} of {river}, please?"

    def _agent(self, messages: Sequence[Mapping[str, str]]) -> str:
        asked = messages[-1]["content"]
        turns = sum(message["role"] == "user" for message in messages)
        if turns > self.since and "agent" in self.faults:
            return self.faults["agent"]
        found = re.findall(r"What is the (\w+) of (\w+)", asked)
        return fact(found[-1][1], found[-1][0]) if found else REFUSAL

    def _verdict(self, parts: Mapping[str, str]) -> str:
        if "passages" in parts:
            return "no"
        if "passage" in parts:
            return self.faults.get("support") or _yes(parts["answer"] in parts["passage"])
        if "answer to be graded" in parts:
            return _yes(parts["gold answers"] in parts["answer to be graded"])
        return ""


def _river(text: str) -> str:
    own = text.rpartition("Background:\n")[2] or text
    return next(river for river in sorted(RIVERS, key=own.find) if river in own)


def _yes(value: bool) -> str:
    return "yes" if value else "no"

"""The prompts of the writer of test sets, and a YAML file that replaces them.

Each is a template with named variables (`ragstone.core.prompts`). The tasks are from Know Your RAG
(2024), appendices E and G; the wording is Ragstone's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final

from pydantic import ConfigDict

from ragstone.building.few_shot import EXAMPLES, REPLY, Example
from ragstone.building.multi_hop_links import names
from ragstone.core.own_files import read_model
from ragstone.core.prompts import Template
from ragstone.errors import ConfigError
from ragstone.types import ChatMessage

_PAIR: Final = 'Reply with one JSON object and nothing else: {{"question": "...", "answer": "..."}}'
_ASKED: Final = (
    "Word the question as a person would who searches a large collection and has not seen the "
    "passage: name what it is about, and do not mention the passage."
)
_LIST: Final = 'Put each on a line of its own that begins with "- ", and write nothing else.'
_TALK: Final = "Background:\n{passage}\n\nConversation so far:\n{history}\n\n"
_TURN: Final = (
    "Word it as a person would who has not seen the background: short, without its answer, and "
    'without mention of the background. Begin the line with "- " and write nothing else.'
)

ENGLISH: Final = "English"


@dataclass(frozen=True)
class Prompts:
    """The templates, and their language, which must be that of the passages."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    language: str = ENGLISH
    single: str = (
        "Passage:\n{passage}\n\nWrite one question that this passage answers, and the answer. "
        f"The answer must be {{kind}}. {_ASKED} {_PAIR}"
    )
    theme: str = (
        "Passage:\n{passage}\n\nWhat is this passage about? Reply with a few words, nothing else."
    )
    facts: str = (
        "Passage about {theme}:\n{passage}\n\nWrite down up to five facts that the passage states, "
        "one fact a sentence. Each sentence must say who or what it is about, so that it can be "
        "understood alone. Add nothing that the passage does not say, and state no fact twice. "
        f"{_LIST}"
    )
    summaries: str = (
        "Facts about {theme}:\n{facts}\n\nWrite three sentences that each bring several of these "
        "facts together. No two of them may tell the same, and each must be understood alone. "
        f"{_LIST}"
    )
    conclusions: str = (
        "Facts about {theme}:\n{facts}\n\nWrite three conclusions that follow from several of "
        "these facts taken together and that none of them states. Each is a full sentence that "
        f"can be understood alone. {_LIST}"
    )
    question: str = (
        "Topic: {theme}\nStatement: {statement}\n\nWhich question does this statement, and nothing "
        "else, answer? Write that one question as a person would type it into a search engine: "
        'short, and naming what it is about. Begin the line with "- " and write nothing else.'
    )
    reasoning: str = (
        "Passage:\n{passage}\n\nSimple question: {question}\nIts answer: {answer}\n\nMake a harder "
        "question of it, whose answer is not stated in the passage but follows from what it "
        f"states. {_ASKED} {_PAIR}"
    )
    constraint: str = (
        "Passage:\n{passage}\n\nSimple question: {question}\nIts answer: {answer}\n\nMake the "
        "question more specific by one condition (a time, a place, a quantity, an exception) that "
        f"the passage states, and give the answer to the new question. {_ASKED} {_PAIR}"
    )
    near_miss: str = (
        "Passage:\n{passage}\n\nWrite one question about the same topic that the passage seems to "
        "answer and does not: the detail that is asked for must be missing from it. "
        f'{_ASKED} Begin the line with "- " and write nothing else.'
    )
    counterfactual: str = (
        "Question: {question}\nRight answer: {answer}\n\nName another answer of the same kind that "
        "is wrong, though a reader could believe it. Reply with that answer and nothing else."
    )
    multi_hop: str = (
        "First passage:\n{first}\n\nSecond passage:\n{second}\n\nBoth passages speak of {link}. "
        "Write one question that can only be answered by reading both, and its short answer. "
        f"{_ASKED} {_PAIR}"
    )
    comparison: str = (
        "First passage:\n{first}\n\nSecond passage:\n{second}\n\nBoth passages speak of {link}. "
        "Write one question that compares something of the first passage with something of the "
        f"second, naming both, and its short answer. {_ASKED} {_PAIR}"
    )
    false_premise: str = (
        "Passage:\n{passage}\n\nWrite one question that takes something for granted that is false "
        "according to this passage. The answer corrects it in one short sentence with what the "
        f"passage states. {_ASKED} {_PAIR}"
    )
    underspecified: str = (
        "Question: {question}\nAnswer: {answer}\n\nShorten the question so that it could mean many "
        "things: leave out every name and date that makes clear what is meant, and add no word. "
        'Begin the line with "- " and write nothing else.'
    )
    dependent_turn: str = (
        "Passage:\n{passage}\n\nConversation:\n{history}\n\nWrite the next question of the user, "
        "which the passage answers and which is only clear after the conversation, because it says "
        "`it`, `they` or `there` for what was named before; the same question in words that are "
        "clear alone; and the short answer. Do not mention the passage. Reply with one JSON object "
        'and nothing else: {{"question": "...", "rewrite": "...", "answer": "..."}}'
    )
    first_turn: str = (
        "Background:\n{passage}\n\nWrite the question with which a person begins a conversation "
        "with an assistant. The background answers it, and it names what it is about. "
        f"{_TURN}"
    )
    follow_up: str = (
        f"{_TALK}Write the user's next question: about something close to what was said and not "
        f"yet asked for, which the background answers. {_TURN}"
    )
    clarification: str = (
        f"{_TALK}Write the user's next question: it asks the assistant to explain or to make more "
        f"exact one thing of its last answer, and the background helps with it. {_TURN}"
    )
    topic_shift: str = (
        f"{_TALK}The user now changes to another topic, that of the background. Write the user's "
        f"next question: the background answers it, and it names what it is about. {_TURN}"
    )
    unanswerable: str = (
        f"{_TALK}Write the user's next question: it is about the same topic, and the background "
        f"seems to answer it and does not, because the detail asked for is missing. {_TURN}"
    )
    user_turn: str = (
        "You play a person who talks to an assistant.\nThe person: {persona}\nWhat the person "
        "wants to find out: {goal}\n\nConversation so far:\n{history}\n\nWrite the person's next "
        "message. {move} Do not answer it yourself, and say nothing that the person cannot know. "
        'Begin the line with "- " and write nothing else.'
    )
    examples: Mapping[str, Example] = field(default_factory=lambda: EXAMPLES)
    """Name of a prompt, or name/label -> an example that precedes the prompt as an earlier turn."""

    def __post_init__(self) -> None:
        """Check the variables of every template and example."""
        for name, needed in _VARIABLES.items():
            found = Template(getattr(self, name), f"prompt {name!r}").variables
            if found != needed:
                wrong = min(found ^ needed)
                problem = "is missing" if wrong in needed else "is unknown"
                raise ConfigError(
                    f"prompt {name!r}: the variable {{{wrong}}} {problem}; the prompt must have "
                    f"exactly {', '.join(f'{{{v}}}' for v in sorted(needed))}"
                )
        for key, values in self.examples.items():
            needed = _VARIABLES.get(key.partition("/")[0], frozenset()) | {REPLY}
            if needed != values.keys():
                raise ConfigError(
                    f"prompts: the example {key!r} has {', '.join(sorted(values))}; it must have "
                    f"the prompt's variables and a reply: {', '.join(sorted(needed))}"
                )

    @cached_property
    def example_names(self) -> tuple[str, ...]:
        """The names in the examples, which belong in no query; none if not in English."""
        if self.language != ENGLISH:
            return ()  # A capital may be no sign of a name.
        texts = [text for example in self.examples.values() for text in example.values()]
        lines = [line.removeprefix("- ") for text in texts for line in text.splitlines()]
        return tuple(dict.fromkeys(name for line in lines for name in names(line)))

    def render(self, name: str, **values: str) -> str:
        """Return a prompt with its variables filled in."""
        return Template(getattr(self, name), f"prompt {name!r}").render(values)

    def shown(self, key: str) -> tuple[ChatMessage, ...]:
        """Return the example of a prompt (`facts`, `single/summary`) as an earlier turn."""
        values = self.examples.get(key)
        if values is None:
            return ()
        asked = {name: text for name, text in values.items() if name != REPLY}
        prompt = self.render(key.partition("/")[0], **asked)
        return ("user", prompt), ("assistant", values[REPLY])


_VARIABLES: Final[Mapping[str, frozenset[str]]] = {
    one.name: Template(str(one.default)).variables
    for one in fields(Prompts)
    if one.name not in {"language", "examples"}
}
"""Prompt -> the variables of the built-in one, which every other one has too."""


def load_prompts(path: Path | None) -> Prompts:
    """Return the prompts of a YAML file; a prompt that is not in the file is the built-in one.

    If the language is not English, there are only the examples of the file.

    Raises:
        ConfigError: the file cannot be read, or a key or a variable is unknown or missing.
    """
    if path is None:
        return Prompts()
    made = read_model(path, "prompts", Prompts)
    is_foreign = made.language != ENGLISH and made.examples is EXAMPLES
    return replace(made, examples={}) if is_foreign else made

"""Parsing a writer's replies: lists, questions, pairs; and the reasons to reject a reply."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson

from ragstone.components.metrics.refusal import refusal
from ragstone.core import limits
from ragstone.data_quality.shingles import character_shingles, near_pairs
from ragstone.text.normalise import ENGLISH, contains, pieces
from ragstone.text.thinking import without_thinking

_MARKER: Final = re.compile(r"^\s*(?:[-*•>–—]+|\(?\d{1,2}[.):])\s*")  # noqa: RUF001 - dashes
_LEAD: Final = re.compile(
    r"^(?:\W*)(question|answer|statement|conclusion|fact|theme|topic)\s*\d*\s*[:.]\s*",
    re.IGNORECASE,
)
_ENDS_SENTENCE: Final = re.compile(r"[.!?。！？]['\"”»)]*$")  # noqa: RUF001 - full-width signs
_QUESTION_END: Final = re.compile(r"[?？؟][\"'”»)]*$")  # noqa: RUF001 - full-width sign
_QUESTION_WORD: Final = re.compile(
    r"(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could|has|"
    r"have|had|will|would|should|in (?:what|which)|on (?:what|which)|at (?:what|which)|"
    r"for (?:what|how)|to (?:what|whom))\b",
    re.IGNORECASE,
)
_OF_THE_PASSAGE: Final = re.compile(
    r"\b(?:this question|(?:in|from|by|of|to|does|do) (?:the|this|that|these|above) (?:\w+ )?"
    r"(?:passages?|contexts?|texts?|statements?|excerpts?|paragraphs?|facts)\b|"
    r"(?:the|this) (?:passage|context|statement|excerpt|paragraph) "
    r"(?:say|state|mention|describe|about|above))",
    re.IGNORECASE,
)
_OBJECT: Final = re.compile(r"\{[^{}]*\}", re.DOTALL)
_PAIR_LINES: Final = re.compile(
    r"question\W*:\s*(.+?)\s*\n+\W*answer\W*:\s*(.+)", re.IGNORECASE | re.DOTALL
)
_TEXT: Final = r'"((?:[^"\\]|\\.)*)"'
_LOOSE_PAIR: Final = re.compile(rf'"question"\s*:\s*{_TEXT}\s*,\s*"answer"\s*:\s*{_TEXT}')
"""Two whole texts of an object whose brackets are wrong."""
_WORDS: Final = re.compile(r"\w+")
_ECHO_WORDS: Final = 8
_LOOP_WORDS: Final = 4
"""Length of a repeated run of words."""
_LOOPS_IN_QUESTION: Final = 2
_LOOPS_IN_ANSWER: Final = 3
_LEAST_STATEMENT: Final = 3
_NEARLY: Final = 0.9
"""Similarity of the character shingles of two texts that are nearly equal."""


class Rejected(ValueError):
    """A reply is rejected; the message is the reason."""


def plain(reply: str) -> str:
    """Return a reply without the model's thinking and without code fences."""
    text = without_thinking(reply).text.strip()
    return re.sub(r"^```\w*\s*|\s*```$", "", text).strip()


def read_statements(reply: str, prompt: str) -> tuple[str, ...]:
    r"""Return the statements of a list, each once.

    Any usual list marker counts; if no line has one, each line that is a whole sentence is a
    statement. Empty items and repetitions of the prompt are dropped.

    Raises:
        Rejected: nothing is left, or the model refused.

    >>> read_statements("Sure:\n- One is odd.\n-\n2. Two is even.\n- One is odd.", "")
    ('One is odd.', 'Two is even.')
    """
    text = plain(reply)
    if not text:
        raise Rejected("the reply is empty")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    marked = [_bare(line) for line in lines if _MARKER.match(line)]
    if not marked and any(echoes(line, prompt) for line in lines):
        raise Rejected("the model repeated the prompt")
    if not marked and refusal(text):
        raise Rejected("the model refused")
    whole = marked or [_bare(line) for line in lines if _ENDS_SENTENCE.search(line)]
    found = [s for s in whole if len(_WORDS.findall(s)) >= _LEAST_STATEMENT]
    kept = tuple(dict.fromkeys(s for s in found if not (echoes(s, prompt) or refusal(s))))
    if not kept:
        raise Rejected("the model refused" if refusal(text) else "the reply has no statement")
    return kept


def read_line(reply: str, prompt: str) -> str:
    """Return a reply of one line, without marker, quotation marks or a lead such as "Answer:".

    Raises:
        Rejected: it is empty, a refusal, or a repetition of the prompt.
    """
    lines = [line for line in plain(reply).splitlines() if _bare(line)]
    if not lines:
        raise Rejected("the reply is empty")
    line = _bare(next((line for line in lines if _MARKER.match(line)), lines[0]))
    if refusal(line):
        raise Rejected("the model refused")
    if any(echoes(line, prompt) for line in lines):
        raise Rejected("the model repeated the prompt")
    return line


def read_question(reply: str, prompt: str) -> str:
    """Return the one question of a reply; raise `Rejected` if there is none.

    >>> read_question('Question: "Who built the mill?"', "")
    'Who built the mill?'
    """
    lines = [_bare(line) for line in plain(reply).splitlines()]
    asked = [line for line in lines if _QUESTION_END.search(line)]
    question = asked[0] if asked else read_line(reply, prompt)
    return checked_question(question, prompt)


def checked_question(question: str, prompt: str) -> str:
    """Return a question that a stranger could ask; raise `Rejected` for any other text."""
    _check_text("question", question, prompt)
    if contains(pieces(prompt), pieces(question)):
        raise Rejected("the model repeated the prompt")
    if not (_QUESTION_END.search(question) or _QUESTION_WORD.match(question)):
        raise Rejected("it is not a question")
    if len(question.split()) > limits.MAX_QUESTION_WORDS:
        raise Rejected(f"the question has more than {limits.MAX_QUESTION_WORDS} words")
    _check_wording("question", question, _LOOPS_IN_QUESTION)
    return question


def read_pair(reply: str, prompt: str) -> tuple[str, str]:
    """Return question and answer of a reply: a JSON object, or two lines with these titles.

    Raises:
        Rejected: there is no such pair, or the question or the answer is rejected.

    >>> read_pair('{"question": "Who built it?", "answer": "Ann"}', "")
    ('Who built it?', 'Ann')
    """
    text = plain(reply)
    if not text:
        raise Rejected("the reply is empty")
    if any(echoes(line, prompt) for line in text.splitlines()):
        raise Rejected("the model repeated the prompt")
    if pair := _last_object(text):
        question, answer = str(pair["question"]), str(pair["answer"])
    elif loose := _LOOSE_PAIR.search(text):
        question, answer = loose[1], loose[2]
    elif lines := _PAIR_LINES.search(text):
        question, answer = lines[1], lines[2].splitlines()[0]
    elif refusal(text):
        raise Rejected("the model refused")
    else:
        raise Rejected("the reply has no question with its answer")
    return checked_question(_bare(question), prompt), checked_answer(_bare(answer), prompt)


def read_turn(reply: str, prompt: str) -> tuple[str, str, str]:
    """Return question, self-contained form and answer of a reply with one JSON object.

    Raises:
        Rejected: there is no such object, or one of the texts is rejected.

    >>> read_turn('{"question": "And when?", "rewrite": "When did it open?", "answer": "1712"}', "")
    ('And when?', 'When did it open?', '1712')
    """
    question, answer = read_pair(reply, prompt)
    found = _last_object(plain(reply)) or {}
    if not isinstance(rewrite := found.get("rewrite"), str):
        raise Rejected("the reply has no self-contained question")
    return question, checked_question(_bare(rewrite), prompt), answer


def check_no_example(text: str, names: Iterable[str], passages: Sequence[str]) -> None:
    """Raise `Rejected` if a text has a name of the prompt's example that no passage has.

    >>> check_no_example("Who was Ann Hale?", ["Ann Hale"], ["Ann Hale built the mill."])
    """
    for name in names:
        # Written otherwise, a name may be any word: a deal is not the town of Deal.
        whole = re.compile(rf"\b{re.escape(name)}\b")
        if whole.search(text) and not any(whole.search(passage) for passage in passages):
            raise Rejected(f"it has a name of the prompt's example: {name}")


def checked_answer(answer: str, prompt: str) -> str:
    """Return an answer; raise `Rejected` if it is empty, a refusal or a repetition."""
    _check_text("answer", answer, prompt)
    _check_wording("answer", answer, _LOOPS_IN_ANSWER)
    return answer


def _check_text(name: str, text: str, prompt: str) -> None:
    if not _WORDS.search(text):
        raise Rejected(f"the {name} is empty")
    if echoes(text, prompt):
        raise Rejected("the model repeated the prompt")
    if refusal(text):
        raise Rejected("the model refused")


def _check_wording(name: str, text: str, loops: int) -> None:
    if _OF_THE_PASSAGE.search(text):
        raise Rejected(f"the {name} mentions the passage")
    words = pieces(text)
    runs = Counter(zip(*(words[i:] for i in range(_LOOP_WORDS)), strict=False))
    if max(runs.values(), default=0) >= loops:
        raise Rejected(f"the {name} repeats its own words")


def check_whole(question: str) -> None:
    """Raise `Rejected` if the question of a truncated reply has no end."""
    if not _QUESTION_END.search(question):
        raise Rejected("the reply was cut within the question")


def check_grounded(answer: str, texts: Sequence[str], least: float) -> None:
    """Raise `Rejected` if too few of the answer's content words are in the texts."""
    wanted = set(pieces(answer)) - ENGLISH
    present = {piece for text in texts for piece in pieces(text)}
    share = len(wanted & present) / len(wanted) if wanted else 1.0
    if share < least:
        raise Rejected(
            f"less than {least:.0%} of the answer's words are in the passage: {share:.0%}"
        )


def check_new(name: str, text: str, earlier: Sequence[str], *, copies: bool = True) -> None:
    """Raise `Rejected` if a message of a conversation repeats or nearly repeats an earlier one.

    With `copies`, eight words in a row of an earlier message are a reason too.

    >>> check_new("question", "How long is the Tagus?", ["how long is the tagus"])
    Traceback (most recent call last):
    ragstone.building.reply_parsing.Rejected: the question repeats an earlier message
    """
    if repeats(text, earlier):
        raise Rejected(f"the {name} repeats an earlier message")
    if copies and any(echoes(text, message) for message in earlier):
        raise Rejected(f"the {name} copies an earlier message")


def repeats(text: str, earlier: Sequence[str]) -> bool:
    """Return whether a text is, case and punctuation ignored, nearly an earlier one.

    Texts with other digits are different: the same question about another year is a new one.
    """
    known = [other for other in earlier if _digits(other) == _digits(text)]
    if any(pieces(text) == pieces(other) for other in known):
        return True
    pairs = near_pairs(character_shingles([text, *known]), _NEARLY)
    return any(pair.first == 0 for pair in pairs)


def _digits(text: str) -> str:
    return "".join(character for character in text if character.isdigit())


def check_not_given(question: str, answer: str) -> None:
    """Raise `Rejected` if the question contains the whole answer."""
    if contains(pieces(question), pieces(answer)):
        raise Rejected("the question contains the answer")


def _last_object(text: str) -> dict[str, Any] | None:
    for found in reversed(_OBJECT.findall(text)):
        try:
            value = orjson.loads(found)
        except orjson.JSONDecodeError:
            continue
        if isinstance(value, dict) and {"question", "answer"} <= value.keys():
            return value
    return None


def _bare(line: str) -> str:
    text = _MARKER.sub("", line.strip()).strip()
    text = _LEAD.sub("", text).strip()
    return text.strip('*_`"“”[]').strip()


def echoes(text: str, prompt: str) -> bool:
    """Return whether eight words in a row of a text occur in the prompt.

    `prompt` is the instruction without the passage, because a reply may repeat the passage.
    """
    words, instruction = pieces(text), pieces(prompt)
    runs = range(max(len(words) - _ECHO_WORDS + 1, 0))
    return any(contains(instruction, words[i : i + _ECHO_WORDS]) for i in runs)

"""The parts of prompts, and the cache of them: a server that records what it computes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragstone.core import limits
from ragstone.models.llama_parts import PromptCache, part_ends

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAST = limits.LEAST_PROMPT_PART
LONG = "w " * LEAST


def _pieces(text: str) -> list[bytes]:
    """Return the characters of a text as its tokens."""
    return [character.encode() for character in text]


def test_a_prompt_is_cut_at_messages_and_blank_lines() -> None:
    """Passages are parts of their own; the question belongs to the rest."""
    system, one, two = "S" * LEAST, "1" * LEAST, "2" * LEAST
    user = f"{one}\n\n{two}\n\nQuestion: who?"
    text = f"<s>{system}</s><u>{user}</u>"
    ends = part_ends(_pieces(text), [system.encode(), user.encode()])
    cuts = [text[start:end] for start, end in zip([0, *ends], [*ends, None], strict=True)]
    assert cuts == [
        f"<s>{system}</s><u>",
        f"{one}\n\n",
        f"{two}\n\n",
        "Question: who?</u>",
    ]


def test_a_short_part_belongs_to_the_next_one() -> None:
    """Below `LEAST_PROMPT_PART` tokens there is no cut, and no cut after the last token."""
    short = "a" * (LEAST - 3)
    assert part_ends(_pieces(f"{short}\n\nb\n\nc"), []) == [LEAST + 2]
    assert part_ends(_pieces("a\n\nb"), []) == []
    assert part_ends(_pieces("a" * LEAST + "\n\n"), []) == []
    assert part_ends([], []) == []


def test_a_token_across_a_cut_belongs_to_what_follows() -> None:
    """A part ends before a token that also has text of the next part."""
    pieces = [*_pieces("a" * LEAST), b".\n", b"\nb", b"c"]
    assert part_ends(pieces, []) == [LEAST + 1]


def test_equal_beginnings_have_equal_cuts() -> None:
    """What follows a part does not move its end."""
    text = f"{LONG}\n\n{LONG}\n\n"
    first = part_ends(_pieces(f"{text}who?"), [])
    longer = part_ends(_pieces(f"{text}{LONG}\n\nwhen?"), [])
    assert longer[: len(first)] == first


@dataclass
class Server:
    """Keeps the tokens that a prompt shares with the last one, as llama.cpp does.

    Each token in the cache has the batch that computed it.
    """

    cache: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    computed: list[int] = field(default_factory=list)
    """The numbers of tokens that were computed for each request."""
    keeps: bool = True

    def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Reply as the server does; a token is a character."""
        if path == "/apply-template":
            return {"prompt": "".join(m["content"] for m in body["messages"])}
        if path == "/tokenize":
            return {"tokens": [{"id": ord(c), "piece": c} for c in body["content"]]}
        return {"timings": {"cache_n": self.read(body["prompt"], body["cache_prompt"])}}

    def read(self, tokens: list[int], cached: bool) -> int:
        """Read a prompt; return how many of its tokens were in the cache."""
        same = 0
        if cached and self.keeps:
            for token, (held, _) in zip(tokens[:-1], self.cache, strict=False):
                if token != held:
                    break
                same += 1
        batch = tuple(tokens[same:])
        self.cache = [*self.cache[:same], *((token, (same, *batch)) for token in batch)]
        self.computed.append(len(batch))
        return same

    def ask(self, cache: PromptCache, text: str) -> list[tuple[int, int]]:
        """Answer a prompt as the front does; return its tokens and where their batches start."""
        body = cache.prepare({"messages": [{"role": "user", "content": text}]})
        self.read([ord(c) for c in text], body["cache_prompt"])
        return [(token, batch[0]) for token, batch in self.cache]


PROMPTS = [
    f"{LONG}\n\n{LONG}1\n\nwho?",
    f"{LONG}\n\n{LONG}2\n\nwhose?",
    f"{LONG}\n\n{LONG}1\n\nwhose?",
    f"{LONG}\n\n{LONG}1\n\n{LONG}3\n\nwho?",
    "short?",
    "x" * LEAST + "\n\nwho?",
]


def test_a_prompt_is_computed_in_the_same_batches_after_any_other() -> None:
    """Every ordered pair of prompts: the second has the batches of an empty cache."""
    for first in PROMPTS:
        for second in PROMPTS:
            server, empty = Server(), Server()
            cache = PromptCache(server.post)
            server.ask(cache, first)
            assert server.ask(cache, second) == empty.ask(PromptCache(empty.post), second)


def test_shared_parts_are_not_computed_again() -> None:
    """A second question on the same passages costs its own tokens and one more."""
    server = Server()
    cache = PromptCache(server.post)
    server.ask(cache, PROMPTS[0])
    server.computed.clear()
    server.ask(cache, PROMPTS[2])
    assert server.computed == [1, len("whose?")]


def test_a_server_that_keeps_nothing_computes_the_whole_prompt() -> None:
    """The answer is asked for without the cache, as for any prompt of such a model."""
    server = Server(keeps=False)
    body = PromptCache(server.post).prepare({"messages": [{"role": "user", "content": PROMPTS[0]}]})
    assert body["cache_prompt"] is False


def test_a_refused_prompt_is_passed_on() -> None:
    """The server's own error is the answer; the next prompt starts from nothing."""
    body = {"messages": [{"role": "user", "content": "x"}], "max_tokens": 3}
    assert PromptCache(lambda _path, _body: None).prepare(body) == {**body, "cache_prompt": False}


def test_forgotten_parts_are_computed_again() -> None:
    """After a request that ended early, nothing is expected in the server's cache."""
    server = Server()
    cache = PromptCache(server.post)
    server.ask(cache, PROMPTS[0])
    cache.forget()
    server.computed.clear()
    server.ask(cache, PROMPTS[0])
    assert sum(server.computed) >= len(PROMPTS[0])

"""An example for each prompt: the prompt with its variables, and the reply.

Shown to the model before the prompt, they keep a small model to the required form. The key is the
prompt's name, with the label after a slash if the prompt asks for several kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

Example: TypeAlias = Mapping[str, str]
"""The values of a prompt's variables, and the reply under `reply`."""

REPLY: Final = "reply"
_PASSAGE: Final = (
    "Mill Bridge\nMill Bridge crosses the Tarn at Oldby. It was built of oak in 1712 by the "
    "carpenter Ann Hale, and rebuilt in stone after the flood of 1840. Carts pay two pence to "
    "cross it; people on foot pay nothing."
)
_OTHER: Final = (
    "Ann Hale\nAnn Hale learned carpentry from her aunt in Farrow. She built three churches "
    "before she was thirty, and her last work was a granary for the nuns of Deal."
)
_THEME: Final = "Mill Bridge at Oldby"
_FACTS: Final = (
    "- Mill Bridge crosses the Tarn at Oldby.\n"
    "- Mill Bridge was built of oak in 1712 by the carpenter Ann Hale.\n"
    "- Mill Bridge was rebuilt in stone after the flood of 1840.\n"
    "- Carts pay two pence to cross Mill Bridge."
)
_SIMPLE: Final = {
    "passage": _PASSAGE,
    "question": "Who built Mill Bridge at Oldby?",
    "answer": "Ann Hale",
}


def _pair(question: str, answer: str) -> str:
    return f'{{"question": "{question}", "answer": "{answer}"}}'


def _single(kind: str, question: str, answer: str) -> Example:
    return {"passage": _PASSAGE, "kind": kind, REPLY: _pair(question, answer)}


def examples(kinds: Mapping[str, str]) -> dict[str, Example]:
    """Return the examples that come with Ragstone.

    Args:
        kinds: label -> its description in the prompt `single`.
    """
    return _singles(kinds) | _from_statements() | _from_pairs()


def _singles(kinds: Mapping[str, str]) -> dict[str, Example]:
    return {
        "single/fact_single": _single(kinds["fact_single"], _SIMPLE["question"], "Ann Hale"),
        "single/summary": _single(
            kinds["summary"],
            "How was Mill Bridge at Oldby built and rebuilt?",
            "Of oak in 1712 by Ann Hale, then of stone after the flood of 1840",
        ),
        "single/reasoning": _single(
            kinds["reasoning"],
            "Did the first Mill Bridge at Oldby stand for more than a century?",
            "Yes, for 128 years, from 1712 to the flood of 1840",
        ),
    }


def _from_statements() -> dict[str, Example]:
    return {
        "theme": {"passage": _PASSAGE, REPLY: _THEME},
        "facts": {"theme": _THEME, "passage": _PASSAGE, REPLY: _FACTS},
        "summaries": {
            "theme": _THEME,
            "facts": _FACTS,
            REPLY: "- Mill Bridge was built of oak in 1712 and rebuilt in stone after 1840.\n"
            "- Mill Bridge, the work of Ann Hale, carries carts over the Tarn for two pence.\n"
            "- Ann Hale's oak bridge over the Tarn at Oldby was replaced by a stone one.",
        },
        "conclusions": {
            "theme": _THEME,
            "facts": _FACTS,
            REPLY: "- The oak bridge that Ann Hale built at Oldby stood for 128 years.\n"
            "- A flood destroyed or damaged the oak bridge at Oldby in 1840.\n"
            "- The stone Mill Bridge at Oldby was not built by Ann Hale.",
        },
        "question": {
            "theme": _THEME,
            "statement": "Carts pay two pence to cross Mill Bridge.",
            REPLY: "- How much do carts pay to cross Mill Bridge?",
        },
    }


def _from_pairs() -> dict[str, Example]:
    return {
        "reasoning": {
            **_SIMPLE,
            REPLY: _pair(
                "How many years did the bridge that Ann Hale built at Oldby stand?", "128 years"
            ),
        },
        "constraint": {
            **_SIMPLE,
            REPLY: _pair(
                "Who built Mill Bridge at Oldby of oak in 1712?", "the carpenter Ann Hale"
            ),
        },
        "near_miss": {
            "passage": _PASSAGE,
            REPLY: "- Who rebuilt Mill Bridge at Oldby in stone after the flood of 1840?",
        },
        "counterfactual": {
            "question": _SIMPLE["question"],
            "answer": _SIMPLE["answer"],
            REPLY: "Martha Quill",
        },
        "multi_hop": {
            "first": _PASSAGE,
            "second": _OTHER,
            "link": "Ann Hale",
            REPLY: _pair(
                "Where did the builder of Mill Bridge at Oldby learn her trade?", "Farrow"
            ),
        },
    }

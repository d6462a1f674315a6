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
KINDS: Final = {
    "fact_single": "a single fact that the passage states, in a few words",
    "summary": "made of several things that the passage states in different places",
    "reasoning": "something that the passage does not state but that follows from it",
}
"""Label -> its description in the prompt `single`."""
_PASSAGE: Final = {
    "passage": "Mill Bridge\nMill Bridge crosses the Tarn at Oldby. It was built of oak in 1712 by "
    "the carpenter Ann Hale, and rebuilt in stone after the flood of 1840. Carts pay two pence to "
    "cross it; people on foot pay nothing."
}
_THEME: Final = {"theme": "Mill Bridge at Oldby"}
_FACTS: Final = (
    "- Mill Bridge crosses the Tarn at Oldby.\n"
    "- Mill Bridge was built of oak in 1712 by the carpenter Ann Hale.\n"
    "- Mill Bridge was rebuilt in stone after the flood of 1840.\n"
    "- Carts pay two pence to cross Mill Bridge."
)
_SIMPLE: Final = {"question": "Who built Mill Bridge at Oldby?", "answer": "Ann Hale"}


def _pair(question: str, answer: str) -> dict[str, str]:
    return {REPLY: f'{{"question": "{question}", "answer": "{answer}"}}'}


_SINGLE: Final = {
    "fact_single": _pair(**_SIMPLE),
    "summary": _pair(
        "How was Mill Bridge at Oldby built and rebuilt?",
        "Of oak in 1712 by Ann Hale, then of stone after the flood of 1840",
    ),
    "reasoning": _pair(
        "Did the first Mill Bridge at Oldby stand for more than a century?",
        "Yes, for 128 years, from 1712 to the flood of 1840",
    ),
}
_TALK: Final = {
    "history": "User: Who built Mill Bridge at Oldby?\nAgent: The carpenter Ann Hale built it."
}
_QUARRY: Final = {
    "passage": "Farrow Quarry\nFarrow Quarry gave grey slate for the roofs of Deal until 1903, "
    "when its pumps failed and the pit filled with water."
}
EXAMPLES: Final[Mapping[str, Example]] = {
    **{f"single/{k}": {**_PASSAGE, "kind": KINDS[k], **reply} for k, reply in _SINGLE.items()},
    "theme": {**_PASSAGE, REPLY: _THEME["theme"]},
    "facts": {**_THEME, **_PASSAGE, REPLY: _FACTS},
    "summaries": {
        **_THEME,
        "facts": _FACTS,
        REPLY: "- Mill Bridge was built of oak in 1712 and rebuilt in stone after 1840.\n"
        "- Mill Bridge, the work of Ann Hale, carries carts over the Tarn for two pence.\n"
        "- Ann Hale's oak bridge over the Tarn at Oldby was replaced by a stone one.",
    },
    "conclusions": {
        **_THEME,
        "facts": _FACTS,
        REPLY: "- The oak bridge that Ann Hale built at Oldby stood for 128 years.\n"
        "- A flood destroyed or damaged the oak bridge at Oldby in 1840.\n"
        "- The stone Mill Bridge at Oldby was not built by Ann Hale.",
    },
    "question": {
        **_THEME,
        "statement": "Carts pay two pence to cross Mill Bridge.",
        REPLY: "- How much do carts pay to cross Mill Bridge?",
    },
    "reasoning": {
        **_PASSAGE,
        **_SIMPLE,
        **_pair("How many years did the bridge that Ann Hale built at Oldby stand?", "128 years"),
    },
    "constraint": {
        **_PASSAGE,
        **_SIMPLE,
        **_pair("Who built Mill Bridge at Oldby of oak in 1712?", "the carpenter Ann Hale"),
    },
    "near_miss": {
        **_PASSAGE,
        REPLY: "- Who rebuilt Mill Bridge at Oldby in stone after the flood of 1840?",
    },
    "counterfactual": {**_SIMPLE, REPLY: "Martha Quill"},
    "first_turn": {**_PASSAGE, REPLY: f"- {_SIMPLE['question']}"},
    "follow_up": {**_PASSAGE, **_TALK, REPLY: "- And what does it cost to cross it with a cart?"},
    "clarification": {**_PASSAGE, **_TALK, REPLY: "- Do you mean the first bridge of 1712?"},
    "topic_shift": {**_QUARRY, **_TALK, REPLY: "- Why was Farrow Quarry given up?"},
    "unanswerable": {**_PASSAGE, **_TALK, REPLY: "- Who paid her for the work?"},
    "multi_hop": {
        "first": _PASSAGE["passage"],
        "second": "Ann Hale\nAnn Hale learned carpentry from her aunt in Farrow. She built three "
        "churches before she was thirty, and her last work was a granary for the nuns of Deal.",
        "link": "Ann Hale",
        **_pair("Where did the builder of Mill Bridge at Oldby learn her trade?", "Farrow"),
    },
    "comparison": {
        "first": _PASSAGE["passage"],
        "second": "Pell Bridge\nPell Bridge, nine miles below Oldby, spans the Tarn in five "
        "arches. It was finished in 1795, and nobody has ever paid to cross it.",
        "link": "Tarn",
        **_pair("Is Mill Bridge at Oldby older than Pell Bridge?", "Yes, by 83 years"),
    },
    "false_premise": {
        **_PASSAGE,
        **_pair(
            "How much do people on foot pay in coins to cross Mill Bridge at Oldby?",
            "They pay nothing; only carts pay, two pence",
        ),
    },
    "underspecified": {**_SIMPLE, REPLY: "- Who built the bridge?"},
    "dependent_turn": {
        **_PASSAGE,
        "history": f"user: {_SIMPLE['question']}\nagent: {_SIMPLE['answer']}",
        REPLY: '{"question": "And after which event was it rebuilt?", "rewrite": "After which '
        'event was Mill Bridge at Oldby rebuilt?", "answer": "the flood of 1840"}',
    },
}
"""The examples that come with Ragstone."""

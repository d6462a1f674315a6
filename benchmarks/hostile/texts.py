"""Hostile texts, and what of them must not reach a terminal or a page as more than text."""

from __future__ import annotations

import json
import re
from typing import Final

TERMINAL: Final = {
    "CSI": "\x1b[2J\x1b[1;1Hforged",
    "colour": "\x1b[31;5mred",
    "own style": "\x1b[1mstyle",
    "title, OSC 0": "\x1b]0;title\x07",
    "link, OSC 8": "\x1b]8;;http://127.0.0.1:9/\x1b\\link\x1b]8;;\x1b\\",
    "clipboard, OSC 52": "\x1b]52;c;b3duZWQ=\x07",
    "device string": "\x1bP+q544e\x1b\\",
    "8-bit CSI": "\x9b31mred",
    "8-bit OSC": "\x9d52;c;b3duZWQ=\x9c",
    "BEL, BS and DEL": "a\x07b\x08\x08c\x7f",
    "CR": "all well\rError: forged",
    "line ends": "one\x0btwo\x0cthree\x85four\u2028five\u2029six",
    "shift": "\x0e\x0f\x18\x1a",
    "reset": "\x1bc\x1b(0",
}
DIRECTION: Final = {
    "override": "\u202egnp.exe\u202c",
    "embedding": "\u202babc\u202a",
    "isolate": "\u2067abc",
    "first strong isolate": "\u2068open",
    "pop": "\u2069\u2069pop",
    "right to left": "מה שמו?",
}
MARKUP: Final = {
    "script": "</script><script>window.canary=1;alert(1)</script>",
    "image": '"><img src=x onerror="window.canary=1;fetch(\'/canary\')">',
    "attribute": "' onmouseover='window.canary=1' autofocus onfocus='window.canary=1' x='",
    "link": "javascript:window.canary=1",
    "Markdown link": "[x](javascript:window.canary=1) ![x](http://127.0.0.1:9/canary)",
    "template": "{{ 7 * 7 }}{% raw %}${7*7}#{7*7}",
    "style": "</style><style>*{background:url(/canary)!important}</style>",
    "SVG": '</svg><svg onload="window.canary=1"><foreignObject><script>canary=1</script>',
    "text area": "</textarea></title></noscript><iframe srcdoc='<script>parent.canary=1</script>'>",
    "comment": "--><!--<script>]]>window.canary=1//",
    "entities": "&lt;b&gt; &#x1b;[2J &amp",
    "quotes": '\' " ` \\ \\" \\u003cscript>',
    "base": "<base href=http://127.0.0.1:9/><meta http-equiv=refresh content='0;/canary'>",
    "form": "<form action=/canary><button autofocus>x</button></form>",
}
LAYOUT: Final = {
    "long word": "Donaudampfschifffahrtsgesellschaft" * 20,
    "zero width": "a\u200b\u200c\u200d\ufeff\u2060b",
    "marks": "e" + "\u0301" * 60,
    "wide": "漢" * 80,
    "no glyph": "\U000e0001\U0010ffff\ufffe",
    "formula": "=HYPERLINK(1)",
}
NUL: Final = "a\x00b"
SURROGATE: Final = "\ud83d \udfff"
BROKEN: Final = (NUL, SURROGATE)
"""Texts that some formats do not carry."""
TEXTS: Final = {**TERMINAL, **DIRECTION, **MARKUP, **LAYOUT}
NAME: Final = "n\x1b[2J\x1b]0;t\x07\x9b1m\u202e<img src=x onerror=canary=1>"
"""A text on one line, for names, labels, ids and files."""
FILE: Final = NAME.replace("/", "-")
LABEL: Final = NAME.partition("<")[0]
"""A text without a sign of equality, for names on the command line."""

CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_OWN: Final = re.compile("\x1b\\[1m(?!style)|\x1b\\[0m|\u2068[^\n\u2068\u2069]*\u2069")
"""Bold heads and isolated cells, which the commands write. An isolate that ends harms nothing."""
_BAR: Final = re.compile(
    r"\r?[^\r\n\x1b]*\d+%\|[^\r\n\x1b|]*\| *[\d.]+/[\d.]+ \[[^\]\r\n\x1b]*\](?:\x1b\[A)*"
    r"|\r +\r|\r(?=\n)"
)
"""A live bar writes over its own line."""


def controls_in(output: str, *, terminal: bool) -> str:
    """Return the first control of the data in an output, with its surroundings, or ""."""
    own = _OWN.sub("", output)
    own = _BAR.sub("", own) if terminal else own
    found = CONTROLS.search(own)
    return repr(own[max(found.start() - 60, 0) : found.end() + 20]) if found else ""


def json_problem(output: str) -> str:
    """Return why an output is not JSON, or JSON lines; "" if it is."""
    try:
        json.loads(output)
    except ValueError as error:
        try:
            for line in output.splitlines():
                json.loads(line)
        except ValueError:
            return f"no JSON: {error}: {output[:80]!r}"
    return ""


def text(place: int) -> str:
    """Return one of the texts, each in turn."""
    return list(TEXTS.values())[place % len(TEXTS)]

"""Gold answers that contradict each other: of one query, and of queries that ask the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeAlias

from ragstone.components.metrics.match import occurs
from ragstone.data_quality.duplicates import groups, near_query_pairs, text_with_history
from ragstone.data_quality.finding import Finding, Severity, report, shown
from ragstone.text.normalise import ENGLISH, pieces
from ragstone.text.stop_words import STOP_WORDS

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject
    from ragstone.types import Query

_LONG: Final = 80
"""Characters of an answer beyond which two wordings of one answer have little in common."""
_PLEASE: Final = "please tell me do does did s exactly so then now also per favore"
_PLEASE_AR: Final = "من فضلك في على هل هو هي إلى ال"
_PARTICLES: Final = "请问的了呢吗在是呀啊究竟到底かのはがをにでとねさてですます"
_EMPTY: Final = (
    ENGLISH
    | {*_PLEASE.split(), *_PLEASE_AR.split(), *_PARTICLES}
    | frozenset().union(*STOP_WORDS.values())
)
"""Words without which a question stays the same."""
_YES: Final = frozenset(re.findall(r"\w+", "yes true correct 是 对 是的 نعم はい sì si oui ja sí"))
_NO: Final = frozenset(re.findall(r"\w+", "no false incorrect 否 不是 不 لا いいえ non nein"))


def check_gold_answers(subject: Subject) -> Iterator[Finding]:
    """Find queries with gold answers of both yes and no, or that differ in a number."""
    asked = [query for query in subject.queries if len(query.gold_answers) > 1]
    for name, severity, opposed, what in _OPPOSITES:
        found = [(query, pair) for query in asked for pair in [opposed(query.gold_answers)] if pair]
        yield from report(
            f"contradictions/{name}",
            severity,
            [(q.query_id, f"{q.query_id}: {shown(a)!r}, {shown(b)!r}") for q, (a, b) in found],
            len(asked),
            f"queries with several gold answers have two that {what}",
            advice="each of them counts as right: remove the wrong one, if not all are right",
        )


def opposed_polarity(answers: Sequence[str]) -> tuple[str, str] | None:
    """Return two of the answers of which one is yes and one no.

    >>> opposed_polarity(["Yes.", "no"]), opposed_polarity(["yes", "true"])
    (('Yes.', 'no'), None)
    """
    plain = {answer: answer.lower().strip(" .!\u3002") for answer in answers}
    yes = [answer for answer, word in plain.items() if word in _YES]
    no = [answer for answer, word in plain.items() if word in _NO]
    return (yes[0], no[0]) if yes and no else None


def opposed_numbers(answers: Sequence[str]) -> tuple[str, str] | None:
    """Return two of the answers that are equal but for their numbers.

    >>> opposed_numbers(["May 1912", "May 1921"]), opposed_numbers(["1912", "in May 1912"])
    (('May 1912', 'May 1921'), None)
    """
    forms = [(answer, *_form(answer)) for answer in dict.fromkeys(answers)]
    for (one, words, numbers), (other, others, theirs) in combinations(forms, 2):
        if words == others and numbers != theirs:
            return one, other
    return None


_Opposed: TypeAlias = Callable[[Sequence[str]], tuple[str, str] | None]
_OPPOSITES: Final[tuple[tuple[str, Severity, _Opposed, str], ...]] = (
    ("yes-and-no", "warning", opposed_polarity, "are yes and no"),
    # Annotators who disagree, or a list.
    ("numbers", "note", opposed_numbers, "differ in a number alone"),
)


def _form(answer: str) -> tuple[str, list[str]]:
    """Return the words of an answer with # for each number, and the numbers."""
    parts = pieces(answer)
    numbers = [part for part in parts if re.search(r"\d", part)]
    shape = " ".join("#" if part in numbers else part for part in parts)
    # "20.40" is "20.4".
    return shape, [part.rstrip("0").rstrip(".") if "." in part else part for part in numbers]


def check_same_questions(subject: Subject) -> Iterator[Finding]:
    """Find queries that ask the same and have no gold answer in common."""
    queries = {query.query_id: query for query in subject.queries}
    same = groups({i: text_with_history(query) for i, query in queries.items()})
    pairs = [pair for ids in same for pair in combinations(ids, 2)]
    near = (
        (subject.queries[p.first], subject.queries[p.second])
        for p in near_query_pairs(subject.queries)
    )
    pairs += [(a.query_id, b.query_id) for a, b in near if _asks(a) == _asks(b)]
    apart = [(a, b) for a, b in pairs if _disagree(queries[a], queries[b])]
    yield from report(
        "contradictions/queries",
        "warning",
        [
            (b, f"{a} ~ {b}: {shown(queries[b].text)}: {_first(queries[a])}, {_first(queries[b])}")
            for a, b in apart
        ],
        len(queries),
        "queries ask the same as another one, and their gold answers have nothing in common",
        advice="no system can be right on both: correct one, or join the answers",
        pairs=apart,
    )


def _asks(query: Query) -> list[str]:
    return sorted(word for word in pieces(query.text) if word not in _EMPTY)


def _first(query: Query) -> str:
    return repr(shown(query.gold_answers[0]))


def _disagree(one: Query, other: Query) -> bool:
    a, b = one.gold_answers, other.gold_answers
    if not (a and b) or max(map(len, (*a, *b))) > _LONG:
        return False
    return not any(occurs(text, b) for text in a) and not any(occurs(text, a) for text in b)

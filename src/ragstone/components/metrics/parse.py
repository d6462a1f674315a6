"""From a metric's name to the metric: `NAME(option=value,...)@CUTOFF`."""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from ragstone.components.metrics.base import AnswerMetric, RankingMetric
from ragstone.core.builtins import BUILT_IN
from ragstone.errors import ConfigError, UnknownMetric, did_you_mean

_CUTOFF: Final = "@k"
_NAMES: Final = tuple(BUILT_IN["metrics"])
RANKING: Final = tuple(n.removesuffix(_CUTOFF) for n in _NAMES if n.endswith(_CUTOFF))
"""Ranking metrics; those that share a name with an answer metric are told apart by their cutoff."""
ANSWERS: Final = tuple(n for n in _NAMES if not n.endswith(_CUTOFF))

SYNONYMS: Final[Mapping[str, str]] = {
    "recall@": "R",
    "precision@": "P",
    "rr@": "MRR",
    "rr": "MRR",
    "ap": "MAP",
    "ap@": "MAP",
    "hits@": "hit",
    "r-precision": "Rprec",
    "exact-match": "EM",
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougel": "ROUGE-L",
    "bertscore": "BERTScore-F1",
    "rb-agg": "RB_agg",
}
"""Lower-case spellings that are understood; a trailing @ stands for any cutoff."""

_FORM: Final = re.compile(r"([^()@]+)(?:\(([^()]*)\))?(?:@(.*))?")


@lru_cache(maxsize=1024)
def parse_metric(name: str) -> RankingMetric | AnswerMetric:
    """Return the metric of that name.

    Upper and lower case and common spellings are understood; `str` of the metric is the canonical
    name.

    >>> str(parse_metric("ndcg@10")), str(parse_metric("nDCG(gains=exponential)@10"))
    ('nDCG@10', 'nDCG(gains=exponential)@10')

    Raises:
        UnknownMetric: no metric has that name.
        ConfigError: the cutoff or an option is not one that the metric takes.
    """
    found = _FORM.fullmatch(name.strip())
    if found is None:
        raise UnknownMetric(f"{name!r} is no metric name; the form is NAME(option=value)@CUTOFF")
    kind = _load(found[1].strip(), with_cutoff=found[3] is not None, name=name)
    options = _options(kind, found[2] or "", name)
    if found[3] is not None:
        options["k"] = _cutoff(found[3], name)
    if "k" in options and kind.cutoff == "none":
        raise ConfigError(f"{kind.name} takes no cutoff; write {kind.name} instead of {name!r}")
    return kind(**options)


def _load(stem: str, *, with_cutoff: bool, name: str) -> type[RankingMetric | AnswerMetric]:
    stem = SYNONYMS.get(stem.lower() + "@" if with_cutoff else stem.lower(), stem)
    spelt = {known.lower(): known for known in (*RANKING, *ANSWERS)}
    both = (stem + _CUTOFF, stem) if with_cutoff else (stem, stem + _CUTOFF)
    for wanted in both:
        for known, place in BUILT_IN["metrics"].items():
            if known.lower() == wanted.lower():
                module, _, attribute = place.partition(":")
                kind: type[RankingMetric | AnswerMetric] = getattr(
                    importlib.import_module(module), attribute
                )
                return kind
    close = difflib.get_close_matches(stem.lower(), spelt, n=1, cutoff=0.5)
    hint = f"; did you mean {_shown(spelt[close[0]], with_cutoff=with_cutoff)!r}?" if close else "."
    known_names = ", ".join([*(_shown(n, with_cutoff=True) for n in RANKING), *ANSWERS])
    raise UnknownMetric(f"unknown metric {name!r}{hint} Known: {known_names}")


def _shown(known: str, *, with_cutoff: bool) -> str:
    return f"{known}@10" if with_cutoff and known in RANKING and known != "Rprec" else known


def _cutoff(text: str, name: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < 1:
        raise ConfigError(
            f"the cutoff of {name!r} is {text!r}; it must be a whole number from 1 on"
        )
    return int(text)


def _options(kind: type[RankingMetric | AnswerMetric], text: str, name: str) -> dict[str, Any]:
    hints = get_type_hints(kind)
    known = {field.name: hints[field.name] for field in fields(kind) if field.name != "k"}
    options: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in known:
            raise ConfigError(f"{name!r} has no option {key!r}{did_you_mean(key, known)}")
        options[key] = _value(kind, key, value, known[key])
    return options


def _value(kind: type[RankingMetric | AnswerMetric], key: str, text: str, hint: Any) -> Any:
    if get_origin(hint) is Literal:
        value = kind.synonyms.get(text, text) if key == "variant" else text
        if value not in get_args(hint):
            allowed = [*get_args(hint), *(kind.synonyms if key == "variant" else ())]
            raise ConfigError(f"{kind.name}: {key}={text}{did_you_mean(text, allowed)}")
        return value
    if hint is int and re.fullmatch(r"-?[0-9]+", text):
        return int(text)
    if hint is float and re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return float(text)
    if hint is bool and text in {"true", "false"}:
        return text == "true"
    if hint is str and text:
        return text
    raise ConfigError(f"{kind.name}: {key}={text!r} is not a value of type {hint.__name__}")


def with_variant(metric: str, variant: str) -> str:
    """Return the name of a metric's variant: "corrected", "paper", or a paper's by name.

    A metric that has no such variant, or a name that already says which, is left as it is.

    >>> with_variant("F1", "paper"), with_variant("F1", "squad"), with_variant("MAP", "paper")
    ('F1(variant=mirage)', 'F1(variant=squad)', 'MAP')
    """
    parsed = parse_metric(metric)
    hint = get_type_hints(type(parsed)).get("variant")
    chosen = parsed.synonyms.get(variant, variant)
    if "variant=" in metric or hint is None or chosen not in get_args(hint):
        return str(parsed)
    given = {field.name: getattr(parsed, field.name) for field in fields(parsed)}
    return str(type(parsed)(**{**given, "variant": chosen}))


def variant_names() -> list[str]:
    """Return every variant that some metric has."""
    kinds = [
        _load(name, with_cutoff=names is RANKING, name=name)
        for names in (RANKING, ANSWERS)
        for name in names
    ]
    hints = [get_type_hints(kind).get("variant") for kind in kinds]
    known = {variant for hint in hints if hint is not None for variant in get_args(hint)}
    return ["corrected", "paper", *sorted(known - {"corrected"})]


def check_variant(variant: str) -> None:
    """Raise `ConfigError` where no metric has a variant of that name."""
    known = variant_names()
    if variant not in known:
        raise ConfigError(f"unknown variant {variant!r}{did_you_mean(variant, known)}")


def split_names(text: str) -> list[str]:
    """Return the metric names of a list with commas between, those in parentheses aside.

    >>> split_names("EM, F1(variant=squad), nDCG(gains=exponential,variant=mirage)@5")
    ['EM', 'F1(variant=squad)', 'nDCG(gains=exponential,variant=mirage)@5']
    """
    return [name.strip() for name in re.split(r",(?![^(]*\))", text) if name.strip()]


def metric_stem(metric: str) -> str:
    """Return a metric's name without options and cutoff.

    >>> metric_stem("nDCG(gains=exponential)@10")
    'nDCG'
    """
    return metric.partition("@")[0].partition("(")[0]


def split_cutoff(metric: str) -> tuple[str, int | None]:
    """Return a metric's name and its cutoff.

    >>> split_cutoff("R@20"), split_cutoff("Match")
    (('R', 20), ('Match', None))
    """
    name, at, cutoff = metric.rpartition("@")
    return (name, int(cutoff)) if at and cutoff.isdigit() else (metric, None)

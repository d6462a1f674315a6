"""Parsing of metric names: `NAME(option=value,...)@CUTOFF`, or your own class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, get_args, get_type_hints

from ragstone.components.metrics.base import AnswerMetric, RankingMetric
from ragstone.core.registry import build, create, find, known
from ragstone.core.spec import Spec, caret, parse_spec, split_specs
from ragstone.errors import ConfigError, UnknownMetric, did_you_mean

_CUTOFF: Final = "@k"
"""Suffix of the names of ranking metrics in the table of built-in components."""
_OF_EVERY_METRIC: Final = ("corrected", "paper")
"""The variants that each metric takes, if only by staying as it is."""

SYNONYMS: Final[dict[str, str]] = {
    "recall@k": "R@k",
    "precision@k": "P@k",
    "rr@k": "MRR@k",
    "rr": "MRR@k",
    "ap": "MAP@k",
    "ap@k": "MAP@k",
    "hits@k": "hit@k",
    "r-precision": "Rprec",
    "exact-match": "EM",
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougel": "ROUGE-L",
    "bertscore": "BERTScore-F1",
    "rb-agg": "RB_agg",
}
"""Other names in lower case -> the name in the table of components."""


def parse_metric(written: Any, folder: Path | None = None) -> RankingMetric | AnswerMetric:
    """Return the metric for a name, a mapping with the key `name`, or your own class.

    `written` is a name such as "nDCG@10". Case does not matter, and common synonyms are known.
    `str` of the metric is its canonical name.
    Your own class is `my_file.py:MyMetric`, a path relative to `folder`.

    >>> str(parse_metric("ndcg@10")), str(parse_metric("nDCG(gains=exponential)@10"))
    ('nDCG@10', 'nDCG(gains=exponential)@10')

    Raises:
        UnknownMetric: no metric has that name.
        ConfigError: the metric does not accept the cutoff or an option.
    """
    if isinstance(written, str) and ":" not in written:
        return _parse(written)
    # The file of your own class may have changed since the last call.
    if isinstance(written, str | dict):
        return _make(parse_spec(written, where="metric", several=True), folder)
    metric: RankingMetric | AnswerMetric = create("metrics", written, where="metric", folder=folder)
    return metric


@lru_cache(maxsize=1024)
def _parse(name: str) -> RankingMetric | AnswerMetric:
    return _make(parse_spec(name, where="metric", several=True), None)


def _make(spec: Spec, folder: Path | None) -> RankingMetric | AnswerMetric:
    kind = _kind(spec, folder)
    options = dict(spec.parameters)
    if spec.cutoff is not None:
        if "k" not in {field.name for field in fields(kind)}:
            name = getattr(kind, "name", kind.__name__)
            raise ConfigError(f"{name} takes no cutoff; write {name} instead of {str(spec)!r}")
        options["k"] = spec.cutoff
    if isinstance(options.get("variant"), str):
        options["variant"] = kind.synonyms.get(options["variant"], options["variant"])
    try:
        metric: RankingMetric | AnswerMetric = build(kind, options, where=f"metric {spec.name!r}")
    except ConfigError as error:
        raise ConfigError(f"{error}{caret(spec.text, error.key)}", key=error.key) from error
    return metric


def _kind(spec: Spec, folder: Path | None) -> Any:
    """Return the class of a metric; with a cutoff, a ranking metric of that name comes first."""
    if ":" in spec.name:
        return find("metrics", spec.name, where="metric", folder=folder)
    ranking, answer = f"{spec.name}{_CUTOFF}".lower(), spec.name.lower()
    both = (ranking, answer) if spec.cutoff is not None else (answer, ranking)
    names = {name.lower(): name for name in known("metrics")}
    for written in both:
        found = SYNONYMS.get(written) or names.get(written)
        if found:
            return find("metrics", found, where="metric")
    shown = [name.replace(_CUTOFF, "@10") for name in known("metrics")]
    raise UnknownMetric(
        f"unknown metric {spec.text!r}{did_you_mean(both[0], shown)}",
        key="metrics",
        value=str(spec),
    )


def with_variant(metric: str, variant: str) -> str:
    """Return the name of a metric's variant: "corrected", "paper" or another name of a variant.

    A metric without that variant, and a name with a variant, are returned unchanged.

    >>> with_variant("F1", "paper"), with_variant("F1", "squad"), with_variant("MAP", "paper")
    ('F1(variant=mirage)', 'F1(variant=squad)', 'MAP')
    """
    parsed: Any = parse_metric(metric)
    chosen = parsed.synonyms.get(variant, variant)
    if "variant=" in metric or chosen not in _variants(type(parsed)):
        return str(parsed)
    return str(replace(parsed, variant=chosen))


def variants_of(metric: str) -> list[str]:
    """Return the names of all variants of a metric, the corrected form first.

    >>> variants_of("EM")
    ['EM', 'EM(variant=squad)', 'EM(variant=mirage)']
    """
    parsed: Any = parse_metric(metric)
    variants = [str(replace(parsed, variant=variant)) for variant in _variants(type(parsed))]
    return variants or [str(parsed)]


def check_variant(variant: str) -> None:
    """Raise `ConfigError` if no metric has a variant of that name."""
    if variant in _OF_EVERY_METRIC:
        return
    kinds = [find("metrics", name, where="metric") for name in known("metrics")]
    named = {name for kind in kinds for name in _variants(kind)}
    all_names = [*_OF_EVERY_METRIC, *sorted(named - {"corrected"})]
    if variant not in all_names:
        raise ConfigError(f"unknown variant {variant!r}{did_you_mean(variant, all_names)}")


def _variants(kind: Any) -> Iterable[str]:
    return get_args(get_type_hints(kind).get("variant"))


def split_names(text: str) -> list[str]:
    """Return the metric names of a comma-separated list."""
    return split_specs(text, where="metrics")


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

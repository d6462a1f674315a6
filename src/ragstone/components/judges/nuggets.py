"""nuggets: the share of the required and optional facts that an answer contains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any, Final

from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import TURN, ModelJudge, user_template
from ragstone.components.judges.secret_nuggets import SECRET_PART, nuggets_of, secret_nuggets
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Numbered
from ragstone.core.component import IN_CACHE_KEY_IF_SET, SET_BY_A_RUN, Outcome
from ragstone.statistics.nuggets import nugget_scores
from ragstone.types import Score

_BY_THE_FILE: Final = {**IN_CACHE_KEY_IF_SET, **SET_BY_A_RUN}
GRADES: Final = {"support": 1.0, "partial": 0.5, "none": 0.0}


@dataclass(frozen=True)
class Nuggets(ModelJudge):
    """Coverage of the nuggets in a query's labels `vital_nuggets` and `okay_nuggets`.

    The metrics are those of TREC's RAG track. A nugget that the answer supports counts 1, a partial
    mention 0.5, and 0 in the strict metrics. The value is the track's weighted score, in which an
    okay nugget has half the weight: (sum vital + 0.5 sum okay) / (vital + 0.5 okay). Parts:
    `nuggets:all` weights all nuggets equally, and `nuggets:vital` covers only the vital ones;
    `nuggets:strict-weighted`, `nuggets:strict` (of all nuggets) and `nuggets:strict-vital` are the
    strict forms. A query without vital nuggets has no value over vital ones, instead of the track's
    0. Source: Pradeep et al., "The Great Nugget Recall" (2025).

    If a share of the nuggets is secret (docs/secret.md), the model grades all, these metrics are of
    the open ones, and `nuggets:secret` is the mean of the secret ones.
    """

    secret_share: float = field(default=0.0, kw_only=True, metadata=_BY_THE_FILE)
    secret_seed: int = field(default=0, kw_only=True, metadata=_BY_THE_FILE)

    name = "nuggets"
    schema = Numbered(1, tuple(GRADES))
    empty_value = 0.0
    part_metrics = (
        *("nuggets:all", "nuggets:strict", "nuggets:vital"),
        *("nuggets:strict-vital", "nuggets:strict-weighted"),
    )
    default_user = user_template(
        "For each numbered fact, say whether the answer holds it: support (wholly, in any words), "
        "partial (in part, or only hinted at), none.",
        {**TURN, "answer": "answer", "nuggets": "facts"},
    )

    def without_call(self, item: Item) -> Verdict | None:
        """Make no call for a query without nuggets."""
        if not any(nuggets_of(item.query)):
            return Verdict.settled(item, "the query has no nuggets")
        known = super().without_call(item)
        if known is None or known.value != self.empty_value:
            return known
        zeros = [0.0] * sum(map(len, nuggets_of(item.query)))
        return replace(known, parts=self._graded(item, zeros).parts)

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return one call about all nuggets, the vital ones first."""
        vital, okay = nuggets_of(item.query)
        listed = "\n".join(f"{n}. {fact}" for n, fact in enumerate((*vital, *okay), start=1))
        schema = Numbered(len(vital) + len(okay), tuple(GRADES))
        values = {**self.values(item), "nuggets": listed}
        return [self.judge_call(schema, values, (item.answer or "",))]

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return the weighted coverage and its variants."""
        return self._graded(item, [GRADES[grade] for grade in values[0]])

    def scored(self, verdict: Verdict) -> tuple[Score, ...]:
        """Return one score per metric, and that of the secret nuggets if a share is secret."""
        found = super().scored(verdict)
        if not self.secret_share:
            return found
        value, name = verdict.parts.get(SECRET_PART), self.named(SECRET_PART)
        if verdict.status != "scored" or value is not None:
            return (*found, Score(verdict.item_id, name, value, verdict.status, verdict.reason))
        why = "no nugget of the query is secret"
        return (*found, Score(verdict.item_id, name, None, "not_applicable", why))

    def scores_of(self, query_id: str, outcome: Outcome[Any]) -> Sequence[Score]:
        """Return the scores of one outcome of the judge, with that of the secret nuggets."""
        secret = self.named(SECRET_PART)
        given = outcome.value if isinstance(outcome.value, tuple) else ()
        apart = [score for score in given if score.metric == secret]
        rest = [score for score in given if score.metric != secret] or outcome.value
        return [*super().scores_of(query_id, replace(outcome, value=rest)), *apart]

    def _graded(self, item: Item, grades: Sequence[float]) -> Verdict:
        """Return the verdict from the grade of each nugget, the vital ones first."""
        vital, okay = nuggets_of(item.query)
        hidden = secret_nuggets(item.query, self.secret_share, self.secret_seed)
        graded = list(zip((*vital, *okay), grades, strict=True))
        sides = graded[: len(vital)], graded[len(vital) :]
        parts = nugget_scores(*([g for text, g in one if text not in hidden] for one in sides))
        secret = [grade for text, grade in graded if text in hidden]
        more = {SECRET_PART: fmean(secret)} if secret else {}
        return Verdict(item.item_id, parts.pop("weighted"), parts={**_named(parts), **more})


def _named(parts: Mapping[str, float]) -> dict[str, float]:
    return {f"nuggets:{name}": value for name, value in parts.items()}

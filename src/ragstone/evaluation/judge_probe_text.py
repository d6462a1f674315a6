"""The probes of a judge as text for the terminal, and one probe as a phrase beside a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragstone.core.tables import TextTable

if TYPE_CHECKING:
    from ragstone.evaluation.judge_probe import JudgeProbe, ProbeResult
    from ragstone.evaluation.kept_probes import KeptProbe


def probe_text(found: JudgeProbe) -> str:
    """Return the probes of a judge as text."""
    models = ", ".join(found.models) or "several"
    head = f"{found.judge} by {models} on {found.data}: {found.items:,} {found.population}"
    reasons = [f"  {count:,} left out: {why}" for why, count in found.left_out.items()]
    table = TextTable(
        ["probe", "gain [95 % interval]", "n", "failed", "mean before", "flagged"],
        [_row(one) for one in found.probes if not one.not_applicable],
        "What a made-up system gains in the judge's mean; none of its answers is right",
    )
    absent = [f"{one.probe}: not applicable: {one.not_applicable}" for one in _absent(found)]
    flagged = [one for one in found.probes if one.flagged]
    names = ", ".join(one.probe for one in flagged)
    last = (
        f"flagged beside every number of this judge: {names}"
        if flagged
        else "no gain is above 0.05: nothing is flagged"
    )
    return "\n\n".join(
        filter(None, ["\n".join([head, *reasons]), str(table), "\n".join(absent), last])
    )


def flagged_text(flagged: Mapping[str, tuple[Mapping[str, Any], str]]) -> str:
    """Return the gains of a judge by flagged probes, the largest first.

    Of the orders in answers, and of those in passages, only the largest gain is in the text.

    >>> long = {"gain": 0.123, "interval": [0.05, 0.19], "by": "long answers", "n": 40}
    >>> flagged_text({"long": (long, "truthfulqa")})
    'gains 0.12 [0.05, 0.19] by long answers (n 40) on truthfulqa: see judge probe'
    """
    from ragstone.evaluation.judge_check_text import number_text

    ordered = sorted(flagged.items(), key=lambda one: -one[1][0]["gain"])
    kinds: dict[str, Mapping[str, Any]] = {}
    for name, (one, _) in ordered:
        kinds.setdefault(name.partition("-")[0], one)
    parts = [
        f"{number_text(one['gain'], one['interval'])} by {one['by']} (n {one['n']:,})"
        for one in kinds.values()
    ]
    data = dict.fromkeys(data for _, (_, data) in ordered)
    return f"gains {', '.join(parts)} on {' and '.join(data)}: see judge probe"


def other_identity_text(kept: Sequence[KeptProbe], differences: Sequence[str]) -> str:
    """Return that a judge was probed with another prompt or other parameters, and when."""
    what = " and ".join(
        {"prompt": "another prompt", "parameters": "other parameters"}[name] for name in differences
    )
    return f"was probed with {what} on {kept[-1].made[:10]}; the result does not apply to this one"


def _absent(found: JudgeProbe) -> list[ProbeResult]:
    return [one for one in found.probes if one.not_applicable]


def _row(one: ProbeResult) -> list[str]:
    from ragstone.evaluation.judge_check_text import number_text

    gain = number_text(one.gain, one.interval) or "no pair"
    failed = f"{one.failed:,}" + (f" ({one.calls_failed:,} calls)" if one.calls_failed else "")
    return [
        one.probe,
        gain,
        f"{one.n:,}",
        failed,
        number_text(one.mean),
        "FLAGGED" if one.flagged else "",
    ]

"""The passport of an experiment: everything behind its numbers, as plain data.

docs/passport.md lists the keys. A passport has no path of this machine and no credential, so that
it can be published. Equal results have equal passports, wherever their store is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any, Final

from ragstone.calls.log_queries import ReplyOrigin, origins
from ragstone.errors import StoreError
from ragstone.results.contents import contents
from ragstone.results.leaderboards import NUMBER_TABLES, number_table, results_document
from ragstone.results.metric_parts import metric_parts
from ragstone.results.passport_file import sealed
from ragstone.results.publishable import publishable
from ragstone.results.reader import StoredResults
from ragstone.results.record import part_id
from ragstone.results.scored_rows import TrialResults

_STEP_FACTS: Final = (
    *("step", "rows", "failed", "digest"),
    *("started", "ragstone", "source", "packages"),
)
"""Facts of a step's manifest that a passport repeats."""


def make_passport(
    results: StoredResults, more: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the passport of some results, with its checksum and some optional keys."""
    record = results.record
    document = results_document(results)
    measured = metric_parts(results)
    named = [part for entry in record.systems for part in entry.components.values()]
    made_by = {part_id(part): part for part in (*named, *measured.values())}
    parts, steps = _parts_and_steps(results)
    file = publishable(record.file)
    file.pop("store", None)
    return sealed(
        {
            "name": record.name,
            "started": record.started,
            "finished": record.finished,
            "ragstone": record.ragstone,
            "data": {**asdict(record.data), **record.data_source},
            "experiment": file,
            **({"secret": results.secret_document()} if results.secret else {}),
            "analysis": dict(record.analysis),
            "independence": [asdict(one) for one in record.independence],
            "trained": [one.to_dict() for one in record.trained],
            "prompts": dict(record.templates),
            "prompts_by_name": dict(record.prompts),
            "systems": {
                entry.name: {step: part_id(made) for step, made in entry.components.items()}
                for entry in record.systems
            },
            "metrics": {
                entry.name: {**asdict(entry), "part": made and part_id(made)}
                for entry in record.metrics
                for made in [measured.get(entry.name)]
            },
            # Some parts of systems and metrics are not a step of their own.
            "parts": parts | {part: publishable(made) for part, made in made_by.items()},
            "steps": steps,
            "models": _models(parts),
            "packages": dict(record.environment),
            "seeds": dict(_seeds(file)),
            "calls": _calls(results),
            "contents": contents(results),
            "numbers": {table: number_table(results, table) for table in NUMBER_TABLES},
            "notes": document["notes"],
            "failures": document["failures"],
            **more,
        }
    )


def _parts_and_steps(results: StoredResults) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the parts of all steps by id, and the steps in order with the ids of their parts."""
    parts: dict[str, Any] = {}
    steps: list[dict[str, Any]] = []
    for folder, manifest in results.manifests.items():
        made = manifest["made_by"]
        parts[part_id(made)] = publishable(made)
        step = {"folder": folder, "part": part_id(made)}
        steps.append(step | {key: manifest[key] for key in _STEP_FACTS if key in manifest})
    return parts, steps


def _models(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return part -> its component, and the digest or identity of its model or file."""
    return {
        part: {"component": made["component"], "revision": made["revision"]}
        for part, made in parts.items()
        if "revision" in made
    }


def _seeds(value: Any, place: str = "") -> Iterator[tuple[str, int]]:
    """Yield the place and the value of every seed in an experiment file."""
    pairs: Any = ()
    if isinstance(value, Mapping):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for key, inner in pairs:
        if key == "seed" and isinstance(inner, int):
            yield f"{place}{key}", inner
        else:
            yield from _seeds(inner, f"{place}{key}.")


def _calls(results: StoredResults) -> list[dict[str, Any]]:
    """Return the kept replies behind the answers of each system and setting."""
    return [
        {"system": trial.system, "setting": trial.setting, **_replies(results, trial)}
        for trial in results.trials
    ]


def _replies(results: StoredResults, trial: TrialResults) -> dict[str, Any]:
    """Return the number and dates of a trial's replies, and the models that servers reported."""
    keys = list(dict.fromkeys(p.call_key for p in trial.each_prediction() if p.call_key))
    found, reason = list[ReplyOrigin](), ""
    try:
        found += origins(results.store.call_log, keys).values()
        if missing := len(keys) - len(found):
            reason = f"{missing} of {len(keys)} replies are not in the call log"
    except StoreError:
        # The error's message contains a path of this machine.
        reason = "the call log cannot be read"
    dates = sorted(reply.made_at for reply in found)
    return {
        "replies": len(found),
        "first": dates[0] if dates else None,
        "last": dates[-1] if dates else None,
        "models": dict(sorted(Counter(reply.model for reply in found).items())),
        "served_by": dict(sorted(Counter(r.served_by for r in found if r.served_by).items())),
        "reason": reason,
    }

"""The kept results of probes, by the identity of the judge: its model, prompt and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from ragstone.core.fingerprint import cache_key_parts, fingerprint, without_sources
from ragstone.core.store import Store
from ragstone.core.store_contents import documents
from ragstone.core.times import utc_text

if TYPE_CHECKING:
    from ragstone.evaluation.judge_probe import JudgeProbe
    from ragstone.protocols import Judge

KIND: Final = "probes"
FORMAT: Final = 1
_DIGITS: Final = 12
_TEMPLATES: Final = frozenset({"system", "user"})
"""Parameters that are in the digest of the prompt."""


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """Digests of the parts that decide a judge's verdicts, apart from its code."""

    component: str
    model: str
    """The digest of the models and their sampling."""
    prompt: str
    """The digest of all templates."""
    parameters: str

    @classmethod
    def of(cls, made_by: Mapping[str, Any], templates: Mapping[str, str]) -> JudgeIdentity:
        """Return the identity of a judge by its cache key parts and its templates."""
        plain = without_sources(made_by)
        given = plain.get("parameters", {})
        parameters = {name: value for name, value in given.items() if name not in _TEMPLATES}
        digested = (plain.get("revision"), dict(templates), parameters)
        return cls(plain["component"], *(fingerprint(one)[:_DIGITS] for one in digested))

    @classmethod
    def of_judge(cls, judge: Judge) -> JudgeIdentity:
        """Return the identity of a judge."""
        return cls.of(cache_key_parts(judge), judge.templates)

    def differences(self, other: JudgeIdentity) -> list[str]:
        """Return the differences of two identities: component, model, prompt, parameters."""
        mine, theirs = asdict(self), asdict(other)
        return [name for name, value in mine.items() if value != theirs[name]]


@dataclass(frozen=True, slots=True)
class KeptProbe:
    """One kept result of a probe of a judge."""

    identity: JudgeIdentity
    data: str
    made: str
    """When the probes ended."""
    probes: tuple[Mapping[str, Any], ...]
    """As `ProbeResult`."""


def keep_probes(store: Store, judge: Judge, found: JudgeProbe, chosen: Mapping[str, Any]) -> None:
    """Keep the result of some probes; it replaces that of the same judge, data and choices.

    Args:
        store: the store.
        judge: the judge.
        found: the result.
        chosen: further choices, such as the seed of the sample.
    """
    identity = asdict(JudgeIdentity.of_judge(judge))
    names = [one.probe for one in found.probes]
    name = fingerprint({**identity, "data": found.data, "probes": names, **chosen})
    document = {
        "format": FORMAT,
        "identity": identity,
        "made": utc_text(),
        "chosen": dict(chosen),
        **found.to_dict(),
    }
    store.write_json(KIND, name[: 2 * _DIGITS], document)


def kept_probes(store: Store) -> list[KeptProbe]:
    """Return the kept results of a store, the latest last; a damaged one is set aside."""
    found = []
    for path in documents(store.root, KIND):
        document = store.sound_json(KIND, path.stem)
        if document is not None and document.get("format") == FORMAT:
            identity = JudgeIdentity(**document["identity"])
            probes = tuple(document["probes"])
            found.append(KeptProbe(identity, document["data"], document["made"], probes))
    return sorted(found, key=lambda one: one.made)


def probes_state(store: Store) -> tuple[tuple[str, int], ...]:
    """Return a value that changes if a probe is kept."""
    paths = sorted((store.root / KIND).glob("*.json"))
    return tuple((path.name, path.stat().st_mtime_ns) for path in paths)


def flagged_probes(kept: Sequence[KeptProbe]) -> dict[str, tuple[Mapping[str, Any], str]]:
    """Return probe -> its flagged result and data, the largest gain of several results.

    Of equal probes on the same data the latest counts.
    """
    latest = {
        (one["probe"], kept_probe.data): one for kept_probe in kept for one in kept_probe.probes
    }
    found: dict[str, tuple[Mapping[str, Any], str]] = {}
    for (name, data), one in latest.items():
        if one["flagged"] and (name not in found or one["gain"] > found[name][0]["gain"]):
            found[name] = (one, data)
    return found

"""The work of `ragstone judge check`: one judge in detail, several side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.cli.model_calls import open_services
from ragstone.cli.options import print_result
from ragstone.cli.read_judge import read_judges
from ragstone.cli.screen import tell

if TYPE_CHECKING:
    from ragstone.calls.prices import Prices
    from ragstone.components.judges.verdict import Cost
    from ragstone.evaluation.human_grades import HumanSet
    from ragstone.evaluation.judge_check import JudgeCheck, NoVerdict
    from ragstone.protocols import Judge, Services

FORMS: Final[dict[str, list[bool | None]]] = {
    "auto": [None],
    "text": [False],
    "schema": [True],
    "both": [False, True],
}
"""Form of the replies -> values of the judge's field `structured`; None leaves it as in CONFIG."""
TITLES: Final = {None: "", False: "In free text: ", True: "With a JSON schema: "}


@dataclass(frozen=True)
class CheckRequest:
    """The options of a check, as the command got them."""

    configs: tuple[str, ...]
    name: str | None = None
    """Name of the judges that are wanted, if a file has several."""
    form: str = "auto"
    repeats: int | None = None
    stored: bool = False
    """Whether the configs are names of stored scores; without names, all are checked."""
    by: tuple[str, ...] = ()
    leaderboard: bool = False
    prices: Path | None = None
    prompt_injection: bool = False
    store: Path = Path(".ragstone")
    seed: int = 0


@dataclass(frozen=True)
class _Checked:
    """One check, with the form of its replies."""

    found: JudgeCheck
    form: str
    structured: bool | None = None
    attacks: Sequence[Any] = ()


def print_checks(data: HumanSet, asked: CheckRequest) -> None:
    """Check judges, and print each in detail or several side by side.

    Raises:
        ConfigError: a judge or a label is unknown, or a judge has no verdict.
        DatasetError: the data has no such stored scores.
        CallError: a model cannot be reached.
    """
    from ragstone.evaluation.judge_check import NoVerdict

    found = _stored(data, asked) if asked.stored else _judged(data, asked)
    checked = [one for one in found if isinstance(one, _Checked)]
    without = [one for one in found if isinstance(one, NoVerdict)]
    if not checked:
        raise without[0]
    for one in dict.fromkeys(map(str, without)):
        tell(f"note: {one}")
    several = len(found) > (1 if asked.stored else len(FORMS[asked.form]))
    by_name = _by_name(checked)
    print_result(
        lambda: _document(by_name, data, asked, without, several=several),
        lambda: "\n".join(_texts(by_name, data, asked, several=several)),
    )


def _stored(data: HumanSet, asked: CheckRequest) -> list[_Checked | NoVerdict]:
    from ragstone.errors import DatasetError
    from ragstone.evaluation.judge_check import check_stored

    names = asked.configs or tuple(data.values)
    if not names:
        raise DatasetError(
            f"{data.name} has no stored scores of judges or metrics; use mtrag or ragchecker, or "
            "name a judge that is called"
        )

    def check(name: str) -> _Checked:
        return _Checked(check_stored(name, data, by=asked.by, seed=asked.seed), "stored")

    return [_or_reason(partial(check, name)) for name in names]


def _or_reason(check: Callable[[], _Checked]) -> _Checked | NoVerdict:
    """Return a check, or the reason if the judge has no verdict on any answer."""
    from ragstone.evaluation.judge_check import NoVerdict

    try:
        return check()
    except NoVerdict as error:
        return error


def _judged(data: HumanSet, asked: CheckRequest) -> list[_Checked | NoVerdict]:
    judges = list(_judges(asked))
    prices = _prices(asked)
    with open_services(asked.store) as services:
        check = partial(_check, data=data, asked=asked, services=services, prices=prices)
        return [_or_reason(partial(check, *one)) for one in judges]


def _judges(asked: CheckRequest) -> Iterator[tuple[Judge, bool | None]]:
    """Yield each judge in each form of replies."""
    more: dict[str, Any] = {"least_parse_rate": 0.0}
    more |= {"repeats": asked.repeats} if asked.repeats else {}
    for config in asked.configs:
        forms = [
            read_judges(config, asked.name, more if one is None else {**more, "structured": one})
            for one in FORMS[asked.form]
        ]
        for same in zip(*forms, strict=True):
            yield from zip(same, FORMS[asked.form], strict=True)


def _check(
    judge: Judge,
    structured: bool | None,
    *,
    data: HumanSet,
    asked: CheckRequest,
    services: Services,
    prices: Prices,
) -> _Checked:
    from ragstone.evaluation.judge_check import check_judge
    from ragstone.evaluation.steering import steering

    found = check_judge(judge, data, services, by=asked.by, seed=asked.seed)
    found = replace(found, money=_money(judge, found.cost, prices), currency=prices.currency)
    attacks = steering(judge, data, services) if asked.prompt_injection else []
    return _Checked(found, asked.form, structured, attacks)


def _prices(asked: CheckRequest) -> Prices:
    """Return the table of the option, else that of the first file with one, else an empty one."""
    from ragstone.calls.prices import Prices
    from ragstone.core.parsing import read_yaml

    if asked.prices is not None:
        return Prices.read(asked.prices)
    for path in map(Path, asked.configs):
        if path.suffix in {".yaml", ".yml"}:
            document = read_yaml(path, "judge")
            if isinstance(document, dict) and document.get("prices"):
                return Prices.read(path.parent / str(document["prices"]))
    return Prices()


def _money(judge: Judge, cost: Cost, prices: Prices) -> float | None:
    """Return the price of some calls; None if it is unknown, or if models differ in price."""
    backends = getattr(judge, "backends", ())
    found = {prices.find(backend.endpoint) for backend in backends}
    price = found.pop() if len(found) == 1 else None
    return None if price is None else price.cost(cost.tokens_in, cost.tokens_out)


def _by_name(checked: Sequence[_Checked]) -> dict[str, _Checked]:
    """Return the checks under different names: with the form, the model or a number if needed."""
    found: dict[str, _Checked] = {}
    judges = [one.found.judge for one in checked]
    for one in checked:
        form = {None: "", False: ", free text", True: ", JSON schema"}[one.structured]
        models = ", ".join(one.found.models)
        twins = judges.count(one.found.judge) > (2 if form else 1)
        name = f"{one.found.judge}{f' by {models}' if twins and models else ''}{form}"
        number = sum(held == name or held.startswith(f"{name} #") for held in found)
        found[f"{name} #{number + 1}" if number else name] = one
    return found


def _document(
    checked: Mapping[str, _Checked],
    data: HumanSet,
    asked: CheckRequest,
    without: Sequence[NoVerdict],
    *,
    several: bool,
) -> Any:
    from ragstone.evaluation.judge_check_text import check_document
    from ragstone.evaluation.side_by_side import checks_side_by_side

    documents = [
        {
            "form": one.form,
            "structured": one.structured,
            **check_document(one.found),
            "steered": one.attacks,
        }
        for one in checked.values()
    ]
    if not several:
        return documents
    checks = {name: one.found for name, one in checked.items()}
    found = checks_side_by_side(checks, data, by=asked.by, seed=asked.seed)
    return {"checks": documents, **found.to_dict(), "no_verdict": list(map(str, without))}


def _texts(
    checked: Mapping[str, _Checked], data: HumanSet, asked: CheckRequest, *, several: bool
) -> Iterator[str]:
    from ragstone.evaluation.judge_check_text import check_text
    from ragstone.evaluation.side_by_side import checks_side_by_side
    from ragstone.evaluation.side_by_side_text import side_by_side_text
    from ragstone.evaluation.steering import steering_text

    if several or asked.leaderboard:
        checks = {name: one.found for name, one in checked.items()}
        found = checks_side_by_side(checks, data, by=asked.by, seed=asked.seed)
        yield f"{side_by_side_text(found, checks if several else None)}\n"
    for name, one in checked.items():
        if not several:
            yield f"{TITLES[one.structured]}{check_text(one.found)}\n"
        yield from (
            f"{f'{name}: ' if several else ''}{steering_text(attack)}" for attack in one.attacks
        )

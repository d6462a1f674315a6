"""Live agreement of a large project: python benchmarks/annotate_agreement.py [EVENTS].

A project with three labels of each item by 200 made-up people, in SQLite. Measured are the numbers
of the pages of progress and agreement (time, memory), the clicks that a server answers meanwhile,
and alpha and kappas alone against the packages krippendorff and statsmodels on the same table.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import statistics
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import httpx
import krippendorff
import numpy as np
from annotate_shared import (  # type: ignore[import-not-found]  # a file beside this one
    ServerProcess,
    make_project,
    sessions,
)
from statsmodels.stats.inter_rater import cohens_kappa, to_table

from ragstone.annotation.agreement import agreements
from ragstone.annotation.database import Database
from ragstone.annotation.events import Event
from ragstone.annotation.label_columns import label_columns
from ragstone.annotation.live_numbers import project_numbers
from ragstone.annotation.project import Project
from ragstone.annotation.site import Site
from ragstone.evaluation.rater_agreement import RatedValues
from ragstone.statistics.agreement import cohen_kappa, krippendorff_alpha

PEOPLE: Final = 200
PER_ITEM: Final = 3
VALUES: Final = ("yes", "partly", "no", "cannot tell")
CLICKS: Final = 200
KAPPAS: Final = 50


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("events", nargs="?", type=int, default=100_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(Path(folder) / "project", given.events)
    for name, value in found.items():
        print(f"{name:<58} {value:,.2f}")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))


def measured(folder: Path, events: int) -> dict[str, float]:
    """Return name -> figure."""
    project = make_project(folder, events // PER_ITEM)
    fill(project)
    database = Database.of(project, "")
    site = Site(project, database)
    assert len(project.items) == events // PER_ITEM
    found = {"events": float(database.count()), "people": float(PEOPLE)}
    gc.collect()
    before = peak_mb()
    used = cpu(
        lambda: found.update({"seconds of all numbers": timed(lambda: project_numbers(site))})
    )
    found["CPU seconds of all numbers"] = used
    found["MB more at the peak"] = peak_mb() - before
    columns = label_columns(site)
    found["seconds of agreement alone"] = timed(lambda: agreements(columns))
    (question,) = columns.questions.values()
    found |= against_packages(columns.rated(question))
    database.close()
    return found | clicks(project)


def fill(project: Project) -> None:
    """Write three labels of each item, 80 % of them the item's own."""
    generator = np.random.default_rng(1)
    by: dict[int, list[Event]] = {}
    for place, item_id in enumerate(project.items):
        for person in generator.choice(PEOPLE, PER_ITEM, replace=False):
            own = generator.random() < 0.8
            value = VALUES[2 * (place % 3 > 0) if own else int(generator.integers(4))]
            event = Event(
                f"{person}-{place}", "label", item_id, "support", value=value, seconds=5.0
            )
            by.setdefault(int(person), []).append(event)
    database = Database.of(project, "")
    for person, events in by.items():
        database.append(f"person {person:03}", events)
    database.close()


def against_packages(rated: RatedValues) -> dict[str, float]:
    """Return the CPU seconds of single values by this package and by others, which are equal."""
    codes: dict[float | str, int] = {value: place for place, value in enumerate(VALUES)}
    people = list(dict.fromkeys(person for of in rated.items for person in of))
    order = {person: place for place, person in enumerate(people)}
    table = np.full((len(people), len(rated.items)), np.nan)
    for place, of in enumerate(rated.items):
        for person, value in of.items():
            table[order[person], place] = codes[value]
    given = [list(of.values()) for of in rated.items]
    alphas: list[float | None] = []
    own = cpu(lambda: alphas.append(krippendorff_alpha(given, resamples=1).value))
    package = cpu(lambda: alphas.append(krippendorff.alpha(table, level_of_measurement="nominal")))
    assert abs((alphas[0] or 0) - (alphas[1] or 0)) < 1e-9
    pairs = rated.agreement(most_pairs=KAPPAS).pairwise

    def common(a: str, b: str) -> Any:
        two = table[[order[a], order[b]]].T
        return two[~np.isnan(two).any(axis=1)].astype(int)

    tables = [common(one.a, one.b) for one in pairs]
    kappas: list[list[float | None]] = []
    # Kappas of equal labels are not defined, which statsmodels reports per value.
    warnings.simplefilter("ignore", RuntimeWarning)
    own_kappas = cpu(
        lambda: kappas.append([cohen_kappa(*t.T.tolist(), resamples=1).value for t in tables])
    )
    package_kappas = cpu(
        lambda: kappas.append([float(cohens_kappa(to_table(t, bins=4)[0]).kappa) for t in tables])
    )
    own_values, package_values = (np.array(one, float) for one in kappas)
    assert np.allclose(own_values, package_values, atol=1e-9, equal_nan=True)
    return {
        "alpha without interval: CPU seconds here": own,
        "alpha without interval: CPU seconds of krippendorff": package,
        "alpha: time here relative to krippendorff": own / package,
        f"{len(tables)} kappas without intervals: CPU seconds here": own_kappas,
        f"{len(tables)} kappas without intervals: CPU seconds of statsmodels": package_kappas,
        "kappas: time here relative to statsmodels": own_kappas / package_kappas,
    }


def clicks(project: Project) -> dict[str, float]:
    """Return the 95th percentile of a click in ms, alone and while the numbers are computed."""
    server = ServerProcess(project)
    cookie = sessions(project, "", ["clicker"])["clicker"]
    database = Database.of(project, "")
    database.add_person("boss", "owner")
    name = cookie.partition("=")[0]
    of_owner = {"Cookie": f"{name}={database.open_session('boss')}"}
    database.close()
    server.start()
    try:
        with httpx.Client(
            base_url=server.address, headers={"Cookie": cookie}, timeout=60
        ) as client:
            alone = [click(client, f"a{number}") for number in range(CLICKS)]
            stop = threading.Event()
            meanwhile: list[float] = []
            owner = httpx.Client(base_url=server.address, headers=of_owner, timeout=60)
            before = server.memory()

            def compute() -> None:
                try:
                    while not owner.get("/progress.json").raise_for_status().json()["made"]:
                        time.sleep(0.1)
                finally:
                    stop.set()

            thread = threading.Thread(target=compute)
            started = time.perf_counter()
            thread.start()
            while not stop.is_set():
                meanwhile.append(click(client, f"b{len(meanwhile)}"))
                time.sleep(0.02)
            thread.join()
            return {
                "clicks: p95 in ms, alone": p95(alone),
                "clicks: p95 in ms, while numbers are computed": p95(meanwhile),
                "clicks: slowest in ms, while numbers are computed": max(meanwhile) * 1000,
                "clicks while numbers are computed": float(len(meanwhile)),
                "seconds until /progress.json, with clicks": time.perf_counter() - started,
                "server: MB more after the numbers": server.memory() - before,
            }
    finally:
        server.kill()


def click(client: httpx.Client, client_id: str) -> float:
    """Send a label, and return the seconds until it is confirmed."""
    event = {"client_id": client_id, "kind": "label", "item_id": "q0", "field": "support"}
    started = time.perf_counter()
    client.post("/events", json=[event | {"value": "yes"}]).raise_for_status()
    return time.perf_counter() - started


def timed(run: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def cpu(run: Callable[[], object]) -> float:
    """Return the CPU seconds of a call, which other work on the machine does not change."""
    started = time.process_time()
    run()
    return time.process_time() - started


def p95(seconds: list[float]) -> float:
    """Return the 95th percentile in ms."""
    return statistics.quantiles(seconds, n=20)[-1] * 1000


def peak_mb() -> float:
    """Return the peak of the resident memory so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()

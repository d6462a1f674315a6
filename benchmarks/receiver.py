"""An instrumented application sends spans to `ragstone view --otlp`, which is killed meanwhile.

    python benchmarks/receiver.py [--spans 10000] [--kills 5]

The application (tests/fakes/traced_rag.py) is instrumented with OpenInference and OpenTelemetry's
SDK, and exports with OpenTelemetry's own exporter over HTTP. All that it is told is one environment
variable, OTEL_EXPORTER_OTLP_ENDPOINT. It counts its spans itself, by a span processor.

First the receiver is left alone. Then it gets `kill -9` at random moments and is started again on
the same port, as often as `--kills` says. Lost are the spans that ended in the application and are
not in the store; and, separately, those of a batch for which the exporter got an acknowledgement.
Each query's row is compared with what the application wrote itself. Exit code 1 if anything is
lost or differs.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from tests.fakes.traced_rag import OpenInference, TracedRag, recording

from ragstone.data.readers.traces.received import received_in
from ragstone.data.readers.traces.received_rows import ReceivedRows, TraceFilter

RAGSTONE = Path(sys.executable).with_name("ragstone")
SPANS_PER_QUERY = 5.8
"""Mean of the application: six spans, and five for every fifth query, which fails."""


class Counting(SpanExporter):
    """Passes batches to OpenTelemetry's exporter, and counts what it sent and what was taken."""

    def __init__(self) -> None:
        self.inner = OTLPSpanExporter()
        self.sent: set[str] = set()
        self.acknowledged: set[str] = set()

    def export(self, spans: Any) -> SpanExportResult:
        """Send a batch."""
        ids = {f"{span.context.span_id:016x}" for span in spans}
        self.sent |= ids
        result = self.inner.export(spans)
        if result is SpanExportResult.SUCCESS:
            self.acknowledged |= ids
        return result


def start(store: Path, port: int) -> tuple[subprocess.Popen[str], str]:
    """Start a receiver; return its process and its address."""
    command = [str(RAGSTONE), "view", str(store), "--otlp", "--no-browser", "--port", str(port)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def disturb(state: dict[str, Any], store: Path, kills: int, stop: threading.Event) -> None:
    """Kill and restart the receiver at random moments."""
    for _ in range(kills):
        if stop.wait(random.uniform(0.2, 1.5)):
            return
        state["process"].kill()
        state["process"].wait()
        state["kills"] += 1
        state["process"], _ = start(store, state["port"])


def campaign(spans: int, kills: int) -> bool:
    """Send spans to a receiver; print what arrived, and return whether nothing is lost."""
    with tempfile.TemporaryDirectory() as folder:
        store, state = Path(folder) / "store", dict[str, Any](kills=0)
        state["process"], address = start(store, 0)
        state["port"] = int(address.rstrip("/").rpartition(":")[2])
        os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = address
        exporter, stop = Counting(), threading.Event()
        killer = threading.Thread(target=disturb, args=(state, store, kills, stop))
        began = time.monotonic()
        with recording(exporter, 64 if kills else 512) as tracer:
            rag = TracedRag(tracer, OpenInference())
            killer.start()
            queries = [f"When ferry {n}?" for n in range(int(spans / SPANS_PER_QUERY) + 1)]
            for part in range(0, len(queries), 100):
                rag.ask_all(queries[part : part + 100])
                time.sleep(0.25 if kills else 0)
        seconds = time.monotonic() - began
        stop.set()
        killer.join()
        state["process"].kill()
        state["process"].wait()
        return told(store, exporter, rag, state["kills"], seconds)


def told(store: Path, exporter: Counting, rag: TracedRag, kills: int, seconds: float) -> bool:
    """Print what is in the store, and return whether it is what was sent."""
    received = received_in(store)
    kept = {span_id for (span_id,) in received.select("SELECT span_id FROM spans")}
    began = time.monotonic()
    rows = {row["query"]: row for row in ReceivedRows(received).rows(TraceFilter())}
    converted = time.monotonic() - began
    wrong = [
        query
        for query, own in rag.log.items()
        if any(rows.get(query, {}).get(name) != own.get(name) for name in ("answer", "contexts"))
    ]
    lost, forgotten = exporter.sent - kept, exporter.acknowledged - kept
    print(
        f"{kills} kills: {len(exporter.sent):,} spans sent in {seconds:.1f} s, "
        f"{len(exporter.acknowledged):,} acknowledged, {len(kept):,} kept; lost: {len(lost)}, "
        f"acknowledged and lost: {len(forgotten)}; rows that differ: {len(wrong)} of "
        f"{len(rag.log):,}; {received.path.stat().st_size / 2**20:.0f} MiB, all converted in "
        f"{converted:.1f} s",
        flush=True,
    )
    received.close()
    return not (lost or forgotten or wrong)


def main() -> None:
    """Measure both, and exit with 1 if anything is lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spans", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=5)
    given = parser.parse_args()
    results = [campaign(given.spans, kills) for kills in (0, given.kills)]
    raise SystemExit(0 if all(results) else 1)


if __name__ == "__main__":
    main()

"""How fast, and in how much memory, a folder of documents becomes passages, against pypdf.

    python benchmarks/documents.py [PDFS] [--json FILE]      default: 150, of ten pages each

Writes PDFs, and a third as many Word files, HTML pages and spreadsheets, and reads them: first
with an empty store, then again with what the store kept. pypdf (`pip install pypdf`) reads the PDFs
in one process, without headings and tables; the other side reads them in as many processes as there
are cores, and in one. Each reading has a process of its own, whose peak memory is taken. Speeds are
by processor time, which other work on the machine changes little.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
PAGES = 10


def write_folder(folder: Path, count: int) -> None:
    """Write the documents."""
    from tests.fakes.made_documents import Block, docx, pdf, prose, xlsx

    for number in range(count):
        seeds = range(number * PAGES, (number + 1) * PAGES)
        pages = [[(16, f"Part {seed}"), *((9, line) for line in prose(seed, 38))] for seed in seeds]
        outline = [(f"Part {seed}", page) for page, seed in enumerate(seeds)] if number % 2 else []
        (folder / f"{number}.pdf").write_bytes(pdf(pages, outline))
        if number % 9 == 0:
            parts: list[Block] = []
            for seed in seeds:
                parts += [(1, f"Part {seed}"), *prose(seed, 38)]
            (folder / f"{number}.docx").write_bytes(docx(*parts))
        elif number % 9 == 3:
            texts = "".join(f"<h1>Part {s}</h1><p>{' '.join(prose(s, 38))}</p>" for s in seeds)
            (folder / f"{number}.html").write_text(texts)
        elif number % 9 == 6:
            rows = [["number", "text"], *([n, line] for n, line in enumerate(prose(number, 300)))]
            (folder / f"{number}.xlsx").write_bytes(xlsx({"Sheet": rows}))


def read_folder(pattern: str, store: str, cores: int) -> int:
    """Read documents with what a store keeps, and return the number of passages."""
    from ragstone.core.store import Store
    from ragstone.data.documents import parsing
    from ragstone.data.documents.corpus import DocumentFiles

    if cores:
        parsing.available_cpus = lambda: cores  # type: ignore[attr-defined]
    with parsing.parses_kept_in(Store(Path(store))):
        return len(DocumentFiles(pattern).corpus())


def read_by_peer(pattern: str) -> int:
    """Read the PDFs of a folder with pypdf, and return the number of characters."""
    from pypdf import PdfReader

    folder = Path(pattern).parent
    files = sorted(folder.glob("*.pdf"))
    return sum(len(page.extract_text()) for file in files for page in PdfReader(file).pages)


def measured(what: str, *arguments: str) -> dict[str, float]:
    """Return seconds and memory of a reading in a process of its own."""
    command = [sys.executable, __file__, "--only", what, *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    document: dict[str, float] = json.loads(found.stdout.splitlines()[-1])
    return document


def only(what: str, *arguments: str) -> None:
    """Do one reading and print its figures."""
    clock = time.perf_counter()
    if what == "peer":
        made = read_by_peer(*arguments)
    else:
        pattern, store, cores = arguments
        made = read_folder(pattern, store, int(cores))
    clock = time.perf_counter() - clock
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    own, child = (resource.getrusage(kind) for kind in kinds)
    facts = {
        "seconds": round(clock, 2),
        "processor_seconds": round(sum(u.ru_utime + u.ru_stime for u in (own, child)), 2),
        "made": made,
        "mb": round(own.ru_maxrss / 1024),
        "child_mb": round(child.ru_maxrss / 1024),
    }
    print(json.dumps(facts))


def measure(count: int) -> dict[str, object]:
    """Return all figures."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "documents")
        folder.mkdir()
        write_folder(folder, count)
        pdfs, everything = str(folder / "*.pdf"), str(folder)
        rows = {
            "pypdf, PDFs": measured("peer", pdfs),
            "one process, PDFs": measured("read", pdfs, f"{place}/one", "1"),
            "all cores, PDFs": measured("read", pdfs, f"{place}/all", "0"),
            "all cores, folder": measured("read", everything, f"{place}/folder", "0"),
            "the same again": measured("read", everything, f"{place}/folder", "0"),
        }
        files = len(list(folder.iterdir()))
    pages = count * PAGES
    spent = {name: row["processor_seconds"] for name, row in rows.items()}
    return {
        "files": files,
        "pages": pages,
        "rows": rows,
        "pages_per_processor_second": {n: round(pages / s) for n, s in spent.items() if "PDF" in n},
        "times_pypdf": round(spent["pypdf, PDFs"] / spent["one process, PDFs"], 2),
        "rerun_share": round(spent["the same again"] / spent["all cores, folder"], 3),
    }


def main() -> None:
    """Print the figures, or one reading of them."""
    if sys.argv[1:2] == ["--only"]:
        only(*sys.argv[2:])
        return
    numbers = [word for word in sys.argv[1:] if word.isdecimal()]
    found = json.dumps(measure(int(numbers[0]) if numbers else 150), indent=2)
    print(found)
    if "--json" in sys.argv:
        Path(sys.argv[sys.argv.index("--json") + 1]).write_text(found)


if __name__ == "__main__":
    main()

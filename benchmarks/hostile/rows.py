"""The command lines of the campaign: each command of the command line has a row.

Words in capitals stand for what a shell would need quotes for: `NAME`, `FILE` and `LABEL` are
hostile texts, `OUT` is a new hostile name at each run, `MODEL` is a spec of the fake model.
`--json` is added where a command has it.
"""

from __future__ import annotations

from typing import Final

FIRST: Final = (
    "run e.yaml",
    "run campaign.yaml",
    "passport e.yaml -o passport.json --scores",
    "annotate import labels given.jsonl",
    "annotate people add labels someone",
)
"""What the rows read."""
WARM: Final = (
    "show e.yaml",
    "why QUERY e.yaml",
    "report e.yaml -o warm.html",
    "leaderboard store",
    "effects e.yaml --metric Match",
    "compare e.yaml:SYSTEM0:gold e.yaml:SYSTEM1:gold",
    "score answers.jsonl --metrics F1,EM",
    "data show data",
    "judge compare e.yaml --metric equivalence --metric Match",
    "data ratings ratings.jsonl",
    "plot leaderboard e.yaml -o warm.json",
)
"""Commands that read, whose imports the others need too."""
ROWS: Final[dict[str, tuple[str, ...]]] = {
    "try": ("try answers.jsonl --metrics F1,EM -o OUT",),
    "init": ("init --system answers.jsonl --data data -o OUT",),
    "run": (
        "run e.yaml",
        "run e.yaml store=freshNUMBER --limit 6",
        "run e.yaml --plan",
        "run campaign.yaml",
        "run NAME",
        "run e.yaml NAME=1",
    ),
    "plan power": ("plan power e.yaml",),
    "show": (
        "show e.yaml",
        "show e.yaml --query QUERY",
        "show e.yaml --causes",
        "show e.yaml --languages",
        "show e.yaml --by kind",
        "show campaign.yaml",
        "show e.yaml --query NAME",
    ),
    "why": (
        "why QUERY e.yaml",
        "why NAME e.yaml",
    ),
    "report": (
        "report e.yaml -o OUT",
        "report campaign.yaml -o OUT",
    ),
    "passport": ("passport e.yaml -o OUT",),
    "verify": (
        "verify passport.json --store store --data data",
        "verify FILE",
    ),
    "diff": (
        "diff passport.json e.yaml",
        "diff campaign.yaml#first e.yaml",
    ),
    "history": ("history e.yaml",),
    "leaderboard": (
        "leaderboard store",
        "leaderboard store --metric Match --setting gold",
        "leaderboard store --csv",
        "leaderboard store --markdown",
        "leaderboard store --rows kind --metric Match",
        "leaderboard store --where data=NAME",
    ),
    "plot": (
        "plot leaderboard e.yaml -o OUT.svg",
        "plot NAME e.yaml",
    ),
    "export": (
        "export e.yaml -o OUT",
        "export e.yaml --to trec -o OUT",
        "export e.yaml --to scores -o OUT.csv",
        "export e.yaml --to ragas -o OUT",
    ),
    "rank": (
        "rank run.trec qrels.tsv nDCG@5",
        "rank run.trec qrels.tsv NAME",
    ),
    "score": (
        "score answers.jsonl --metrics F1,EM --explain",
        "score answers.jsonl --metrics NAME",
        "score surrogates.jsonl --metrics F1",
        "score answers.jsonl --metrics F1 --per-query OUT",
    ),
    "compare": (
        "compare a.jsonl LABEL=b.jsonl",
        "compare e.yaml:SYSTEM0:gold e.yaml:SYSTEM1:gold --by kind",
        "compare e.yaml:SYSTEM0:gold e.yaml:SYSTEM1:gold --markdown OUT",
        "compare a.jsonl e.yaml:SYSTEM1:gold",
    ),
    "effects": ("effects store --metric Match --where data=data",),
    "sensitivity": ("sensitivity store --metric Match --metric F1 --over metric",),
    "gate": ("gate a.jsonl --baseline b.jsonl --metric NAME --margin 0.1",),
    "data agreement": ("data agreement labels.jsonl --field kind -o OUT",),
    "data card": ("data card data -o OUT --title NAME",),
    "data check": (
        "data check data",
        "data check data --against other",
        "data check data --fix OUT",
    ),
    "data chunk": ("data chunk data OUT --chunker words(20)",),
    "data compare": ("data compare data other",),
    "data compare-generated": ("data compare-generated generated",),
    "data contamination": (
        "data contamination data --model MODEL --limit 4 -o OUT",
        "data contamination data --corpus-text docs -o OUT",
    ),
    "data convert": (
        "data convert data OUT",
        "data convert FILE OUT",
    ),
    "data critique": ("data critique data -o OUT --model MODEL --limit 3",),
    "data generate": ("data generate data OUT --model MODEL --count 2 --rounds 1",),
    "data label": ("data label data -o OUT --model MODEL --limit 4",),
    "data label-stats": (
        "data label-stats data --label kind",
        "data label-stats kinds.jsonl --label NAME",
    ),
    "data list": (
        "data list",
        "data list NAME",
    ),
    "data ratings": (
        "data ratings ratings.jsonl",
        "data ratings pairs.jsonl --data data --by kind",
    ),
    "data show": (
        "data show data",
        "data show noFILE",
    ),
    "data suitability": ("data suitability e.yaml",),
    "data translate": ("data translate data --to en -o OUT --model MODEL --max-calls 80",),
    "build conversations": ("build conversations OUT --corpus data --model MODEL --count 1",),
    "build mirage": (
        "build mirage OUT --qa data --corpus data --judge MODEL --reader MODEL --per-source 3",
    ),
    "build testset": (
        "build testset docs OUT --count 2 --model MODEL --rounds 1 --pool bm25 --persona NAME",
    ),
    "train generator": (
        "train generator generator.yaml --plan",
        "train generator wrong.yaml",
        "train generator generator.yaml",
    ),
    "train gains": (
        "train gains generator.yaml --plan",
        "train gains generator.yaml --with hf(max_tokens=4) --setting gold --metric F1 --limit 3",
        "train gains NAME",
    ),
    "train merge": (
        "train merge TRAINED OUT",
        "train merge FILE OUT",
    ),
    "train writer": (
        "train writer writer.yaml",
        "train writer writer.yaml --hold-out other --contexts 2 --max-tokens 4",
        "train writer writer.yaml --hold-out NAME",
    ),
    "train embedder": ("train embedder embedder.yaml",),
    "train reranker": ("train reranker reranker.yaml",),
    "train judge": (
        "train judge judge.yaml",
        "train judge kinds.yaml",
    ),
    "traces convert": (
        "traces convert traces.jsonl -o OUT",
        "traces convert traces.jsonl -o OUT --system NAME --keep-incomplete",
        "traces convert answers.jsonl -o OUT",
        "traces convert traces.jsonl -o OUT --corpus FILE",
    ),
    "judge battle": (
        "judge battle pairs.jsonl --property NAME",
        "judge battle e.yaml --judge pairwise(model=MODEL) --setting gold --battles 1",
    ),
    "judge calibrate": ("judge calibrate e.yaml --metric Match --labels every.jsonl",),
    "judge check": (
        "judge check spec.yaml --data ratings:ratings.jsonl",
        "judge check e.yaml --labels every.jsonl",
    ),
    "judge compare": ("judge compare e.yaml --metric equivalence --metric Match",),
    "judge correlate": (
        "judge correlate e.yaml --against equivalence --by kind",
        "judge correlate e.yaml --labels ratings.jsonl --property NAME",
    ),
    "judge next": (
        "judge next e.yaml --metric Match --labels 6",
        "judge next e.yaml --metric Match --labels 6 -o OUT",
    ),
    "judge probe": ("judge probe e.yaml --data e.yaml --limit 3 --only long",),
    "judge qrels": (
        "judge qrels data -o OUT.tsv --run run.trec --limit 4 --judge umbrela(model=MODEL)",
    ),
    "calls export": (
        "calls export store",
        "calls export store --model NAME",
    ),
    "calls list": ("calls list store",),
    "calls prune": ("calls prune store --model NAME --yes",),
    "calls show": (
        "calls show store CALL",
        "calls show store NAME",
    ),
    "store check": (
        "store check store",
        "store check FILE",
    ),
    "store list": ("store list store",),
    "store prune": ("store prune store --yes",),
    "models check": ("models check NAME",),
    "models fetch": ("models fetch NAME",),
    "models": ("models",),
    "components": (
        "components",
        "components NAME",
    ),
    "docs": ("docs", "docs data#limits", "docs NAME"),
    "prompts": (
        "prompts",
        "prompts concise",
        "prompts --folder prompts own",
    ),
    "doctor": ("doctor --store store",),
    "view": ("view store --port 0 --no-browser",),
    "annotate add": ("annotate add labels --data data --limit 3",),
    "annotate agreement": ("annotate agreement labels",),
    "annotate backup": ("annotate backup labels -o OUT.jsonl.gz",),
    "annotate check": ("annotate check labels",),
    "annotate export": (
        "annotate export labels -o OUT",
        "annotate export labels -o OUT --as qrels",
    ),
    "annotate import": ("annotate import labels given.jsonl",),
    "annotate people add": ("annotate people add labels aNUMBERNAME",),
    "annotate people list": ("annotate people list labels",),
    "annotate people remove": ("annotate people remove labels noneNAME",),
    "annotate people token": (
        "annotate people token labels someone",
        "annotate people token labels NAME",
    ),
    "annotate restore": ("annotate restore labels FILE",),
    "annotate scheme": (
        "annotate scheme",
        "annotate scheme labels/scheme.yaml",
    ),
    "annotate serve": (
        "annotate serve labels --port 0 --no-browser",
        "annotate serve labels --terminal",
        "annotate serve OUT --task labels --scheme NAME --data data",
    ),
    "mcp": ("mcp --store FILE",),
    "config schema": ("config schema",),
}
"""Command -> its rows."""
ENDLESS: Final = frozenset({"view", "annotate serve", "mcp"})
"""Commands that wait for people; they get an interrupt, or the end of their input."""

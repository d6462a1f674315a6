"""Hard negatives: nothing relevant, no copy of it, and nothing of another part is one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.tiny_encoder import save_encoder, towns

from ragstone.data.dataset import Dataset
from ragstone.errors import ConfigError, ModelFileError
from ragstone.training.embedder import EmbedderRecipe
from ragstone.training.retrieval import (
    Mining,
    RetrievalRecipe,
    check_judgements,
    check_negatives,
    documents_of,
    encoder_folder,
    load_encoder,
    searches_of,
)
from ragstone.types import Ranking

needs_torch = pytest.mark.needs("torch", "sentence_transformers")


def recipe(**given: Any) -> EmbedderRecipe:
    """Return a recipe."""
    keys: dict[str, Any] = {"base": "b", "data": "d", "output": "o", "per_query": 2, **given}
    return EmbedderRecipe(**keys)


def ranked(*passage_ids: str) -> Ranking:
    """Return a ranking."""
    return Ranking(passage_ids, [1.0 / (n + 1) for n in range(len(passage_ids))])


def negatives(
    ranking: Ranking,
    data: Dataset | None = None,
    *,
    unread: frozenset[str] = frozenset(),
    **keys: Any,
) -> set[str]:
    """Return the negatives of one query, that for the mayor of Avila."""
    rankings = {"avila?mayor": ranking}
    mined = Mining(recipe(**keys), data or towns(), ["avila?mayor"], rankings, unread)
    (found,) = mined.examples
    return set(found.negatives)


def test_relevant_passages_and_copies_of_them_are_no_negatives() -> None:
    """The copy has another id and no judgement; it is found by its text."""
    found = negatives(ranked("avila-mayor", "copy", "avila-river", "braga-mayor", "lugo-river"))

    assert found <= {"avila-river", "braga-mayor", "lugo-river"}
    assert len(found) == 2


def test_a_second_relevant_passage_is_no_negative() -> None:
    """Each relevant passage has its own example, and all are known to it."""
    one = towns()
    data = Dataset.from_records(
        queries=[{"query_id": "q", "text": "which river"}],
        passages=[{"passage_id": p.passage_id, "text": p.text} for p in one.corpus],
        qrels=[("q", "avila-river", 1), ("q", "braga-river", 2), ("q", "lugo-river", 0)],
    )
    ranking = ranked("avila-river", "braga-river", "lugo-river")

    found = Mining(recipe(), data, ["q"], {"q": ranking}).examples

    assert [one.positive for one in found] == ["avila-river", "braga-river"]
    assert [one.negatives for one in found] == [("lugo-river",)] * 2


def test_passages_from_documents_of_another_part_are_not_read() -> None:
    """A test on unseen documents is one only if the training saw none of their passages."""
    unread = documents_of(towns(), ["braga?mayor"])

    found = negatives(ranked("braga-mayor", "avila-river", "lugo-mayor"), unread=unread)

    assert unread == {"braga mayor"}
    assert found == {"avila-river", "lugo-mayor"}


def test_first_ranks_are_skipped_and_late_ones_not_read() -> None:
    """`skip` and `depth` are ranks of the ranking as it is."""
    ranking = ranked("avila-river", "avila-castle", "braga-mayor", "lugo-mayor")

    assert negatives(ranking, skip=1, depth=3) == {"avila-castle", "braga-mayor"}


def test_the_draw_depends_on_the_seed_alone() -> None:
    """The same seed draws the same passages; another one others."""
    ids = [p for p in towns().corpus.passage_ids if p not in ("avila-mayor", "copy")]
    drawn = [negatives(ranked(*ids), seed=seed) for seed in (0, 0, 1, 2)]

    assert drawn[0] == drawn[1]
    assert len(set(map(frozenset, drawn))) > 1


def test_what_is_left_out_is_noted() -> None:
    """Queries without a relevant passage, and examples with too few negatives."""
    data = replace(towns(), qrel_table=towns().qrel_table.slice(0, 1))
    ids = [query.query_id for query in data.queries]
    mined = Mining(recipe(), data, ids, {})

    assert mined.notes == [
        "39 queries without a relevant passage were left out",
        "1 examples have fewer than 2 hard negatives",
    ]
    assert [search.query_id for search in searches_of(data, ids)] == ids[:1]


def test_other_negatives_are_another_training() -> None:
    """The digest of the examples is part of the record's key."""
    first, second = (
        Mining(recipe(), towns(), ["avila?mayor"], {"avila?mayor": ranked(one)}).digest
        for one in ("avila-river", "avila-castle")
    )

    assert first != second


def test_without_negatives_nothing_is_trained() -> None:
    """The message names the ranks and the source; a recipe without hard negatives may go on."""
    mined = Mining(recipe(), towns(), ["avila?mayor"], {"avila?mayor": ranked("copy")})

    with pytest.raises(ConfigError, match="no negatives are left: the ranks 1 to 50 of 'bm25'"):
        check_negatives(mined.examples, recipe())
    check_negatives(mined.examples, recipe(per_query=0))


def test_data_without_relevant_passages_is_refused() -> None:
    """Neither a set without qrels nor one of judged documents can be learned."""
    data = towns()

    with pytest.raises(ConfigError, match="towns has no qrels with a relevant passage"):
        check_judgements(replace(data, qrel_table=data.qrel_table.slice(0, 0)))
    with pytest.raises(ConfigError, match="judgements of towns are of documents"):
        check_judgements(replace(data, judged="document"))


@needs_torch
def test_a_base_that_writes_text_is_refused(tmp_path: Path) -> None:
    """A decoder has no vectors of texts, unless sentence-transformers saved it as an encoder."""
    save_encoder(tmp_path / "m", "BertLMHeadModel")

    with pytest.raises(ConfigError, match="is not an encoder: it is a BertLMHeadModel"):
        encoder_folder(recipe(base=str(tmp_path / "m")))


@needs_torch
@pytest.mark.parametrize("base", ["smollm2-135m-instruct", "./nothing"])
def test_a_base_without_weights_is_refused(base: str) -> None:
    """A GGUF file is not the folder of an encoder."""
    with pytest.raises(ModelFileError):
        encoder_folder(recipe(base=base))


@needs_torch
def test_a_damaged_base_is_named(tmp_path: Path) -> None:
    """The error of the package is quoted."""
    import sentence_transformers

    folder = save_encoder(tmp_path / "m")
    (folder / "model.safetensors").write_bytes(b"damaged")
    given: RetrievalRecipe = recipe(base=str(folder))

    with pytest.raises(ModelFileError, match="cannot load the base"):
        load_encoder(sentence_transformers.SentenceTransformer, given)

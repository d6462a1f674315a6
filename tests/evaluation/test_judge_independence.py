"""What a judge shares with a system: weights, provider, nuggets and prompt."""

from __future__ import annotations

from ragstone.evaluation.judge_independence import (
    ModelUse,
    Party,
    SharedPart,
    shared_parts,
    shared_sentences,
    shared_words,
)

TASK = "Is the answer right? Reply yes if it names every fact of the gold answer, and no otherwise."


def use(model: str, *, step: str = "", host: str = "h") -> ModelUse:
    """Return a model at a host."""
    return ModelUse(step, model, frozenset({f"{model} at {host}"}), frozenset({host}))


def shared(judge: Party, system: Party) -> dict[str, str]:
    """Return what is shared -> its detail."""
    return {one.what: one.detail for one in shared_parts(judge, system)}


def test_weights_and_provider_are_told_apart() -> None:
    """Another model at the host is the provider alone; one name elsewhere is nothing known."""
    judge = Party("idk", (use("big"),))

    assert shared(judge, Party("a", (use("big", step="generator"),))) == {
        "weights": "generator big",
        "provider": "h",
    }
    assert shared(judge, Party("a", (use("small", step="generator"),))) == {"provider": "h"}
    assert shared(judge, Party("a", (use("big", step="generator", host="other"),))) == {}


def test_nuggets_of_the_answering_model() -> None:
    """Names are compared without their organisation and case."""
    judge = Party("nuggets", (use("judge"),), nugget_makers=("org/Big",))
    system = Party("a", (use("big", step="generator", host="other"),))

    assert shared(judge, system) == {"nuggets": "generator big"}
    assert shared(Party("nuggets"), system) == {}


def test_a_prompt_with_the_judges_prompt() -> None:
    """Case, spaces, punctuation and variables do not hide it; common words do not count."""
    copied = "You answer.\n\nREPLY yes, if it names\n every  fact of the gold answer {gold} and no!"

    assert shared_words(TASK, copied) == "reply yes if it names every fact of the gold answer and"
    assert (
        shared_words(TASK, "Answer the question in one word, and reply no if it is not known.")
        == ""
    )
    assert shared_words("Is it right?", "Is it right? Then answer.") == ""
    judge, system = Party("idk", prompts=("{query}", TASK)), Party("a", prompts=("x", TASK))
    assert set(shared(judge, system)) == {"prompt"}


def test_a_sentence_per_judge_and_thing() -> None:
    """Systems are listed together; the strongest thing comes first."""
    found = [
        SharedPart("idk", "a", "provider", "h"),
        SharedPart("idk", "a", "weights", "generator m"),
        SharedPart("idk", "b", "weights", "generator m"),
    ]

    assert shared_sentences(found) == [
        "judge idk has the weights of systems that it grades: a (generator m), b (generator m)",
        "judge idk has the provider of a system that it grades: a (h)",
    ]
    assert shared_sentences([]) == []

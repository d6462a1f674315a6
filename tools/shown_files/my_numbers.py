"""Runs, judgements and labels in the place of a reader's own."""

from __future__ import annotations

from ragstone import Ranking, load_dataset

dataset = load_dataset("my-set")
_places = [(query.query_id, number % 3) for number, query in enumerate(dataset.queries)]
run = {name: Ranking([f"p{name[1:]}", f"n{name[1:]}"], [2.0, 1.0]) for name, _ in _places}
other = {
    name: Ranking([f"n{name[1:]}", f"p{name[1:]}"], [1.0 + place, 1.5]) for name, place in _places
}
bm25_rankings, dense_rankings = run, other
people_qrels = {name: {f"p{name[1:]}": 1, f"n{name[1:]}": 0} for name, _ in _places[:10]}
judge_qrels = {name: {f"p{name[1:]}": 1, f"n{name[1:]}": place // 2} for name, place in _places}
human = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]
judge_on_the_same = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]
judge_on_the_rest = [1.0, 0.0, 1.0, 1.0] * 5

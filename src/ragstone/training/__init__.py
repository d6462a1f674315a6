"""Training of own models: generators, question writers, judges, rerankers and embedders.

A training file (`recipe.py`) names base, data, method and output. `fitting.py` contains the only
loop: it trains any `Learner`, resumes after a kill to the same result, and stops at a loss that is
not a number. Each kind of model has one file with its learner and its examples. An output folder
has the trained weights, `training.json` (`record.py`), the queries of each split, and a model card.

Contexts of an experiment and model calls are handed in by the command line.
"""

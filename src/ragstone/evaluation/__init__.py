"""Evaluation of existing runs, answers, systems and judges, without an experiment."""

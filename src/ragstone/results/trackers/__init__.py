"""Trackers: results of an experiment as a run of an experiment tracker."""

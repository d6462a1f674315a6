"""Tests of the rules that decide why an answer is wrong."""

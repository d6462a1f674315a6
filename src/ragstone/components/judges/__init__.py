"""Judges: language models that grade. One judge, one file.

A judge renders a prompt per item, parses the reply, and returns a `Verdict`: a value, or the reason
why there is none.
"""

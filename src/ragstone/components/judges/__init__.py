"""Judges: language models that grade, each a frozen dataclass in a file of its own.

A judge renders a prompt per item, reads the reply with a parser that fails closed, and gives a
`Verdict`: a value, or the reason why there is none.
"""

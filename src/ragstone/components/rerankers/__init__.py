"""Rerankers: components that reorder the head of a ranking.

Each reorders the first `depth` passages of a ranking and returns the first `top_k` of them. The
passages after `depth` are dropped.
"""

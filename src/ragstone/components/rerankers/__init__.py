"""Rerankers: components that order the head of a ranking anew.

All of them look at the first `depth` passages of the ranking that comes, order these, and return
the first `top_k` of them; what stands behind `depth` falls away.
"""

"""Conformance vectors: inputs, arguments and expected results of every operator, computed by its oracle.

The format is described in docs/reference/vectors.md. `python -m tests.vectors` writes them.
"""

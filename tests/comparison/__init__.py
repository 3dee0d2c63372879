"""What other tools answer about the same Pods, measured: they are asked beside a real control plane, and judged alike.

``python -m tests.comparison`` writes the tables of ``docs/comparison.md``.
"""

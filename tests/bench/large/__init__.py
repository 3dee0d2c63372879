"""A cluster of 5,000 nodes and 50,000 Pods on a real API server, and how long questions about it take.

``python -m tests.bench.large up`` runs the cluster until Ctrl-C; its objects are made once and kept in the cache.
"""

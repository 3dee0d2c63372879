"""The descheduler, asked about the clusters that ``rebalance`` plans for: ``python -m tests.comparison``."""

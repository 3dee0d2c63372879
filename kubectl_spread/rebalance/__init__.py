"""The fewest evictions after which constraints hold again: counts say which may help, the scheduler where they lead."""

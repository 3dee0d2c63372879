"""The fewest evictions that restore the spread."""

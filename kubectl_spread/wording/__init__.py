"""The sentences: what a conclusion of the engine is called, and what it means, at the lengths there are."""

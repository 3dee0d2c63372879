"""Proofs that take long, run by hand: `make soak`."""

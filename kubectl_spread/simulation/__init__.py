"""Simulates a cluster: Pods come and go one after another, and each is placed as the scheduler places it."""

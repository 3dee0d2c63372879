"""Pods coming and going one after another, each placed as the scheduler would place it."""

"""Kubernetes objects from files, directories, URLs and standard input."""

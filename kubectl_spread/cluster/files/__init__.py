"""Kubernetes objects out of files, directories, URLs and standard input."""

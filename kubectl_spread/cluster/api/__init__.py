"""What an API server is asked: lists, watches, dry runs."""

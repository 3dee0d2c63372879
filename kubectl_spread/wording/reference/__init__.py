"""The fixes of ``kubectl spread explain``."""

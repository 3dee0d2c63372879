"""The contract of programs that read the reports: the types of ``-o json`` and ``-o yaml``."""

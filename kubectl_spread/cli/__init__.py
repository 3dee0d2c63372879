"""The command line: flags to options, one small file a command; no decisions."""

"""Why the scheduler decides as it does: domains, causes, findings."""

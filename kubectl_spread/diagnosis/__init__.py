"""Why the scheduler decided so: domains, ghosts, findings."""

"""Changes that let a Pending Pod in. Each is verified by simulation on the snapshot before it is offered.

* situation.py: what keeps the Pod off each node
* proposals.py, candidate.py: what all changes have in common; one change, and the situation with it made
* constraints.py, nodes.py, demands.py, moves.py: the families of changes, and which are worth trying
* search.py: single changes, then pairs
* route.py, rollout.py: how a change is made permanent, what that triggers, and whether replaced Pods find nodes again
* waits.py: what would help too, but is not a change to make
* conclusion.py, change.py: what the search concludes
* choice.py: which fixes are offered first, and the order of fixes of one rank
* shell.py, fragment.py, patch.py: command lines, YAML and JSON patches
"""

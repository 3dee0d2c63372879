"""Changes that let a Pending Pod in, each tried on the snapshot before it is offered.

* situation.py: what keeps the Pod off each node
* proposals.py, candidate.py: the classes of changes; one change, and the situation with it made
* constraints.py, nodes.py, demands.py, moves.py: the changes worth trying
* label_selection.py: what else would take a changed Pod for its own
* search.py, renewal.py: single changes, then pairs; whether the Pods that a change replaces find nodes again
* route.py, owner.py: how a change is made for good, and what that sets off
* not_offered.py: what would help too, and is for nobody to change
* conclusion.py, change.py: what the search concludes
* shell.py, fragment.py, patch.py: command lines, YAML and JSON patches
"""

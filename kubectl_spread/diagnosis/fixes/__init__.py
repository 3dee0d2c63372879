"""Changes that let a Pending Pod in, each tried on the snapshot before it is offered.

* situation.py: what keeps the Pod off each node
* candidate.py: one change, and what becomes of the situation with it
* constraints.py, nodes.py, demands.py, moves.py: the changes worth trying
* label_selection.py: what else would take a changed Pod for its own
* left_alone.py: what is for nobody to change
* search.py: single changes, then pairs
* revision.py: the owner with the change made, and its next Pods
* commands.py: what a person runs
* keepers.py, fragment.py: who keeps an object as its source says, and what to write there
* manifest.py: what to change in a file, for a Pod that does not exist yet
* patch.py: JSON patches
"""

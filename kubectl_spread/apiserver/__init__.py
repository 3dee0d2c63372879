"""What kube-apiserver does to an object before it stores it.

In the order in which an object meets them:

* fields.py: which fields and kinds a release can decode
* defaults.py: what is written into a Pod as it is decoded
* admission.py: what the admission plugins write into it, and what they refuse
* creation.py: fields whose feature is off are dropped, label keys merged into selectors, names and Job labels made
* validation/: what is refused, field by field
* warnings.py: what is accepted with a warning

Beside them, eviction.py says whether a PodDisruptionBudget lets a Pod go, and quantities.py reads and prints amounts
as Go does.
"""

"""What kube-apiserver does to an object before it stores it.

In the order in which an object meets them:

* fields.py: which fields and kinds a release can decode
* defaults.py: what is written into a Pod as it is decoded
* admission.py: what the admission plugins write into it, and what those refuse that write
* creation.py: fields whose feature is off are dropped, label keys merged into selectors, names and Job labels made
* validation/: what is refused, field by field
* denials.py: what the plugins refuse that only look: Namespaces, ServiceAccounts, and limitranges.py's bounds
* resourcequotas.py: whether the namespace's quotas have room for one more Pod
* warnings.py: what is accepted with a warning

review.py asks the first and the last of them about an object that is submitted. Beside them, updates.py holds what is
refused of a change to an object that exists, eviction.py whether a PodDisruptionBudget lets a Pod go, and quantities.py
reads and prints amounts as Go does.
"""

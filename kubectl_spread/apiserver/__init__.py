"""What kube-apiserver does to an object before it stores it.

In the order in which an object meets them:

* fields.py: which fields and kinds a release can decode
* defaults.py: the defaults of a Pod
* admission.py: what the mutating admission plugins write into it, and what they refuse
* creation.py: drops the fields whose feature is off, merges label keys into selectors, generates names and Job labels
* validation/: which values of the fields that are read are refused
* denials.py: what the validating plugins refuse: Namespaces, ServiceAccounts, and the bounds of LimitRanges
* resourcequotas.py: whether the namespace's quotas have room for one more Pod

review.py combines them for a submitted object. updates.py has the fields that must not change in an existing object,
eviction.py decides whether a PodDisruptionBudget allows an eviction, and quantities.py reads and prints amounts as Go
does. apply.py and strategic_merge.py compute what ``kubectl apply`` stores.
"""

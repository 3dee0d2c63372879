"""kubectl spread: what Kubernetes leaves unanswered about Pod topology spread constraints.

The map, in the order of the imports (they only point to the right)::

    cli → commands → cluster | render | diagnosis → report → scheduler → snapshot → objects → labels | quantity → errors

* cli: flags to options, one small file a command
* commands: source → engine → report, one file a command
* cluster: kubeconfig and API server, or files, to an Inventory
* render: reports to text
* diagnosis: why the scheduler decided so
* report: the contract of ``-o json``
* scheduler: kube-scheduler's filters and scores, one module a plugin under its upstream name
* reference: what ``explain`` says of findings, fixes, statuses and fields
* snapshot: the cluster, indexed and immutable
* objects: Kubernetes objects as Structs that hold only the fields in use

What always holds:

* The answer is kube-scheduler's: recorded answers of the real one are compared node by node.
* Nothing is claimed that was not read: what is missing or not modelled stands under ``incomplete``.
* The only verbs sent are get, list and watch, and with ``check --dry-run=server`` a create that stores nothing.
* From snapshot to report there is no network, file, clock, randomness or environment.
"""

__version__ = "0.1.0"

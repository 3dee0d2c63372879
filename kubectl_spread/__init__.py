"""kubectl spread: what Kubernetes leaves unanswered about Pod topology spread constraints.

The map, in the order of the imports (they only point to the right)::

    cli → commands → cluster | render | diagnosis → rebalance → simulation → controllers → apiserver → scheduler
        → snapshot → objects → labels | quantity | release → apimachinery | errors

* cli: flags to options, one small file a command
* commands: source → engine → report, one file a command
* cluster: kubeconfig and API server, or files, to an Inventory
* render: reports to text, Markdown, pages and formats for programs; its outline holds what people are told, once
* diagnosis: why the scheduler decided so (domains: who pins the minimum), and what would change its mind (fixes)
* rebalance: which evictions bring Pods back into balance: a search over simulated moves
* simulation: Pods coming and going one after another
* controllers: kube-controller-manager's part: which Pods a workload has, which it makes next, and which go
* apiserver: kube-apiserver's part: what it writes into an object, and what it refuses, evictions too
* scheduler: kube-scheduler's filters and scores, one module a plugin under its upstream name
* snapshot: the cluster, indexed and immutable
* objects: Kubernetes objects as Structs that hold only the fields in use; meta parses label selectors, nil ones too
* apimachinery: what is wrong with names and labels, in the words of Kubernetes
* release: which releases there are, and the feature gates of each
* contract: the types of ``-o json``, and what makes them from conclusions
* wording: the sentences, and what ``explain`` prints about findings, fixes, statuses and fields

The three rooms in the middle mirror the components whose names they bear: controllers make a Pod, the API server
completes or refuses it, the scheduler places it.

What always holds:

* The answer is kube-scheduler's: recorded answers of the real one are compared node by node.
* Nothing is claimed that was not read: what is missing or not modelled stands under ``incomplete``.
* The only verbs sent are get, list and watch, and with ``check --dry-run=server`` a create that stores nothing.
* From snapshot to report there is no network, file, clock, randomness or environment.
"""

__version__ = "0.1.0"

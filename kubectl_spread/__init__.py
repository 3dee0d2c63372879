"""kubectl spread: what Kubernetes leaves unanswered about Pod topology spread constraints.

The map, in the order of the imports (they only point to the right; CONTRIBUTING.md has more about each layer)::

    cli → commands → render → contract → wording → diagnosis → rebalance → simulation → autoscalers → controllers
        → apiserver → scheduler → snapshot → assumed → gaps → objects → labels | quantity | release
        → apimachinery | errors → manifest_problem | exit_code

``cluster`` is beside ``diagnosis`` and imports only ``snapshot`` and what follows it.

* cli: flags to options, one small file for each command
* commands: source → engine → report, one file for each command
* render: reports to text, Markdown, pages and formats for programs
* contract: ``-o json``: the reports, and what JSON adds to conclusions and leaves out
* wording: the sentences, and what ``explain`` prints about findings, fixes, statuses and fields
* cluster: kubeconfig and API server, or files, to an Inventory
* diagnosis: why the scheduler decided so, and which changes would help (fixes)
* rebalance: which evictions restore the spread: a search over simulated moves
* simulation: steps such as a drain, and the control loop
* autoscalers: what Karpenter and cluster-autoscaler decide about a Pod that has no node
* controllers, apiserver, scheduler: the three components: the controllers create a Pod, the API server completes or
  rejects it, the scheduler places it
* snapshot: the cluster, indexed and immutable
* assumed: which Pods the scheduler counts on a node before it binds them
* gaps: what an answer may not rest on
* objects: Kubernetes objects as Structs with only the fields in use
* labels, quantity, release: label selectors, quantities, and the releases with their feature gates
* apimachinery, errors: errors of names and labels in upstream's words; the errors that users see
* manifest_problem: an error in an input file
* exit_code: the exit codes

What always holds:

* The answer is kube-scheduler's: it is compared node by node with recorded answers of the real scheduler.
* Nothing is claimed that was not read: what is missing or not modelled is listed under ``incomplete``.
* The only verbs sent are get, list and watch, and with ``check --dry-run=server`` a create that stores nothing.
* From snapshot to report there is no network, file, clock, randomness or environment.
"""

__version__ = "0.1.0"

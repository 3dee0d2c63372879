"""The Kubernetes objects this program reads, as frozen msgspec Structs that hold only the fields it uses.

Unknown fields are skipped, so a newer API server is never an error. Attribute names are the API's in snake_case.

* meta.py: ObjectMeta, label selectors
* core.py: Node, Pod, Namespace, Service, ReplicationController, Event
* storage.py: PersistentVolumeClaim, PersistentVolume, StorageClass and what CSI drivers say of nodes
* workloads.py: Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob
* configuration.py: KubeSchedulerConfiguration
* policy.py: PodDisruptionBudget, NetworkPolicy
* kinds.py: where each kind lives in the API and what people call it
* decoding.py: bytes or plain values to Structs, errors with field paths
"""

"""The API server's validation rules, for everything in a manifest that decides where its Pods may go.

A manifest that breaks one is refused before the scheduler sees it. Field paths, reasons and messages are the API
server's, quirks included. Everything wrong is reported at once, in the API server's order; where that order is random
(maps), in the order of the keys.

* field_errors.py: FieldError, and values as Go prints them
* names.py: names, label keys and label values
* labelselectors.py, spread.py, affinity.py, tolerations.py, resources.py, containers.py, volumes.py: one subject each
* pods.py, workloads.py: whole objects
* storageclasses.py: the parameters of classes
* manifest_only_fields.py, schedules.py: what only manifests are decoded with; loaded for those that have any of it

Not checked: annotations, owner references, which fields and files environment variables come from, raw block devices,
security contexts, which claims on devices a container uses and ``manualSelector`` of Jobs. ``schedulerName`` has no
rule: any text is accepted.

Source: pkg/apis/{core,apps,batch}/validation (v1.33 to v1.37).
"""

from kubectl_spread.apiserver.validation.field_errors import FieldError, Reason
from kubectl_spread.apiserver.validation.workloads import validate, validate_template

__all__ = ["FieldError", "Reason", "validate", "validate_template"]

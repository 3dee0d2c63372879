"""The API server's validation rules, for everything in a manifest that decides where its Pods may go.

The API server refuses a manifest that breaks one. Field paths, reasons and messages are the API server's, quirks
included. All errors are reported, in the API server's order; where that order is random (maps), by key.

* field_errors.py: FieldError, and the rules that many fields share
* labelselectors.py, affinity.py, resources.py: one subject each
* pods.py, workloads.py: whole objects
* strategies.py: loaded only for manifests that have an update strategy

Only fields that decide where Pods go, or how many there are, are validated. ``check --dry-run=server`` asks an API
server about all others, such as images, ports, volumes, names of resources, probes, schedules, and what follows from
failed Pods of a Job. ``schedulerName`` has no rule: the API server accepts any text.

Source: pkg/apis/{core,apps,batch}/validation (v1.33 to v1.37).
"""

from kubectl_spread.apiserver.validation.field_errors import FieldError, Reason
from kubectl_spread.apiserver.validation.workloads import validate, validate_template

__all__ = ["FieldError", "Reason", "validate", "validate_template"]

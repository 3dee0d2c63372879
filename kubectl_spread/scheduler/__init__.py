"""kube-scheduler's decisions, one module a plugin under its upstream name."""

"""What kube-controller-manager does: which Pods a workload has, which it makes next, and which go."""

"""The ways to a cluster: kubeconfig and API server, or files."""

"""Who asks, and whom: kubeconfig, credentials, the connection."""

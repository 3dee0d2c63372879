"""Which cluster is asked, and as whom: kubeconfig, credentials, the connection."""

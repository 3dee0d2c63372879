"""kubectl spread: what Kubernetes leaves unanswered about Pod topology spread constraints."""

__version__ = "0.1.0"

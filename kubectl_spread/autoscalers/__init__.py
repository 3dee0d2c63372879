"""What autoscalers decide about a Pod that has no node: Karpenter and cluster-autoscaler, each by its own rules."""

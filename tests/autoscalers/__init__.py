"""What autoscalers decide."""

"""What generated cases are made of: nodes, Pods and everything a Pod can ask for, each in a function of its own."""

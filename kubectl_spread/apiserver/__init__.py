"""What kube-apiserver does to an object before it stores it: defaults, admission, validation."""

//go:build tools

// Package tools names the commands of a Kubernetes release that the control plane is built from.
//
// Nothing compiles it: the imports make `go mod tidy` keep the modules that the commands need.
package tools

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
	_ "k8s.io/kubernetes/cmd/kubectl"
)

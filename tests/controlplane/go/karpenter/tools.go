//go:build tools

package main

// Nothing compiles this: `go mod tidy` keeps the modules that Karpenter's command needs.
import _ "sigs.k8s.io/karpenter/kwok"

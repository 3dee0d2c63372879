//go:build tools

// Package tools names the commands that the tests build: krew, and what checks manifests, as their own module builds them.
package tools

import (
	_ "sigs.k8s.io/krew/cmd/krew"
	_ "sigs.k8s.io/krew/cmd/validate-krew-manifest"
)
